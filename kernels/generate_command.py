"""Generate text on the command line: `python -m kernels generate FILE --prompt TEXT`.

Takes parsed arguments.
Gives text as it is made, or one JSON object with ids, and the exit code.
Does not know how arguments reach the process, nor how errors are shown.
"""

import argparse
import json
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, assert_never

from kernels.byte_source import FileSource
from kernels.decoder import Decoder
from kernels.errors import ErrorCode, kernel_error
from kernels.generate import FinishReason, Pause, Prefilled, Step, Token, generate_steps
from kernels.manifest import ChatTemplate
from kernels.numpy_ops import NumpyOps
from kernels.sampler import SamplerSettings
from kernels.slm_file import SlmFile, open_model
from kernels.tokenizer import StreamDecoder, Tokenizer, load_tokenizer

DEFAULT_MAX_TOKENS = 128


@dataclass(slots=True)
class _Run:
    """What a run has produced so far, with the seconds at which things happened."""

    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    began: float = 0.0
    first_token: float = 0.0
    ended: float = 0.0


def add_generate_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command; their ranges are checked where they are used."""
    defaults = SamplerSettings()
    parser.add_argument("file", type=Path, help="a .slm model")
    parser.add_argument("--prompt", required=True, help="text to go on from, or the user's turn")
    parser.add_argument("--chat", action="store_true", help="frame the prompt as a chat turn")
    parser.add_argument("--system", default="", help="system text, instead of the model's own")
    parser.add_argument("--max-tokens", type=int, default=DEFAULT_MAX_TOKENS)
    parser.add_argument("--temperature", type=float, default=defaults.temperature)
    parser.add_argument("--top-k", type=int, default=defaults.top_k)
    parser.add_argument("--top-p", type=float, default=defaults.top_p)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--no-stop", action="store_true", help="go on past end marks")
    parser.add_argument("--json", action="store_true", help="print one object with token ids")
    parser.set_defaults(run=run_generate)


def run_generate(arguments: argparse.Namespace) -> int:
    """Load the model, generate, and print text or JSON; return exit code 0.

    Raises:
        KernelError: the file, a setting or the prompt cannot be used.
    """
    out = sys.stdout
    settings = SamplerSettings(
        temperature=arguments.temperature,
        top_k=arguments.top_k,
        top_p=arguments.top_p,
        seed=arguments.seed,
    )
    with FileSource(arguments.file) as source:
        model = open_model(source)
        tokenizer = load_tokenizer(model.tokenizer_section, model.manifest)
        template = model.manifest.chat_template if model.manifest else ChatTemplate()
        prompt_ids = _prompt_ids(tokenizer, template, arguments)
        decoder = _load_decoder(model)
    steps = generate_steps(
        decoder,
        decoder.new_cache(),
        prompt_ids,
        settings,
        max_tokens=arguments.max_tokens,
        stop_ids=() if arguments.no_stop else stop_ids(tokenizer, template),
        want_logprobs=arguments.json,
    )
    run = _Run()
    reason = _consume(steps, run, StreamDecoder(tokenizer), None if arguments.json else out)
    if arguments.json:
        out.write(json.dumps(_report(run, prompt_ids, reason), ensure_ascii=False) + "\n")
    else:
        out.write("\n")
    return 0


def chat_prompt_ids(
    tokenizer: Tokenizer, template: ChatTemplate, system_text: str, user_text: str
) -> list[int]:
    r"""Frame one user turn, piece by piece; role marks enter as ids only.

    chatml: `[turn_start] "role\n" text [turn_end] "\n"` for system and user, then
    `[turn_start] "assistant\n"`. plain: the begin mark and the texts, one line each.
    """
    system_text = system_text or template.default_system
    match template.kind:
        case "chatml":
            start = _control_id(tokenizer, template.turn_start)
            end = _control_id(tokenizer, template.turn_end)
            turns = [("system", system_text)] if system_text else []
            ids: list[int] = []
            for role, text in [*turns, ("user", user_text)]:
                head, body = tokenizer.encode(f"{role}\n"), tokenizer.encode(text)
                ids += [start, *head, *body, end, *tokenizer.encode("\n")]
            return [*ids, start, *tokenizer.encode("assistant\n")]
        case "plain":
            opening = [*tokenizer.encode(system_text), *tokenizer.encode("\n")]
            body = tokenizer.encode(user_text)
            return [tokenizer.special.bos, *(opening if system_text else []), *body]
        case _:
            assert_never(template.kind)


def stop_ids(tokenizer: Tokenizer, template: ChatTemplate) -> frozenset[int]:
    """Give the ids that end a text: end of text, and in a chat model any control token."""
    controls = tokenizer.control_ids.values() if template.kind == "chatml" else ()
    return frozenset({tokenizer.special.eos, *controls})


def _load_decoder(model: SlmFile) -> Decoder:
    ops = NumpyOps(model.config)
    for _ in ops.load(model):
        pass
    return Decoder(model.config, ops)


def _prompt_ids(
    tokenizer: Tokenizer, template: ChatTemplate, arguments: argparse.Namespace
) -> list[int]:
    if arguments.chat:
        return chat_prompt_ids(tokenizer, template, arguments.system, arguments.prompt)
    # The SLM1 byte tokenizer begins every text with its mark; chat models were trained without.
    opening = [tokenizer.special.bos] if template.kind == "plain" else []
    return [*opening, *tokenizer.encode(arguments.prompt)]


def _control_id(tokenizer: Tokenizer, mark: str) -> int:
    try:
        return tokenizer.control_ids[mark]
    except KeyError as error:
        text = f"The chat template's mark {mark!r} is no control token; convert the model again."
        raise kernel_error(ErrorCode.INVALID_MANIFEST, "chat_template", text) from error


def _consume(
    steps: Generator[Step, None, FinishReason],
    run: _Run,
    decoder: StreamDecoder,
    out: TextIO | None,
) -> FinishReason:
    """Run to the end, writing text to `out` as soon as it is complete."""
    run.began = time.perf_counter()
    while True:
        try:
            step = next(steps)
        except StopIteration as finished:
            run.ended = time.perf_counter()
            _take_text(run, decoder.finish(), out)
            reason: FinishReason = finished.value
            return reason
        match step:
            case Token():
                run.first_token = run.first_token or time.perf_counter()
                run.ids.append(step.id)
                if step.logprob is not None:
                    run.logprobs.append(step.logprob)
                _take_text(run, decoder.push(step.id), out)
            case Prefilled() | Pause():
                pass
            case _:
                assert_never(step)


def _take_text(run: _Run, text: str, out: TextIO | None) -> None:
    run.pieces.append(text)
    if out is not None and text:
        out.write(text)
        out.flush()


def _report(run: _Run, prompt_ids: list[int], reason: FinishReason) -> dict[str, object]:
    prefill_end = run.first_token or run.ended
    return {
        "prompt_ids": prompt_ids,
        "output_ids": run.ids,
        "logprobs": [round(value, 6) for value in run.logprobs],
        "text": "".join(run.pieces),
        "finish_reason": reason,
        "prefill_tokens_per_s": _rate(len(prompt_ids), prefill_end - run.began),
        "decode_tokens_per_s": _rate(len(run.ids) - 1, run.ended - prefill_end),
    }


def _rate(tokens: int, seconds: float) -> float:
    return round(tokens / seconds, 2) if tokens > 0 and seconds > 0 else 0.0
