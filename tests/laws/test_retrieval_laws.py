"""Laws of retrieval: arrival decides nothing, a larger budget keeps all, no word is new."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.claims import read_claims
from py_core.compiler.packing import pack_beginning
from py_core.compiler.representations import pick_sentences, write_facts, write_pairs
from py_core.retrieval.correct_intent import Correction, correct_intent
from py_core.retrieval.document import read_document
from py_core.retrieval.intent import Turn, build_intent
from py_core.retrieval.retrieve import retrieve
from py_core.retrieval.text_index import TextIndex
from py_core.unicode_text import WORD, fold_case
from tests.py_core.retrieval.memories import NOW, make_hit

WORDS = ["apple", "river", "stone", "cloud", "lamp", "garden", "meeting", "budget"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
PROSE = st.text(alphabet=st.sampled_from("ab cd.!?\n=:;-x7é東 "), min_size=1, max_size=80)


@given(st.lists(TEXTS, min_size=1, max_size=12), st.randoms(use_true_random=False), TEXTS)
def test_scores_do_not_depend_on_the_order_of_arrival(texts, shuffler, question):
    """The same records give the same scores to the millionth, in whatever order they came."""
    records = [make_hit(f"r{n}", text) for n, text in enumerate(texts)]
    intent = build_intent(Turn(f"what about {question}?", NOW))

    def score(ordered):
        index = TextIndex()
        index.follow(map(read_document, ordered))
        return retrieve(intent, ordered, index)

    shuffled = list(records)
    shuffler.shuffle(shuffled)
    one, other = score(records), score(shuffled)
    assert dict(one.scores) == dict(other.scores)
    assert {r.record_id for r in one.candidates} == {r.record_id for r in other.candidates}


@given(st.lists(st.integers(1, 40), max_size=20), st.lists(st.integers(0, 200), min_size=2))
def test_a_larger_budget_keeps_all_that_a_smaller_one_held(costs, budgets):
    """Whatever the costs."""
    items = list(enumerate(costs))
    kept = [
        set(pack_beginning(items, budget, lambda item: item[1]).chosen)
        for budget in sorted(budgets)
    ]
    assert all(small <= large for small, large in pairwise(kept))


@given(PROSE)
def test_no_form_of_a_record_has_a_word_that_the_record_has_not(text: str):
    """Facts, pairs and picked sentences are made of the record's own words."""
    own = set(WORD.findall(fold_case(text)))
    claims = read_claims(" ".join(text.split()))
    for form in (write_facts(claims), write_pairs(claims), pick_sentences(text, frozenset(own))):
        words = {part for word in WORD.findall(fold_case(form)) for part in re.split("_", word)}
        assert words <= own | {""}


@given(st.text(max_size=200), st.lists(st.text(max_size=60), max_size=3))
def test_any_message_has_an_intent_and_can_be_corrected(message: str, earlier: list[str]):
    """No text breaks the rules, and what the user says about memory holds."""
    intent = build_intent(Turn(message, NOW, tuple(earlier)))
    assert intent.need in ("needed", "not_needed", "off")
    assert correct_intent(intent, Correction(need="off")).need == "off"
    assert correct_intent(intent, Correction(text="apples")).terms == ("appl",)
    assert intent.identity == build_intent(Turn(message, NOW, tuple(earlier))).identity
