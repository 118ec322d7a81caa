"""A Python without numpy, as most people's is."""

import os
import subprocess
import sys
import venv

import pytest

from tests.serving.small_checkout import MODEL_NAME


@pytest.mark.slow
def test_a_bare_python_gets_its_numpy_in_the_cache_and_converts_to_the_pinned_bytes(
    checkout, cdn, tmp_path
):
    """No package is installed into the user's Python; the second start needs no network."""
    venv.create(tmp_path / "bare", with_pip=True)
    python = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    offline = checkout.environment(cdn.address)
    online = os.environ | {
        "TINYLOOM_CACHE": str(checkout.cache),
        "TINYLOOM_CDN": cdn.address,
        "PIP_FIND_LINKS": str(checkout.wheels),
    }
    command = [python, str(checkout.root / "serve.py"), "--prepare-only"]
    first = subprocess.run(command, env=online, capture_output=True, text=True, check=False)
    if "numpy==2.4.3: expected" in first.stderr:
        pytest.skip(f"numpy cannot be had here: {first.stderr}")
    assert (first.returncode, first.stderr) == (0, "")
    assert (checkout.cache / "models" / MODEL_NAME).exists()
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True
    )
    assert "numpy" not in listed.stdout
    (checkout.cache / "models" / MODEL_NAME).unlink()
    second = subprocess.run(command, env=offline, capture_output=True, text=True, check=False)
    assert (second.returncode, second.stderr) == (0, "")
    assert "numpy" not in second.stdout


def test_a_numpy_that_cannot_be_had_is_one_line_and_exit_code_2(checkout, cdn, tmp_path):
    """The line says that conversion needs it and how to get it."""
    # -S leaves out site-packages, and with them numpy and pip: a Python as bare as can be.
    command = [sys.executable, "-S", str(checkout.root / "serve.py"), "--prepare-only"]
    runtime = checkout.run("--prepare-only", "--model", "none", cdn=cdn.address)
    assert runtime.code == 0
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    ended = subprocess.run(
        [*command, "--model", str(own)],
        env=checkout.environment(cdn.address),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith("serve.py: numpy==2.4.3: expected numpy 2.3 or newer")
    assert "pip install numpy" in line
