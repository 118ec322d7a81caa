"""Turn a GPT-2 style vocabulary, as GGUF and tokenizer.json hold it, into a BPE1 section.

Takes token texts in the printable byte alphabet, merge pairs, control ids and special ids.
Gives the packed section. Does not know files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernels.bpe_section import BpeVocabulary, Merge, pack_bpe_section
from kernels.byte_alphabet import find_token_bytes
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.tokenizer_section import SectionHeader, SpecialIds


@dataclass(frozen=True, slots=True)
class VocabularySource:
    """A vocabulary before packing.

    Attributes:
        tokens: Text of each id from 0 on.
        control_tokens: Text to id of the tokens whose text is literal and never encoded.
        merges: Pairs of token texts in rank order.
        special: The four special ids.
    """

    tokens: Sequence[str]
    control_tokens: Mapping[str, int]
    merges: Sequence[tuple[str, str]]
    special: SpecialIds


def pack_vocabulary(source: VocabularySource) -> bytes:
    """Return the BPE1 section.

    Raises:
        KernelError: `invalid_source` for a token outside the byte alphabet or a merge whose parts
            or result have no token.
    """
    control_ids = frozenset(source.control_tokens.values())
    token_bytes: dict[int, bytes] = {}
    for token_id, text in enumerate(source.tokens):
        raw = text.encode() if token_id in control_ids else find_token_bytes(text)
        if not raw:
            raise _fault(name="token", rule=f"{token_id} is empty or not in the byte alphabet")
        token_bytes[token_id] = raw
    ids = {text: token_id for token_id, text in enumerate(source.tokens)}
    merges = [_merge(ids, pair, rank) for rank, pair in enumerate(source.merges)]
    header = SectionHeader("BPE1", len(source.tokens), source.special)
    return pack_bpe_section(BpeVocabulary(header, token_bytes, merges))


def _merge(ids: Mapping[str, int], pair: tuple[str, str], rank: int) -> Merge:
    left, right = pair
    try:
        return Merge(ids[left], ids[right], ids[left + right], rank)
    except KeyError as error:
        raise _fault(
            name="merge", rule=f"{rank} names a token that the vocabulary does not have"
        ) from error


def _fault(name: str, rule: str) -> KernelError:
    text = f"The vocabulary's {name} {rule}; the model cannot be converted."
    return kernel_error(ErrorCode.INVALID_SOURCE, f"tokenizer.{name}", text)
