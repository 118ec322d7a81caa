"""Text to token ids and back, for either kind of tokenizer section.

Takes a section's bytes and the manifest's rules; then text, or ids.
Gives ids without begin or end marks and never a control id, and text from ids.
Does not know prompts: control tokens are put between texts by id, by whoever builds a prompt.

Settled here where the SLM1 documents are silent or a stream needs another rule: half a surrogate
pair becomes U+FFFD, as in browsers; bytes that are not UTF-8 become U+FFFD instead of an error;
control tokens have no text unless asked for; bytes without a token are dropped.
"""

import codecs
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from kernels.bpe import BpeCodec
from kernels.bpe_section import parse_bpe_section
from kernels.btok import ByteCodec
from kernels.errors import ErrorCode, kernel_error
from kernels.manifest import Manifest, PreTokenizerRule
from kernels.tokenizer_section import (
    SectionHeader,
    SpecialIds,
    TokenizerKind,
    read_section_header,
    tokenizer_error,
)

UNKNOWN_BYTES = b"?"


class Codec(Protocol):
    """What distinguishes the two kinds."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of well-formed text."""

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the raw bytes of an id, or None where it stands for none."""

    def named_ids(self) -> dict[str, int]:
        """Return text to id of the records that encoding cannot reach."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A loaded tokenizer.

    Attributes:
        kind: "BTOK" or "BPE1".
        vocab_size: Number of ids.
        special: BOS, EOS, PAD and UNK; a model may use one id for several.
        control_ids: Text of each control token with its id.
        identity: SHA-256 over the section and the rule that cuts words: equal identities encode
            equally.
    """

    kind: TokenizerKind
    vocab_size: int
    special: SpecialIds
    control_ids: dict[str, int]
    identity: str
    codec: Codec

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; whatever it says, no control id is among them."""
        return self.codec.encode(make_well_formed(text))

    def decode(self, ids: Iterable[int], *, show_control: bool = False) -> str:
        """Return the text of ids.

        Args:
            ids: Token ids.
            show_control: Write control tokens as their names instead of leaving them out.

        Raises:
            KernelError: `invalid_token_id` for an id outside the vocabulary.
        """
        parts = (self.token_bytes(token_id, show_control=show_control) for token_id in ids)
        return b"".join(parts).decode(errors="replace")

    def token_bytes(self, token_id: int, *, show_control: bool = False) -> bytes:
        """Return the bytes that one id adds to the text."""
        if not 0 <= token_id < self.vocab_size:
            text = f"Token id {token_id} is outside the vocabulary of {self.vocab_size}."
            raise kernel_error(ErrorCode.INVALID_TOKEN_ID, "token_id", text)
        raw = self.codec.token_bytes(token_id)
        if self.is_control(token_id):
            if show_control:
                return raw or self._name_of(token_id).encode()
            return UNKNOWN_BYTES if raw is None and token_id == self.special.unk else b""
        return UNKNOWN_BYTES if raw is None else raw

    def is_control(self, token_id: int) -> bool:
        """Tell whether an id is a control token."""
        return token_id in self.control_ids.values() or token_id in self.special.as_set()

    def _name_of(self, token_id: int) -> str:
        return next(name for name, known in self.control_ids.items() if known == token_id)


class StreamDecoder:
    """Turn ids into text one by one, holding back a character until all its bytes are there."""

    def __init__(self, tokenizer: Tokenizer, *, show_control: bool = False) -> None:
        self._tokenizer = tokenizer
        self._show_control = show_control
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token_id: int) -> str:
        """Return the text that has become complete with this id, maybe none."""
        raw = self._tokenizer.token_bytes(token_id, show_control=self._show_control)
        return self._decoder.decode(raw)

    def finish(self) -> str:
        """Return what is left: U+FFFD when the ids end inside a character."""
        text = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return text


def load_tokenizer(section: bytes, manifest: Manifest | None) -> Tokenizer:
    """Read a tokenizer section.

    Args:
        section: `SlmFile.tokenizer_section`.
        manifest: Names the word rule and the control tokens; without one no rule is applied and
            the control tokens are the special ids and the records that no merge reaches.

    Raises:
        KernelError: `invalid_tokenizer`.
    """
    header = read_section_header(section)
    rule: PreTokenizerRule = manifest.pre_tokenizer if manifest else "none"
    given = dict(manifest.control_tokens) if manifest else {}
    forbidden = header.special.as_set() | frozenset(given.values())
    codec: ByteCodec | BpeCodec
    if header.kind == "BTOK":
        codec = ByteCodec(section, header)
    else:
        codec = BpeCodec(parse_bpe_section(section, header), rule, forbidden)
    _check_control_tokens(given, header, codec)
    names = given or codec.named_ids()
    identity = hashlib.sha256(section + b"\0" + rule.encode()).hexdigest()
    return Tokenizer(
        kind=header.kind,
        vocab_size=header.vocab_size,
        special=header.special,
        control_ids=_name_special_ids(names, header.special),
        identity=identity,
        codec=codec,
    )


def make_well_formed(text: str) -> str:
    """Join surrogate pairs and replace lone halves by U+FFFD; other text is returned as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _check_control_tokens(
    given: dict[str, int], header: SectionHeader, codec: ByteCodec | BpeCodec
) -> None:
    reachable = codec.reachable_ids()
    for text, token_id in given.items():
        if not 0 <= token_id < header.vocab_size or token_id in reachable:
            raise tokenizer_error(
                None, "control ids", f"{token_id} is ordinary text or out of range"
            )
        raw = codec.token_bytes(token_id)
        if raw is not None and raw != text.encode():
            raise tokenizer_error(None, "control ids", f"{token_id} has another text in the file")


def _name_special_ids(names: dict[str, int], special: SpecialIds) -> dict[str, int]:
    known = set(names.values())
    named = dict(sorted(names.items(), key=lambda item: item[1]))
    for role in ("bos", "eos", "pad", "unk"):
        token_id = getattr(special, role)
        if token_id not in known:
            known.add(token_id)
            named[f"<{role}>"] = token_id
    return named
