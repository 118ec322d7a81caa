"""All stores behave like one dictionary with a counter, whatever is done to them in any order."""

import tempfile
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from py_core.store.ports import Area, Change, Committed, Erase, Put, Stale
from tests.py_core.store.databases import KINDS, open_database, run

AREAS = (Area.HEADS, Area.RECORDS)
KEYS = st.sampled_from(["a", "b", "c", "ü"])
CHANGES = st.lists(
    st.one_of(
        st.builds(Put, st.sampled_from(AREAS), KEYS, st.text(max_size=5)),
        st.builds(Erase, st.sampled_from(AREAS), KEYS),
    ),
    max_size=4,
)


class StoreMachine(RuleBasedStateMachine):
    """Does the same to every store and to a model, and compares what they answer.

    Attributes:
        runs: what was done and answered in each run, for stores that do not run here.
    """

    runs: ClassVar[list[list[dict[str, Any]]]] = []

    def __init__(self):
        super().__init__()
        self.steps: list[dict[str, Any]] = []
        self.runs.append(self.steps)
        self.folder = tempfile.TemporaryDirectory()
        self.databases = [open_database(kind, Path(self.folder.name)) for kind in KINDS]
        self.rows: dict[tuple[Area, str], tuple[int, str | None]] = {}
        self.revision = 0
        self.wiped_at = 0

    @rule(changes=CHANGES, lag=st.integers(0, 2))
    def commit(self, changes: list[Change], lag: int):
        """A commit on the present revision is made as a whole, one on an older is not."""
        base = self.revision - lag
        outcomes = [run(database.commit(base, changes)) for database in self.databases]
        texts = [(c.area.value, c.key, getattr(c, "text", None)) for c in changes]
        after = {"revision": self.revision + (not lag), "is_committed": not lag}
        self.note("commit", after, base=base, changes=texts)
        if lag:
            assert outcomes == [Stale(self.revision)] * len(KINDS)
            return
        self.revision += 1
        assert outcomes == [Committed(self.revision)] * len(KINDS)
        for change in changes:
            text = change.text if isinstance(change, Put) else None
            self.rows[change.area, change.key] = (self.revision, text)

    @rule()
    def wipe(self):
        """Nothing remains but the counter."""
        self.revision += 1
        self.wiped_at = self.revision
        self.rows.clear()
        for database in self.databases:
            assert run(database.wipe()) == Committed(self.revision)
        self.note("wipe", {"revision": self.revision})

    @rule(area=st.sampled_from(AREAS), lag=st.integers(0, 5))
    def read_what_changed(self, area: Area, lag: int):
        """A tab that lags behind reads just what it missed."""
        since = self.revision - lag
        missed = [
            (key, revision, text)
            for (of_area, key), (revision, text) in sorted(self.rows.items())
            if of_area == area and revision > since
        ]
        answer = {"revision": self.revision, "wiped_at": self.wiped_at, "rows": missed}
        self.note("changes", answer, area=area.value, since=since)
        for database in self.databases:
            delta = run(database.changes_since(area, since))
            assert [(row.key, row.revision, row.text) for row in delta.rows] == missed
            assert (delta.revision, delta.wiped_at) == (self.revision, self.wiped_at)

    @invariant()
    def all_texts_agree(self):
        """What was committed last is what is read."""
        for area in AREAS:
            held = {
                key: text
                for (of_area, key), (_, text) in self.rows.items()
                if of_area == area and text is not None
            }
            keys = ["a", "b", "c", "ü"]
            self.note("read", {"texts": held}, area=area.value, keys=keys)
            for database in self.databases:
                assert run(database.read(area, keys)) == held

    def note(self, what: str, answer: dict[str, Any], **asked: Any):
        """Write down a step as the browser's port takes and answers it."""
        self.steps.append({"do": what, "answer": answer, **asked})

    def teardown(self):
        """Close the file."""
        for database in self.databases:
            if hasattr(database, "close"):
                database.close()
        self.folder.cleanup()


StoreMachine.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
test_stores_agree_with_a_dictionary = StoreMachine.TestCase
