"""The committed small encoder is exactly what its seed gives."""

from pathlib import Path

from kernels.byte_source import BytesSource
from kernels.embedder import load_embedder
from kernels.embedder_file import open_embedder
from kernels.fixture_embedder import make_fixture_embedder

COMMITTED = Path(__file__).parents[2] / "fixtures" / "embedders" / "small_encoder.slm"


def test_making_it_again_gives_the_committed_bytes():
    """On every machine; `write_fixture_embedder` writes it anew where it has to change."""
    assert make_fixture_embedder() == COMMITTED.read_bytes()


def test_different_texts_have_different_vectors():
    """Letters and digits are pieces, so no text of them is unknown."""
    embedder = load_embedder(open_embedder(BytesSource(COMMITTED.read_bytes())))
    assert embedder.tokenizer.unknown_id not in embedder.tokenizer.encode("Tea at 7, friends?", 64)
    assert embedder.embed("tea").tolist() != embedder.embed("ate").tolist()
