"""The border: every message is answered once, whatever it is."""

import asyncio
import json

import pytest

from py_core.bridge.messages import REQUEST_KINDS
from py_core.bridge.worker_entry import start
from tests.py_core.bridge.conversation import CHAT, converse
from tests.py_core.fake_host import FakeHost, FakePage


def test_cancelling_what_does_not_run_is_a_value():
    """Unknown or finished targets are no errors."""

    async def script(page):
        return await page.ask("cancel", {"target": 99})

    assert converse(script) == {"target": 99, "outcome": "not_running"}


def test_what_is_not_our_error_becomes_internal_without_its_text(capsys):
    """No text of a record leaves through an unexpected error, nor through the log."""

    class BrokenHost(FakeHost):
        def model_size(self, handle):
            raise RuntimeError(handle)

    async def run():
        host = BrokenHost({"chat": CHAT})
        page = FakePage(host, start(host))
        payload = page.load_payload("chat") | {"handle": "the user wrote: secret"}
        return await page.ask_in_vain("model.load", payload)

    error = asyncio.run(run())

    assert error["code"] == "internal"
    assert "secret" not in json.dumps(error)
    assert "secret" not in capsys.readouterr().err


def test_an_id_that_is_still_running_is_refused():
    """The page counts its ids up."""

    async def script(page):
        load = page.send("model.load", page.load_payload("chat"))
        page._last_id -= 1
        page.send("runtime.facts")
        return page.messages_of(load)[0]

    assert converse(script)["error"]["code"] == "bad_message"


@pytest.mark.parametrize("kind", sorted(REQUEST_KINDS))
def test_every_kind_is_answered_under_its_id(kind):
    """Silence is a bug, whatever the payload is."""

    async def script(page):
        return await page.reply_to(page.send(kind, {"nonsense": 1}))

    assert converse(script)["error"]["code"] == "bad_message"
