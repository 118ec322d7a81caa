"""What a message asks of the memory, by rule: remember, forget what was said, forget a thing.

Takes the user's own message, gives the command in it or none. A question about memory, a memory of
old times and quoted text are no commands. Does not know the ledger.
"""

import re
from dataclasses import dataclass

from py_core.unicode_text import plain_lines


@dataclass(frozen=True, slots=True)
class RememberCommand:
    """Keep this text, as the user said it."""

    text: str


@dataclass(frozen=True, slots=True)
class ForgetLastCommand:
    """Act as if the last message had not been said; it stays in the transcript."""


@dataclass(frozen=True, slots=True)
class ForgetAboutCommand:
    """Delete what is kept about something; which records that is, the user picks."""

    query: str


MemoryCommand = RememberCommand | ForgetLastCommand | ForgetAboutCommand

_POLITE = r"(?:(?:please|ok(?:ay)?|hey|also|and|now),? )*(?:(?:can|could|would) you )?(?:please )?"
_REMEMBER = re.compile(
    rf"{_POLITE}(?:(?:remember|memori[sz]e|don't forget|do not forget|keep in mind|bear in mind)"
    r"(?: this| for (?:later|me|the future))?(?::| that) ?|remember )"
    r"(?P<text>[^?]+?)(?:,? please)?[.!?]*",
    re.IGNORECASE | re.DOTALL,
)
# "Remember when we ..." tells a story, "remember me?" asks.
_NO_MEMORY = re.compile(r"(?:when|how|the time|what|who|where|why|me)\b", re.IGNORECASE)
_LAST = (
    r"(?:what i (?:just )?(?:said|wrote|told you)|my last (?:message|sentence|statement)|"
    r"(?:the|that) last (?:bit|part|thing)(?: i (?:just )?said)?)"
)
_FORGET_LAST = re.compile(
    rf"{_POLITE}(?:(?:forget|ignore|disregard|strike|scratch) (?:about )?{_LAST}"
    r"|forget (?:that|it|this)|scratch that|never ?mind(?: what i said)?)[.!]*",
    re.IGNORECASE,
)
_FORGET_ABOUT = re.compile(
    rf"{_POLITE}(?:forget|delete|erase|remove)(?: (?:everything|all|what)(?: you (?:know|remember|"
    r"have kept))?| the memor(?:y|ies))? (?:about |that |of )(?P<query>[^?]+?)[.!]*",
    re.IGNORECASE | re.DOTALL,
)


def find_command(message: str) -> MemoryCommand | None:
    """Read a message as a command.

    Example:
        "Remember that I prefer tea." asks to keep "I prefer tea".
    """
    text = "\n".join(plain_lines(message)).strip()
    remember = _REMEMBER.fullmatch(text)
    if remember and not _NO_MEMORY.match(remember["text"]):
        return RememberCommand(remember["text"].strip())
    if _FORGET_LAST.fullmatch(text):
        return ForgetLastCommand()
    about = _FORGET_ABOUT.fullmatch(text)
    return ForgetAboutCommand(about["query"].strip()) if about else None
