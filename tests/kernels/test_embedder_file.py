"""The container of an embedder: round trip, and what is refused."""

import pytest

from kernels.byte_source import BytesSource
from kernels.dtypes import DType
from kernels.embedder_convert import read_config
from kernels.embedder_file import open_embedder, write_embedder
from kernels.errors import KernelError
from tests.kernels.small_encoder import CONFIG, VOCABULARY, Sink, make_bytes, make_weights


def refusal(data: bytes) -> KernelError:
    """Give the error of opening."""
    with pytest.raises(KernelError) as refused:
        open_embedder(BytesSource(data))
    return refused.value


def test_what_is_written_is_read():
    """Configuration, vocabulary and float32 weights come back as they were."""
    file = open_embedder(BytesSource(make_bytes()))
    assert file.vocabulary == VOCABULARY
    assert file.config.layer_count == CONFIG.layer_count
    for name, weights in make_weights().items():
        assert file.read_f32(name).tolist() == weights.tolist()


def test_the_same_weights_give_the_same_bytes():
    """So that the file can be pinned by its hash."""
    assert make_bytes(DType.Q8_0) == make_bytes(DType.Q8_0)


@pytest.mark.parametrize("place", [120, 900, -70])
def test_a_changed_byte_is_refused(place: int):
    """The checksum covers every byte."""
    data = bytearray(make_bytes())
    data[place] ^= 1
    assert refusal(bytes(data)).field == "checksum"


def test_other_files_are_refused_by_name():
    """A text, a cut header and a decoder are told apart from damage."""
    assert refusal(b"hello").name == "invalid_model_magic"
    assert refusal(make_bytes()[:60]).name == "invalid_model_magic"
    decoder = bytearray(make_bytes())
    decoder[12] = 1
    assert refusal(bytes(decoder)).field == "model_type"


def test_a_vocabulary_of_another_size_is_refused():
    """Each id has its piece."""
    with pytest.raises(KernelError) as refused:
        write_embedder(Sink(), CONFIG, "a\nb", make_weights().__getitem__)
    assert refused.value.field == "vocab_size"


def test_another_kind_of_model_is_refused():
    """Only BERT with GELU is known."""
    with pytest.raises(KernelError) as refused:
        read_config('{"model_type": "gpt2", "hidden_act": "gelu"}')
    assert refused.value.field == "model_type"
