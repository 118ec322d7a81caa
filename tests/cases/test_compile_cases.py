"""The worked cases of the specification, each a file with expectations written by hand.

A case is {about, request, expected}; `expected` names only what the case is about. The boundary
mark is written as {mark}, since its digits come from a keyed hash.
"""

import json
from pathlib import Path

import pytest

from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import Plan
from py_core.compiler.request import join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.errors import ContextOverflowError
from py_core.records.read_request import read_request
from tests.record_builders import ids_of, reasons_of

CASES = sorted((Path(__file__).parents[2] / "fixtures" / "compile").glob("*.json"))


def compile_case(path: Path) -> Plan:
    """Compile the request of a fixture."""
    file = read_request(path.read_bytes())
    capacity = file.capacity
    counter, template = make_counter(capacity.counter), make_template(capacity.template)
    return compile_context(join_request(file, counter, template))


def is_part(expected, found) -> bool:
    """Tell whether every named value of the expectation is the found one."""
    return all(found[key] == value for key, value in expected.items())


def check_texts(plan: Plan, expected) -> None:
    """Compare what the model reads."""
    mark = plan.boundary.mark
    if "prompt_text" in expected:
        assert plan.prompt_text == expected["prompt_text"].replace("{mark}", mark)
    for text in expected.get("contains", ()):
        assert text.replace("{mark}", mark) in plan.prompt_text
    for text in expected.get("lacks", ()):
        assert text not in plan.prompt_text


def check_findings(plan: Plan, expected) -> None:
    """Compare what was found on the way."""
    found = plan.model_dump(mode="json")
    for name in ("conflicts", "duplicates", "graph_findings"):
        if name in expected:
            assert len(found[name]) == len(expected[name]), found[name]
            pairs = zip(expected[name], found[name], strict=True)
            assert all(is_part(wanted, given) for wanted, given in pairs), found[name]
    if "routing" in expected:
        assert is_part(expected["routing"], found["routing"])
    if "lanes" in expected:
        assert [[lane.lane, lane.status, lane.candidates] for lane in plan.lanes] == expected[
            "lanes"
        ]


def check_nodes(plan: Plan, expected) -> None:
    """Compare single records."""
    nodes = {node.record_id: node for node in plan.nodes}
    assert {i: nodes[i].level for i in expected.get("levels", {})} == expected.get("levels", {})
    assert {i: nodes[i].tier for i in expected.get("tiers", {})} == expected.get("tiers", {})
    for record_id, flags in expected.get("flags", {}).items():
        assert set(flags) <= set(nodes[record_id].flags)
    for record_id, ids in expected.get("provenance", {}).items():
        assert list(nodes[record_id].provenance) == ids
    superseded = {e.record_id: list(e.superseded_by) for e in plan.exclusions}
    for record_id, ids in expected.get("superseded_by", {}).items():
        assert superseded[record_id] == ids


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_worked_case_comes_out_as_written(path: Path):
    """The specification's worked cases (sections 3, 6, 7, 8 and the packing case studies) hold."""
    expected = json.loads(path.read_text(encoding="utf-8"))["expected"]
    if "error" in expected:
        with pytest.raises(ContextOverflowError) as caught:
            compile_case(path)
        assert is_part(expected["error"], {"code": caught.value.code, **caught.value.details})
        return
    plan = compile_case(path)
    assert reasons_of(plan) == expected["left_out"]
    if "order" in expected:
        assert ids_of(plan) == expected["order"]
    for name in ("memory_status", "generation", "truncation_mode"):
        assert getattr(plan, name) == expected.get(name, getattr(plan, name))
    assert is_part(expected.get("allowance", {}), plan.allowance.model_dump())
    check_texts(plan, expected)
    check_findings(plan, expected)
    check_nodes(plan, expected)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_says_what_it_is_about(path: Path):
    """A reader learns the point of a fixture from the fixture."""
    case = json.loads(path.read_text(encoding="utf-8"))
    assert case["about"].endswith(".")
    assert set(case) == {"about", "request", "expected"}
