"""Find the browser engines on this machine and, run as a program, install those that are missing.

Takes the machine; gives the path of each engine's program or the reason why it can't be had.
Does not know the page. `TINYLOOM_REQUIRE=chromium,firefox,webkit` turns a missing engine from a
skipped test into a failed one: continuous integration sets it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIRE_VARIABLE = "TINYLOOM_REQUIRE"
INSTALL_DEADLINE_S = 600

# As root a browser refuses its sandbox; the others keep it from calling home during a test.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: how to find it, and the Debian packages that bring it."""

    name: str
    find: Callable[[], Path | None]
    debian_packages: tuple[str, ...]


def find_chromium() -> Path | None:
    """Return Playwright's own Chromium, else one on the path."""
    own = _playwright_chromium()
    if own is not None and own.is_file():
        return own
    return _first_on_path("chromium", "chromium-browser", "google-chrome", "chrome")


def find_firefox() -> Path | None:
    """Return Firefox, if its driver package is installed too."""
    driver = ROOT / "web" / "node_modules" / "puppeteer-core"
    if not driver.is_dir() or shutil.which("node") is None:
        return None
    return _first_on_path("firefox-esr", "firefox")


def find_webkit() -> Path | None:
    """Return WebKitGTK's MiniBrowser, if its driver and a virtual screen are there too."""
    if shutil.which("WebKitWebDriver") is None or shutil.which("Xvfb") is None:
        return None
    found = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
    return found[-1] if found else None


ENGINES: Mapping[str, Engine] = {
    "chromium": Engine("chromium", find_chromium, ("chromium",)),
    "firefox": Engine("firefox", find_firefox, ("firefox-esr",)),
    "webkit": Engine("webkit", find_webkit, ("webkit2gtk-driver", "xvfb")),
}


def is_required(name: str) -> bool:
    """Tell whether this run must fail when the engine is missing."""
    return name in os.environ.get(REQUIRE_VARIABLE, "").split(",")


def explain_missing(engine: Engine) -> str:
    """Return one sentence that says what to install."""
    packages = " ".join(engine.debian_packages)
    return f"No {engine.name} on this machine; install it (on Debian: apt-get install {packages})."


def install(engine: Engine) -> None:
    """Try to bring the engine here: as root with apt, else Playwright's own Chromium."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        _try("apt-get", "update", "-qq")
        _try("apt-get", "install", "-y", "-qq", "--no-install-recommends", *engine.debian_packages)
    elif engine.name == "chromium":
        _try(sys.executable, "-m", "playwright", "install", "chromium")


def main() -> int:
    """Print one line for each engine; return 1 when a required one is missing."""
    is_complete = True
    for engine in ENGINES.values():
        if engine.find() is None:
            install(engine)
        path = engine.find()
        is_complete &= path is not None or not is_required(engine.name)
        sys.stdout.write(f"  {engine.name}: {path or explain_missing(engine)}\n")
    return 0 if is_complete else 1


def _playwright_chromium() -> Path | None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - slow, only needed here

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def _first_on_path(*names: str) -> Path | None:
    found = (shutil.which(name) for name in names)
    return next((Path(path) for path in found if path is not None), None)


def _try(*command: str) -> None:
    # A failed installation is reported by the search that follows it, not here.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(
            command,
            check=False,
            env=environment,
            timeout=INSTALL_DEADLINE_S,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.stdout.write(f"  could not install: {error}\n")


if __name__ == "__main__":
    sys.exit(main())
