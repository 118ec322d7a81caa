"""Canonical bytes and content hashes.

Takes plain JSON values, gives the one byte string that stands for them and its sha256. Normal
forms are those of `unicode_text`, so a hash does not depend on the Unicode version of Python.
Does not know records, plans or models.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping

from py_core.errors import InvariantError
from py_core.unicode_text import normalise


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


def canonical_json_of(value: object) -> bytes:
    """Write a value that a typed record made: the same bytes, without looking for bad types.

    Normalising is needed only where a character outside ASCII stands.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode() if text.isascii() else canonical_json(value)


def sha256_hex(data: bytes) -> str:
    """Hash bytes to 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def content_hash(value: object) -> str:
    """Hash a JSON value by its canonical bytes."""
    return sha256_hex(canonical_json(value))


def keyed_hash(key: str, value: object) -> str:
    """Hash a JSON value under a key: who lacks the key cannot tell the digits beforehand."""
    return hmac.new(key.encode("utf-8"), canonical_json(value), hashlib.sha256).hexdigest()


def text_hash(text: str) -> str:
    """Hash a text by its NFC form in UTF-8; lone surrogates count as themselves."""
    return sha256_hex(normalise("NFC", text).encode("utf-8", "surrogatepass"))


def _normalise(value: object) -> object:
    match value:
        case None | bool() | int():
            return value
        case str():
            return normalise("NFC", value)
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
        normal = normalise("NFC", key)
        if normal in result:
            raise InvariantError(what="two keys are one key after normalisation")
        result[normal] = _normalise(item)
    return result
