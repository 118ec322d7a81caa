"""Names and noun phrases in a message, by rule.

Takes a text, gives names (runs of capitalised words that do not merely begin a sentence) and
phrases (runs of words between function words). Does not know what they stand for.
"""

import re

from py_core.retrieval.stop_words import STOP_WORDS

MOST_PHRASES = 32
_LONGEST_PHRASE_WORDS = 5
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f][\w'\u2019-]*|[^\w\s]|\d+")
_SENTENCE_END = frozenset(".!?")
_QUESTION_STARTS = frozenset(
    [
        "tell",
        "give",
        "show",
        "list",
        "find",
        "explain",
        "describe",
        "summarize",
        "write",
        "please",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "remind",
        "compare",
        "continue",
        "rewrite",
        "rephrase",
        "translate",
        "calculate",
        "fix",
        "make",
        "check",
    ]
)


def find_names(text: str) -> tuple[str, ...]:
    """Give capitalised names, each once, in order.

    A capital at the beginning of a sentence tells nothing, unless the word is no common start of
    a question and the next word is capitalised too, or the word stands again inside.

    Example:
        "When did Ann Lee move to Oslo?" gives "Ann Lee" and "Oslo".
    """
    names: dict[str, None] = {}
    run: list[str] = []
    begins = True
    for token in [*_WORD.findall(text), "."]:
        is_name = token[0].isupper() and token.lower() not in STOP_WORDS | {"i"}
        if is_name and begins and token.lower() in _QUESTION_STARTS:
            is_name = False
        if is_name:
            run.append(re.sub("['\u2019]s$", "", token))
        elif run:
            names[" ".join(run)] = None
            run = []
        begins = token in _SENTENCE_END
    return tuple(names)[:MOST_PHRASES]


def find_phrases(text: str) -> tuple[str, ...]:
    """Give runs of content words in lower case, each once, in order.

    Example:
        "what did we decide about the login flow?" gives "decide" and "login flow".
    """
    phrases: dict[str, None] = {}
    run: list[str] = []
    for token in [*_WORD.findall(text.lower()), "."]:
        if token[0].isalpha() and token not in STOP_WORDS and len(run) < _LONGEST_PHRASE_WORDS:
            run.append(token)
        elif run:
            phrases[" ".join(run)] = None
            run = []
    return tuple(phrases)[:MOST_PHRASES]
