"""`python -m kernels generate`: ids as JSON, text as it comes, one line for bad input."""

import json
from pathlib import Path

import pytest

from kernels.__main__ import main
from kernels.byte_source import BytesSource
from kernels.generate_command import chat_prompt_ids, stop_ids
from kernels.manifest import ChatTemplate
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer
from tests.kernels.loaded_decoder import generate_ids, load_decoder

MODELS = Path(__file__).parents[2] / "fixtures" / "models"
PLAIN = MODELS / "tiny_f32.slm"
CHAT = MODELS / "grouped_q8_0.slm"


def generate(capsys, file, *arguments):
    """Run the command and give the parsed JSON."""
    assert main(["generate", str(file), "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def open_fixture(path):
    """Open a fixture with its tokenizer and template."""
    model = open_model(BytesSource(path.read_bytes()))
    template = model.manifest.chat_template if model.manifest else ChatTemplate()
    return model, load_tokenizer(model.tokenizer_section, model.manifest), template


def test_json_gives_the_ids_of_the_decoder(capsys):
    """Prompt ids, output ids, a log probability for each, and the reason."""
    found = generate(capsys, CHAT, "--prompt", "the", "--max-tokens", "9", "--no-stop")
    model, tokenizer, _ = open_fixture(CHAT)
    assert found["prompt_ids"] == tokenizer.encode("the")
    assert found["output_ids"] == generate_ids(load_decoder(model), found["prompt_ids"], 9)
    assert found["text"] == tokenizer.decode(found["output_ids"])
    assert len(found["logprobs"]) == 9
    assert max(found["logprobs"]) < 0
    assert found["finish_reason"] == "length"


def test_without_json_the_text_itself_is_printed(capsys):
    """The streamed pieces are the text of the JSON form, ended by one line end."""
    arguments = ["--prompt", "the", "--max-tokens", "12"]
    expected = generate(capsys, CHAT, *arguments)["text"]
    assert main(["generate", str(CHAT), *arguments]) == 0
    assert capsys.readouterr().out == expected + "\n"


def test_the_byte_tokenizer_begins_with_its_mark(capsys):
    """SLM1: begin mark, then the bytes; the end mark is left off."""
    found = generate(capsys, PLAIN, "--prompt", "ab", "--max-tokens", "1")
    assert found["prompt_ids"] == [256, 97, 98]


def test_generation_ends_at_the_fixture_context_of_16(capsys):
    """Prompt and answer together hold 16 tokens."""
    found = generate(capsys, PLAIN, "--prompt", "abcd", "--max-tokens", "99", "--no-stop")
    assert (len(found["output_ids"]), found["finish_reason"]) == (11, "context")


def test_one_seed_gives_one_text_and_other_seeds_others(capsys):
    """At temperature 2 five seeds do not agree, and each agrees with itself."""
    arguments = ["--prompt", "a", "--max-tokens", "8", "--temperature", "2", "--top-k", "200"]

    def ids(seed):
        return tuple(generate(capsys, PLAIN, *arguments, "--seed", str(seed))["output_ids"])

    first = [ids(seed) for seed in range(5)]
    assert first == [ids(seed) for seed in range(5)]
    assert len(set(first)) == 5


def test_a_chat_turn_is_framed_by_ids():
    """chatml: both turns, then the opening of the answer; 1 starts a turn and 2 ends it."""
    _, tokenizer, template = open_fixture(CHAT)
    encode = tokenizer.encode
    found = chat_prompt_ids(tokenizer, template, "be kind", "hello")
    expected = [1, *encode("system\n"), *encode("be kind"), 2, *encode("\n")]
    expected += [1, *encode("user\n"), *encode("hello"), 2, *encode("\n")]
    assert found == [*expected, 1, *encode("assistant\n")]


def test_the_models_own_system_text_is_used_when_none_is_given():
    """The manifest's default stands in."""
    _, tokenizer, template = open_fixture(CHAT)
    assert chat_prompt_ids(tokenizer, template, "", "x") == chat_prompt_ids(
        tokenizer, template, "Answer briefly.", "x"
    )


def test_a_plain_template_joins_lines_after_the_begin_mark():
    """No roles: system text and message on their own lines."""
    _, tokenizer, template = open_fixture(PLAIN)
    assert template == ChatTemplate()
    found = chat_prompt_ids(tokenizer, template, "s", "u")
    assert found == [256, *b"s\nu"]


def test_any_control_id_ends_the_text_of_a_chat_model():
    """A plain model ends at its end mark only."""
    _, tokenizer, template = open_fixture(CHAT)
    assert stop_ids(tokenizer, template) == {0, 1, 2}
    _, tokenizer, template = open_fixture(PLAIN)
    assert stop_ids(tokenizer, template) == {257}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--prompt", "a" * 15], "prompt_ids"),
        (["--prompt", "a", "--max-tokens", "0"], "max_tokens"),
        (["--prompt", "a", "--temperature", "-1"], "temperature"),
        (["--prompt", "a", "--temperature", "nan"], "temperature"),
        (["--prompt", "a", "--top-k", "0"], "top_k"),
        (["--prompt", "a", "--top-p", "1.5"], "top_p"),
        (["--prompt", "a", "--seed", "-3"], "seed"),
    ],
)
def test_bad_input_ends_with_2_and_one_line_that_names_the_field(capsys, arguments, field):
    """Nothing is printed on standard output."""
    assert main(["generate", str(PLAIN), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert field in shown.err
    assert shown.err.count("\n") == 1


def test_a_file_that_is_no_model_is_named(capsys, tmp_path):
    """One line with the file's own fault."""
    wrong = tmp_path / "notes.slm"
    wrong.write_text("hello, this is not a model at all, and longer than a header" * 4)
    assert main(["generate", str(wrong), "--prompt", "a"]) == 2
    assert "SLM1" in capsys.readouterr().err
