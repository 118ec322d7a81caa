"""Serve what the run inside the browser's Python needs, and nothing of it to the real page.

Takes the project folder; gives a loopback server with the runtime, our wheel, the test wheels,
the harness files and one archive of tests and fixtures. Does not know pytest.
"""

import io
import mimetypes
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.browser.pyodide_wheels import WHEELS

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / "tests" / "browser" / "pyodide"
FOLDERS = {
    "vendor": ROOT / "web" / "vendor",
    "wheels": ROOT / "web" / "wheels",
    "test-wheels": WHEELS,
    "harness": HARNESS,
}
BUNDLED = ("tests", "fixtures")
CONTENT_TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}


def make_bundle() -> bytes:
    """Pack tests, fixtures and settings; the browser tests stay out, they need a browser."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(ROOT / "pyproject.toml", "pyproject.toml")
        archive.write(HARNESS / "run_inside.py", "run_inside.py")
        for path in sorted(path for name in BUNDLED for path in (ROOT / name).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if (
                path.is_file()
                and "__pycache__" not in name
                and not name.startswith("tests/browser/")
            ):
                archive.write(path, name)
    return buffer.getvalue()


class HarnessHandler(BaseHTTPRequestHandler):
    """Answers GET from the bundle or from the listed folders; everything else is 404."""

    protocol_version = "HTTP/1.1"
    bundle = b""

    def do_GET(self) -> None:
        """Send one file."""
        path = unquote(urlsplit(self.path).path)
        body = self.bundle if path == "/bundle.zip" else self._read_listed(path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", _content_type(path))
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Stay silent: pytest shows what matters."""

    def _read_listed(self, path: str) -> bytes | None:
        prefix, _, rest = path.lstrip("/").partition("/")
        folder = FOLDERS.get(prefix)
        if folder is None or ".." in rest.split("/") or not (folder / rest).is_file():
            return None
        return (folder / rest).read_bytes()


@contextmanager
def serve() -> Iterator[str]:
    """Run the server on a free loopback port and give its origin."""
    handler = type("BundledHandler", (HarnessHandler,), {"bundle": make_bundle()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _content_type(path: str) -> str:
    known = CONTENT_TYPES.get(Path(path).suffix)
    return known or mimetypes.guess_type(path)[0] or "application/octet-stream"
