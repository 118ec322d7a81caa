"""A small checkout and a CDN of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving.cdn_stand_in import CdnStandIn
from tests.serving.small_checkout import ALPHA, BETA, SmallCheckout, make_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> SmallCheckout:
    """Build a fresh clone of the small product."""
    return make_checkout(tmp_path)


@pytest.fixture
def cdn() -> Iterator[CdnStandIn]:
    """Start a CDN that has what the lock says it has."""
    with CdnStandIn({"alpha.bin": ALPHA, "beta.wasm": BETA}) as stand_in:
        yield stand_in
