"""The Active Memory Log: what was shown, when, and when it is forgotten."""

from py_core.retrieval.injection_ledger import Injection, InjectionLedger


def showing(
    record: str = "a", *, turn: int = 1, talk: str = "main", content: str = "x"
) -> Injection:
    """Build one showing."""
    return Injection(talk, "question", record, content, turn, 100)


def test_a_record_that_was_never_shown_is_unknown():
    """In this conversation: others do not count."""
    ledger = InjectionLedger()
    ledger.note([showing(talk="other")])
    assert ledger.find("main", "question", "a", "x") is None


def test_a_shown_record_is_known_with_its_last_turn():
    """Showings add up, the last one counts."""
    ledger = InjectionLedger()
    ledger.note([showing(turn=1)])
    ledger.note([showing(turn=4)])
    seen = ledger.find("main", "another question", "a", "x")
    assert seen is not None
    assert (seen.last_turn, seen.showings, seen.is_unchanged) == (4, 2, True)
    assert not seen.same_question


def test_a_turn_that_is_made_anew_was_never_shown():
    """Showings of earlier turns stay."""
    ledger = InjectionLedger()
    ledger.note([showing("a", turn=1), showing("b", turn=2)])
    ledger.forget_from("main", 2)
    assert ledger.find("main", "question", "b", "x") is None
    assert ledger.find("main", "question", "a", "x") is not None


def test_a_changed_record_is_news():
    """Its content is compared by hash."""
    ledger = InjectionLedger()
    ledger.note([showing(content="old")])
    seen = ledger.find("main", "question", "a", "new")
    assert seen is not None
    assert not seen.is_unchanged


def test_a_record_is_referred_to_when_it_was_shown_for_this_very_question():
    """Another question gets it in full, a changed record too; the last showing is named."""
    ledger = InjectionLedger()
    ledger.note([showing("a", turn=1), showing("b", turn=2), showing("c", turn=2, content="old")])
    ledger.note([showing("b", turn=3)])
    wanted = [("a", "x"), ("b", "x"), ("c", "new"), ("d", "x")]
    assert ledger.list_references("main", "question", wanted) == {"a": 1, "b": 3}
    assert ledger.list_references("main", "another question", wanted) == {}
    assert ledger.list_references("other", "question", wanted) == {}


def test_a_reset_forgets_the_conversation_and_no_other():
    """Clear forgets all."""
    ledger = InjectionLedger()
    ledger.note([showing(), showing(talk="other")])
    assert ledger.purge("main") == 1
    assert ledger.find("main", "question", "a", "x") is None
    assert ledger.find("other", "question", "a", "x") is not None
    assert ledger.purge() == 1
    assert ledger.rows() == ()
