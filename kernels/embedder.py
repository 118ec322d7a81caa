"""Texts to vectors: tokenizer and encoder of one embedder file together.

Takes texts, gives unit vectors, and who multiplies rows of bytes when they are compared. Does not
know when it is asked, nor how vectors are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.arrays import F32
from kernels.embedder_file import EmbedderFile
from kernels.encoder import Encoder, TextEncoder
from kernels.similarity import RowProducts, multiply_rows
from kernels.wordpiece import WordPiece, read_vocabulary

TEXT_LIMIT_TOKENS = 256
"""Longer texts are cut: the model was trained on no longer ones."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """A loaded embedder."""

    tokenizer: WordPiece
    encoder: TextEncoder
    multiply: RowProducts = multiply_rows

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self.encoder.config.hidden_size

    def embed(self, text: str) -> F32:
        """Give the unit vector of a text: [H]."""
        return self.encoder.encode(self.tokenizer.encode(text, self._limit))

    def embed_steps(self, text: str) -> Iterator[F32]:
        """Give the vector in small steps; the last one is the text's."""
        return self.encoder.encode_steps(self.tokenizer.encode(text, self._limit))

    def close(self) -> None:
        """Let go of the weights."""
        self.encoder.close()

    @property
    def _limit(self) -> int:
        return min(TEXT_LIMIT_TOKENS, self.encoder.config.max_context)


def load_embedder(file: EmbedderFile) -> Embedder:
    """Load an embedder on numpy."""
    return Embedder(read_vocabulary(file.vocabulary), Encoder(file))
