"""The list that the service worker keeps."""

import json
from typing import Any

from py_core.serving.asset_list import assets_text, list_assets
from py_core.serving.pinned_bytes import pin_of_bytes
from py_core.serving.refresh_assets import are_assets_fresh, write_assets
from py_core.serving.site import Site
from py_core.serving.vendor_lock import read_vendor_lock
from py_core.serving.wheel import build_wheel
from tests.serving.small_checkout import SmallCheckout


def read_list(checkout: SmallCheckout) -> Any:
    """List the assets of the checkout as it is now."""
    web = checkout.root / "web"
    lock = read_vendor_lock(web / "vendor.lock.json")
    return json.loads(assets_text(list_assets(web, lock, build_wheel(checkout.root))))


def test_the_list_names_page_python_and_runtime_and_nothing_else(checkout):
    """Sorted by path; no model, no service worker, no tool file."""
    (checkout.root / "web" / "tsconfig.json").write_text("{}", encoding="utf-8")
    listed = read_list(checkout)
    assert [(file["path"], file["role"]) for file in listed["files"]] == [
        ("app/main.js", "page"),
        ("index.html", "page"),
        ("vendor/pyodide/alpha.bin", "runtime"),
        ("vendor/pyodide/beta.wasm", "runtime"),
        ("vendor/pyodide/gamma.bin", "runtime"),
        ("vendor/pyodide/pyodide-lock.json", "runtime"),
        ("wheels/tinyloom-0.1.0-py3-none-any.whl", "python"),
    ]


def test_hash_and_size_are_those_of_the_bytes(checkout):
    """The service worker refuses any other bytes."""
    listed = {file["path"]: file for file in read_list(checkout)["files"]}
    pin = pin_of_bytes((checkout.root / "web" / "app" / "main.js").read_bytes())
    assert listed["app/main.js"]["sha256"] == pin.sha256
    assert listed["app/main.js"]["size"] == pin.size


def test_any_change_of_page_or_python_is_another_version(checkout):
    """And the same checkout is always the same version."""
    first = read_list(checkout)["version"]
    assert read_list(checkout)["version"] == first
    (checkout.root / "web" / "app" / "main.js").write_text("export {}; ", encoding="utf-8")
    second = read_list(checkout)["version"]
    (checkout.root / "kernels" / "extra.py").write_text("", encoding="utf-8")
    assert len({first, second, read_list(checkout)["version"]}) == 3


def test_the_runtime_need_not_be_fetched_to_be_listed(checkout):
    """Its pins stand in the lock, so the list can be written on a fresh clone."""
    assert not checkout.vendor.exists()
    assert "written" in write_assets(checkout.root)
    assert "fresh" in write_assets(checkout.root)


def test_a_change_after_writing_makes_the_committed_list_stale(checkout):
    """This is what the check of the repository asks."""
    site = Site(checkout.root, read_vendor_lock(checkout.root / "web" / "vendor.lock.json"))
    assert not are_assets_fresh(checkout.root, site)
    write_assets(checkout.root)
    assert are_assets_fresh(checkout.root, site)
    (checkout.root / "web" / "index.html").write_text("changed", encoding="utf-8")
    assert not are_assets_fresh(checkout.root, site)
