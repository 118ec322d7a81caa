"""The two sides of the border, and the drawing of the error tree, say the same."""

import re
import types
import typing
from pathlib import Path

from pydantic import BaseModel

from py_core import errors, memory_errors
from py_core.bridge import messages
from tests.source_tree import ROOT, WEB

PROTOCOL_FIXTURES = ROOT / "fixtures" / "protocol"
DRAWN_CLASS = re.compile(r"^([\s│├└─]*)(\w+Error)\b\s*(\S*)")


def test_drawing_of_the_error_tree_equals_the_classes():
    """The docstring of py_core.errors shows every class below its parent, leaves with codes."""
    assert memory_errors.StorageLostError.__bases__ == (errors.UserCanFixError,)
    assert _read_drawing(errors.__doc__ or "") == _read_classes(errors.TinyloomError)


def test_request_kinds_are_equal_on_both_sides():
    """Python's models, the page's list and the examples name the same kinds."""
    kinds = _literals_of(messages.PageRequest, "kind")
    assert kinds == _read_script_list("PYTHON_KINDS")
    assert kinds == _example_names("request")


def test_events_are_equal_on_both_sides():
    """Python's models, the page's list and the examples name the same events."""
    events = _literals_of(messages.WorkerEvent, "event")
    assert events == _read_script_list("PYTHON_EVENTS")
    assert events == _example_names("event")


def test_every_request_has_an_example_of_its_reply():
    """Nothing crosses the border without an example; errors share one."""
    assert _example_names("reply") == _example_names("request") | {"error"}


def test_protocol_version_is_equal_on_both_sides():
    """A page and a worker of different versions must notice it."""
    script = (WEB / "app" / "protocol.js").read_text(encoding="utf-8")
    found = re.search(r"PROTOCOL_VERSION = (\d+)", script)
    assert found is not None
    assert int(found.group(1)) == messages.PROTOCOL_VERSION


def _read_drawing(text: str) -> set[tuple[str, str, str]]:
    rows: set[tuple[str, str, str]] = set()
    parents: dict[int, str] = {}
    for line in text.splitlines():
        drawn = DRAWN_CLASS.match(line)
        if drawn is None:
            continue
        depth, name, code = len(drawn[1]), drawn[2], drawn[3]
        parent = next((parents[d] for d in sorted(parents, reverse=True) if d < depth), "")
        parents = {d: known for d, known in parents.items() if d < depth} | {depth: name}
        rows.add((name, parent, code))
    with_children = {parent for _, parent, _ in rows}
    return {(name, parent, "" if name in with_children else code) for name, parent, code in rows}


def _read_classes(root: type[errors.TinyloomError]) -> set[tuple[str, str, str]]:
    rows, waiting = set(), [(root, "")]
    while waiting:
        found, parent = waiting.pop()
        children = found.__subclasses__()
        rows.add((found.__name__, parent, "" if children else found.code))
        waiting += [(child, found.__name__) for child in children]
    return rows


def _literals_of(annotated: object, field: str) -> set[str]:
    union, _ = typing.get_args(annotated)
    members = typing.get_args(union) if isinstance(union, types.UnionType) else (union,)
    found: set[str] = set()
    for member in members:
        assert issubclass(member, BaseModel)
        found |= set(typing.get_args(member.model_fields[field].annotation))
    return found


def _read_script_list(name: str) -> set[str]:
    script = (WEB / "app" / "protocol.js").read_text(encoding="utf-8")
    found = re.search(rf"{name} = Object\.freeze\(\[([^\]]*)\]", script)
    assert found is not None, f"protocol.js has no list {name}"
    return set(re.findall(r"'([^']+)'", found.group(1)))


def _example_names(prefix: str) -> set[str]:
    names = (Path(path.stem).name for path in PROTOCOL_FIXTURES.glob(f"{prefix}.*.json"))
    return {name.removeprefix(f"{prefix}.") for name in names}
