"""Read a compile request from bytes, or refuse it in one line that names the field.

Takes the bytes of a request file or of a fixture `{request, expected}`; gives a request file.
Does not know files, tiers or the prompt.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from py_core.errors import BadRequestError
from py_core.records.envelope import Envelope
from py_core.records.fields import WrongFieldError
from py_core.records.kinds import RECORD_CLASSES
from py_core.records.request_file import MOST_RECORDS, RequestFile

LARGEST_REQUEST_BYTES = 512 * 1024 * 1024

Model = TypeVar("Model", bound=BaseModel)

KIND_NAMES = tuple(sorted(kind.__name__ for kind in RECORD_CLASSES))

# Names that pydantic puts into a location but that no file contains.
UNION_MEMBERS = frozenset({*KIND_NAMES, "PolicyChoice", "Score", "constrained-int"})

DEEPEST_NESTING = 64

_ANY_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(0x100) if byte not in b"[]{}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_request(data: bytes) -> RequestFile:
    """Parse and check a request.

    Raises:
        BadRequestError: with the path of the first field that is wrong.
    """
    document = read_json(data)
    prefix = ""
    if isinstance(document, Mapping) and "request" in document and "records" not in document:
        document, prefix = document["request"], "request."
        data = json.dumps(document).encode()
    _refuse_too_many(document, prefix)
    request = parse_model(RequestFile, data, prefix)
    refuse_double_ids(request.records, prefix)
    return request


def read_json(data: bytes) -> object:
    """Parse JSON bytes; a text with a lone surrogate is refused by its path.

    Raises:
        BadRequestError: bytes that are no UTF-8 or no JSON, or that hold a lone surrogate.
    """
    if len(data) > LARGEST_REQUEST_BYTES:
        raise BadRequestError(field="file", expected=f"at most {LARGEST_REQUEST_BYTES} bytes")
    try:
        document: object = _ANY_JSON.validate_json(data)
    except ValidationError as error:
        raise _explain_bad_json(data) from error
    return document


def _explain_bad_json(data: bytes) -> BadRequestError:
    """Find out what is wrong with bytes that the strict parser refused."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        expected = f"expected UTF-8, byte {error.start} is none"
        return BadRequestError(field="file", expected=expected)
    if _is_deep(data):
        expected = f"expected JSON of at most {DEEPEST_NESTING} levels"
        return BadRequestError(field="file", expected=expected)
    try:
        refuse_surrogates(json.loads(text))
    except json.JSONDecodeError as error:
        expected = f"expected JSON at character {error.pos}"
        return BadRequestError(field="file", expected=expected)
    except BadRequestError as error:
        return error
    return BadRequestError(field="file", expected="expected JSON")


def _is_deep(data: bytes) -> bool:
    """Tell whether brackets nest too deep; a deeper parse could end the browser's Python."""
    brackets = _STRING.sub(b"", data).translate(None, delete=_NO_BRACKETS)
    for _ in range(DEEPEST_NESTING):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    # A document that merely ends too early leaves a few open brackets as well.
    return len(brackets) > DEEPEST_NESTING


def parse_model(kind: type[Model], data: bytes, prefix: str = "") -> Model:
    """Validate JSON bytes as a model, with our error for pydantic's.

    Raises:
        BadRequestError: with the path of the first field that is wrong.
    """
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        field, expected = describe_fault(error)
        raise BadRequestError(field=prefix + field, expected=expected) from error


def describe_fault(error: ValidationError) -> tuple[str, str]:
    """Give the path of the first field that is wrong, and what was expected there."""
    first = error.errors(include_url=False, include_input=False)[0]
    return _find_field(first), _describe(first["type"], first["msg"])


def format_path(location: Sequence[int | str]) -> str:
    """Write a pydantic location as a path, without the names of union members.

    Example:
        format_path(("records", 3, "ToolResult", "payload", "text")) == "records[3].payload.text"
    """
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in UNION_MEMBERS:
            path += f".{part}" if path else part
    return path


def refuse_double_ids(records: Sequence[Envelope], prefix: str = "") -> None:
    """Refuse two records that share an id but not their content.

    Raises:
        BadRequestError: with the path of the later one.
    """
    known: dict[str, Envelope] = {}
    for index, record in enumerate(records):
        first = known.setdefault(record.record_id, record)
        if first is not record and first.envelope_hash != record.envelope_hash:
            raise BadRequestError(
                field=f"{prefix}records[{index}].record_id",
                expected="expected an id of its own, another record with other content has it",
            )


def refuse_surrogates(value: object, path: str = "") -> None:
    """Refuse a text that cannot be written as UTF-8.

    Raises:
        BadRequestError: with the path of the text.
    """
    if isinstance(value, str) and _SURROGATE.search(value):
        raise BadRequestError(
            field=path or "file", expected="expected text without lone surrogates"
        )
    if isinstance(value, Mapping):
        for key, item in value.items():
            refuse_surrogates(key, path or "file")
            refuse_surrogates(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            refuse_surrogates(item, f"{path}[{index}]")


def _refuse_too_many(document: object, prefix: str) -> None:
    records = document.get("records") if isinstance(document, Mapping) else None
    if isinstance(records, list) and len(records) > MOST_RECORDS:
        raise BadRequestError(
            field=f"{prefix}records",
            expected=f"expected at most {MOST_RECORDS} records, found {len(records)}",
        )


def _find_field(error: Mapping[str, Any]) -> str:
    path = format_path(error["loc"])
    if error["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return f"{path}.kind".removeprefix(".")
    cause = error.get("ctx", {}).get("error")
    named = cause.field if isinstance(cause, WrongFieldError) else ""
    return ".".join(part for part in (path, named) if part) or "request"


def _describe(error_type: str, message: str) -> str:
    if error_type in {"union_tag_invalid", "union_tag_not_found"}:
        return f"expected a kind of {', '.join(KIND_NAMES)}"
    if error_type == "extra_forbidden":
        return "expected no such field"
    first, rest = message[0].lower(), message[1:]
    return (first + rest).removeprefix("value error, ").removesuffix(".")
