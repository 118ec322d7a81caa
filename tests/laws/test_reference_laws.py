"""Laws of showing a memory again: what is only named costs less, invents nothing, loses nothing."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.representations import SHOWN_BEFORE
from py_core.unicode_text import WORD, fold_case
from tests.record_builders import compile_records, make_policy, make_record, make_turn

WORDS = ["apple", "river", "stone", "cloud", "lamp", "garden", "meeting", "budget", "harbour"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=2, max_size=40).map(" ".join)
CONTEXTS = st.lists(st.integers(300, 6_000), min_size=2, max_size=4)


def compile_shown(texts, context_tokens, shown):
    """Compile a second turn over memories of which some were shown in the first."""
    records = [
        make_policy(),
        make_turn("ask", "What about it?", 1),
        make_turn("said", "As you know.", 1, role="assistant"),
        make_turn("again", "What about it?", 2),
        *(make_record(f"m{n}", "LongTermMemoryRecord", text) for n, text in enumerate(texts)),
    ]
    return compile_records(
        records,
        capacity={"context_tokens": context_tokens, "max_tokens": 16},
        shown={f"m{n}": "said" for n in shown if n < len(texts)},
    )


@given(st.lists(TEXTS, min_size=1, max_size=8, unique=True), CONTEXTS, st.sets(st.integers(0, 7)))
def test_a_larger_context_of_one_class_keeps_every_memory(texts, contexts, shown):
    """Also while some of them are only named."""
    for low, high in ((300, 1_023), (1_024, 3_071), (3_072, 6_000)):
        plans = [
            compile_shown(texts, context, shown)
            for context in sorted(contexts)
            if low <= context <= high
        ]
        kept = [{node.record_id for node in plan.nodes} for plan in plans]
        assert all(small <= large for small, large in pairwise(kept))


@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), st.sets(st.integers(0, 5)))
def test_a_reference_costs_less_and_says_nothing_of_its_own(texts, shown):
    """Every word of it is the record's name or the fixed template's."""
    full = {node.record_id: node for node in compile_shown(texts, 4_096, ()).nodes}
    for node in compile_shown(texts, 4_096, shown).nodes:
        if node.level == "reference":
            assert node.token_cost < full[node.record_id].token_cost
            words = set(WORD.findall(fold_case(re.sub(r'src="[^"]*"', "", node.text))))
            assert words <= {"record", *SHOWN_BEFORE.split()}
            assert not words & set(WORDS)


@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), st.sets(st.integers(0, 5)))
def test_what_was_shown_before_stays_in(texts, shown):
    """Shrinking makes room and takes none away."""
    without = {node.record_id for node in compile_shown(texts, 600, ()).nodes}
    assert without <= {node.record_id for node in compile_shown(texts, 600, shown).nodes}
