"""Prepare what is missing and serve the page: `python serve.py`.

Takes a fresh clone, Python 3.11 and pip; gives a page on loopback. Standard library only: what it
does is in `py_core.serving`, this file is its command line.
"""

import argparse
import os
import sys
import webbrowser
from pathlib import Path

ROOT = Path(__file__).resolve().parent
DEFAULT_PORT = 8017

if sys.version_info < (3, 11):  # noqa: UP036 - said in words, before any newer syntax is read
    sys.exit("serve.py: needs Python 3.11 or newer.")


def main() -> int:
    """Prepare, serve, and return the exit code."""
    from py_core.serving.cache_folder import find_cache_folder
    from py_core.serving.failure import ServingError
    from py_core.serving.prepare import Places, prepare
    from py_core.serving.static_server import start

    chosen = read_arguments()
    cache = find_cache_folder(os.environ, sys.platform)
    places = Places(ROOT, cache, os.environ.get("TINYLOOM_CDN"))
    try:
        site = prepare(places, report=say)
        if chosen.write_assets:
            (ROOT / "web" / "assets.json").write_text(site.assets_text(), encoding="utf-8")
            return 0
        if chosen.prepare_only:
            return 0
        server = start(site, chosen.host, port=chosen.port)
    except ServingError as error:
        print(f"serve.py: {error}", file=sys.stderr)
        return 2
    with server:
        say(f"Tinyloom is at {server.address} (Ctrl-C ends it)")
        if not chosen.no_open:
            webbrowser.open(server.address)
        server.wait()
    return 0


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Prepare what is missing and serve the page.")
    parser.add_argument("--host", default="127.0.0.1", help="address to bind (%(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 = any (%(default)s)")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--prepare-only", action="store_true", help="fetch and verify, then end")
    parser.add_argument(
        "--model",
        default="smollm2",
        metavar="{smollm2,fixture,none,PATH}",
        help="which model to offer (%(default)s)",
    )
    parser.add_argument("--write-assets", action="store_true", help="renew web/assets.json")
    return parser.parse_args()


def say(line: str) -> None:
    """Print a line now, also into a pipe."""
    print(line, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
