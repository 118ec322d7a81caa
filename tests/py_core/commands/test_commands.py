"""The command line: exit codes, one line for what is wrong, and output for people or programs."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from py_core.__main__ import main
from py_core.commands.compile_command import compile_command
from py_core.commands.schema_command import write_schemas
from py_core.commands.verify_command import verify_command
from tests.record_builders import make_request_value, make_turn

ROOT = Path(__file__).parents[3]
CASES = sorted((ROOT / "fixtures" / "compile").glob("*.json"))
CASE = ROOT / "fixtures" / "compile" / "status_leads_over_handoff.json"
OVERFLOW = ROOT / "fixtures" / "compile" / "message_of_2000_overflows.json"


def compile_json(path: Path):
    """Give what `compile --json` prints."""
    return json.loads(compile_command(path.name, path.read_bytes(), as_json=True).output)


def test_json_holds_plan_ids_and_receipt():
    """What programs read."""
    document = compile_json(CASE)
    assert set(document) == {"plan", "prompt_ids", "receipt"}
    assert document["plan"]["plan_hash"] == document["receipt"]["plan_hash"]
    assert len(document["prompt_ids"]) == document["plan"]["allowance"]["prompt_tokens"]


def test_text_tells_what_entered_what_did_not_and_why():
    """What people read: every record of the request is in it."""
    answer = compile_command(CASE.name, CASE.read_bytes())
    assert answer.code == 0
    for part in ("BUDGET", "IN THE PROMPT", "LEFT OUT", "FOUND ON THE WAY", "st-1842", "ho-1730"):
        assert part in answer.output
    assert "conflict on work.current_task: st-1842 against ho-1730" in answer.output


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_fixture_compiles_and_verifies(path: Path):
    """A receipt made now verifies now, from the whole output or alone."""
    answer = compile_command(path.name, path.read_bytes(), as_json=True)
    if path == OVERFLOW:
        assert answer.code == 1
        return
    whole = answer.output.encode()
    alone = json.dumps(json.loads(whole)["receipt"]).encode()
    for receipt in (whole, alone):
        verdict = verify_command(("receipt", receipt), (path.name, path.read_bytes()))
        assert verdict.code == 0
        assert verdict.output.startswith("verified: plan ")


def test_verify_names_the_first_difference():
    """Exit 1 and the field that differs."""
    receipt = json.dumps(compile_json(CASE)["receipt"]).encode()
    changed = json.loads(CASE.read_bytes())
    changed["request"]["capacity"]["max_tokens"] = 64
    verdict = verify_command(("r", receipt), ("q", json.dumps(changed).encode()))
    assert verdict.code == 1
    assert verdict.output.startswith(
        "differs: allowance.output_reserve_tokens: the receipt states 256"
    )


@pytest.mark.parametrize(
    ("receipt", "field"),
    [(b"{}", "receipt_hash"), (b"nonsense", "file"), (b'{"receipt": {"x": 1}}', "receipt.")],
)
def test_a_bad_receipt_is_bad_input(receipt: bytes, field: str):
    """Exit 2 and the path of the field."""
    verdict = verify_command(("r.json", receipt), ("q", CASE.read_bytes()))
    assert verdict.code == 2
    assert verdict.complaint.startswith(f"r.json: {field}")
    assert verdict.complaint.count("\n") == 1


def test_bad_input_is_one_line_with_file_and_field():
    """Exit 2, nothing on standard output."""
    value = json.loads(CASE.read_bytes())
    value["request"]["records"][0]["colour"] = "red"
    answer = compile_command("case.json", json.dumps(value).encode())
    assert (answer.code, answer.output) == (2, "")
    assert answer.complaint == "case.json: request.records[0].colour: expected no such field.\n"


def test_an_overflow_is_a_negative_result_with_its_numbers():
    """Exit 1; the numbers are in the JSON too."""
    answer = compile_command("long.json", OVERFLOW.read_bytes(), as_json=True)
    assert answer.code == 1
    assert json.loads(answer.output)["error"]["details"]["needed"] == 2010
    assert "2010 tokens" in answer.complaint


def test_committed_schemas_are_fresh():
    """`python -m py_core schema fixtures/schema` would change no byte."""
    folder = ROOT / "fixtures" / "schema"
    committed = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    assert committed == write_schemas()


@pytest.mark.skipif(sys.platform == "emscripten", reason="a browser tab has no processes")
def test_the_module_runs_as_a_command(tmp_path: Path):
    """From a shell, in any folder, with the exit codes of the contract."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "py_core", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    made = run("compile", str(CASE), "--json")
    assert made.returncode == 0
    receipt = tmp_path / "receipt.json"
    receipt.write_text(made.stdout, encoding="utf-8")
    assert run("verify", str(receipt), str(CASE)).returncode == 0
    missing = run("compile", str(tmp_path / "none.json"))
    assert missing.returncode == 2
    assert missing.stderr.count("\n") == 1
    assert "none.json: file: " in missing.stderr


MODEL = ROOT / "fixtures" / "models" / "tiny_f32.slm"


def write_request(folder: Path, text: str, context_tokens: int) -> Path:
    """Write a request of one message."""
    value = make_request_value(
        [make_turn("ask", text, 1)], capacity={"context_tokens": context_tokens, "max_tokens": 4}
    )
    path = folder / "request.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_model_file_gives_tokenizer_template_and_identity(tmp_path: Path, capsys):
    """The prompt is counted with the model that will read it."""
    path = write_request(tmp_path, "the", 16)
    assert main(["compile", str(path), "--model", str(MODEL), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert plan["template"] == "plain"
    assert plan["model_identity"] == hashlib.sha256(MODEL.read_bytes()).hexdigest()
    assert plan["tokenizer_identity"] != plan["model_identity"]


@pytest.mark.parametrize(
    ("model", "context", "complaint"),
    [
        (MODEL, 32, "capacity.context_tokens: expected at most 16, the context of the model"),
        (CASE, 16, "magic"),
        (ROOT / "none.slm", 16, "none.slm"),
    ],
)
def test_a_model_that_does_not_do_is_bad_input(model, context, complaint, tmp_path, capsys):
    """Exit 2 and one line, for a wrong context, a wrong file and no file."""
    path = write_request(tmp_path, "the", context)
    assert main(["compile", str(path), "--model", str(model)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert complaint in shown.err
