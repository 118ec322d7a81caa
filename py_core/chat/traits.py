"""What a message says of the user that a profile holds as one value.

Takes a text, gives claims. Only these may stand against a memory: "my dog is ill" says nothing
against the dog's name. Does not know records.
"""

from functools import lru_cache

from py_core.compiler.orders import split_sentences
from py_core.memory.claims import read_claims
from py_core.memory.compose import is_profile
from py_core.records.fields import Fact

LONGEST_TEXT_CHARS = 2_000
"""A longer message tells of something; it is no statement about oneself."""


@lru_cache(maxsize=512)
def list_traits(text: str) -> tuple[Fact, ...]:
    """List the traits.

    Example:
        "My favourite colour is green." claims favourite_colour = green.
    """
    if len(text) > LONGEST_TEXT_CHARS:
        return ()
    return tuple(fact for fact in read_claims(text) if not fact.is_list and is_profile([fact]))


def list_slots(text: str) -> tuple[str, ...]:
    """Name the slots of a text's traits."""
    return tuple(dict.fromkeys(fact.slot for fact in list_traits(text)))


def find_statement(text: str, slot: str) -> str:
    """Give the sentence that states a slot; the whole text where no sentence does alone."""
    name = slot.rpartition(".")[2]
    for sentence in split_sentences(text):
        if name in list_slots(sentence):
            return sentence.strip()
    return text
