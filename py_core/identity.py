"""Canonical bytes and content hashes.

Takes plain JSON values, gives the one byte string that stands for them and its sha256.
Does not know records, plans or models.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping

from py_core.errors import InvariantError


def canonical_json(value: object) -> bytes:
    r"""Write a value in its only canonical form: sorted keys, no spaces, UTF-8, NFC text.

    Example:
        canonical_json({"b": [1, True], "a": "é"}) == b'{"a":"\xc3\xa9","b":[1,true]}'

    Raises:
        InvariantError: for a float, a key that is not text, two keys that are one after NFC,
            text with a lone surrogate, or any other type.
    """
    text = json.dumps(_normalise(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvariantError(what="canonical JSON holds a lone surrogate") from error


def sha256_hex(data: bytes) -> str:
    """Hash bytes to 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def content_hash(value: object) -> str:
    """Hash a JSON value by its canonical bytes."""
    return sha256_hex(canonical_json(value))


def text_hash(text: str) -> str:
    """Hash a text by its NFC form in UTF-8; lone surrogates count as themselves."""
    return sha256_hex(unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass"))


def _normalise(value: object) -> object:
    match value:
        case None | bool() | int():
            return value
        case str():
            return unicodedata.normalize("NFC", value)
        case Mapping():
            return _normalise_mapping(value)
        case list() | tuple():
            return [_normalise(item) for item in value]
        case _:
            raise InvariantError(what=f"canonical JSON cannot hold a {type(value).__name__}")


def _normalise_mapping(value: Mapping[object, object]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvariantError(what="canonical JSON keys are text")
        normal = unicodedata.normalize("NFC", key)
        if normal in result:
            raise InvariantError(what="two keys are one key after normalisation")
        result[normal] = _normalise(item)
    return result
