"""`python -m kernels convert-embedder`: the container, or one line that says what is wrong."""

import json

import pytest

from kernels.__main__ import main
from kernels.byte_source import FileSource
from kernels.embedder_file import open_embedder
from tests.kernels.gguf_bytes import pack_safetensors
from tests.kernels.small_encoder import CONFIG, VOCABULARY, make_weights

SOURCE = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "vocab_size": CONFIG.vocab_size,
    "hidden_size": CONFIG.hidden_size,
    "num_hidden_layers": CONFIG.layer_count,
    "num_attention_heads": CONFIG.head_count,
    "intermediate_size": CONFIG.ffn_size,
    "max_position_embeddings": CONFIG.max_context,
    "layer_norm_eps": CONFIG.norm_epsilon,
}


@pytest.fixture
def arguments(tmp_path) -> list[str]:
    """The source files of the small encoder, and where the result goes."""
    (tmp_path / "model.safetensors").write_bytes(pack_safetensors(make_weights()))
    (tmp_path / "config.json").write_text(json.dumps(SOURCE))
    (tmp_path / "vocab.txt").write_text(VOCABULARY + "\n")
    names = ("model.safetensors", "config.json", "vocab.txt", "out.slm")
    return ["convert-embedder", *(str(tmp_path / name) for name in names)]


def test_the_container_holds_what_the_source_says(arguments, tmp_path, capsys):
    """Shape and vocabulary; one line names the file."""
    assert main(arguments) == 0
    assert "out.slm" in capsys.readouterr().out
    with FileSource(tmp_path / "out.slm") as source:
        file = open_embedder(source)
    assert file.vocabulary == VOCABULARY
    assert (file.config.hidden_size, file.config.layer_count) == (8, 2)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("config.json", b"{", "unsupported_source"),
        ("config.json", b"{}", "unsupported_source"),
        ("config.json", b"[1]", "unsupported_source"),
        ("config.json", json.dumps(SOURCE | {"hidden_act": "relu"}).encode(), "unsupported_source"),
        ("vocab.txt", b"\xff\xfe", "invalid_utf8"),
        ("vocab.txt", b"a\nb\n", "invalid_tokenizer"),
        ("model.safetensors", b"", "invalid_source"),
        ("model.safetensors", None, "read_failed"),
        ("model.safetensors", pack_safetensors({}), "missing_tensor"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(arguments, tmp_path, capsys, name, content, code):
    """Exit code 2; a half-written file never stands under the final name."""
    path = tmp_path / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(code)
    assert error.count("\n") == 1
    assert not (tmp_path / "out.slm").exists()
