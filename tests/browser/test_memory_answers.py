"""A remembered fact answers in a new chat, and the page says why; what goes is gone at once."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import ChatPage
from tests.browser.memory_page import MemoryPage
from tests.browser.plan_page import PlanPage
from tests.browser.recall_page import (
    Disclosure,
    candidate_row,
    import_memories,
    load_wide_model,
)
from tests.py_core.memory.heads import make_said

pytestmark = pytest.mark.browser

OTTER = "The staging server is called otter."


LAST_WEEK = """() => {
  const now = new Date();
  const days = ((now.getUTCDay() + 6) % 7) + 4;
  return new Date(now.getTime() - days * 86_400_000).toISOString();
}"""
"""A time in the week before this one, by the page's own clock."""


def look_at_last_prompt(chat: ChatPage) -> str:
    """Give everything that entered the prompt of the last answer, as the page saves it."""
    plan = PlanPage(chat)
    plan.open()
    with chat.page.expect_download() as download:
        plan.dialog.get_by_role("button", name="Save plan", exact=True).click()
    text = download.value.path().read_text(encoding="utf-8")
    plan.close()
    return text


def test_a_fact_of_last_week_answers_in_a_new_chat_and_the_plan_says_why(
    context: BrowserContext, chat: ChatPage, server: RunningServer, tmp_path: Path
):
    """Kept with consent, found by words and time, in the prompt with its source."""
    kept = make_said(
        "mem-otter", OTTER, tenant_binding="local", observation_time=chat.page.evaluate(LAST_WEEK)
    )
    other = make_said("mem-bees", "We keep bees behind the shed.", tenant_binding="local")
    import_memories(chat, tmp_path, kept, other)
    chat.page.close()

    later = ChatPage.open(context, server.address)
    load_wide_model(later, tmp_path)
    later.send("Which staging server did I mention last week?")
    plan = PlanPage(later)
    plan.open()
    row = candidate_row(plan, OTTER)
    expect(row).to_contain_text("in the prompt: by")
    expect(row).to_contain_text("raw")
    expect(row.get_by_role("cell")).to_have_count(14)
    section = plan.dialog.get_by_role("region", name="Looked for in memory", exact=True)
    for words in ("Memory is asked", "a question about facts", "By words only", "up to"):
        expect(section).to_contain_text(words)
    expect(section.get_by_role("columnheader", name="semantic (46)")).to_be_visible()
    expect(section.get_by_role("row").filter(has_text="local")).to_contain_text("answered")
    expect(section.get_by_role("row").filter(has_text="search")).to_contain_text("ms")
    expect(plan.row("mem-otter")).to_contain_text("Note from memory")
    assert row.get_attribute("title") is not None
    assert "time" in (row.get_attribute("title") or "")
    row.get_by_role("button").click()
    expect(plan.record("mem-otter")).to_contain_text(OTTER)
    assert later.errors == []


def test_a_fact_kept_on_the_page_is_gone_from_the_turn_after_its_deletion(
    chat: ChatPage, tmp_path: Path
):
    """The answer that was made with it goes too, and the plan lists the mark."""
    load_wide_model(chat, tmp_path)
    memory = MemoryPage(chat.page)
    memory.remember(OTTER)
    memory.button("Close").click()
    chat.send("What is the staging server called?")
    assert "otter" in look_at_last_prompt(chat)

    memory = MemoryPage(chat.page)
    memory.row("otter").get_by_role("button", name="Delete", exact=True).click()
    memory.proposal()
    memory.agree()
    memory.button("Close").click()
    chat.send("What is the staging server called?")
    prompt = look_at_last_prompt(chat)
    assert "otter" not in prompt
    assert '"reason": "acted"' in prompt
    assert '"reason": "retracted"' in prompt


def test_a_message_that_is_taken_back_stays_out_and_stays_readable(chat: ChatPage, tmp_path: Path):
    """The page keeps it, no later prompt does."""
    load_wide_model(chat, tmp_path)
    chat.send("My neighbour Zebulon sings at night.")
    chat.write("Forget what I just said.")
    proposal = chat.page.get_by_role("region", name="Proposed change")
    expect(proposal).to_be_visible()
    chat.button("Do it").click()
    proposal.wait_for(state="hidden")
    chat.button("Close").click()
    chat.wait_for_answer(1)
    chat.send("What else is there?")
    assert "Zebulon" not in look_at_last_prompt(chat)
    expect(chat.messages().filter(has_text="Zebulon")).to_have_count(1)


def test_what_a_message_looks_for_is_seen_and_changed_before_it_is_sent(
    chat: ChatPage, tmp_path: Path
):
    """For one message: the change is in its plan, the next one is understood anew."""
    load_wide_model(chat, tmp_path)
    memory = MemoryPage(chat.page)
    memory.remember(OTTER)
    memory.button("Close").click()
    message = chat.page.get_by_role("textbox", name="Message", exact=True)
    message.fill("Which name has the machine?")
    disclosure = Disclosure(chat)
    expect(disclosure.gist()).to_contain_text("Memory is asked")
    expect(disclosure.fact("Word stems")).to_contain_text("machin")
    disclosure.fill({"Look for also": "staging server", "Do not look for": "machine"})
    expect(disclosure.fact("Word stems")).to_contain_text("server")
    expect(disclosure.fact("Word stems")).not_to_contain_text("machin")
    expect(message).to_have_value("Which name has the machine?")
    disclosure.root.get_by_role("combobox", name="Kind of task").select_option("code")
    expect(disclosure.gist()).to_contain_text("code or an error")
    chat.button("Send").click()
    chat.wait_for_answer(0)
    plan = PlanPage(chat)
    plan.open()
    expect(candidate_row(plan, OTTER)).to_contain_text("in the prompt")
    plan.close()
    chat.send("Which name has the machine?")
    plan.open()
    expect(plan.dialog.get_by_role("region", name="Looked for in memory")).to_contain_text("machin")
    plan.close()
    message.fill("/no-memory hello there")
    expect(disclosure.gist()).to_contain_text("Memory is off for this message by your command")


def test_an_overridden_memory_is_offered_for_correction(chat: ChatPage, tmp_path: Path):
    """Nothing changes before the user agrees; then the new words are used."""
    load_wide_model(chat, tmp_path)
    memory = MemoryPage(chat.page)
    memory.remember("My favourite colour is blue.")
    memory.button("Close").click()
    chat.send("My favourite colour is green. Which paint shall I buy?")
    offer = chat.page.get_by_role("status").filter(has_text="A memory says otherwise")
    offer.get_by_role("button", name="Update the memory").click()
    expect(chat.page.get_by_role("region", name="Proposed change")).to_contain_text("green")
    chat.button("Do it").click()
    chat.page.get_by_role("region", name="Proposed change").wait_for(state="hidden")
    chat.button("Close").click()
    chat.button("Reset context").click()
    chat.send("What is my favourite colour?")
    prompt = look_at_last_prompt(chat)
    assert "colour is green" in prompt
    assert "colour is blue" not in prompt
