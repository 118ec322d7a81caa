"""What kind of work a message asks for, and whether that work needs memory.

Takes a message, gives one class by rule. Arithmetic, rewriting, translation and small talk bring
all that they need with them. Whoever points at earlier work ("as we agreed") needs memory whatever
the task. Does not know records.
"""

import re
from dataclasses import dataclass
from typing import Literal

TaskClass = Literal[
    "continuation",
    "architecture",
    "code",
    "fact",
    "summary",
    "transformation",
    "arithmetic",
    "small_talk",
    "general",
]

_IGNORE_CASE = re.IGNORECASE
_POINTS_BACK = re.compile(
    r"\b(?:as we (?:agreed|discussed|decided)|we (?:agreed|discussed|decided|said)|remember|"
    r"last time|earlier|previous(?:ly)?|yesterday|last (?:week|month|night)|my (?:usual|preferred)|"
    r"(?:did|do|have|had) (?:i|we)\b|i (?:told|said|mentioned)|you (?:said|told|mentioned)|"
    r"my|our)\b",
    _IGNORE_CASE,
)
_ARITHMETIC = re.compile(
    r"^\W*(?:(?:what(?:'s| is)|calculate|compute|how much is|solve)\s+)?"
    r"[\d\s.,()%+*/^x\u00d7\u00f7=-]*\d[\d\s.,()%+*/^x\u00d7\u00f7=-]*"
    r"(?:(?:plus|minus|times|divided by|percent of|squared|cubed|mod)\s*[\d\s.,()]*)*[?.!=\s]*$",
    _IGNORE_CASE,
)
_TRANSFORMATION = re.compile(
    r"^\W*(?:please |can you |could you )*(?:rewrite|rephrase|reword|translate|proofread|shorten|"
    r"paraphrase|correct (?:the |this |my )?(?:grammar|spelling|text|sentence)|"
    r"fix (?:the |my )?(?:grammar|spelling)|make (?:this|it|the following) (?:clearer|shorter|"
    r"formal|more)|convert (?:this|the following)|format (?:this|the following)|capitali[sz]e)\b",
    _IGNORE_CASE,
)
_SMALL_TALK = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|thanks?(?: you)?|thank you|bye|"
    r"goodbye|ok(?:ay)?|great|cool|nice|lol|how are you(?: doing)?|what's up|yes|no)"
    r"(?: (?:there|again|so much|very much|a lot|everyone|all|today))*[\s.,!?]*$",
    _IGNORE_CASE,
)
_CONTINUATION = re.compile(
    r"^\W*(?:please )?(?:continue|carry on|go on|keep going|resume)\b|"
    r"\b(?:next steps?|what(?:'s| is) next|where (?:were|are) we|pick up where|"
    r"current (?:task|status|state)|status of|what am i (?:working|doing)|what project am i|"
    r"still (?:blocked|open))\b",
    _IGNORE_CASE,
)
_ARCHITECTURE = re.compile(
    r"\b(?:architecture|design (?:of|decision|choice|doc)|(?:did|have|had) we decide|we decided|"
    r"our decision|trade-?offs?|our approach|why did we|should we|coding standard|roadmap)\b",
    _IGNORE_CASE,
)
_CODE = re.compile(
    r"\b(?:error|exception|traceback|stack ?trace|bug|compiler?|compiles|function|"
    r"syntax|sql|regex|refactor|unit tests?|api|segfault)\b|```|\w+\(\)",
    _IGNORE_CASE,
)
_SUMMARY = re.compile(
    r"\b(?:summari[sz]e|summary|recap|overview|tl;?dr|sum up|list (?:all|everything))\b",
    _IGNORE_CASE,
)
_FACT = re.compile(
    r"^\W*(?:and |so |but )?(?:what|which|who|whom|whose|when|where|how|is|are|was|were|do|does|"
    r"did|has|have|had|can|could|would|will|why)\b|\?\s*$",
    _IGNORE_CASE,
)
_BRINGS_TEXT_CHARS = 24


@dataclass(frozen=True, slots=True)
class Task:
    """The class, and whether memory can help."""

    kind: TaskClass
    needs_memory: bool


def classify(message: str) -> Task:
    """Give the first class whose rule fits.

    Example:
        "What is 17 * 23?" is arithmetic, "Rewrite this paragraph: ..." a transformation; neither
        needs memory.
    """
    if not message.strip():
        return Task("small_talk", needs_memory=False)
    if _ARITHMETIC.match(message):
        return Task("arithmetic", needs_memory=False)
    if _SMALL_TALK.match(message):
        return Task("small_talk", needs_memory=False)
    if _TRANSFORMATION.match(message):
        return Task("transformation", needs_memory=_asks_for_own_ways(message))
    for kind, rule in _RULES:
        if rule.search(message):
            return Task(kind, needs_memory=True)
    return Task("general", needs_memory=True)


_RULES: tuple[tuple[TaskClass, re.Pattern[str]], ...] = (
    ("continuation", _CONTINUATION),
    ("summary", _SUMMARY),
    ("architecture", _ARCHITECTURE),
    ("code", _CODE),
    ("fact", _FACT),
)


def _asks_for_own_ways(message: str) -> bool:
    """Tell whether the order of a rewriting, not its text, points at something said before."""
    order = re.split(r"[:\n]", message, maxsplit=1)[0][:200]
    without_object = re.sub(
        r"\b(?:my|our) (?:text|paragraph|sentence|email|essay|draft)\b", "", order
    )
    return _POINTS_BACK.search(without_object) is not None
