"""A summary by rule quotes, names its sources, and says what it left out."""

from py_core.memory.browse import find_raw_sources
from py_core.memory.changes import Stamp
from py_core.memory.summary import (
    SummaryPolicy,
    accept_model_summary,
    find_unsupported,
    summarise,
)
from tests.py_core.memory.heads import make_heads, make_said, make_summary

STAMP = Stamp("ws-1", "2026-07-10T12:00:00+00:00")


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
    """Unreviewed, tier 9, with the model's name in the lineage."""
    summary = accept_model_summary(" Beans. My PIN is 4711. ", RECORDS, "smol/1", STAMP)

    assert summary.text == "Beans. My PIN is [removed: a password]."
    assert summary.payload.summariser == "smol/1"
    assert summary.confidence_ppm < sum_up(RECORDS, STAMP).confidence_ppm


def test_a_summary_leads_back_to_the_raw_turns():
    """Escalation follows the sources down, through other summaries."""
    heads = make_heads(
        *RECORDS, make_summary("s", "x", ["a", "b"]), make_summary("t", "y", ["s", "c", "gone"])
    )
    assert find_raw_sources(heads, "t") == ("a", "b", "c", "gone")
    assert find_raw_sources(heads, "a") == ()
