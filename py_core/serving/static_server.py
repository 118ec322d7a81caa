"""A loopback server for one `Site`: reads only, no listing, one set of strict headers.

Takes a site and an address; gives a running server and the address it is bound to. Does not know
what the files are.
"""

import ipaddress
import os
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import TracebackType
from typing import Final
from urllib.parse import unquote, urlsplit

from py_core.serving.byte_range import UnsatisfiableRangeError, parse_range
from py_core.serving.failure import ServingError
from py_core.serving.pinned_bytes import CHUNK_BYTES
from py_core.serving.site import Resource, Site

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self'",
        "connect-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_IDLE_S: Final = 60.0


class RunningServer:
    """A server that answers in the background until closed; `address` ends in a slash."""

    def __init__(self, server: "_SiteServer") -> None:
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()
        self.port = int(server.server_address[1])
        self.address = f"http://{_reachable_host(str(server.server_address[0]))}:{self.port}/"
        self.is_loopback = server.known_hosts is not None

    def wait(self) -> None:
        """Block until the server is closed or the process is interrupted."""
        while self._thread.is_alive():
            # Windows delivers Ctrl-C only between waits that end.
            self._thread.join(0.5)

    def close(self) -> None:
        """Stop answering and free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "RunningServer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def start(site: Site, host: str = "127.0.0.1", *, port: int = 0) -> RunningServer:
    """Serve `site` in a background thread; port 0 takes any free one.

    Raises:
        ServingError: the address cannot be bound.
    """
    try:
        return RunningServer(_SiteServer((host, port), site))
    except (OSError, OverflowError) as error:
        subject = f"{host}:{port}"
        raise ServingError(
            subject,
            expected="a free address of this machine",
            found=getattr(error, "strerror", None) or str(error),
            remedy="Choose another with --port (0 takes any free one) or --host",
        ) from error


class _SiteServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # On Windows the flag would let two servers share a port in silence.
    allow_reuse_address = os.name == "posix"

    def __init__(self, address: tuple[str, int], site: Site) -> None:
        self.site = site
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)
        host = str(self.server_address[0])
        # A page elsewhere may point its own name at this machine; its requests carry that name.
        self.known_hosts = {"localhost", "127.0.0.1", "[::1]", host} if _is_loopback(host) else None

    def server_bind(self) -> None:
        """Bind without asking the network for this machine's name, as the base class does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet about clients that hang up; a fault of ours is still shown."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _SiteServer
    protocol_version = "HTTP/1.1"
    server_version = "tinyloom"
    sys_version = ""
    timeout = _IDLE_S

    def do_GET(self) -> None:
        """Answer with the resource, its part, or nothing if the client has it."""
        if not self._is_host_known():
            self._send_text(HTTPStatus.FORBIDDEN, "This server answers to loopback names only.")
            return
        resource = self.server.site.find(unquote(urlsplit(self.path).path).removeprefix("/"))
        if resource is None:
            self._send_text(HTTPStatus.NOT_FOUND, "There is no such file here.")
        elif self._has_same(resource):
            self._send_head(HTTPStatus.NOT_MODIFIED, resource)
            self.end_headers()
        else:
            self._send_resource(resource)

    do_HEAD = do_GET  # noqa: N815 - the base class looks for this name

    def do_POST(self) -> None:
        """Refuse to change anything."""
        self.close_connection = True  # a body may follow that nobody reads
        self._send_text(HTTPStatus.METHOD_NOT_ALLOWED, "This server only reads.")

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST  # noqa: N815 - as above

    def _is_host_known(self) -> bool:
        known = self.server.known_hosts
        name = self.headers.get("Host", "")
        host = name[: name.index("]") + 1] if name.startswith("[") else name.partition(":")[0]
        return known is None or host.lower() in known

    def _has_same(self, resource: Resource) -> bool:
        tags = self.headers.get("If-None-Match", "")
        return any(tag.strip().removeprefix("W/") == _tag(resource) for tag in tags.split(","))

    def _send_resource(self, resource: Resource) -> None:
        size = resource.pin.size
        # A tag of other bytes means that the client's first part is stale: send the whole.
        is_part_valid = self.headers.get("If-Range", _tag(resource)) == _tag(resource)
        try:
            wanted = parse_range(self.headers.get("Range"), size) if is_part_valid else None
        except UnsatisfiableRangeError:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        part = range(size) if wanted is None else wanted
        self._send_head(HTTPStatus.PARTIAL_CONTENT if wanted else HTTPStatus.OK, resource)
        if wanted is not None:
            self.send_header("Content-Range", f"bytes {part.start}-{part.stop - 1}/{size}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if self.command != "HEAD":
            self._send_part(resource, part)

    def _send_part(self, resource: Resource, part: range) -> None:
        if isinstance(resource.content, bytes):
            self.wfile.write(memoryview(resource.content)[part.start : part.stop])
            return
        with resource.content.open("rb") as stream:
            stream.seek(part.start)
            left = len(part)
            while left and (chunk := stream.read(min(CHUNK_BYTES, left))):
                self.wfile.write(chunk)
                left -= len(chunk)
        # Cut short under our hands: only a closed connection tells the client so.
        self.close_connection = self.close_connection or left > 0

    def _send_head(self, status: HTTPStatus, resource: Resource) -> None:
        self.send_response(status)
        self.send_header("Content-Type", resource.content_type)
        self.send_header("Cache-Control", resource.cache_control)
        self.send_header("ETag", _tag(resource))
        self.send_header("Accept-Ranges", "bytes")

    def _send_text(self, status: HTTPStatus, sentence: str) -> None:
        body = f"{sentence}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Put the security headers on every answer, errors too: workers need them themselves."""
        for name, value in SECURITY_HEADERS.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing: what a person reads and asks here is not logged."""


def _tag(resource: Resource) -> str:
    return f'"{resource.pin.sha256}"'


def _reachable_host(host: str) -> str:
    """Write a bound address as a browser on this machine takes it."""
    if host in {"0.0.0.0", "::"}:  # every address of this machine, loopback among them
        return "127.0.0.1" if host == "0.0.0.0" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
