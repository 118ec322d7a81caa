"""What SLM1 has no field for: where a model comes from and how it reads and writes text.

Takes and gives JSON text, strictly: an unknown, missing or mistyped key is refused.
The same manifest stands inside a `.slm` file (after the last payload) and beside it as
`NAME.slm.json`; only the one beside it can carry the SHA-256 of the file.
Does not know tensors, and never changes what the header says.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeAlias, cast

from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.strict_json import parse_strict_json

FORMAT = "tinyloom-manifest/1"
MAX_MANIFEST_BYTES = 1 << 20
MAX_DEPTH = 2

TemplateKind: TypeAlias = Literal["chatml", "plain"]
PreTokenizerRule: TypeAlias = Literal["smollm", "none"]

TEMPLATE_KINDS = ("chatml", "plain")
PRE_TOKENIZER_RULES = ("smollm", "none")


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """How the turns of a conversation are framed.

    chatml: turn_start, role, line break, text, turn_end, line break. plain: the texts alone.
    The marks are texts of control tokens and enter a prompt as their ids only.
    """

    kind: TemplateKind = "plain"
    default_system: str = ""
    turn_start: str = ""
    turn_end: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Facts about one model file.

    Attributes:
        name: What the page calls the model.
        origin: Where the weights were taken from, in words.
        licence: Licence of the weights, as an SPDX identifier where there is one.
        parameters: Number of weights.
        dtype: Stored type of the matrices: f32, q8_0 or q4_0.
        pre_tokenizer: Rule that cuts text into words before merges.
        chat_template: Frames of a conversation.
        control_tokens: Text of each control token with its id; encoding text never gives these.
        source_sha256: SHA-256 of the file that was converted, empty for a generated model.
        sha256: SHA-256 of the `.slm` file; only in the manifest beside it.
        file_bytes: Size of the `.slm` file; only in the manifest beside it.
    """

    name: str
    origin: str
    licence: str
    parameters: int
    dtype: str
    pre_tokenizer: PreTokenizerRule = "none"
    chat_template: ChatTemplate = field(default_factory=ChatTemplate)
    control_tokens: Mapping[str, int] = field(default_factory=dict)
    source_sha256: str = ""
    sha256: str | None = None
    file_bytes: int | None = None
    format: str = FORMAT

    def beside(self, sha256: str, file_bytes: int) -> "Manifest":
        """Return the manifest to be put beside a file of this hash and size."""
        return replace(self, sha256=sha256, file_bytes=file_bytes)

    def to_json(self) -> str:
        """Return canonical JSON: sorted keys, no spaces; the same manifest gives the same text."""
        values: dict[str, object] = {item.name: getattr(self, item.name) for item in fields(self)}
        template = self.chat_template
        values["chat_template"] = {
            item.name: getattr(template, item.name) for item in fields(template)
        }
        values["control_tokens"] = dict(self.control_tokens)
        kept = {key: value for key, value in values.items() if value is not None}
        return json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parse_manifest(text: str | bytes, *, offset: int | None = None) -> Manifest:
    """Read a manifest.

    Args:
        text: JSON, as text or UTF-8.
        offset: Where the text begins in the file, for the error.

    Raises:
        KernelError: `invalid_manifest` with the key at fault.
    """
    try:
        values = parse_strict_json(text, max_depth=MAX_DEPTH)
    except ValueError as error:
        raise _fault(key="manifest", rule="is not readable JSON", offset=offset) from error
    try:
        return _manifest_from(_as_object("manifest", values))
    except KernelError as error:
        error.offset = offset
        raise


def _manifest_from(values: dict[str, object]) -> Manifest:
    _check_keys("manifest", values, {item.name for item in fields(Manifest)}, _OPTIONAL)
    if _text("format", values) != FORMAT:
        rule = f"must be {FORMAT}; this one needs a newer version of the program"
        raise _fault(key="format", rule=rule)
    template = _as_object("chat_template", values["chat_template"])
    _check_keys("chat_template", template, {item.name for item in fields(ChatTemplate)})
    tokens = _as_object("control_tokens", values["control_tokens"])
    return Manifest(
        name=_text("name", values),
        origin=_text("origin", values),
        licence=_text("licence", values),
        parameters=_number("parameters", values),
        dtype=_text("dtype", values),
        pre_tokenizer=cast(
            "PreTokenizerRule", _choose("pre_tokenizer", values, PRE_TOKENIZER_RULES)
        ),
        chat_template=ChatTemplate(
            kind=cast("TemplateKind", _choose("kind", template, TEMPLATE_KINDS)),
            default_system=_text("default_system", template),
            turn_start=_text("turn_start", template),
            turn_end=_text("turn_end", template),
        ),
        control_tokens={text: _number(text, tokens) for text in tokens},
        source_sha256=_text("source_sha256", values),
        sha256=_text("sha256", values) if "sha256" in values else None,
        file_bytes=_number("file_bytes", values) if "file_bytes" in values else None,
    )


_OPTIONAL = frozenset({"sha256", "file_bytes"})


def _as_object(name: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _fault(key=name, rule="must be an object")
    return value


def _check_keys(
    name: str, values: dict[str, object], known: set[str], optional: frozenset[str] = frozenset()
) -> None:
    if unknown := sorted(values.keys() - known):
        raise _fault(key=unknown[0], rule=f"is not a key of {name}")
    if missing := sorted(known - optional - values.keys()):
        raise _fault(key=missing[0], rule=f"is missing in {name}")


def _text(key: str, values: dict[str, object]) -> str:
    value = values[key]
    if not isinstance(value, str):
        raise _fault(key=key, rule="must be a text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _fault(key=key, rule="holds half a character")
    return value


def _number(key: str, values: dict[str, object]) -> int:
    value = values[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _fault(key=key, rule="must be a whole number of 0 or more")
    return value


def _choose(key: str, values: dict[str, object], allowed: tuple[str, ...]) -> str:
    value = _text(key, values)
    if value not in allowed:
        raise _fault(key=key, rule=f"must be one of {', '.join(allowed)}")
    return value


def _fault(key: str, rule: str, *, offset: int | None = None) -> KernelError:
    text = f"Manifest: {key[:80]!r} {rule}; convert the model again or remove the manifest."
    return kernel_error(ErrorCode.INVALID_MANIFEST, f"manifest.{key[:80]}", text, offset=offset)
