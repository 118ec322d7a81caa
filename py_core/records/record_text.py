"""One record as the text that is stored, exported and read again.

Takes one record or one JSON text, gives the other. Does not know stores or files.
"""

from pydantic import TypeAdapter, ValidationError

from py_core.errors import BadRequestError
from py_core.identity import canonical_json_of
from py_core.records.kinds import AnyRecord, Record
from py_core.records.read_request import describe_fault, read_json

_RECORD: TypeAdapter[Record] = TypeAdapter(AnyRecord)


def write_record(record: Record) -> str:
    """Write a record in its canonical form; reading it gives an equal record."""
    return canonical_json_of(record.model_dump(mode="json")).decode()


def read_record(text: str) -> Record:
    """Read one record and check everything in it, hashes included.

    Raises:
        BadRequestError: with the path of the first field that is wrong.
    """
    data = text.encode("utf-8", "surrogatepass")
    read_json(data)
    try:
        return _RECORD.validate_json(data)
    except ValidationError as error:
        field, expected = describe_fault(error)
        raise BadRequestError(field=field, expected=expected) from error


def make_record(value: dict[str, object]) -> Record:
    """Make a record of JSON values that our own code put together.

    Raises:
        BadRequestError: with the path of the first field that is wrong.
    """
    return read_record(canonical_json_of(value).decode())
