"""Whatever two tabs write, delete, pack and wipe: who opens the memory finds what the rows say."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from py_core.store.edits import Edit, Entry, Restand
from py_core.store.heads import Standing, read_heads
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ledger import Ledger
from py_core.store.ports import Area
from tests.py_core.memory.heads import make_said
from tests.py_core.store.databases import run

PACK_ROWS = 3
TABS = st.integers(0, 1)
NUMBERS = st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True)


class PackMachine(RuleBasedStateMachine):
    """Two ledgers with tiny packs over one store."""

    def __init__(self):
        super().__init__()
        self.database = MemoryDatabase()
        self.tabs = [Ledger(self.database, PACK_ROWS) for _ in range(2)]

    @rule(tab=TABS, numbers=NUMBERS)
    def write(self, tab: int, numbers: list[int]):
        """Records are new, or come back after their deletion."""
        entries = [Entry(make_said(f"m{n}", f"secret word {n}!")) for n in numbers]
        run(self.tabs[tab].apply(lambda _: Edit(entries=tuple(entries))))

    @rule(tab=TABS, numbers=NUMBERS)
    def restand(self, tab: int, numbers: list[int]):
        """Heads change and are packed a second time."""
        changes = tuple(Restand(f"m{n}", Standing.WITHDRAWN, (str(n),)) for n in numbers)
        run(self.tabs[tab].apply(lambda _: Edit(restands=changes)))

    @rule(tab=TABS, number=st.integers(0, 9))
    def erase(self, tab: int, number: int):
        """No byte of an erased text is left in any pack."""
        run(self.tabs[tab].apply(lambda _: Edit(erased=(f"m{number}",))))
        packs = run(self.database.changes_since(Area.PACKS, 0)).rows
        assert not any(f"secret word {number}!" in (row.text or "") for row in packs)

    @rule(tab=TABS)
    def pack(self, tab: int):
        """Either tab may do it."""
        run(self.tabs[tab].pack())

    @rule(tab=TABS)
    def wipe(self, tab: int):
        """Nothing is left."""
        run(self.tabs[tab].wipe())

    @rule(tab=TABS)
    def reload(self, tab: int):
        """A tab begins anew."""
        self.tabs[tab] = Ledger(self.database, PACK_ROWS)

    @invariant()
    def a_new_visit_finds_what_the_rows_say(self):
        """Packs never know better than the heads themselves."""
        rows = run(self.database.changes_since(Area.HEADS, 0)).rows
        heads = read_heads([row.text for row in rows if row.text is not None])
        fresh = Ledger(self.database, PACK_ROWS)
        for ledger in (fresh, *self.tabs):
            run(ledger.refresh())
            assert dict(ledger.heads) == {head.record_id: head for head in heads}


PackMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
test_packs_never_know_better_than_the_heads = PackMachine.TestCase
