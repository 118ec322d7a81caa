"""Rests come when they are due, by the shell's clock alone."""

import asyncio

import pytest

from py_core.chat.pacing import Pacer, StopSignal, drain_paced
from tests.py_core.fake_host import FakeHost


def count_to(limit, closed):
    """Yield numbers, then return their count; note when closed."""
    try:
        yield from range(limit)
        return limit
    finally:
        closed.append(True)


def drain(limit, *, host, stop=None, on_step=lambda step: None):
    """Drain a counting generator; give its value and whether it was closed."""
    closed: list[bool] = []
    value = asyncio.run(
        drain_paced(count_to(limit, closed), on_step, pacer=Pacer(host), stop=stop or StopSignal())
    )
    return value, bool(closed)


@pytest.mark.parametrize(("tick_ms", "rests"), [(0.0, 0), (1.0, 6), (5.0, 33), (20.0, 100)])
def test_a_rest_is_due_every_15_ms_of_the_clock(tick_ms, rests):
    """100 steps of so many milliseconds each; a rest itself reads the clock once."""
    host = FakeHost(tick_ms=tick_ms)

    assert drain(100, host=host) == (100, True)
    assert host.pauses == rests


def test_a_stop_ends_the_work_at_the_rest_in_which_it_arrives():
    """Not one step more is taken, and the generator is closed."""
    host, stop = FakeHost(tick_ms=20.0), StopSignal()
    steps: list[int] = []
    host.on_pause = lambda: stop.set() if host.pauses == 3 else None

    value, was_closed = drain(100, host=host, stop=stop, on_step=steps.append)

    assert value is None
    assert was_closed
    assert steps == [0, 1, 2]


def test_an_error_of_a_listener_closes_the_generator():
    """No half-run generator is left behind."""

    def fail(step):
        raise KeyError(step)

    closed: list[bool] = []
    with pytest.raises(KeyError):
        asyncio.run(
            drain_paced(count_to(3, closed), fail, pacer=Pacer(FakeHost()), stop=StopSignal())
        )
    assert closed
