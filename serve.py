"""Prepare what is missing and serve the page: `python serve.py`.

Takes a fresh clone, Python 3.11 and pip; gives the page on loopback. Standard library only. What
it does is in `py_core.serving`; this file is its command line.
"""

import argparse
import contextlib
import os
import sys
import webbrowser
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - said before older Pythons stumble over the imports
    print(
        "serve.py: needs Python 3.11 or newer, this is " + sys.version.split()[0], file=sys.stderr
    )
    sys.exit(2)

from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.failure import ServingError
from py_core.serving.prepare import Places, prepare
from py_core.serving.refresh_assets import are_assets_fresh, write_assets
from py_core.serving.static_server import RunningServer, start

ROOT = Path(__file__).resolve().parent
DEFAULT_PORT = 8017
DEFAULT_MODEL = "smollm2"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks and return the exit code."""
    chosen = read_arguments(arguments)
    try:
        if chosen.write_assets:
            say(write_assets(ROOT))
            return 0
        server = open_site(chosen)
    except ServingError as error:
        print(f"serve.py: {error}", file=sys.stderr)
        return 2
    if server is not None:
        with server, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how serving ends
            if not chosen.no_open:
                webbrowser.open(server.address)
            server.wait()
    return 0


def open_site(chosen: argparse.Namespace) -> RunningServer | None:
    """Prepare everything and start the server, unless only preparation is asked for.

    Raises:
        ServingError: something is missing, wrong, or in the way.
    """
    cache = find_cache_folder(os.environ, sys.platform)
    places = Places(ROOT, cache, os.environ.get("TINYLOOM_CDN"))
    site = prepare(places, chosen.model, report=say, wants_embedder=not chosen.no_embedder)
    if chosen.prepare_only:
        say(f"everything is in place; the cache is {cache}")
        return None
    server = start(site, chosen.host, port=chosen.port)
    if not are_assets_fresh(ROOT, site):
        say("notice: web/assets.json does not list this working tree; the page gets a fresh list")
    if not server.is_loopback:
        say("notice: browsers allow the page's storage and threads on this machine's own name only")
    say(f"Tinyloom is at {server.address}  (Ctrl-C ends it)")
    return server


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Prepare what is missing and serve the page.")
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 = any (%(default)s)")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--prepare-only", action="store_true", help="fetch and verify, then end")
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="{smollm2,fixture,none,PATH}",
        help="which model to offer (%(default)s)",
    )
    parser.add_argument(
        "--no-embedder", action="store_true", help="offer no semantic search, fetch nothing for it"
    )
    parser.add_argument("--write-assets", action="store_true", help="renew web/assets.json")
    return parser.parse_args(arguments)


def say(line: str) -> None:
    """Print a line now, into a pipe too."""
    print(line, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # what shells expect where Ctrl-C cut the work short
