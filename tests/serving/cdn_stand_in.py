"""A CDN for tests: a real HTTP server that can also be wrong, short, slow or refuse.

Takes what to answer for each name; gives an address, and remembers what it was asked for.
"""

import contextlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass
class CdnStandIn:
    """Answers for one test; change `contents` and the behaviours at any time.

    Attributes:
        contents: name to bytes; any other name is answered with 404.
        short_by: bytes missing at the end of every body, though announced.
        status: answer to everything, where it is not 200.
        is_silent: accept every request and never answer it.
        asked: the names asked for, in order.
    """

    contents: dict[str, bytes] = field(default_factory=dict)
    short_by: int = 0
    status: int = 200
    is_silent: bool = False
    asked: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        stand_in = self
        self._end = threading.Event()
        self._first = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stand_in.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/full/"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()

    def wait_until_asked(self) -> None:
        """Block until the first request has come."""
        assert self._first.wait(60), "nobody asked"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request as the behaviours say."""
        name = handler.path.removeprefix("/full/")
        self.asked.append(name)
        self._first.set()
        if self.is_silent:
            self._end.wait()
            return
        content = self.contents.get(name)
        if content is None or self.status != 200:
            handler.send_error(self.status if self.status != 200 else 404)
            return
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have had enough
            handler.wfile.write(content[: len(content) - self.short_by])
