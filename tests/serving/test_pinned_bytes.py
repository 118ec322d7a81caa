"""A file appears whole and right, or not at all."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.serving.failure import ServingError, WrongBytesError
from py_core.serving.pinned_bytes import Pin, pin_of_bytes, pin_of_file, publish
from tests.serving.small_checkout import ROOT, find_leftovers


@given(chunks=st.lists(st.binary(max_size=50), max_size=8))
def test_what_is_published_is_what_came_in_however_it_was_cut(tmp_path_factory, chunks):
    """The pin of the file is the pin of the chunks joined."""
    target = tmp_path_factory.mktemp("publish") / "file"
    whole = b"".join(chunks)
    assert publish(target, chunks, pin=pin_of_bytes(whole)) == pin_of_bytes(whole)
    assert target.read_bytes() == whole
    assert pin_of_file(target) == pin_of_bytes(whole)


@given(whole=st.binary(min_size=1, max_size=100), data=st.data())
def test_any_flipped_byte_is_refused_and_the_old_file_stays(tmp_path_factory, whole, data):
    """The old content is there until the new one is proven."""
    folder = tmp_path_factory.mktemp("publish")
    target = folder / "file"
    target.write_bytes(b"old")
    at = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(1, 255))
    wrong = whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :]
    with pytest.raises(WrongBytesError):
        publish(target, [wrong], pin=pin_of_bytes(whole))
    assert target.read_bytes() == b"old"
    assert find_leftovers(folder) == []


def test_a_body_without_end_is_cut_at_the_pinned_size(tmp_path):
    """A source that keeps sending cannot fill the disk."""
    sent = 0

    def endless():
        nonlocal sent
        while True:
            sent += 1000
            yield b"x" * 1000

    with pytest.raises(WrongBytesError):
        publish(tmp_path / "file", endless(), pin=Pin(1500, "0" * 64))
    assert sent == 2000


def test_an_interrupt_while_writing_leaves_nothing(tmp_path):
    """Ctrl-C in the middle of a download is no different from an error."""

    def interrupted():
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path / "file", interrupted())
    assert list(tmp_path.iterdir()) == []


PUBLISH = """
import sys
from pathlib import Path
from py_core.serving.failure import ServingError
from py_core.serving.pinned_bytes import publish
try:
    publish(Path(sys.argv[1]), [b"x" * 65536] * 64)
except ServingError as error:
    sys.exit(f"{error}")
"""


def publish_in_child(target: Path, **options) -> subprocess.CompletedProcess[str]:
    """Publish four megabytes in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PUBLISH, str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_a_file_size_limit_is_one_clear_line_and_nothing_is_kept(tmp_path):
    """The system's refusal in the middle of a write is told with the file's name."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    target = tmp_path / "file"
    ended = publish_in_child(target, preexec_fn=limit)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"{target}: expected space")
    assert "File too large" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_line_and_nothing_is_kept(tmp_path):
    """ENOSPC from a real file system of one megabyte."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small file system")
    try:
        ended = publish_in_child(tmp_path / "file")
        assert "No space left on device" in ended.stderr
        assert "Free some disk space" in ended.stderr
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    """A file in the way of a folder is told by its path."""
    (tmp_path / "way").write_bytes(b"")
    with pytest.raises(ServingError, match=r"way: expected a folder"):
        publish(tmp_path / "way" / "file", [b"content"])
