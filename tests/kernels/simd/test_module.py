"""The kernel modules are small, built from their source, and harmless to a memory not their own."""

import hashlib
import json
from pathlib import Path

import pytest

from kernels.simd.build import CHECKSUMS, build_module
from kernels.simd.module_bytes import MODULES, SINGLE, THREADS, read_module
from kernels.simd.module_layout import read_layout

LIMIT_BYTES = 48 * 1024


@pytest.mark.parametrize("name", MODULES)
def test_a_module_would_not_touch_memory_when_it_is_instantiated(name: str):
    """No data, no elements, no start function, a stack that can be moved, one imported memory."""
    layout = read_layout(read_module(name))
    assert layout.find_fault() is None
    assert layout.imports == (("env", "memory", 2),)


def test_only_the_module_for_threads_wants_a_shared_memory():
    """The other one must accept the memory of Python, which is not shared."""
    assert not read_layout(read_module(SINGLE)).is_shared
    assert read_layout(read_module(THREADS)).is_shared


@pytest.mark.parametrize("name", MODULES)
def test_a_module_stays_small_and_is_the_one_that_was_listed(name: str):
    """Its sha256 is committed beside it."""
    content = read_module(name)
    assert len(content) < LIMIT_BYTES
    assert json.loads(CHECKSUMS.read_text())[name] == hashlib.sha256(content).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_built_from_its_source_byte_by_byte(name: str, tmp_path: Path):
    """The compiler is pinned, so another machine gets the same bytes."""
    assert build_module(name, tmp_path / name) == read_module(name)


def test_data_segments_are_found():
    """A module with one byte of data: memory import, stack export left out, a data section."""
    imports = bytes([2, 15, 1, 3]) + b"env" + bytes([6]) + b"memory" + bytes([2, 0, 1])
    data = bytes([11, 7, 1, 0, 0x41, 0, 0x0B, 1, 42])
    layout = read_layout(b"\0asm\1\0\0\0" + imports + data)
    fault = layout.find_fault()
    assert fault is not None
    assert "data segments" in fault


def test_what_is_no_module_is_refused():
    """A text, and a module that imports a function."""
    with pytest.raises(ValueError, match="no WebAssembly module"):
        read_layout(b"hello")
    function = bytes([2, 9, 1, 1]) + b"a" + bytes([1]) + b"b" + bytes([0, 0])
    with pytest.raises(ValueError, match="is no memory"):
        read_layout(b"\0asm\1\0\0\0" + function)
