"""Settings that every test shares: the hypothesis profiles and the order of the files.

Takes the collected tests; gives them cheapest first. Runs inside the browser's Python too, so it
imports nothing of the browsers.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Laws run the same examples on every machine; slow machines must not fail them.
settings.register_profile(
    "fast",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("fast"), max_examples=2000, derandomize=False
)
settings.register_profile("long", settings.get_profile("fast"), max_examples=10_000)
settings.load_profile(os.environ.get("TINYLOOM_HYPOTHESIS", "fast"))


def pytest_configure() -> None:
    """Make sure that Ctrl-C reaches the processes which tests start and end with it.

    A shell starts what it runs in the background deaf to it, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the whole-chain check first and the browsers last.

    Browsers last also because Playwright keeps an event loop running in this thread, which
    `asyncio.run` in a later test would refuse.
    """
    for item in items:
        if "/browser/" in item.path.as_posix():
            item.add_marker("browser")
    items.sort(key=_cost)


def _cost(item: pytest.Item) -> int:
    if item.get_closest_marker("browser") is not None:
        return 2
    return 0 if item.path.name == "test_tiny.py" else 1
