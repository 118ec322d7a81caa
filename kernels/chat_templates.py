"""Recognise the frame of a conversation in a model's own template text.

Takes the Jinja text that model files carry. Gives a `ChatTemplate`: ChatML when its two marks
occur, else plain. The text is only searched, never run. Does not know tokens.
"""

import re

from kernels.manifest import ChatTemplate

TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"

_DEFAULT_SYSTEM = re.compile(r"<\|im_start\|>system(?:\n|\\n)([^'{}]*?)<\|im_end\|>")


def read_chat_template(template: str) -> ChatTemplate:
    """Return the frame; the default system text is the literal one of the template, if any."""
    if TURN_START not in template or TURN_END not in template:
        return ChatTemplate()
    found = _DEFAULT_SYSTEM.search(template)
    return ChatTemplate(
        kind="chatml",
        default_system=found.group(1) if found else "",
        turn_start=TURN_START,
        turn_end=TURN_END,
    )
