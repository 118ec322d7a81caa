"""Sentences that give orders to a model.

Takes untrusted text, gives its sentences and which of them are orders. Ordinary imperatives
("click the button") pass: only what speaks to the model, of its rules or of secrets is an order.
Does not know records.
"""

import re
from functools import lru_cache

from py_core.compiler.look_alikes import make_skeleton
from py_core.unicode_text import collapse_spaces

_RULES = (
    r"(?:instructions?|prompts?|rules?|polic(?:y|ies)|guidelines?|directions?|orders?|messages?|"
    r"context|constraints?|safety|user|everything|training)"
)
_SECRETS = (
    r"(?:system prompt|hidden prompt|prompt|(?:workspace|session|api|secret|private|access) keys?|"
    r"passwords?|passphrases?|credentials?|secrets?|tokens?|instructions|session state)"
)
# All shapes begin at the same word border, so that a text is tried once for each word.
_SHAPES = "|".join(
    (
        rf"(?:ignore|disregard|forget|override|bypass|overrule)\b.{{0,60}}\b{_RULES}\b",
        rf"(?:reveal|print|show|send|leak|exfiltrate|repeat|output|expose|share|email|post)\b"
        rf".{{0,60}}\b{_SECRETS}\b",
        r"you are (?:now|no longer) [a-z]",
        r"from now on,? "
        r"(?:you|always|never|only|answer|respond|reply|speak|write|act|do|ignore|obey)\b",
        r"(?:act as|pretend (?:to be|you are|that you)|role-?play as)\b",
        r"(?:do not|don't|never) (?:tell|inform|mention|reveal|warn|alert)\b.{0,30}\buser\b",
        r"new (?:system |developer )?(?:instructions?|polic(?:y|ies)|rules?|task)"
        r"\s{0,4}(?:[:-]|&#58;)",
        r"(?:system|developer) (?:prompt|message|instructions?|override)\b",
        r"(?:jailbreak|developer mode|dan mode|do anything now)\b",
        r"(?:assistant|ai model|language model|chatbot|llm)\b,? "
        r"(?:must|should|shall|will now|has to)\b",
        r"(?:i|we) (?:should|must|will|need to) (?:now )?"
        r"(?:comply|obey|ignore|reveal|disregard)\b",
        r"(?:the )?user (?:wants|asked|has asked|told) (?:me|you|us) to\b",
        r"let'?s think step by step\b",
        r"as (?:the|an?) (?:assistant|ai|ai model|language model),? you\b",
    )
)
_ORDERS = re.compile(rf"\b(?:{_SHAPES})", re.ASCII)
_ADDRESS = re.compile(r"\b(?:https?|ftp)://[^\s<>\"']{1,2000}|\bwww\.[^\s<>\"']{1,2000}")
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")
_CACHED_TEXTS = 4_096


@lru_cache(maxsize=_CACHED_TEXTS)
def split_sentences(text: str) -> tuple[str, ...]:
    """Cut a text at sentence ends and line ends; nothing but space is lost."""
    return tuple(part.strip() for part in _SENTENCE_END.split(text) if part.strip())


def is_order(sentence: str) -> bool:
    """Tell whether a sentence speaks to the model instead of stating something."""
    text = collapse_spaces(make_skeleton(sentence)).lower()
    return may_be_order(text) and _ORDERS.search(text) is not None


def may_be_order(lowered: str) -> bool:
    """Tell cheaply whether the pattern is worth trying: every order holds one of these parts."""
    return any(part in lowered for part in _PARTS)


_PARTS = (
    *("ignor", "disregard", "forget", "overrid", "bypass", "overrul", "comply", "obey", "reveal"),
    *("prompt", "password", "passphrase", "credential", "secret", "token", "key", "session state"),
    *("instruction", "polic", "rule", "task", "user", "system", "developer", "assistant"),
    *("you are n", "from now on", "act as", "pretend", "play as", "think step by step"),
    *("jailbreak", "dan mode", "do anything now", "ai model", "language model", "chatbot", "llm"),
    *("as the ai", "as an ai", "as a ai"),
)


def drop_addresses(text: str) -> tuple[str, int]:
    """Replace web addresses by a fixed word; give how many there were."""
    if "://" not in text and "www." not in text:
        return text, 0
    return _ADDRESS.subn("[link]", text)
