"""Prompts of the real chat model: the ids that its own template and tokenizer give."""

from functools import cache

import pytest

from py_core.chat.loaded_model import choose_stop_ids, cuts_words, read_template
from py_core.chat.token_counter import ModelTokenCounter
from py_core.chat.turn_records import Conversation, ModelNumbers, make_compile_request
from py_core.compiler.pipeline import compile_context
from tests.kernels.smollm2 import load_tokenizer_of_model, open_source, read_golden

pytestmark = pytest.mark.slow

CHATS = [prompt for prompt in read_golden()["prompts"] if prompt["kind"] == "chat"]
CONTEXT = 8192


@cache
def make_counter():
    """Wrap the real tokenizer."""
    tokenizer = load_tokenizer_of_model()
    return ModelTokenCounter(tokenizer, cuts_words=cuts_words(tokenizer, open_source().manifest))


@pytest.mark.parametrize("prompt", CHATS, ids=lambda prompt: prompt["id"])
def test_a_compiled_chat_has_the_ids_of_the_reference(prompt):
    """Pieces encoded one by one join to what the whole rendered text is encoded to."""
    texts = {message["role"]: message["content"] for message in prompt["messages"]}

    conversation = Conversation(texts.get("system", ""), (), texts["user"], 1, "key")
    numbers = ModelNumbers(CONTEXT, "a" * 64, read_template(open_source().manifest), make_counter())
    plan = compile_context(make_compile_request(conversation, numbers, max_tokens=256))

    assert list(plan.prompt_ids) == prompt["prompt_ids"]


def test_an_answer_ends_at_the_turn_end_and_at_the_end_of_text():
    """Both marks of the manifest's control tokens stop a chat."""
    tokenizer = load_tokenizer_of_model()

    stop_ids = choose_stop_ids(tokenizer, read_template(open_source().manifest))

    assert {tokenizer.control_ids["<|im_end|>"], tokenizer.control_ids["<|endoftext|>"]} <= stop_ids
    assert not stop_ids & set(tokenizer.encode("<|im_end|> is only text"))


@pytest.mark.parametrize(
    "text",
    [case["text"] for case in read_golden()["tokenizer_cases"] if len(case["text"]) > 1],
    ids=lambda text: ascii(text)[:40],
)
def test_the_bound_stays_below_the_count_of_the_real_vocabulary(text):
    """No text that fits is refused by its bound."""
    counter = make_counter()
    long_text = text * 50

    assert counter.least_tokens(long_text, enough=1) <= len(counter.encode(long_text))


@pytest.mark.parametrize("text", ["word " * 200_000, "a" * 1_000_000, "字" * 330_000])
def test_a_pasted_megabyte_is_refused_without_encoding_it(text):
    """The bound alone is above the whole context."""
    assert make_counter().least_tokens(text, enough=CONTEXT) > CONTEXT
