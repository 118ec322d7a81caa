"""The page's wheel: complete, installable, and the same bytes everywhere."""

import base64
import hashlib
import io
import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.serving.stored_zip import write_stored_zip
from py_core.serving.wheel import build_wheel
from tests.serving.small_checkout import ROOT, make_checkout

NAMES = st.text("abcé/._-", min_size=1, max_size=12)


@given(members=st.dictionaries(NAMES, st.binary(max_size=200), max_size=6))
def test_an_archive_gives_back_its_members(members):
    """Python's own reader finds names, contents and checksums as they went in."""
    with zipfile.ZipFile(io.BytesIO(write_stored_zip(members))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == members


@given(members=st.dictionaries(NAMES, st.binary(max_size=20), min_size=2, max_size=6))
def test_an_archive_does_not_depend_on_the_order_of_its_members(members):
    """The same members in any order are the same bytes."""
    turned = dict(reversed(members.items()))
    assert write_stored_zip(members) == write_stored_zip(turned)


def test_the_wheel_holds_both_packages_and_nothing_native():
    """Serving needs sockets and child processes, which the page has not."""
    with zipfile.ZipFile(io.BytesIO(build_wheel(ROOT).content)) as archive:
        names = archive.namelist()
    assert {"py_core/__init__.py", "kernels/__init__.py"} <= set(names)
    assert not [name for name in names if name.startswith("py_core/serving/")]
    assert not [name for name in names if "__pycache__" in name]


def test_every_row_of_the_record_holds(tmp_path):
    """Each member but the record itself is listed once, with its hash and size."""
    with zipfile.ZipFile(io.BytesIO(build_wheel(ROOT).content)) as archive:
        names = archive.namelist()
        record = names[-1]
        assert record.endswith(".dist-info/RECORD")
        rows = [row.split(",") for row in archive.read(record).decode().splitlines()]
        contents = {name: archive.read(name) for name in names}
    assert sorted(name for name, _, _ in rows) == sorted(names)
    for name, digest, size in rows:
        if name == record:
            continue
        expected = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest())
        assert digest == "sha256=" + expected.decode().rstrip("=")
        assert int(size) == len(contents[name])


def test_the_wheel_depends_on_contents_only(tmp_path):
    """Not on dates, permissions, line ends or caches of the checkout."""
    checkout = make_checkout(tmp_path)
    before = build_wheel(checkout.root)
    path = checkout.root / "kernels" / "errors.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    path.chmod(0o755)
    os.utime(path, (1, 1))
    cache = checkout.root / "kernels" / "__pycache__"
    cache.mkdir()
    (cache / "errors.cpython-311.pyc").write_bytes(b"cache")
    assert build_wheel(checkout.root) == before
    path.write_bytes(path.read_bytes() + b"# one more line\n")
    assert build_wheel(checkout.root).content != before.content


@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13", "python3.14"])
def test_every_python_packs_the_same_bytes(name):
    """Whatever zlib and zipfile a Python carries."""
    python = shutil.which(name)
    code = "import hashlib, sys; from pathlib import Path; sys.path.insert(0, '.')\n"
    code += "from py_core.serving.wheel import build_wheel\n"
    code += "print(hashlib.sha256(build_wheel(Path('.')).content).hexdigest())"
    command = [python or name, "-I", "-c", code]
    try:
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{name} is not on this machine")
    expected = hashlib.sha256(build_wheel(ROOT).content).hexdigest()
    assert ended.stdout.strip() == expected


def test_pip_installs_the_wheel_without_a_network(tmp_path):
    """The installer checks the record while unpacking; then the modules can be imported."""
    wheel = build_wheel(ROOT)
    path = tmp_path / wheel.file_name
    path.write_bytes(wheel.content)
    target = tmp_path / "site"
    options = ["--no-index", "--no-deps", "--no-compile", "--target", str(target)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *options, str(path)],
        check=True,
        capture_output=True,
    )
    code = "import kernels.errors, py_core.identity as i; print(i.__file__)"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == str(target / "py_core" / "identity.py")
