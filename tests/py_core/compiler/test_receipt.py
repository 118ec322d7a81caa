"""The receipt proves how a prompt was made and tells nothing of what was in it."""

import json
from pathlib import Path

import pytest

from py_core.compiler.pipeline import compile_context
from py_core.compiler.receipt import make_receipt
from py_core.compiler.request import join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.compiler.verify_receipt import find_difference
from py_core.errors import ContextOverflowError
from py_core.identity import content_hash
from py_core.records.read_request import read_request
from tests.record_builders import compile_records, make_fact, make_policy, make_record, make_turn

CASES = sorted((Path(__file__).parents[3] / "fixtures" / "compile").glob("*.json"))

SECRET_WORDS = (
    "Zanzibar", "mem-4711", "workspace-nine", "hush-hush-key", "example.invalid", "codename",
    "secret-slot", "source-of-it",
)  # fmt: skip


def records():
    """Build records full of words that must not get out."""
    shared = {"tenant_binding": "workspace-nine", "source": "source-of-it"}
    return [
        {**make_policy("Never mention Zanzibar."), **shared},
        {**make_turn("mem-4711-ask", "Where is Zanzibar?", 9), **shared},
        make_record(
            "mem-4711", "LongTermMemoryRecord", "codename Zanzibar at https://example.invalid/x",
            payload={"facts": [make_fact("secret-slot", "Zanzibar")]}, **shared,
        ),
        make_record(
            "mem-4711-b", "LongTermMemoryRecord", "codename other",
            payload={"facts": [make_fact("secret-slot", "Pemba")]}, **shared,
        ),
        make_record(
            "mem-4711-t", "Tombstone", payload={"is_deleted": True}, supersedes=["mem-4711-b"],
            **shared,
        ),
        make_record("mem-4711-q", "UntrustedContentBlock", "codename quoted", **shared),
        make_record("mem-4711-f", "RetrievalHit", "codename foreign"),
    ]  # fmt: skip


def make(**session):
    """Compile them."""
    given = {"tenant": "workspace-nine", "session_key": "hush-hush-key", **session}
    return compile_records(records(), session=given)


def test_a_receipt_holds_no_content_name_or_secret():
    """No payload, prompt, token, secret, workspace id, record id or address (section 12)."""
    text = make_receipt(make()).model_dump_json()
    assert not [word for word in SECRET_WORDS if word.lower() in text.lower()]
    mark = make().boundary.mark
    assert len(mark) == 8
    assert mark not in text


def test_a_receipt_has_no_field_that_could_hold_text():
    """Every text in it is a hash, a version, a time or a name from a closed list."""
    plan = make()
    texts = {
        value
        for _, value in _walk(make_receipt(plan).model_dump(mode="json"))
        if isinstance(value, str)
    }
    open_texts = {t for t in texts if len(t) != 64 and not t.startswith(("tinyloom-", "2026-"))}
    assert open_texts <= {
        "allowed", "none", "used", "chatml", "policy", "instruction", "note_row", "quoted_row",
        "raw", "key_value", "apply_supersession", "filter_access", "tombstoned", "acted",
        "tenant_mismatch",
    }  # fmt: skip


def test_a_receipt_lists_the_tombstones_that_were_heeded():
    """The hash of the tombstone stands as proof of the deletion (section 9)."""
    plan = make()
    grave = next(e for e in plan.exclusions if e.record_id == "mem-4711-t")
    assert make_receipt(plan).tombstones == (grave.envelope_hash,)


def test_the_plan_hash_covers_everything_but_itself():
    """Whoever has the plan can compute its hash."""
    plan = make()
    body = plan.model_dump(mode="json", exclude={"plan_hash", "prompt_ids"})
    assert content_hash(body) == plan.plan_hash
    assert content_hash(list(plan.prompt_ids)) == plan.prompt_hash


def test_equal_receipts_have_no_difference():
    """Compiling again verifies."""
    assert find_difference(make_receipt(make()), make_receipt(make())) is None


def test_the_first_difference_is_named():
    """A reader learns what changed, not only that something did."""
    one, other = (
        make_receipt(make()),
        make_receipt(make(clearance="secret", now="2026-07-11T00:00:00Z")),
    )
    difference = find_difference(one, other)
    assert difference is not None
    assert difference.field == "compiled_at"
    assert difference.tell().startswith("compiled_at: the receipt states 2026-07-10T12:00:00")


def test_a_changed_record_is_found_by_its_hash():
    """A single letter in one record is another envelope."""
    changed = records()
    changed[2]["payload"]["text"] += "!"
    session = {"tenant": "workspace-nine", "session_key": "hush-hush-key"}
    other = make_receipt(compile_records(changed, session=session))
    difference = find_difference(make_receipt(make()), other)
    assert difference is not None
    assert difference.field.startswith("nodes[")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_worked_case_has_a_receipt_without_its_texts(path: Path):
    """The law holds for all fixtures: no text of three words and more of any record is inside."""
    file = read_request(path.read_bytes())
    capacity = file.capacity
    request = join_request(file, make_counter(capacity.counter), make_template(capacity.template))
    try:
        receipt = make_receipt(compile_context(request)).model_dump_json()
    except ContextOverflowError:
        return
    for record in file.records:
        assert len(record.text) < 12 or record.text not in receipt
        # Ids that are words of our own closed lists cannot be told apart from those.
        has_own_name = any(character.isdigit() for character in record.record_id)
        assert not has_own_name or f'"{record.record_id}"' not in receipt
    assert json.loads(receipt)["receipt_version"] == "tinyloom-receipt/1"


def _walk(value, path=""):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, path)
    else:
        yield path, value
