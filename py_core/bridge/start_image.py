"""What Python does around an image of itself.

Takes nothing; gives text that says whether the image works. The shell calls `prepare` before it
takes the image, `wake` each time that the image has become a running Python, and `rehearse` to see
that it does. Does not know how the image is taken.
"""

import gc
import json
import random  # noqa: TID251 - to renew it for whoever else draws from it

from py_core.bridge import worker_entry
from py_core.bridge.parse_request import parse_request
from py_core.chat.rehearsal import rehearse as rehearse_turn

ENTRY = worker_entry.start
"""Imported here, so that the image holds everything."""

_FIRST_REQUEST = '{"v": 1, "id": 1, "kind": "runtime.facts", "payload": {}}'


def prepare() -> str:
    """Import and fill all that a first turn needs, and drop what it leaves behind."""
    parse_request(_FIRST_REQUEST)
    answer = rehearse()
    gc.collect()
    # What is there now stays: no later collection has to look at it again.
    gc.freeze()
    return answer


def wake() -> None:
    """Renew what must differ from one start to the next."""
    random.seed()


def rehearse() -> str:
    """Answer a small turn; the text is the same in every image that works."""
    return json.dumps(rehearse_turn())
