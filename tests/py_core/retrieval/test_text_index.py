"""The index follows its documents one by one, and survives being stored or damaged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.retrieval.document import Document, read_document
from py_core.retrieval.index_file import read_index, write_index
from py_core.retrieval.relevance import Query, find_relevant
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.terms import list_terms
from py_core.retrieval.text_index import TextIndex
from tests.py_core.retrieval.memories import make_document, make_hit, make_index, make_talk

SETTINGS = RelevanceSettings()
WORDS = st.sampled_from(["apple", "river", "stone", "cloud", "lamp"])


def found_ids(index: TextIndex, question: str) -> list[str]:
    """Give ids, best first."""
    query = Query(tuple(dict.fromkeys(list_terms(question))))
    return [hit.document_id for hit in find_relevant(index, query, SETTINGS).hits]


def test_an_empty_index_finds_nothing():
    """No document, no answer, no error."""
    assert find_relevant(TextIndex(), Query(("a",)), SETTINGS).hits == ()


def test_a_question_of_stop_words_finds_nothing():
    """There is nothing to look for."""
    index = make_index(make_document("a", "the apple"))
    assert found_ids(index, "what is it to be of the") == []


def test_a_changed_text_is_found_by_its_new_words_only():
    """A new version takes the old one's place."""
    index = make_index(make_document("a", "apple"), make_document("b", "river"))
    assert index.put(make_document("a", "stone")) is True
    assert found_ids(index, "apple") == []
    assert found_ids(index, "stone") == ["a"]


def test_the_same_document_again_changes_nothing():
    """So that following a store costs only what is new."""
    document = make_document("a", "apple")
    index = make_index(document)
    assert index.put(document) is False
    assert index.follow([document]) == 0


def test_following_lets_go_of_what_is_no_longer_there():
    """A deleted record is not found, not even as a neighbour."""
    talk = make_talk("apple", "river", "stone")
    index = make_index(*talk)
    assert index.follow([talk[0], talk[2]]) == 1
    assert "t1" not in index
    assert found_ids(index, "apple") == ["t0", "t2"]


def test_many_deletions_leave_a_small_index():
    """The dead are forgotten once they outnumber the living."""
    index = make_index(*(make_document(f"d{n}", f"word{n} apple") for n in range(900)))
    for number in range(880):
        index.discard(f"d{number}")
    assert len(index.entries) < 400
    assert found_ids(index, "word899")[0] == "d899"
    assert found_ids(index, "word3") == []


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.none() | WORDS), max_size=30))
def test_any_history_ends_in_the_index_of_what_is_left(history: list[tuple[str, str | None]]):
    """Incremental equals built anew, for every question."""
    index = TextIndex()
    left: dict[str, Document] = {}
    for name, word in history:
        if word is None:
            index.discard(name)
            left.pop(name, None)
        else:
            left[name] = make_document(name, word)
            index.put(left[name])
    fresh = make_index(*(left[name] for name in sorted(left)))
    for word in ("apple", "river", "stone", "cloud", "lamp"):
        assert sorted(found_ids(index, word)) == sorted(found_ids(fresh, word))


def test_a_stored_index_is_the_same_index():
    """All scores survive."""
    index = make_index(*make_talk("an apple", "and a river", "東京 stone"))
    again = read_index(write_index(index))
    assert again.damage is None
    query = Query(("appl", "東京"))
    assert find_relevant(again.index, query, SETTINGS) == find_relevant(index, query, SETTINGS)


def test_every_damage_is_named_and_gives_an_empty_index():
    """The caller builds anew; nothing is repaired."""
    data = write_index(make_index(make_document("a", "apple")))
    head, _, body = data.partition(b"\n")
    fields = json.loads(head)

    def with_head(**changes: str) -> bytes:
        return json.dumps({**fields, **changes}).encode() + b"\n" + body

    damages = {
        b"": "not_json",
        b"[1]\n": "other_version",
        with_head(format="tinyloom-index/0"): "other_version",
        with_head(terms="older"): "other_terms",
        data[:-3]: "checksum",
        data.replace(b"a", b"b"): None,
    }
    for bad, damage in damages.items():
        loaded = read_index(bad)
        assert loaded.damage is not None
        assert damage is None or loaded.damage == damage
        assert len(loaded.index) == 0


def test_turns_know_their_neighbours_and_other_records_have_none():
    """Two facts remembered one after the other need not belong together."""
    index = make_index(*make_talk("apple", "yes indeed"), make_document("x", "no"))
    assert found_ids(index, "apple") == ["t0", "t1"]
    hit = read_document(make_hit("h", "text", facts=()))
    assert hit.thread == ""


@pytest.mark.parametrize("text", ["\u05db\u05dc\u05d1", "\u6771\u4eac", "naïve", "x" * 1_000_000])
def test_any_script_and_any_length_can_be_found(text: str):
    """Right-to-left, CJK, accents, and a megabyte in one word."""
    index = make_index(make_document("a", text), make_document("b", "apple"))
    assert found_ids(index, text[:64_000]) in (["a"], [])
    assert len(index) == 2


def test_a_record_of_a_megabyte_is_found_by_its_beginning():
    """Long texts are indexed as far as they are read."""
    index = make_index(make_document("a", "apple " + "river " * 200_000))
    assert found_ids(index, "apple") == ["a"]
