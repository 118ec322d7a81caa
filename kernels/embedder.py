"""Texts to vectors: tokenizer and encoder of one embedder file together.

Takes texts, gives unit vectors, or rows of bytes with a scale for storing. Does not know when it
is asked, nor how vectors are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.arrays import F32
from kernels.embedder_file import EmbedderFile
from kernels.encoder import Encoder, NumpyProducts, Products
from kernels.wordpiece import WordPiece, read_vocabulary

TEXT_LIMIT_TOKENS = 256
"""Longer texts are cut: the model was trained on no longer ones."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """A loaded embedder."""

    tokenizer: WordPiece
    encoder: Encoder

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self.encoder.config.hidden_size

    def embed(self, text: str) -> F32:
        """Give the unit vector of a text: [H]."""
        return self.encoder.encode(self.tokenizer.encode(text, TEXT_LIMIT_TOKENS))

    def embed_steps(self, text: str) -> Iterator[F32]:
        """Give the vector in steps of one layer; the last one is the text's."""
        return self.encoder.encode_steps(self.tokenizer.encode(text, TEXT_LIMIT_TOKENS))


def load_embedder(file: EmbedderFile, products: Products | None = None) -> Embedder:
    """Load an embedder; without `products` its matrices are multiplied by numpy."""
    chosen = NumpyProducts(file) if products is None else products
    return Embedder(read_vocabulary(file.vocabulary), Encoder(file, chosen))
