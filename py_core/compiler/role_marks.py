"""Text that plays a part: role marks, frame tags and boundary marks inside untrusted text.

Takes text from below the trust line, gives it with every such place written so that it can be
read and cannot act. Ordinary text, `a < b` included, passes unchanged. Does not know sentences.

Tokens decide before this does: encoding a text never yields a control id. This step keeps a model
that reads marks by their looks, and our own frames, from being fooled.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from py_core.compiler.look_alikes import make_skeleton

# A mark of any chat template, whole or cut in two by the border of a record.
_ANY_MARK = r"<\|[^|<>\n]{0,64}(?:\|>)?|(?:\|>)"
_BOUNDARY = (
    r"<{1,3}\s{0,4}/?\s{0,4}untrusted[\s_-]{0,4}data[^\n<>]{0,80}>{0,3}|"
    r"untrusted_data_(?:start|end)"
)
_TAG_NAMES = (
    "system|assistant|user|developer|human|tool|function|instructions?|prompt|policy|"
    "im_start|im_end|im_sep|start_of_turn|end_of_turn|bos|eos|s|sys|inst|think|thinking|analysis|"
    "scratchpad|record|records|untrusted[a-z0-9_-]{0,40}|retrieved[a-z0-9_-]{0,40}|message|role"
)
_TAG = rf"<{{1,2}}\s{{0,4}}/?\s{{0,4}}(?:{_TAG_NAMES})\b[^<>\n]{{0,200}}>{{0,2}}"
_BRACKET = r"\[\s{0,4}/?\s{0,4}(?:inst|sys|system|user|assistant|developer|tool)\s{0,4}\]"
_LINE_ROLE = (
    r"(?m:^[ \t>*_#-]{0,12}(?:system|assistant|user|developer|human|ai|tool)"
    r"(?:[ \t]{1,4}(?:prompt|message|instructions?|override|note))?[ \t*_]{0,4}:)"
)
_HEADING = (
    r"(?m:^#{1,6}[ \t]{0,4}(?:system|instructions?|response|assistant|user|input)\b[^\n]{0,40}$)"
)

_ESCAPES = str.maketrans(
    {
        "<": "&lt;",
        ">": "&gt;",
        "|": "&#124;",
        "[": "&#91;",
        "]": "&#93;",
        ":": "&#58;",
        "#": "&#35;",
        "_": "&#95;",
    }
)


def escape_marks(text: str, control_texts: Iterable[str]) -> tuple[str, int]:
    """Escape every mark in a text that NFKC has been through; give how many there were.

    Args:
        text: untrusted text without invisible characters.
        control_texts: what the tokenizer's control tokens look like.
    """
    skeleton = make_skeleton(text)
    controls = tuple(sorted(control_texts))
    if not _may_hold_mark(skeleton, controls):
        return text, 0
    pattern = _pattern(controls)
    parts: list[str] = []
    count, last = 0, 0
    for match in pattern.finditer(skeleton):
        parts += (text[last : match.start()], match[0].translate(_ESCAPES))
        count, last = count + 1, match.end()
    return "".join((*parts, text[last:])), count


def _may_hold_mark(skeleton: str, controls: tuple[str, ...]) -> bool:
    """Tell cheaply whether the pattern is worth trying; most texts hold no such character."""
    return (
        _TRIGGER.search(skeleton) is not None
        or (":" in skeleton and _SPEAKER.search(skeleton) is not None)
        or "untrusted" in skeleton.lower()
        or any(control in skeleton for control in controls)
    )


_TRIGGER = re.compile(r"[<>\[#|]")
_SPEAKER = re.compile(_LINE_ROLE, re.IGNORECASE | re.ASCII)


@lru_cache(maxsize=8)
def _pattern(control_texts: tuple[str, ...]) -> re.Pattern[str]:
    # Blank control texts would match everywhere; single spaces and letters would hit any text.
    controls = [re.escape(text) for text in control_texts if len(text.strip()) > 1]
    shapes = (*controls, _ANY_MARK, _BOUNDARY, _TAG, _BRACKET, _LINE_ROLE, _HEADING)
    return re.compile("|".join(shapes), re.IGNORECASE | re.ASCII)
