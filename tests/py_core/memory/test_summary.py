"""A summary by rule quotes, names its sources, and says what it left out."""

from py_core.memory.browse import find_raw_sources
from py_core.memory.changes import Stamp
from py_core.memory.model_summary import (
    POLICY,
    accept_summary,
    measure_support,
    write_summary_request,
)
from py_core.memory.summary import SummaryPolicy, find_unsupported, summarise
from tests.py_core.memory.heads import make_heads, make_said, make_summary

STAMP = Stamp("ws-1", "2026-07-10T12:00:00+00:00")


def accept(*arguments, **options):
    """Take what a model wrote, which can be seen."""
    summary = accept_summary(*arguments, **options)
    assert summary is not None
    return summary


def sum_up(*arguments, **options):
    """Summarise records that do say something."""
    summary = summarise(*arguments, **options)
    assert summary is not None
    return summary


RECORDS = [
    make_said("a", "We grow beans in the north bed. Do they need water? They climb on poles."),
    make_said("b", "The north bed gets sun from noon on. My PIN is 4711."),
    make_said("c", "Tomatoes share the south bed with basil since 2024."),
]


def test_every_sentence_of_a_summary_stands_in_a_source():
    """Nothing is added; questions and secrets stay out."""
    summary = sum_up(RECORDS, STAMP)

    assert find_unsupported(summary.text, RECORDS) == ()
    assert "?" not in summary.text
    assert "4711" not in summary.text


def test_the_lineage_names_sources_summariser_policy_and_omissions():
    """Another policy has another hash; what is left out is counted."""
    policy = SummaryPolicy(most_sentences=1)
    summary = sum_up(RECORDS, STAMP, policy)

    assert summary.derived_from == ("a", "b", "c")
    assert (summary.payload.summariser, summary.payload.summariser_version) == ("extractive", "1")
    assert summary.payload.prompt_policy_hash == policy.policy_hash
    assert policy.policy_hash != SummaryPolicy().policy_hash
    assert summary.payload.omissions == ("3 sentences left out", "2 of 3 sources not quoted")
    assert summary.review_status.value == "not_required"


def test_a_summary_stays_within_its_length_in_the_order_of_the_talk():
    """The limit counts characters."""
    summary = sum_up(RECORDS, STAMP, SummaryPolicy(most_chars=90))
    assert len(summary.text) < 90
    assert summary.text == sum_up(RECORDS, STAMP, SummaryPolicy(most_chars=90)).text


def test_records_without_a_statement_have_no_summary():
    """Better none than an empty one."""
    assert summarise([make_said("q", "Is it late?")], STAMP) is None


def test_what_a_model_wrote_is_less_sure_and_loses_its_secrets():
    """Unreviewed, tier 9, with the model's name and the hash of what it was asked."""
    summary = accept(" Beans. My PIN is 4711. ", RECORDS, "smol/1", STAMP, unread=2)

    assert summary.text == "Beans. My PIN is [removed: a password]."
    assert summary.payload.summariser == "smol/1"
    assert summary.payload.prompt_policy_hash == POLICY.policy_hash
    assert summary.derived_from == ("a", "b", "c")
    assert summary.payload.omissions == (
        "a model chose what to leave out",
        "2 of 3 sources share no word with it",
        "2 earlier sources did not fit and were not read",
        "secrets were taken out before the model read",
    )
    assert summary.confidence_ppm < sum_up(RECORDS, STAMP).confidence_ppm
    assert accept_summary(" \n ", RECORDS, "smol/1", STAMP) is None


def test_a_model_is_believed_as_far_as_its_words_stand_in_the_sources():
    """The worked example of the docstring; invented words cost confidence."""
    assert measure_support("beans climb quickly", RECORDS) == 666_666
    true, false = (
        accept(text, RECORDS, "smol/1", STAMP).confidence_ppm
        for text in ("Beans climb on poles.", "Elephants dance in Vienna.")
    )
    assert false < true


def test_a_model_never_reads_a_secret():
    """The notes are blacked out before they are sent to it."""
    request = write_summary_request(RECORDS)
    assert request.startswith(POLICY.request_text)
    assert "3. Tomatoes" in request
    assert "4711" not in request


def test_a_summary_leads_back_to_the_raw_turns():
    """Escalation follows the sources down, through other summaries."""
    heads = make_heads(
        *RECORDS, make_summary("s", "x", ["a", "b"]), make_summary("t", "y", ["s", "c", "gone"])
    )
    assert find_raw_sources(heads, "t") == ("a", "b", "c", "gone")
    assert find_raw_sources(heads, "a") == ()
