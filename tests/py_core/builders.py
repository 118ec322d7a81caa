"""Builders and doubles of the core's tests, with full defaults: a test shows only its point."""

from collections.abc import Mapping

from py_core.compiler.request import (
    BudgetPolicy,
    Capacity,
    CompileRequest,
    Exchange,
    PromptTemplate,
    choose_policy,
)
from py_core.identity import sha256_hex

CHATML_MARKS = {"<|im_start|>": 1_000_001, "<|im_end|>": 1_000_002}


class CharacterCounter:
    """One token for each character, its id the code point; marks lie far above all of Unicode."""

    identity = sha256_hex(b"one token for each character")
    control_ids: Mapping[str, int] = CHATML_MARKS

    def __init__(self, begin_id: int | None = None) -> None:
        """Optionally have a begin mark."""
        self.begin_id = begin_id
        self.encoded: list[str] = []

    def encode(self, text: str) -> list[int]:
        """Give the code points."""
        self.encoded.append(text)
        return [ord(character) for character in text]

    def least_tokens(self, text: str, enough: int) -> int:
        """Count exactly; that is as cheap as anything."""
        return len(text)


PLAIN = PromptTemplate("plain")
CHATML = PromptTemplate("chatml", "You help.", "<|im_start|>", "<|im_end|>")


def make_exchange(number: int, user_text: str = "question", assistant_text: str = "answer"):
    """Build one earlier pair."""
    return Exchange(number, user_text, assistant_text)


def make_request(
    *,
    message: str = "hello",
    system_text: str = "",
    history: tuple[Exchange, ...] = (),
    context_tokens: int = 256,
    max_tokens: int = 16,
    template: PromptTemplate = PLAIN,
    counter: CharacterCounter | None = None,
    policy: BudgetPolicy | None = None,
) -> CompileRequest:
    """Build a compile request."""
    return CompileRequest(
        system_text=system_text,
        history=history,
        message=message,
        capacity=Capacity(context_tokens, max_tokens, "a" * 64),
        template=template,
        counter=counter or CharacterCounter(),
        policy=policy or choose_policy(context_tokens),
    )
