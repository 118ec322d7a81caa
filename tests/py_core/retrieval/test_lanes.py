"""Lanes asked through fake ports: every outcome is a value and the turn goes on."""

import asyncio
from itertools import count

from py_core.records.fields import Lane
from py_core.records.request_file import LaneName
from py_core.retrieval.intent import Turn, build_intent
from py_core.retrieval.lanes import Gathered, LaneAnswer, LanePort, gather
from tests.py_core.retrieval.memories import NOW, make_hit

ASKED = build_intent(Turn("what is the current task?", NOW))


class FakePort:
    """Gives a fixed answer, or waits for ever."""

    def __init__(self, answer: LaneAnswer | None) -> None:
        self.answer, self.asked, self.was_cancelled = answer, 0, False

    async def ask(self, _intent: object) -> LaneAnswer:
        """Answer or wait."""
        self.asked += 1
        if self.answer is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.was_cancelled = True
                raise
        assert self.answer is not None
        return self.answer


def answered(*ids: str) -> FakePort:
    """Build a port with records."""
    return FakePort(LaneAnswer("answered", tuple(make_hit(name, name) for name in ids)))


def ask(ports: dict[LaneName, FakePort], intent=ASKED, *, is_bypassed: bool = False) -> Gathered:
    """Ask with a counting clock."""
    ticks = count()
    open_ports: dict[LaneName, LanePort] = dict(ports)
    return asyncio.run(
        gather(open_ports, intent, lambda: float(next(ticks)), is_bypassed=is_bypassed)
    )


def statuses(gathered: Gathered) -> dict[str, str]:
    """Give lane to status."""
    return {report.outcome.lane: report.outcome.status for report in gathered.reports}


def test_each_record_comes_once_and_lanes_that_are_not_connected_are_off():
    """Two lanes may know the same record."""
    gathered = ask({"local": answered("a", "b"), "status": answered("b", "c")})
    assert [record.record_id for record in gathered.records] == ["a", "b", "c"]
    assert statuses(gathered) == {
        "local": "answered",
        "session": "off",
        "current_message": "off",
        "status": "answered",
        "handoff": "off",
    }


def test_a_slow_lane_is_cancelled_and_the_others_count():
    """The status lane has 50 ms, and nobody waits longer."""
    slow = FakePort(None)
    gathered = ask({"local": answered("a"), "status": slow})
    assert statuses(gathered)["status"] == "timed_out"
    assert slow.was_cancelled
    assert [record.record_id for record in gathered.records] == ["a"]


def test_failures_of_a_port_are_its_status():
    """Refused and malformed are values."""
    gathered = ask(
        {"status": FakePort(LaneAnswer("refused")), "handoff": FakePort(LaneAnswer("malformed"))}
    )
    assert statuses(gathered)["status"] == "refused"
    assert statuses(gathered)["handoff"] == "malformed"


def test_an_answer_without_records_is_empty():
    """The page says that the lane was asked."""
    assert statuses(ask({"local": answered()}))["local"] == "empty"


def test_nobody_is_asked_when_memory_is_off_not_needed_or_bypassed():
    """The 16-token model, arithmetic and /no-memory cost no call at all."""
    port = answered("a")
    off = build_intent(Turn("/no-memory what is the current task?", NOW))
    sums = build_intent(Turn("12 * 3", NOW))
    assert set(statuses(ask({"local": port}, off)).values()) == {"off"}
    assert set(statuses(ask({"local": port}, sums)).values()) == {"not_needed"}
    assert set(statuses(ask({"local": port}, is_bypassed=True)).values()) == {"bypassed"}
    assert port.asked == 0


def test_status_only_leaves_the_handoff_lane_alone():
    """The user's command decides which shelves are asked."""
    only = build_intent(Turn("/status-only where are we?", NOW))
    port = answered("a")
    assert only.filters.lanes == (Lane.STATUS,)
    assert statuses(ask({"handoff": port}, only))["handoff"] == "off"
    assert port.asked == 0


def test_a_lane_that_keeps_its_records_on_the_shelf_says_how_many():
    """It has answered though it hands nothing out; an empty shelf is empty."""
    gathered = ask({"local": FakePort(LaneAnswer("answered", on_shelf=7))})
    local = next(r.outcome for r in gathered.reports if r.outcome.lane == "local")
    assert (local.status, local.candidates) == ("answered", 7)
    assert statuses(ask({"local": FakePort(LaneAnswer("answered"))}))["local"] == "empty"
