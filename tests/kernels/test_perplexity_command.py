"""`python -m kernels perplexity`: figures of a text, one line for bad input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from kernels.__main__ import main
from kernels.byte_source import BytesSource
from kernels.perplexity import perplexity, window_losses
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer
from tests.kernels.loaded_decoder import load_decoder

MODEL = Path(__file__).parents[2] / "fixtures" / "models" / "grouped_q8_0.slm"
TEXT = "The whale, and the man that is in the boat. " * 8


@pytest.fixture
def text_path(tmp_path):
    """A text longer than one context of the model."""
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def expected_losses(window_tokens):
    """Measure without the command."""
    model = open_model(BytesSource(MODEL.read_bytes()))
    ids = load_tokenizer(model.tokenizer_section, model.manifest).encode(TEXT)
    return np.concatenate(list(window_losses(load_decoder(model), ids, window_tokens)))


@pytest.mark.parametrize(("arguments", "window_tokens"), [([], 128), (["--window", "20"], 20)])
def test_json_gives_the_perplexity_of_the_text(capsys, text_path, arguments, window_tokens):
    """In windows as asked, or of the model's own context of 128 tokens where that is shorter."""
    assert main(["perplexity", str(MODEL), "--text", str(text_path), "--json", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    losses = expected_losses(window_tokens)
    assert math.isclose(found["perplexity"], perplexity(losses), abs_tol=1e-3)
    assert (found["predicted_tokens"], found["window_tokens"]) == (len(losses), window_tokens)
    assert math.isclose(found["standard_error"], losses.std() / len(losses) ** 0.5, abs_tol=1e-5)


def test_without_json_one_line_is_printed(capsys, text_path):
    """The same perplexity, for a person."""
    assert main(["perplexity", str(MODEL), "--text", str(text_path)]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"perplexity {perplexity(expected_losses(128)):.3f} ")
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "arguments", "field"),
    [
        (b"", [], "text"),
        (b"a", [], "text"),
        (b"caf\xe9 and more", [], "invalid_utf8"),
        (b"a text", ["--window", "1"], "window"),
    ],
    ids=["empty", "one token", "no UTF-8", "window too short"],
)
def test_bad_input_ends_with_2_and_one_line(capsys, tmp_path, content, arguments, field):
    """Nothing is printed on standard output."""
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    assert main(["perplexity", str(MODEL), "--text", str(path), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert field in shown.err
    assert shown.err.count("\n") == 1


def test_a_text_that_is_not_there_is_named(capsys, tmp_path):
    """One line with the file's name."""
    assert main(["perplexity", str(MODEL), "--text", str(tmp_path / "none.txt")]) == 2
    assert "none.txt" in capsys.readouterr().err
