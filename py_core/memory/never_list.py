"""What the user never wants suggested again, as slots and hashes of texts.

Takes the ledger's choices, gives a set and back. Holds no text of the user. Does not know
inferences.
"""

import json
from collections.abc import Iterable, Mapping

KEY = "never_suggest"


def read_never_list(choices: Mapping[str, str]) -> frozenset[str]:
    """Give the slots and hashes; none when nothing was ever refused."""
    return frozenset(json.loads(choices.get(KEY, "[]")))


def write_never_list(names: Iterable[str]) -> dict[str, str]:
    """Give the choice to write."""
    return {KEY: json.dumps(sorted(names))}
