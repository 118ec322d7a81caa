"""Secrets are found and named, ordinary lines pass, and no error repeats a secret."""

import string
import traceback
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.memory.number_secrets import has_luhn_check, is_even
from py_core.memory.seed_words import SEED_WORDS
from py_core.memory.sensitivity import redact, require_clean, scan
from py_core.memory_errors import SensitiveTextError
from tests.bench_sensitivity import measure
from tests.secret_samples import MAKERS, list_ordinary_lines, list_secret_lines

# Its rule for addresses of machines finds no secret.
NO_SECRETS = {"Public IP (ipv4)"}


def test_labelled_lines_are_told_apart():
    """At most two in a hundred secrets are missed, and two in a thousand lines give alarm."""
    figures = measure()

    assert (figures["secrets"], figures["ordinary"]) == (200, 500)
    assert figures["misses"] <= 4
    assert figures["false_alarms"] <= 1


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_each_kind_is_found_in_some_carrier(kind):
    """No kind is missed as a whole."""
    assert any(scan(line) for of_kind, line in list_secret_lines() if of_kind == kind)


def test_nothing_that_the_kept_up_rules_find_is_missed():
    """Every shape that detect-secrets knows and finds in the labelled secrets is found here too."""
    plugins = pytest.importorskip("detect_secrets.core.plugins.util")
    base = pytest.importorskip("detect_secrets.plugins.base")
    kinds: dict[str, Any] = plugins.get_mapping_from_secret_type_to_class()
    made = [detector() for name, detector in sorted(kinds.items()) if name not in NO_SECRETS]
    detectors = [detector for detector in made if isinstance(detector, base.RegexBasedDetector)]
    theirs = [
        line
        for _, line in list_secret_lines()
        if any(list(found.analyze_string(row)) for found in detectors for row in line.split("\n"))
    ]
    assert len(theirs) > 60
    assert [line for line in theirs if not scan(line)] == []


def test_a_refusal_names_sorts_and_never_the_secret():
    """Neither message, details nor traceback hold the value."""
    secret = "hunter2-and-more-9"
    with pytest.raises(SensitiveTextError) as refusal:
        require_clean("an ordinary line", f"my password is {secret}")

    shown = "".join(traceback.format_exception(refusal.value)).replace('is {secret}"', "")
    assert secret not in shown
    assert secret not in str(refusal.value.details)
    assert refusal.value.found == "a password"


@pytest.mark.parametrize(("kind", "line"), list_secret_lines()[:48])
def test_what_is_blacked_out_holds_no_secret(kind, line):
    """Redacted text passes the search, and says what was there."""
    clean = redact(line)

    if scan(line):
        assert "[removed: " in clean
    assert scan(clean) == () or kind.startswith("random")


def test_ordinary_lines_are_not_touched():
    """Redacting changes nothing where nothing is found."""
    for line in list_ordinary_lines():
        if not scan(line):
            assert redact(line) == line


@given(st.text(max_size=200))
def test_any_text_is_searched_in_order_and_without_overlap(text):
    """Places lie inside the text, one behind the other."""
    end = 0
    for finding in scan(text):
        assert end <= finding.begin < finding.end <= len(text)
        end = finding.end


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "A1b" * 40_000, "password " * 10_000, "-----BEGIN " * 9_000, "1 " * 50_000],
)
def test_long_texts_are_searched_in_linear_time(text):
    """A hostile text does not make the search run away; a quadratic one would take hours."""
    scan(text)


def test_a_seed_phrase_is_found_in_any_dress():
    """Numbered, on lines, or in capitals; eleven words are none."""
    words = sorted(SEED_WORDS)[:24]
    assert scan(" ".join(f"{n}. {word}" for n, word in enumerate(words, 1)))[0].rule == "bip39"
    assert scan("\n".join(words).upper())[0].rule == "bip39"
    assert not scan(" ".join(words[:11]))


def test_card_numbers_follow_their_check_digit():
    """The worked examples of the docstring, and published test numbers of issuers."""
    assert has_luhn_check("79927398713")
    assert not has_luhn_check("79927398710")
    assert scan("4111 1111 1111 1111")[0].rule == "luhn"
    assert not scan("4111 1111 1111 1112")


def test_random_keys_of_any_length_are_found_and_names_are_not():
    """Chance draws equal characters and rows of letters too; the limits follow the length."""
    rng = np.random.default_rng(11)
    alphabet = list(string.ascii_letters + string.digits)
    keys = ["".join(rng.choice(alphabet, length)) for length in (32, 40, 64, 96) * 50]
    found = [is_even(key) for key in keys]
    assert sum(found) > 0.97 * len(keys)
    assert scan("Remember that HfsfbfroPzG+pOpmTCM9jCkZHj2rKBWdn98nZUF4rKL=")
    assert not is_even("the" * 20)
    assert not scan("see getUserProfileById2AndRefreshTheCacheOfSession9")
