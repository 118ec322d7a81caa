"""What a wished change would do: an account for the user and an edit for the ledger.

Takes nothing, gives one type. The same verdict is shown as a preview and committed. Does not know
how it came about.
"""

from dataclasses import dataclass
from typing import Final

from py_core.memory.repair import RepairPlan
from py_core.memory.sensitivity import Finding
from py_core.records.kinds import Record
from py_core.store.edits import Edit

NO_REPAIR: Final = RepairPlan((), ())


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a change does.

    Attributes:
        edit: the barrier commit; everything in it happens at once.
        kept: the records it writes that the user would call memories.
        findings: secrets in the text; their places only.
        contradicts: active records that say another value for the same slot.
        repeats: active records that say the same already.
        erased: records whose text is taken away, versions and products included.
        repair: what is withdrawn with it, and what can be rebuilt afterwards.
    """

    edit: Edit
    kept: tuple[Record, ...] = ()
    findings: tuple[Finding, ...] = ()
    contradicts: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    repair: RepairPlan = NO_REPAIR
