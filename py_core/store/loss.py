"""Whether a store is still the one that was written to.

Takes a ledger as it was just read, and what was remembered of it in another place; gives what is
wrong, or nothing. Deleting everything on purpose is no loss. Does not know the other place.
"""

from typing import Literal

from py_core.store.ledger import Ledger

Loss = Literal["emptied", "rolled_back", "replaced"]


def find_loss(ledger: Ledger, known_id: str, known_revision: int) -> Loss | None:
    """Compare.

    Args:
        ledger: the store as it is.
        known_id: the ledger that was seen last; empty for none.
        known_revision: the revision that was seen last; 0 for none.
    """
    if ledger.revision < known_revision:
        return "rolled_back" if ledger.heads else "emptied"
    if known_id and ledger.ledger_id != known_id and ledger.wiped_at <= known_revision:
        return "replaced"
    return None
