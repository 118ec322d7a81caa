"""Reading from a CDN that may be dead, silent or slow."""

import socket

import pytest

from py_core.serving.cdn import Cdn, SourceUnavailableError
from tests.serving.cdn_stand_in import CdnStandIn


def test_the_bytes_of_a_file_arrive_whole(cdn):
    """Chunks add up to the content."""
    source = Cdn(cdn.address)
    assert b"".join(source.read("beta.wasm", 1)) == cdn.contents["beta.wasm"]
    assert source.outage is None


def test_a_silent_cdn_is_noticed_by_its_deadline_and_then_not_asked():
    """The deadline is paid once for a whole run."""
    with CdnStandIn(is_silent=True) as silent:
        source = Cdn(silent.address, deadline_s=0.2)
        for name in ("one", "two", "three"):
            with pytest.raises(SourceUnavailableError, match="no answer"):
                list(source.read(name, 10))
        assert silent.asked == ["one"]


def test_a_refused_connection_is_an_outage():
    """A closed port says so at once."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    source = Cdn(f"http://127.0.0.1:{port}/")
    with pytest.raises(SourceUnavailableError, match="refused"):
        list(source.read("one", 10))
    assert source.outage is not None


def test_a_name_that_cannot_be_resolved_is_an_outage():
    """The reserved ending .invalid never resolves."""
    source = Cdn("http://cdn.invalid/", deadline_s=2)
    with pytest.raises(SourceUnavailableError, match="no answer"):
        list(source.read("one", 10))


def test_a_trickle_below_the_slowest_rate_counts_as_dead(cdn):
    """Bytes keep coming, but too slowly to be worth waiting for."""
    cdn.contents["big"] = bytes(8 << 20)
    source = Cdn(cdn.address, deadline_s=0.0001, slowest_bytes_per_s=10**15)
    with pytest.raises(SourceUnavailableError):
        list(source.read("big", 8 << 20))
    assert source.outage is not None
