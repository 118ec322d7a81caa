"""What a WebAssembly module would do to a memory that belongs to somebody else.

Takes the module's bytes. Gives its sections, imports and exports, and the first thing that makes it
unfit to run among Python's objects. Does not run it.
"""

from dataclasses import dataclass

_MAGIC = b"\0asm\1\0\0\0"
_IMPORT, _EXPORT, _START, _ELEMENT, _DATA = 2, 7, 8, 9, 11
_MEMORY = 2
_HAS_MAXIMUM, _IS_SHARED = 1, 2


@dataclass(frozen=True, slots=True)
class ModuleLayout:
    """The parts of a module that matter to its host.

    Attributes:
        sections: ids in file order.
        imports: (module, name, kind) with kind 2 for a memory.
        exports: names.
        is_shared: whether the imported memory is shared.
    """

    sections: tuple[int, ...]
    imports: tuple[tuple[str, str, int], ...]
    exports: tuple[str, ...]
    is_shared: bool

    def find_fault(self) -> str | None:
        """Tell what makes the module unfit, or None."""
        if self.imports != (("env", "memory", _MEMORY),):
            return "it must import one thing only, the memory env.memory"
        if _DATA in self.sections:
            return "it has data segments, which would be written over the host's memory"
        if _ELEMENT in self.sections or _START in self.sections:
            return "it would run or fill tables when it is instantiated"
        if "__stack_pointer" not in self.exports:
            return "its stack cannot be moved to memory of its own"
        return None


def read_layout(module: bytes) -> ModuleLayout:
    """Read a module's sections.

    Raises:
        ValueError: the bytes are no WebAssembly module, or import more than memories.
    """
    if not module.startswith(_MAGIC):
        text = "no WebAssembly module of version 1"
        raise ValueError(text)
    cursor, bodies = _Cursor(module, len(_MAGIC)), dict[int, bytes]()
    while cursor.position < len(module):
        number = cursor.take(1)[0]
        bodies[number] = cursor.take(cursor.number())
    imports, is_shared = _read_imports(bodies.get(_IMPORT, b"\0"))
    return ModuleLayout(
        tuple(bodies), imports, _read_exports(bodies.get(_EXPORT, b"\0")), is_shared
    )


class _Cursor:
    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self.position = position

    def take(self, length: int) -> bytes:
        self.position += length
        return self._data[self.position - length : self.position]

    def number(self) -> int:
        """Read an unsigned number in groups of seven bits, the lowest first."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the high bit says that more follows
                return value
            shift += 7

    def text(self) -> str:
        return self.take(self.number()).decode()


def _read_imports(body: bytes) -> tuple[tuple[tuple[str, str, int], ...], bool]:
    cursor, found, is_shared = _Cursor(body), [], False
    for _ in range(cursor.number()):
        name = (cursor.text(), cursor.text(), cursor.take(1)[0])
        if name[2] != _MEMORY:
            text = f"{name[0]}.{name[1]} is no memory"
            raise ValueError(text)
        flags = cursor.number()
        is_shared = bool(flags & _IS_SHARED)
        cursor.number()
        if flags & _HAS_MAXIMUM:
            cursor.number()
        found.append(name)
    return tuple(found), is_shared


def _read_exports(body: bytes) -> tuple[str, ...]:
    cursor, names = _Cursor(body), []
    for _ in range(cursor.number()):
        names.append(cursor.text())
        cursor.take(1)
        cursor.number()
    return tuple(names)
