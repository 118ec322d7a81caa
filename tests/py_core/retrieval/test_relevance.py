"""What makes a document relevant: each part by a case that only it decides."""

from typing import Any

from py_core.retrieval.relevance import Query, find_relevant
from py_core.retrieval.second_hop import list_followed_terms
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.strength import find_strength
from py_core.retrieval.terms import list_terms
from tests.py_core.retrieval.memories import NOW, make_document, make_index, make_talk

SETTINGS = RelevanceSettings()


def query(text: str, **fields: Any) -> Query:
    """Build a query from words."""
    return Query(tuple(dict.fromkeys(list_terms(text))), **fields)


def order(index, asked: Query, **more) -> list[str]:
    """Give ids, best first."""
    return [hit.document_id for hit in find_relevant(index, asked, SETTINGS, **more).hits]


def test_a_rare_word_counts_more_than_a_frequent_one():
    """BM25's rarity."""
    index = make_index(
        make_document("a", "apple stone"),
        make_document("b", "river stone"),
        make_document("c", "stone"),
    )
    assert order(index, query("apple stone"))[0] == "a"


def test_the_answer_beside_the_question_is_found():
    """A turn without any of the words gets half of its better neighbour."""
    index = make_index(*make_talk("What is your dog called?", "Rex, after a film.", "Nice."))
    hits = find_relevant(index, query("dog called"), SETTINGS).hits
    assert [hit.document_id for hit in hits[:2]] == ["t0", "t1"]
    assert hits[1].lexical_ppm == 0
    assert hits[1].neighbour_ppm > 0


def test_the_thread_that_is_about_it_lifts_its_turns():
    """Equal turns differ by their conversation."""
    index = make_index(
        *make_talk("garden plans", "roses", "that is settled", thread="a"),
        *make_talk("hello", "bye", "that is settled garden", thread="b"),
    )
    hits = {
        hit.document_id: hit for hit in find_relevant(index, query("garden roses"), SETTINGS).hits
    }
    assert hits["a0"].thread_ppm > hits["b2"].thread_ppm


def test_a_named_author_decides_between_equal_words():
    """Only one known name says who spoke; two say nothing."""
    index = make_index(
        make_document("a", "bought a lamp", author="Ann"),
        make_document("b", "bought a lamp", author="Ben"),
    )
    assert order(index, query("lamp", authors=("ben", "paris")))[0] == "b"
    both = find_relevant(index, query("lamp", authors=("ann", "ben")), SETTINGS).hits
    assert all(hit.author_ppm == 0 for hit in both)


def test_a_name_alone_is_no_subject():
    """What the author said about other things is not found by the name of the author."""
    index = make_index(make_document("a", "apple"), make_document("b", "river"))
    assert order(index, query("apple", authors=("user",))) == ["a"]


def test_a_named_time_finds_what_was_said_then():
    """Even without any other word."""
    start = int(NOW.timestamp())
    index = make_index(make_document("a", "apple"))
    assert order(index, query("", times=((start, start + 1),))) == ["a"]
    assert order(index, query("", times=((start + 1, start + 2),))) == []


def test_an_exact_string_beats_similar_ones():
    """fix-42 and fix-41 share all their words but one."""
    index = make_index(
        make_document("a", "branch fix-41 broke branch tests branch"),
        make_document("b", "branch fix-42 waits"),
    )
    assert order(index, query("branch broke", exact=("fix-42",)))[0] == "b"


def test_the_second_hop_finds_what_the_question_does_not_name():
    """It follows the words of the first hits; without texts there is none."""
    texts = {
        "a": "Ann has two hobbies: pottery and swimming",
        "b": "the pottery course begins in May",
        "c": "the council met",
    }
    index = make_index(*(make_document(name, text) for name, text in texts.items()))
    asked = query("hobbies Ann")
    assert order(index, asked) == ["a"]
    assert order(index, asked, read_text=texts.__getitem__) == ["a", "b"]


def test_followed_terms_are_new_rare_and_in_a_fixed_order():
    """Terms of the question are known already."""
    index = make_index(
        make_document("a", "pottery clay"), make_document("b", "clay"), make_document("c", "x")
    )
    followed = list_followed_terms(index, ["x"], [("pottery clay x", 1.0)], 9)
    assert followed == ("potteri", "clay")


def test_a_question_of_foreign_words_has_no_strength():
    """Scores scaled to their largest always look relevant; coverage tells."""
    index = make_index(
        make_document("a", "the travel budget of the project"), make_document("b", "an error")
    )
    foreign = find_relevant(index, query("explain this sql syntax error"), SETTINGS)
    own = find_relevant(index, query("what is the travel budget"), SETTINGS)
    assert find_strength(foreign.coverage_ppm, None) == 0
    assert find_strength(own.coverage_ppm, None) == 1_000_000


def test_a_high_cosine_makes_up_for_unknown_words():
    """Either words or meaning suffices."""
    assert find_strength(0, 600_000) == 1_000_000
    assert find_strength(0, 300_000) == 0
    assert find_strength(300_000, 0) == 500_000
