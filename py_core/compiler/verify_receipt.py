"""Compare a receipt with what the same request gives now.

Takes two receipts, gives the first difference or none. Does not compile.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from py_core.compiler.receipt import Receipt

_ABSENT = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two receipts are not the same."""

    field: str
    stated: str
    found: str

    def tell(self) -> str:
        """Say it in one line; the values are hashes, numbers and names of reasons."""
        return f"{self.field}: the receipt states {self.stated}, compiling gives {self.found}"


def find_difference(stated: Receipt, compiled: Receipt) -> Difference | None:
    """Find the first difference in the order of the receipt; its causes come before the hashes."""
    ours = list(_flatten(stated.model_dump(mode="json", exclude=_HASHES), ""))
    theirs = dict(_flatten(compiled.model_dump(mode="json", exclude=_HASHES), ""))
    for field, value in ours:
        found = theirs.pop(field, _ABSENT)
        if found != value:
            return Difference(field, value, found)
    for field, found in theirs.items():
        return Difference(field, _ABSENT, found)
    for field in ("prompt_hash", "plan_hash", "receipt_hash"):
        value, found = getattr(stated, field), getattr(compiled, field)
        if value != found:
            return Difference(field, value, found)
    return None


_HASHES = {"prompt_hash", "plan_hash", "receipt_hash"}


def _flatten(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flatten(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _flatten(item, f"{path}[{index}]")
        yield f"{path}.length", str(len(value))
    else:
        yield path, str(value)
