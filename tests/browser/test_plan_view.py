"""The Plan view: what entered, what stayed out, the record behind a row, files that verify."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import FIXTURE, FIXTURE_FILE, SMOLLM2, ChatPage
from tests.browser.plan_page import PlanPage, attach

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = ROOT / "fixtures" / "adversarial"
ORDER = (ATTACKS / "order_plain.txt").read_text(encoding="utf-8")
FORGERY = (ATTACKS / "role_mark_chatml.txt").read_text(encoding="utf-8")
CALM = "The city library opens at nine."
HOSTILE = "turn-1-attachment-1"


def talk(chat: ChatPage, *texts: str) -> PlanPage:
    """Send messages and look at the page's plans."""
    chat.set_number("Max tokens", 2)
    for text in texts:
        chat.send(text)
    return PlanPage(chat)


def run_core(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the native command line."""
    command = [sys.executable, "-m", "py_core", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_hostile_text_is_quarantined_before_ones_eyes(chat: ChatPage):
    """The row says why it stayed out; one key opens the record with the text as it was given."""
    chat.load_model(FIXTURE)
    attach(chat, "mail.txt", ORDER)
    plan = talk(chat, "a")
    plan.open()
    expect(plan.row(HOSTILE)).to_contain_text("quarantined")
    expect(plan.row(HOSTILE)).to_contain_text("10 untrusted")
    expect(plan.row(HOSTILE)).to_contain_text("screen untrusted")
    plan.record_button(HOSTILE).press("Enter")
    record = plan.record(HOSTILE)
    expect(record).to_contain_text(ORDER.strip())
    expect(record).to_contain_text("mail.txt")
    expect(record.get_by_role("heading", name=HOSTILE)).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(record).to_be_hidden()
    expect(plan.record_button(HOSTILE)).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(plan.dialog).to_be_hidden()
    assert chat.errors == []


def test_attached_text_of_a_refused_message_comes_back(chat: ChatPage):
    """Nothing that was attached is lost; it can be removed by hand."""
    attach(chat, "mail.txt", ORDER)
    chat.write("a")
    expect(chat.alert()).to_contain_text("model_not_loaded")
    attached = chat.page.get_by_role("list", name="Attached texts")
    expect(attached).to_contain_text("mail.txt")
    chat.button("Remove mail.txt").click()
    expect(attached).to_be_hidden()


def test_every_turn_keeps_its_plan_with_filter_and_search(chat: ChatPage):
    """Earlier plans stay reachable; the segments of each add up to the context."""
    chat.load_model(FIXTURE)
    attach(chat, "mail.txt", ORDER)
    plan = talk(chat, "a", "b")
    plan.open()
    second = plan.plan_hash()
    assert sum(plan.legend().values()) == 128
    expect(plan.rows()).to_have_count(4)
    filters = plan.dialog.get_by_role("search")
    filters.get_by_role("combobox", name="Outcome").select_option("Left out")
    expect(plan.rows()).to_have_count(1)
    filters.get_by_role("combobox", name="Outcome").select_option("All")
    filters.get_by_role("combobox", name="Tier").select_option("2 current instruction")
    expect(plan.rows()).to_have_count(1)
    filters.get_by_role("combobox", name="Tier").select_option("All")
    filters.get_by_role("combobox", name="Reason").select_option(index=1)
    expect(plan.rows()).to_have_count(1)
    filters.get_by_role("combobox", name="Reason").select_option("All")
    filters.get_by_role("searchbox", name="Search records").fill("ASSISTANT")
    expect(plan.rows()).to_have_count(1)
    turns = plan.dialog.get_by_role("combobox", name="Turn")
    turns.select_option("1: a")
    expect(plan.rows()).to_have_count(2)
    first = plan.plan_hash()
    assert first != second
    plan.close()
    plan.open_of_answer(1)
    assert plan.plan_hash() == second


def test_saved_files_verify_natively(chat: ChatPage, tmp_path: Path):
    """The page's Python and the native one give the same plan hash and ids, for every turn."""
    chat.load_model(FIXTURE)
    chat.page.get_by_role("textbox", name="System text").fill("Be short.")
    attach(chat, "page.txt", CALM)
    attach(chat, "forged.txt", FORGERY)
    plan = talk(chat, "Grüße, 東京", "b")
    for index in range(2):
        plan.open_of_answer(index)
        check_proof(plan, FIXTURE_FILE, tmp_path)
        plan.close()


def test_a_saved_receipt_refuses_a_changed_request(chat: ChatPage, tmp_path: Path):
    """The proof is of these records and no others."""
    chat.load_model(FIXTURE)
    plan = talk(chat, "a")
    plan.open()
    receipt, request = plan.save("receipt", tmp_path), plan.save("request", tmp_path)
    changed = json.loads(request.read_bytes())
    changed["capacity"]["max_tokens"] = 5
    request.write_text(json.dumps(changed), encoding="utf-8")
    done = run_core("verify", receipt, request, "--model", FIXTURE_FILE)
    assert done.returncode == 1
    assert "output_reserve_tokens" in done.stdout


def test_the_plan_hash_is_copied_whole(chat: ChatPage):
    """The clipboard holds what the page shows."""
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.load_model(FIXTURE)
    plan = talk(chat, "a")
    plan.open()
    plan.dialog.get_by_role("button", name="Copy plan hash").click()
    expect(plan.dialog.get_by_text("on the clipboard")).to_be_visible()
    assert chat.page.evaluate("() => navigator.clipboard.readText()") == plan.plan_hash()


@pytest.mark.slow
def test_quoted_text_of_the_real_model_verifies_too(
    chat: ChatPage, server: RunningServer, tmp_path: Path
):
    """With room for memory the text is quoted between marks that the session's key draws."""
    chat.load_model(SMOLLM2)
    attach(chat, "page.txt", CALM)
    plan = talk(chat, "When does the library open?")
    plan.open()
    expect(plan.row(HOSTILE)).to_contain_text("Quoted text")
    expect(plan.dialog.get_by_text("around the quoted text")).to_be_visible()
    check_proof(plan, fetch_model(server, tmp_path), tmp_path)


def check_proof(plan: PlanPage, model: Path, folder: Path) -> None:
    """Save the three files and compile the request again with the native core."""
    receipt, saved, request = (
        plan.save(document, folder) for document in ("receipt", "plan", "request")
    )
    done = run_core("verify", receipt, request, "--model", model)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"verified: plan {plan.plan_hash()}\n"
    compiled = json.loads(run_core("compile", request, "--model", model, "--json").stdout)
    page_plan = json.loads(saved.read_bytes())
    assert compiled["prompt_ids"] == page_plan["prompt_ids"]
    assert compiled["receipt"] == json.loads(receipt.read_bytes())


def fetch_model(server: RunningServer, folder: Path) -> Path:
    """Fetch the model file that the page loaded."""
    with urllib.request.urlopen(f"{server.address}models/index.json") as answer:
        listed = json.load(answer)
    entry = next(entry for entry in listed if entry["label"].startswith(SMOLLM2))
    path = folder / "model.slm"
    urllib.request.urlretrieve(f"{server.address}models/{entry['file']}", path)
    return path
