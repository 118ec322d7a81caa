"""The boundary mark: keyed, repeatable, and in no text."""

from py_core.compiler.boundary import draw_mark
from py_core.compiler.draft import open_draft
from py_core.compiler.pipeline import STEPS
from tests.record_builders import compile_records, make_policy, make_record, make_request, make_turn


def records_with(text: str):
    """Build a turn with one untrusted text."""
    return [
        make_policy(),
        make_turn("ask", "What?", 9),
        make_record("block", "UntrustedContentBlock", text),
    ]


def test_the_mark_depends_on_the_session_key():
    """Who lacks the key cannot tell the mark."""
    marks = {
        compile_records(records_with("Calm."), session={"session_key": key}).boundary.mark
        for key in ("one", "two", "three")
    }
    assert len(marks) == 3


def test_untrusted_text_cannot_choose_the_mark():
    """Any text gives the same mark, unless it holds the mark."""
    assert (
        compile_records(records_with("Calm.")).boundary.mark
        == compile_records(records_with("Other.")).boundary.mark
    )


def test_a_mark_that_occurs_in_a_text_is_drawn_again():
    """The counter goes on until the mark stands nowhere."""
    first = compile_records(records_with("Calm.")).boundary
    second = compile_records(records_with(f"I guess {first.mark}.")).boundary
    assert (first.draws, second.draws) == (1, 2)
    assert first.mark != second.mark


def test_the_mark_changes_with_the_turn():
    """Another time or another request gives another mark."""
    one = compile_records(records_with("Calm."))
    other = compile_records(records_with("Calm."), session={"now": "2026-07-10T12:00:01Z"})
    assert one.boundary.mark != other.boundary.mark


def test_drawing_needs_no_rendering():
    """The mark is known before any cost is counted."""
    request = make_request(records_with("Calm."))
    draft = open_draft(request.records)
    for step in STEPS[:7]:
        draft = step(draft, request)
    assert (
        draw_mark(draft.kept, request).mark == compile_records(records_with("Calm.")).boundary.mark
    )
