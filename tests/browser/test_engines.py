"""A browser that a machine lacks skips its tests there, and fails them where it is required."""

import pytest

from tests.browser.engines import REQUIRE_VARIABLE, Engine
from tests.browser.profiles import demand_engine

MISSING = Engine("missing", lambda: None, ("some-browser", "its-driver"))


def test_missing_engine_skips_with_what_to_install(monkeypatch: pytest.MonkeyPatch):
    """The reason names the packages."""
    monkeypatch.setenv(REQUIRE_VARIABLE, "chromium")
    with pytest.raises(pytest.skip.Exception, match="some-browser its-driver"):
        demand_engine(MISSING)


def test_missing_engine_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch):
    """Continuous integration cannot lose an engine without notice."""
    monkeypatch.setenv(REQUIRE_VARIABLE, "chromium,missing")
    with pytest.raises(pytest.fail.Exception, match="some-browser its-driver"):
        demand_engine(MISSING)
