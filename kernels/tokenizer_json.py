"""Read the vocabulary of a `tokenizer.json` file: byte-level BPE with single digits.

Takes the parsed JSON of that file and of the model's config. Gives a `VocabularySource`.
Does not know weights, and refuses every other kind of tokenizer in one sentence.
"""

from collections.abc import Mapping
from typing import Any

from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.tokenizer_section import SpecialIds
from kernels.vocabulary_source import VocabularySource

Settings = Mapping[str, Any]


def read_tokenizer_json(tokenizer: Settings, special: SpecialIds) -> VocabularySource:
    """Return the vocabulary.

    Args:
        tokenizer: The parsed file.
        special: The special ids of the model's config.

    Raises:
        KernelError: `unsupported_source` unless the file says: BPE, digits one by one, then
            byte level without an added space.
    """
    match tokenizer:
        case {
            "model": {"type": "BPE", "vocab": {**vocab}, "merges": [*merges]},
            "added_tokens": [*added],
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "Digits", "individual_digits": True},
                    {"type": "ByteLevel", "add_prefix_space": False},
                ],
            },
        }:
            control = _read_control_tokens(added)
            tokens = _order_tokens(vocab, control)
            pairs = [_read_pair(merge) for merge in merges]
            return VocabularySource(tokens, control, pairs, special)
        case _:
            raise _unsupported()


def _read_control_tokens(added: list[object]) -> dict[str, int]:
    control: dict[str, int] = {}
    for item in added:
        match item:
            case {"content": str(text), "id": int(token_id), "special": True}:
                control[text] = token_id
            case _:
                raise _unsupported()
    return control


def _order_tokens(vocab: Mapping[object, object], control: Mapping[str, int]) -> list[str]:
    texts = {token_id: text for text, token_id in (*vocab.items(), *control.items())}
    tokens = [texts.get(token_id) for token_id in range(len(texts))]
    known = [text for text in tokens if isinstance(text, str)]
    if len(known) != len(texts):
        raise _unsupported()
    return known


def _read_pair(merge: object) -> tuple[str, str]:
    """Accept both spellings: "a b" and ["a", "b"]."""
    match merge.split(" ") if isinstance(merge, str) else merge:
        case [str(left), str(right)]:
            return left, right
        case _:
            raise _unsupported()


def _unsupported() -> KernelError:
    text = "The tokenizer is not a byte-level BPE with single digits; it cannot be converted."
    return kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "tokenizer.json", text)
