"""The committed `web/assets.json` against the working tree.

Takes a checkout; says whether its list is fresh, or writes it anew. The server always gives the
list of the moment, so a stale file harms only those who serve the checkout by other means.
"""

from pathlib import Path

from py_core.serving.pinned_bytes import publish
from py_core.serving.site import Site
from py_core.serving.vendor_lock import read_vendor_lock


def are_assets_fresh(root: Path, site: Site) -> bool:
    """Compare the committed list with the one that the site gives now."""
    path = root / "web" / "assets.json"
    return path.is_file() and path.read_text(encoding="utf-8") == site.assets_text()


def write_assets(root: Path) -> str:
    """Write the list of the checkout and return a line that says so.

    Raises:
        ServingError: the lock or a page file cannot be read, or the list cannot be written.
    """
    web = root / "web"
    site = Site(root, read_vendor_lock(web / "vendor.lock.json"))
    if are_assets_fresh(root, site):
        return "web/assets.json is fresh"
    publish(web / "assets.json", [site.assets_text().encode()])
    return "web/assets.json written"
