"""What the server answers, to well-behaved clients and to others."""

import http.client
import json
import re
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from py_core.serving.chosen_models import list_served
from py_core.serving.failure import ServingError
from py_core.serving.pinned_bytes import pin_of_bytes
from py_core.serving.site import Site
from py_core.serving.static_server import SECURITY_HEADERS, RunningServer, start
from py_core.serving.vendor_lock import read_vendor_lock
from tests.serving.small_checkout import ALPHA, MODEL_SOURCE, make_checkout

MODEL = MODEL_SOURCE.read_bytes()


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Build a small checkout with a runtime in place and a secret beside it."""
    checkout = make_checkout(tmp_path_factory.mktemp("served"))
    (checkout.vendor / "pyodide").mkdir(parents=True)
    (checkout.vendor / "pyodide" / "alpha.bin").write_bytes(ALPHA)
    (checkout.vendor / "pyodide" / "stray.js").write_text("stray", encoding="utf-8")
    (checkout.root / "web" / "package.json").write_text("{}", encoding="utf-8")
    (checkout.root / "web" / ".hidden.js").write_text("hidden", encoding="utf-8")
    (checkout.root / "secret.html").write_text("secret", encoding="utf-8")
    (checkout.root / "web" / "app" / "link.js").symlink_to(checkout.root / "secret.html")
    return checkout.root


@pytest.fixture(scope="module")
def server(root) -> Iterator[RunningServer]:
    """Serve it for all tests of this file."""
    models = root / "fixtures" / "models"
    lock = read_vendor_lock(root / "web" / "vendor.lock.json")
    with start(Site(root, lock, list_served("fixture", None, models))) as running:
        yield running


class Answer:
    """A response read to its end."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()


def ask(server: RunningServer, path: str, method: str = "GET", **headers: str) -> Answer:
    """Send one request; underscores in header names become dashes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def send_raw(server: RunningServer, request: bytes) -> bytes:
    """Send bytes as they are, with a path that no client library would let through."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        return answer


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/sw.js", "text/javascript; charset=utf-8"),
        ("/app/main.js", "text/javascript; charset=utf-8"),
        ("/assets.json", "application/json"),
        ("/vendor/pyodide/alpha.bin", "application/octet-stream"),
        ("/wheels/tinyloom-0.1.0-py3-none-any.whl", "application/octet-stream"),
        ("/models/index.json", "application/json"),
        ("/models/tiny_f32.slm", "application/octet-stream"),
        ("/models/tiny_f32.slm.json", "application/json"),
    ],
)
def test_each_part_of_the_page_has_its_type(path, content_type, server):
    """The closed list of addresses, with the types that browsers insist on."""
    answer = ask(server, path)
    assert (answer.status, answer.headers["Content-Type"]) == (200, content_type)
    assert len(answer.body) == int(answer.headers["Content-Length"])


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [("/", "GET", 200), ("/none", "GET", 404), ("/", "POST", 405), ("/", "BREW", 501)],
)
def test_every_answer_carries_the_security_headers(path, method, status, server):
    """Errors too: a worker whose script lacks them is not isolated."""
    answer = ask(server, path, method)
    assert answer.status == status
    assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


def test_the_policy_allows_no_inline_code_and_no_other_origin():
    """Only the page's own files, and WebAssembly."""
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    assert not re.search(r"https?:|\*", policy)


@pytest.mark.parametrize(
    "path",
    [
        "/app/",
        "/app",
        "/vendor/pyodide/",
        "/models/",
        "/vendor/pyodide/stray.js",
        "/vendor.lock.json",
        "/package.json",
        "/.hidden.js",
        "/serve.py",
        "/models/checksums.json",
        "/app/link.js",
    ],
)
def test_what_is_not_on_the_list_is_not_served(path, server):
    """No listing, no tool files, no stray files, no links out of the page's folder."""
    assert ask(server, path).status == 404


@pytest.mark.parametrize(
    "path",
    [
        b"/../secret.html",
        b"/app/../../secret.html",
        b"/%2e%2e/secret.html",
        b"/app/%2e%2e%2f%2e%2e%2fsecret.html",
        b"/..%5csecret.html",
        b"//secret.html",
        b"/models/../../secret.html",
        b"/models/..%2f..%2fsecret.html",
        b"/vendor/pyodide/../../../secret.html",
        b"/app/main.js%00",
        b"/%ff%fe",
        b"http://other/../secret.html",
        b"/\xc3\xa9",
    ],
)
def test_no_spelling_of_a_path_leaves_the_list(path, server):
    """Paths are keys of a closed list; they are never joined to a folder."""
    answer = send_raw(server, b"GET " + path + b" HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"secret" not in answer.partition(b"\r\n\r\n")[2]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(max_size=40))
def test_any_text_is_answered_and_gives_no_secret(path, root):
    """The site looks up any text without failing."""
    site = Site(root, read_vendor_lock(root / "web" / "vendor.lock.json"))
    found = site.find(path)
    assert found is None or found.content != b"secret"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_writing_methods_are_refused(method, server):
    """The server only reads, and says which methods it knows."""
    answer = ask(server, "/index.html", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_name_pointed_at_this_machine_gets_nothing(host, server):
    """A foreign page that rebinds its own name to loopback is refused by that name."""
    assert ask(server, "/", Host=host).status == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]:8017"])
def test_loopback_names_are_answered_on_any_forwarded_port(host, server):
    """A forwarded port has another number; only the name tells a foreign page."""
    assert ask(server, "/", Host=host).status == 200


def test_head_tells_all_but_the_body(server):
    """The same headers as GET."""
    get, head = (ask(server, "/models/tiny_f32.slm", method) for method in ("GET", "HEAD"))
    assert head.body == b""
    for name in ("Content-Length", "ETag", "Content-Type", "Cache-Control"):
        assert head.headers[name] == get.headers[name]


def test_the_tag_is_the_hash_of_the_body_and_spares_the_body(server):
    """A client that has these bytes is told so; one with others gets them."""
    first = ask(server, "/app/main.js")
    tag = first.headers["ETag"]
    assert tag == f'"{pin_of_bytes(first.body).sha256}"'
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        again = ask(server, "/app/main.js", If_None_Match=known)
        assert (again.status, again.body) == (304, b"")
    assert ask(server, "/app/main.js", If_None_Match='"other"').status == 200


def test_page_files_are_asked_for_again_and_models_are_not_kept_twice(server):
    """The service worker and the model store keep things, not the browser's cache."""
    assert ask(server, "/index.html").headers["Cache-Control"] == "no-cache"
    assert ask(server, "/models/tiny_f32.slm").headers["Cache-Control"] == "no-store"


def test_a_changed_page_file_has_another_tag_at_once(root, server):
    """Nothing is remembered between requests that a developer may change."""
    path = root / "web" / "style.css"
    path.write_text("a{}", encoding="utf-8")
    before = ask(server, "/style.css").headers["ETag"]
    version = json.loads(ask(server, "/assets.json").body)["version"]
    path.write_text("b{}", encoding="utf-8")
    assert ask(server, "/style.css").headers["ETag"] != before
    assert json.loads(ask(server, "/assets.json").body)["version"] != version


@pytest.mark.parametrize("cut", [1, 1000, len(MODEL) - 1])
def test_a_model_download_resumes_where_it_broke_off(cut, server):
    """Two halves, asked for apart, are the file."""
    tag = ask(server, "/models/tiny_f32.slm", "HEAD").headers["ETag"]
    first = ask(server, "/models/tiny_f32.slm", Range=f"bytes=0-{cut - 1}")
    rest = ask(server, "/models/tiny_f32.slm", Range=f"bytes={cut}-", If_Range=tag)
    assert (first.status, rest.status) == (206, 206)
    assert rest.headers["Content-Range"] == f"bytes {cut}-{len(MODEL) - 1}/{len(MODEL)}"
    assert first.body + rest.body == MODEL


def test_a_resumed_download_of_a_replaced_model_starts_anew(server):
    """The tag of other bytes makes a range meaningless."""
    answer = ask(server, "/models/tiny_f32.slm", Range="bytes=5-", If_Range='"other"')
    assert (answer.status, answer.body) == (200, MODEL)


def test_a_range_beyond_the_end_is_refused_with_the_size(server):
    """The client learns how long the file is."""
    answer = ask(server, "/models/tiny_f32.slm", Range=f"bytes={len(MODEL)}-")
    assert answer.status == 416
    assert answer.headers["Content-Range"] == f"bytes */{len(MODEL)}"


def test_the_model_index_says_what_the_files_are(server):
    """Size and hash in the index are those of the bytes served."""
    (entry,) = json.loads(ask(server, "/models/index.json").body)
    body = ask(server, f"/models/{entry['file']}").body
    pin = pin_of_bytes(body)
    assert (entry["size"], entry["sha256"]) == (pin.size, pin.sha256)
    assert entry["manifest"] == "tiny_f32.slm.json"
    assert entry["label"] == "Tiny f32 fixture"


def test_one_connection_serves_many_requests(server):
    """Also after errors and bodiless answers."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    statuses = []
    for method, path in (("GET", "/"), ("HEAD", "/"), ("GET", "/none"), ("GET", "/app/main.js")):
        connection.request(method, path)
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.close()
    assert statuses == [200, 200, 404, 200]


def test_a_client_that_hangs_up_leaves_no_word_and_no_harm(server, capfd):
    """Browsers cut connections all the time."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /models/tiny_f32.slm HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(10)
    assert ask(server, "/").status == 200
    assert capfd.readouterr().err == ""


def test_a_taken_port_is_one_clear_line(root, server):
    """The line names the address and the option that helps."""
    lock = read_vendor_lock(root / "web" / "vendor.lock.json")
    with pytest.raises(ServingError, match=r"127\.0\.0\.1:\d+: .*in use.*--port"):
        start(Site(root, lock), port=server.port)


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 0), ("127.0.0.1", 70000)])
def test_an_address_that_cannot_be_bound_is_one_clear_line(host, port, root):
    """Unknown names and impossible ports are input errors."""
    lock = read_vendor_lock(root / "web" / "vendor.lock.json")
    with pytest.raises(ServingError, match=rf"{re.escape(host)}:{port}: "):
        start(Site(root, lock), host, port=port)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("0.0.0.0", "http://127.0.0.1:"),
        ("::1", "http://[::1]:"),
        ("localhost", "http://127.0.0.1:"),
    ],
)
def test_the_address_shown_can_be_opened_on_this_machine(host, shown, root):
    """Whatever was bound, the printed address answers."""
    if ":" in host and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    lock = read_vendor_lock(root / "web" / "vendor.lock.json")
    with start(Site(root, lock), host) as running:
        assert running.address.startswith(shown)
        with urllib.request.urlopen(running.address) as response:
            assert response.status == 200
        assert running.is_loopback == (host != "0.0.0.0")


def test_an_extra_folder_is_served_for_tests_only_below_its_name(root, tmp_path):
    """The browser tests add files of their own."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "page.html").write_text("extra", encoding="utf-8")
    lock = read_vendor_lock(root / "web" / "vendor.lock.json")
    with start(Site(root, lock, extra_folders={"extra": tmp_path})) as running:
        assert ask(running, "/extra/inner/page.html").body == b"extra"
        assert ask(running, "/inner/page.html").status == 404
        assert ask(running, "/extra/inner").status == 404
