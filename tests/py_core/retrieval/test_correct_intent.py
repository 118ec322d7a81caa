"""What the user changes in an intent, view by view."""

from py_core.retrieval.correct_intent import Correction, correct_intent
from py_core.retrieval.intent import Turn, build_intent
from tests.py_core.retrieval.memories import NOW

INTENT = build_intent(Turn("/pin mem-1 Why does src/app.py fail on Atlas?", NOW))


def test_nothing_changed_is_nothing_different():
    """An empty correction is none."""
    assert correct_intent(INTENT, Correction()) == INTENT


def test_other_words_make_all_views_anew():
    """Terms, exact strings and names are those of the new text; pins and scope stay."""
    corrected = correct_intent(INTENT, Correction(text="What did Ann say about web/main.js?"))
    assert corrected.semantic_text == "What did Ann say about web/main.js?"
    assert corrected.names == ("Ann",)
    assert corrected.exact == ("web/main.js",)
    assert "atla" not in corrected.terms
    assert corrected.filters.pins == ("mem-1",)


def test_words_are_added_and_taken_away_by_word_or_by_stem():
    """The page shows stems, a person types words."""
    corrected = correct_intent(
        INTENT, Correction(added=("deployments", "fix-42"), removed=("fail", "src/app.py"))
    )
    assert "deploy" in corrected.terms
    assert "fix-42" in corrected.exact
    assert "src/app.py" not in corrected.exact
    assert "fail" not in corrected.terms
    by_stem = correct_intent(INTENT, Correction(removed=INTENT.terms))
    assert by_stem.terms == ()


def test_scope_task_need_and_pins_are_the_users_to_say():
    """And the page can tell that it was the user."""
    corrected = correct_intent(
        INTENT, Correction(need="off", task="code", project="atlas", pins=("mem-2",))
    )
    assert (corrected.need, corrected.reason) == ("off", "user_correction")
    assert corrected.task == "code"
    assert corrected.filters.project == "atlas"
    assert corrected.filters.pins == ("mem-1", "mem-2")
    cleared = correct_intent(corrected, Correction(project=""))
    assert cleared.filters.project == ""
