"""What moving rows does to the real model, in numbers."""

import sys

import pytest

from kernels.kv_drift import Drift, measure_drift_steps
from kernels.kv_splice import find_cut, splice
from tests.kernels.smollm2 import load_f32_decoder, load_tokenizer_of_model

pytestmark = pytest.mark.slow

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
TURNS = [
    ("system", SYSTEM),
    ("user", "My sister Marta weaves wool in Bergen. What is a loom?"),
    ("assistant", "A loom is a frame that holds threads tight so that cloth can be woven on it."),
    ("user", "Name three natural fibres and where they come from."),
    ("assistant", "Cotton comes from a plant, wool from sheep, and silk from silkworms."),
    ("user", "Which of them is the warmest, and why?"),
    ("assistant", "Wool, because its fibres are curled and hold air."),
    ("user", "And which would you choose for a summer shirt?"),
]
READ_BEFORE = 6
"""Turns that stand in the cache; the rest is new."""


def encode(turns) -> list[int]:
    """Frame turns as the model's template does, and open the answer."""
    tokenizer = load_tokenizer_of_model()
    start, end = (tokenizer.control_ids[name] for name in ("<|im_start|>", "<|im_end|>"))
    ids = []
    for role, text in turns:
        ids += [start, *tokenizer.encode(f"{role}\n{text}"), end, *tokenizer.encode("\n")]
    return [*ids, start, *tokenizer.encode("assistant\n")]


def measure(wanted) -> Drift:
    """Read the conversation so far, cut the first pair out, compare."""
    decoder, cached = load_f32_decoder(), encode(TURNS[:READ_BEFORE])
    cache = decoder.new_cache()
    decoder.forward(cached, cache)
    cut = find_cut(cached, wanted)
    assert cut is not None
    splice(cache, decoder.config, cut)
    steps = measure_drift_steps(decoder, cache, wanted)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            drift: Drift = finished.value
            return drift


def test_a_pair_that_is_cut_out_still_colours_the_answer(capsys: pytest.CaptureFixture[str]):
    """Logits move by more than rounding explains; that is why moving is off by default."""
    drift = measure(encode([TURNS[0], *TURNS[3:]]))
    with capsys.disabled():
        sys.stdout.write(f"\n{drift}\n")
    assert drift.tokens == 32
    assert 0.05 < drift.logit_difference < 50
