"""`python serve.py` as its users meet it: real processes, exit codes, lines."""

import json
import re
import signal
import socket
import subprocess
import urllib.request
from typing import Any

import pytest

from py_core.serving.convert_model import is_described
from tests.serving.cdn_stand_in import CdnStandIn
from tests.serving.gguf_sample import write_gguf
from tests.serving.small_checkout import (
    ALPHA,
    BETA,
    MODEL_NAME,
    MODEL_SOURCE,
    SmallCheckout,
    find_leftovers,
    snapshot,
)


def read_address(process: subprocess.Popen[str]) -> str:
    """Read lines until the one that says where the page is."""
    return read_start(process)[0]


def read_start(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Give the address of the page and all that was said before it."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        if found := re.match(r"Tinyloom is at (http://\S+)", line):
            return found[1], said
        said += line
    assert process.stderr is not None
    pytest.fail(said + process.stderr.read())


def stop(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Press Ctrl-C; give the exit code and what came on standard error."""
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    return process.returncode, errors


def read_json(address: str) -> Any:
    """Fetch and read JSON."""
    with urllib.request.urlopen(address) as response:
        return json.load(response)


def test_a_fresh_clone_is_prepared_served_and_ended_quietly(checkout, cdn):
    """One command: a line for each file, an address, and no word at Ctrl-C."""
    process = checkout.start("--port", "0", "--no-open", cdn=cdn.address)
    address = read_address(process)
    models = read_json(f"{address}models/index.json")
    assert [model["id"] for model in models] == ["smollm2", "tiny_f32"]
    listed = read_json(f"{address}assets.json")
    for file in listed["files"]:
        with urllib.request.urlopen(address + file["path"]) as response:
            assert len(response.read()) == file["size"]
    assert stop(process) == (0, "")


def test_a_second_start_fetches_nothing_and_says_only_its_address(checkout, cdn):
    """Everything is in place: no request, no file touched."""
    assert checkout.run("--prepare-only", cdn=cdn.address).code == 0
    before = snapshot(checkout.cache) | snapshot(checkout.vendor)
    cdn.asked.clear()
    ended = checkout.run("--prepare-only", cdn=cdn.address)
    assert (ended.code, ended.err) == (0, "")
    assert len(ended.out.splitlines()) == 1
    assert cdn.asked == []
    assert snapshot(checkout.cache) | snapshot(checkout.vendor) == before


def test_two_starts_at_once_share_the_work_and_corrupt_nothing(checkout, cdn):
    """One prepares, the other waits and finds all done."""
    starts = [checkout.start("--prepare-only", cdn=cdn.address) for _ in range(3)]
    ends = [(*start.communicate(), start.returncode) for start in starts]
    assert [code for _, _, code in ends] == [0] * 3, ends
    assert cdn.asked == ["alpha.bin", "beta.wasm"]
    assert sum("converting" in out for out, _, _ in ends) == 1
    assert (checkout.vendor / "pyodide" / "beta.wasm").read_bytes() == BETA
    assert find_leftovers(checkout.root, checkout.cache) == []


def test_a_start_that_was_killed_does_not_block_the_next(checkout):
    """The lock dies with its process, and its half-written files are cleared away."""
    with CdnStandIn(is_silent=True) as silent:
        killed = checkout.start("--prepare-only", cdn=silent.address)
        silent.wait_until_asked()
        killed.kill()
        killed.communicate()
    with CdnStandIn({"alpha.bin": ALPHA, "beta.wasm": BETA}) as cdn:
        assert checkout.run("--prepare-only", cdn=cdn.address).code == 0
    assert find_leftovers(checkout.root, checkout.cache) == []


def test_ctrl_c_while_fetching_ends_quietly_and_leaves_nothing(checkout):
    """No traceback, no part, no child process."""
    with CdnStandIn(is_silent=True) as silent:
        process = checkout.start("--prepare-only", cdn=silent.address)
        silent.wait_until_asked()
        assert stop(process) == (130, "")
    assert find_leftovers(checkout.root, checkout.cache) == []


def test_no_source_at_all_is_one_line_and_exit_code_2(checkout, cdn):
    """File, expected, found, what to do; no traceback."""
    cdn.status = 503
    for wheel in checkout.wheels.iterdir():
        wheel.unlink()
    ended = checkout.run("--prepare-only", cdn=cdn.address)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith("serve.py: pyodide/alpha.bin: expected 5000 bytes with sha256 ")
    assert "answered 503" in line
    assert "start again" in line


def test_a_full_disk_is_one_line_and_exit_code_2(tmp_path_factory, checkout, cdn):
    """A real file system without room: nothing half-written stays."""
    small = tmp_path_factory.mktemp("small")
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small file system")
    try:
        full = SmallCheckout(checkout.root, small, checkout.wheels)
        ended = full.run("--prepare-only", cdn=cdn.address)
        assert ended.code == 2
        (line,) = ended.err.splitlines()
        assert "beta.wasm" in line
        assert "No space left on device" in line
        assert find_leftovers(small, checkout.root) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_cache_that_cannot_be_written_is_one_line_and_exit_code_2(
    tmp_path_factory, checkout, cdn
):
    """A file system that is read-only, even for the owner of the machine."""
    locked = tmp_path_factory.mktemp("locked")
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(locked)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a read-only file system")
    try:
        ended = SmallCheckout(checkout.root, locked / "cache", checkout.wheels).run(
            "--prepare-only", cdn=cdn.address
        )
    finally:
        subprocess.run(["umount", str(locked)], check=True)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith(f"serve.py: {locked / 'cache'}: ")
    assert "Read-only file system" in line
    assert "TINYLOOM_CACHE" in line


def test_a_complete_checkout_starts_without_writing_anywhere(checkout, cdn):
    """Where all is in place, not even the lock file is needed."""
    arguments = ("--prepare-only", "--model", "fixture")
    assert checkout.run(*arguments, cdn=cdn.address).code == 0
    elsewhere = SmallCheckout(checkout.root, checkout.cache / "new", checkout.wheels)
    assert elsewhere.run(*arguments, cdn=cdn.address).code == 0
    assert not elsewhere.cache.exists()


def test_a_taken_port_is_one_line_and_exit_code_2(checkout, cdn):
    """The line says which option helps."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ("--port", port, "--no-open", "--model", "none")
        ended = checkout.run(*arguments, cdn=cdn.address)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith(f"serve.py: 127.0.0.1:{port}: ")
    assert "--port" in line


@pytest.mark.parametrize("name", ["nothing.slm", "smollm3", "folder.gguf"])
def test_a_model_that_is_not_there_is_one_line_and_exit_code_2(name, checkout, cdn):
    """The known names are listed."""
    (checkout.root.parent / "folder.gguf").mkdir()
    arguments = ("--prepare-only", "--model", str(checkout.root.parent / name))
    ended = checkout.run(*arguments, cdn=cdn.address)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert "smollm2, fixture, none" in line


def test_a_model_of_the_users_is_served_as_it_is(checkout, cdn, tmp_path):
    """A .slm file needs no conversion; it comes first, under its own name."""
    own = tmp_path / "own.slm"
    own.write_bytes(MODEL_SOURCE.read_bytes())
    arguments = ("--port", "0", "--no-open", "--model", str(own))
    process = checkout.start(*arguments, cdn=cdn.address)
    models = read_json(f"{read_address(process)}models/index.json")
    stop(process)
    assert [(model["id"], model["file"]) for model in models] == [
        ("file", "own.slm"),
        ("tiny_f32", "tiny_f32.slm"),
    ]
    assert models[0]["manifest"] is None


def test_a_gguf_file_of_the_users_is_converted_once(checkout, cdn, tmp_path):
    """The converted file is kept by the hash of its source and checked by its manifest."""
    own = tmp_path / "own.gguf"
    write_gguf(own)
    arguments = ("--prepare-only", "--model", str(own))
    first = checkout.run(*arguments, cdn=cdn.address)
    assert (first.code, first.err) == (0, "")
    assert "converting" in first.out
    (model,) = (checkout.cache / "models").glob("own-*-q8_0.slm")
    assert is_described(model)
    assert "converting" not in checkout.run(*arguments, cdn=cdn.address).out
    model.write_bytes(model.read_bytes()[:-1])
    assert "converting" in checkout.run(*arguments, cdn=cdn.address).out
    assert is_described(model)


def test_a_model_that_cannot_be_converted_is_one_line_and_exit_code_2(checkout, cdn, tmp_path):
    """The converter's own sentence, with the file's name."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(100))
    ended = checkout.run("--prepare-only", "--model", str(bad), cdn=cdn.address)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith(f"serve.py: {bad}: ")
    assert "Traceback" not in line
    assert list((checkout.cache / "models").iterdir()) == []


def test_a_converter_that_makes_other_bytes_than_pinned_is_refused(checkout, cdn):
    """The converted model is pinned too: a checkout whose parts do not fit says so."""
    path = checkout.root / "web" / "vendor.lock.json"
    lock = json.loads(path.read_bytes())
    lock["models"][0]["converted"]["sha256"] = "0" * 64
    path.write_text(json.dumps(lock), encoding="utf-8")
    ended = checkout.run("--prepare-only", cdn=cdn.address)
    assert ended.code == 2
    assert f"{MODEL_NAME}: expected" in ended.err
    assert list((checkout.cache / "models").iterdir()) == []


def test_a_damaged_converted_model_is_made_again(checkout, cdn):
    """The cache is verified like everything else."""
    assert checkout.run("--prepare-only", cdn=cdn.address).code == 0
    model = checkout.cache / "models" / MODEL_NAME
    whole = model.read_bytes()
    model.write_bytes(whole[:-1])
    ended = checkout.run("--prepare-only", cdn=cdn.address)
    assert (ended.code, ended.err) == (0, "")
    assert model.read_bytes() == whole


def test_without_a_model_the_page_is_offered_none(checkout, cdn):
    """`none` serves no model at all; the user drops a file of their own."""
    process = checkout.start("--port", "0", "--no-open", "--model", "none", cdn=cdn.address)
    assert read_json(f"{read_address(process)}models/index.json") == []
    stop(process)


def test_a_list_older_than_the_working_tree_is_told_and_replaced_in_what_is_served(checkout, cdn):
    """Developers see the page of the moment, and a notice."""
    assert checkout.run("--write-assets", cdn=cdn.address).code == 0
    (checkout.root / "web" / "index.html").write_text("newer", encoding="utf-8")
    process = checkout.start("--port", "0", "--no-open", "--model", "none", cdn=cdn.address)
    address, said = read_start(process)
    served = read_json(f"{address}assets.json")
    stop(process)
    committed = json.loads((checkout.root / "web" / "assets.json").read_bytes())
    assert served["version"] != committed["version"]
    assert "notice: web/assets.json does not list this working tree" in said
