"""`python -m kernels` answers with exit codes and single lines, never a traceback."""

import json
import subprocess
import sys

import pytest

from kernels.__main__ import main
from tests.kernels.gguf_bytes import pack_gguf
from tests.kernels.slm_bytes import MODELS, read_fixture

GROUPED = str(MODELS / "grouped_q8_0.slm")


def test_convert_writes_the_model_and_says_its_hash(tmp_path, capsys):
    """Exit code 0, one line on standard output."""
    (tmp_path / "in.gguf").write_bytes(pack_gguf())
    out = tmp_path / "out.slm"
    code = main(["convert", str(tmp_path / "in.gguf"), str(out), "--dtype", "q4_0", "--name", "N"])
    manifest = json.loads((tmp_path / "out.slm.json").read_text())
    assert (code, manifest["name"], manifest["dtype"]) == (0, "N", "q4_0")
    assert manifest["sha256"] in capsys.readouterr().out


def test_inspect_prints_every_fact_as_json(capsys):
    """Header, tensors, tokenizer, hash and memory plan."""
    assert main(["inspect", GROUPED, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["header"]["kv_head_count"] == 2
    assert report["tokenizer"]["kind"] == "BPE1"
    assert (report["checksum"], report["parameters"]) == ("verified", 28_512)
    assert len(report["tensors"]) == 20
    assert report["memory"]["kv_bytes_total"] == 2 * 2 * 128 * 2 * 8 * 4


def test_inspect_prints_lines_for_people(capsys):
    """The same facts, one a line."""
    assert main(["inspect", str(MODELS / "tiny_f32.slm")]) == 0
    text = capsys.readouterr().out
    assert "max_context" in text
    assert "layers.0.wq.weight" in text
    assert "manifest               null" in text


def test_fixtures_writes_the_committed_models(tmp_path, capsys):
    """The same command made the committed files."""
    assert main(["fixtures", str(tmp_path)]) == 0
    assert (tmp_path / "tiny_f32.slm").read_bytes() == read_fixture("tiny_f32.slm")
    assert "tiny_f32.slm" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", "absent.slm"], ["read_failed", "absent.slm"]),
        (["inspect", __file__], ["invalid_model_magic", "magic", "byte 0", "SLM1"]),
        (["convert", __file__, "out.slm"], ["invalid_model_magic", "GGUF"]),
        (["convert", GROUPED, "no/out.slm"], ["write_failed", "out.slm"]),
        (["convert", GROUPED, "x.slm", "--block-size", "7"], ["block_size"]),
        (["generate", "absent.slm", "--prompt", "x"], ["read_failed"]),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, arguments, words):
    """The line names the file or the field and what was expected."""
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert all(word in captured.err for word in words)


def test_a_damaged_file_is_named_by_field_and_offset(tmp_path, capsys):
    """Code, field and offset reach the person."""
    path = tmp_path / "bad.slm"
    path.write_bytes(read_fixture()[:60] + b"\0\0\0\0" + read_fixture()[64:])
    assert main(["inspect", str(path)]) == 2
    assert "invalid_header (6) in rms_norm_epsilon at byte 60" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["convert", "x"]])
def test_wrong_arguments_end_with_exit_code_2(arguments, capsys):
    """As every command line does."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "emscripten", reason="the browser has no processes")
def test_a_closed_pipe_is_no_error():
    """`inspect FILE | head -1` ends without a traceback."""
    command = [sys.executable, "-m", "kernels", "inspect", GROUPED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
