"""Records are found by meaning too: the embedder on the page, its vectors, and its absence."""

import base64
import json
import re
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from kernels.byte_source import BytesSource
from kernels.embedder_file import open_embedder
from kernels.similarity import quantise_rows
from py_core.records.record_text import read_record
from py_core.retrieval.document import read_document
from py_core.retrieval.embedding_work import write_embedded_text
from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.prepare import Places, prepare
from py_core.serving.static_server import RunningServer, start
from tests.browser.chat_page import FIXTURE, ChatPage
from tests.browser.memory_page import MemoryPage
from tests.browser.plan_page import PlanPage
from tests.browser.recall_page import candidate_row, load_wide_model
from tests.kernels.simd.loaded_embedder import load_in_module
from tests.source_tree import ROOT

pytestmark = pytest.mark.browser

FILE = (ROOT / "fixtures" / "embedders" / "small_encoder.slm").read_bytes()
CAT, RELEASE = "My cat is called Miso.", "The release moved to the last week of May."


@pytest.fixture(scope="module")
def fixture_server() -> Iterator[RunningServer]:
    """Serve the fixture models with the small embedder, as `serve.py --model fixture` does."""
    places = Places(ROOT, find_cache_folder({}, sys.platform), None)
    with start(prepare(places, "fixture", report=lambda line: None)) as running:
        yield running


def switch(chat: ChatPage) -> Locator:
    """The control of the search by meaning."""
    return chat.page.get_by_role("combobox", name="Semantic search", exact=True)


def state(chat: ChatPage) -> Locator:
    """What the page says of it."""
    return chat.page.get_by_role("status", name="Semantic search", exact=True)


def open_with_records(context: BrowserContext, server: RunningServer) -> ChatPage:
    """Open the page, load a model, remember two texts."""
    chat = ChatPage.open(context, server.address)
    chat.load_model(FIXTURE)
    memory = MemoryPage(chat.page)
    for text in (CAT, RELEASE):
        memory.remember(text)
    memory.button("Close").click()
    return chat


def read_rows(chat: ChatPage) -> dict[str, dict[str, str | None]]:
    """Read areas of the raw database as key to text."""
    memory = MemoryPage(chat.page)
    stores = json.loads(memory.read_database())
    memory.button("Close").click()
    return {
        name: {row["key"]: row["text"] for row in stores[name]} for name in ("records", "search")
    }


def test_the_embedder_comes_after_the_model_and_embeds_what_is_remembered(context, fixture_server):
    """It runs on the kernels, is counted, and needs no word of the user."""
    chat = open_with_records(context, fixture_server)
    expect(state(chat)).to_have_text(
        re.compile(r"Small encoder \(simd, .+\): 2 records with vectors\.")
    )
    chat.load_model("Tiny f32")
    plan = chat.page.get_by_role("list", name="Parts of the memory plan")
    expect(plan).to_contain_text("Embedder beside it")
    assert chat.errors == []


def test_the_plan_view_shows_that_vectors_took_part(context, fixture_server, tmp_path):
    """Without them it says "by words only"; with them it does not."""
    chat = ChatPage.open(context, fixture_server.address)
    load_wide_model(chat, tmp_path)
    memory = MemoryPage(chat.page)
    memory.remember(RELEASE)
    memory.button("Close").click()
    expect(state(chat)).to_contain_text("1 records with vectors.")
    chat.send("When is the release?")
    plan = PlanPage(chat)
    plan.open()
    expect(candidate_row(plan, RELEASE)).to_be_visible()
    words_only = plan.dialog.get_by_text("By words only")
    expect(words_only).to_be_hidden()
    plan.close()
    switch(chat).select_option("off")
    expect(state(chat)).to_have_text("Records are found by words alone.")
    chat.send("When is the release?")
    plan.open()
    expect(words_only).to_be_visible()


def test_the_vectors_are_those_of_the_same_module_outside_the_browser(context, fixture_server):
    """Every byte of every stored vector equals what the `wasmtime` runtime computes."""
    chat = open_with_records(context, fixture_server)
    expect(state(chat)).to_contain_text("2 records with vectors.")
    rows = read_rows(chat)
    embedder = load_in_module(open_embedder(BytesSource(FILE)))
    found = 0
    for key, text in rows["records"].items():
        row = rows["search"].get(f"vector {key}")
        if text is None or row is None:
            continue
        document = read_document(read_record(text))
        vector = embedder.embed(write_embedded_text(document))
        codes, scales = quantise_rows(vector.reshape(1, -1))
        wanted = np.float32(scales[0]).tobytes() + codes[0].tobytes()
        assert base64.b64decode(row.split(" ")[-1][8:]) == wanted
        found += 1
    assert found == 2


def test_forgetting_a_record_takes_its_vector_out_of_the_database(context, fixture_server):
    """The raw database holds nothing that the deleted text was turned into."""
    chat = open_with_records(context, fixture_server)
    expect(state(chat)).to_contain_text("2 records with vectors.")
    before = read_rows(chat)["search"]
    memory = MemoryPage(chat.page)
    memory.row(CAT).get_by_role("button", name="Delete", exact=True).click()
    memory.proposal()
    memory.agree()
    memory.button("Close").click()
    expect(state(chat)).to_contain_text("1 records with vectors.")
    after = read_rows(chat)["search"]
    gone = [key for key in before if before[key] and not after[key]]
    assert len(gone) == 1
    assert (before[gone[0]] or "") not in json.dumps(after)


def test_off_is_remembered_and_on_brings_the_kept_vectors_back(context, fixture_server):
    """The choice outlives the page; nothing is embedded twice."""
    chat = open_with_records(context, fixture_server)
    expect(state(chat)).to_contain_text("2 records with vectors.")
    switch(chat).select_option("off")
    expect(state(chat)).to_have_text("Records are found by words alone.")
    chat.reload()
    chat.load_model(FIXTURE)
    expect(switch(chat)).to_have_value("off")
    rows = read_rows(chat)["search"]
    switch(chat).select_option("on")
    expect(state(chat)).to_contain_text("2 records with vectors.")
    assert read_rows(chat)["search"] == rows


def test_the_second_visit_needs_no_server_for_it(context, fixture_server):
    """The file is kept in the browser like a model, and is no model to choose."""
    chat = open_with_records(context, fixture_server)
    expect(state(chat)).to_contain_text("2 records with vectors.")
    chat.page.route("**/models/**", lambda route: route.abort())
    chat.reload()
    chat.load_model(FIXTURE)
    expect(state(chat)).to_contain_text("2 records with vectors.")
    options = chat.page.get_by_role("combobox", name="Model", exact=True).get_by_role("option")
    assert not any("Small encoder" in text for text in options.all_text_contents())


def test_a_page_without_an_embedder_says_so_and_chats(context, server):
    """Words alone find records; nothing waits for what is not there."""
    chat = ChatPage.open(context, server.address)
    chat.load_model(FIXTURE)
    expect(state(chat)).to_have_text("No embedder here: records are found by words alone.")
    assert chat.send("Hello").text is not None


def test_a_download_that_fails_is_said_and_the_chat_goes_on(context, fixture_server):
    """One notice; off and on tries again."""
    context.route("**/models/small_encoder.slm", lambda route: route.abort())
    chat = ChatPage.open(context, fixture_server.address)
    chat.load_model(FIXTURE)
    expect(state(chat)).to_contain_text("By words alone:")
    expect(chat.page.get_by_text("No search by meaning")).to_be_visible()
    assert chat.send("Hello").text is not None
    context.unroute("**/models/small_encoder.slm")
    switch(chat).select_option("off")
    switch(chat).select_option("on")
    expect(state(chat)).to_contain_text("0 records with vectors.")
