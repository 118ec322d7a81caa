"""Sources read exactly what is asked, sinks never leave half a file under the final name."""

import hashlib
import io

import pytest

from kernels.byte_source import (
    BytesSource,
    FileSink,
    FileSource,
    HashingSink,
    read_bytes,
    sha256_of,
)
from kernels.errors import ErrorCode, KernelError

DATA = bytes(range(256)) * 10


@pytest.fixture(params=["bytes", "file"])
def source(request, tmp_path):
    """Give the same bytes in memory and in a file."""
    if request.param == "bytes":
        yield BytesSource(DATA)
        return
    path = tmp_path / "data"
    path.write_bytes(DATA)
    with FileSource(path) as opened:
        yield opened


def test_any_range_can_be_read(source):
    """Ranges come in any order and may be empty."""
    assert source.size == len(DATA)
    assert read_bytes(source, 2000, 10) == DATA[2000:2010]
    assert read_bytes(source, 0, 3) == DATA[:3]
    assert read_bytes(source, len(DATA), 0) == b""


@pytest.mark.parametrize(("offset", "length"), [(2559, 2), (-1, 1), (0, 1 << 60)])
def test_a_range_outside_is_refused_before_anything_is_allocated(source, offset, length):
    """2**60 bytes are asked for and none are allocated."""
    with pytest.raises(KernelError) as caught:
        read_bytes(source, offset, length)
    assert caught.value.code == ErrorCode.READ_FAILED


@pytest.mark.parametrize("chunk_bytes", [1, 7, 2560, 1 << 20])
def test_the_hash_does_not_depend_on_the_pieces(source, chunk_bytes):
    """SHA-256 of the whole."""
    assert sha256_of(source, chunk_bytes=chunk_bytes) == hashlib.sha256(DATA).hexdigest()


def test_a_missing_file_is_named(tmp_path):
    """The message names the file and what to do."""
    with pytest.raises(KernelError) as caught:
        FileSource(tmp_path / "absent.slm")
    assert caught.value.code == ErrorCode.READ_FAILED
    assert "absent.slm" in caught.value.message


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path):
    """Instead of giving bytes that are not there."""
    path = tmp_path / "data"
    path.write_bytes(DATA)
    with FileSource(path) as source:
        path.write_bytes(DATA[:100])
        with pytest.raises(KernelError) as caught:
            read_bytes(source, 50, 100)
    assert (caught.value.code, caught.value.offset) == (ErrorCode.READ_FAILED, 100)


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    """Until then the final name does not exist, or still is the old file."""
    path = tmp_path / "out"
    with FileSink(path) as sink:
        sink.write(b"ab")
        sink.write(memoryview(b"cd"))
        assert not path.exists()
    assert path.read_bytes() == b"abcd"
    assert [item.name for item in tmp_path.iterdir()] == ["out"]


def test_an_error_leaves_the_old_file_and_no_part(tmp_path):
    """Nothing half-written."""
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        _fail_while_writing(path)
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["out"]


def _fail_while_writing(path):
    with FileSink(path) as sink:
        sink.write(b"new")
        raise ZeroDivisionError


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    """With a sentence instead of a traceback."""
    with pytest.raises(KernelError) as caught, FileSink(tmp_path / "no" / "out"):
        pass
    assert caught.value.code == ErrorCode.WRITE_FAILED


def test_a_hashing_sink_passes_on_and_counts():
    """The hash is that of what the inner sink got."""
    inner = io.BytesIO()
    sink = HashingSink(inner)
    sink.write(DATA[:100])
    sink.write(DATA[100:])
    assert inner.getvalue() == DATA
    assert (sink.sha256, sink.length_bytes) == (hashlib.sha256(DATA).hexdigest(), len(DATA))
