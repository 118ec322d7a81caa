"""Commands to the memory are told from talk about remembering."""

import json

import pytest

from py_core.memory.commands import (
    ForgetAboutCommand,
    ForgetLastCommand,
    RememberCommand,
    find_command,
)
from tests.source_tree import ROOT

CASES = json.loads((ROOT / "fixtures/memory/commands.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("message", "text"), CASES["remember"])
def test_an_explicit_wish_is_read_with_its_text(message, text):
    """What is kept is what the user said, without the command around it."""
    assert find_command(message) == RememberCommand(text)


@pytest.mark.parametrize("message", CASES["forget_last"])
def test_the_last_message_can_be_taken_back(message):
    """A retraction names no record."""
    assert find_command(message) == ForgetLastCommand()


@pytest.mark.parametrize(("message", "query"), CASES["forget_about"])
def test_a_thing_can_be_named_for_deletion(message, query):
    """The user picks the records; the command only searches."""
    assert find_command(message) == ForgetAboutCommand(query)


@pytest.mark.parametrize("message", CASES["none"])
def test_talk_about_memory_is_no_command(message):
    """Nothing durable is written because of a word."""
    assert find_command(message) is None
