"""The kinds model.load and model.plan: convert when needed, load step by step, describe.

Takes the payload, the host's bytes and a way to emit, gives the facts of the loaded file. A file
that was made on the way is closed at the end, whatever the end is. Does not know ids or tasks.
"""

import json
from collections.abc import Callable
from typing import assert_never

from py_core.bridge.host import Host
from py_core.bridge.host_bytes import HostSink, HostSource
from py_core.bridge.messages import EventData, NoticeData, ProgressData
from py_core.bridge.model_messages import (
    ModelFacts,
    ModelLoadPayload,
    ModelPlan,
    TokenizerFacts,
)
from py_core.chat.loaded_model import FileOrigin, LoadedModel
from py_core.chat.model_import import ImportProgress, import_steps, read_import_shape
from py_core.chat.model_session import (
    CacheFallback,
    LoadProgress,
    LoadStep,
    ModelSession,
    OldModelFreed,
    OpSetFallback,
)
from py_core.chat.op_sets import EngineWish
from py_core.chat.pacing import Pacer, StopSignal, drain_paced
from py_core.errors import InvariantError, RequestCancelledError

Emit = Callable[[EventData], None]


async def answer_model_load(
    payload: ModelLoadPayload,
    session: ModelSession,
    host: Host,
    *,
    pacer: Pacer,
    emit: Emit,
    stop: StopSignal,
) -> ModelFacts:
    """Load the file behind a handle.

    Raises:
        ModelFileError: the file is refused.
        ModelTooLargeError: it does not fit the memory.
        RequestCancelledError: the load was stopped; the old model is still there.
    """
    origin = FileOrigin(payload.name, payload.file_bytes, payload.sha256, payload.known_checksum)
    handle = payload.handle
    if payload.format == "gguf":
        handle, origin = await _convert(payload, host, pacer=pacer, emit=emit, stop=stop)
    try:
        model = await drain_paced(
            session.load_steps(HostSource(host, handle), origin, _wish_of(payload)),
            lambda step: emit(_describe_step(step)),
            pacer=pacer,
            stop=stop,
        )
    finally:
        if handle != payload.handle:
            host.model_close(handle)
    if model is None:
        raise RequestCancelledError(kind="model.load")
    return describe_model(model, host)


def answer_model_plan(payload: ModelLoadPayload, session: ModelSession, host: Host) -> ModelPlan:
    """Read header and directory behind a handle and tell what loading will take.

    Raises:
        ModelFileError: the file is refused.
    """
    source = HostSource(host, payload.handle)
    shape = read_import_shape(source, is_converted=payload.format == "gguf")
    forecast = session.forecast(shape, _wish_of(payload))
    plan = forecast.plan
    return ModelPlan(
        name=payload.name,
        op_set=plan.engine.op_set,
        kv_cache=plan.engine.cache_format,
        weight_bytes=plan.weight_bytes,
        tokenizer_bytes=plan.tokenizer_bytes,
        kv_bytes_first=plan.kv_bytes_first,
        kv_bytes_total=plan.kv_bytes_total,
        scratch_bytes_first=plan.first_scratch_bytes + plan.logits_bytes,
        scratch_bytes=plan.scratch_bytes + plan.logits_bytes,
        load_bytes=plan.load_bytes,
        embedder_bytes=forecast.beside_bytes,
        heap_bytes=forecast.heap_bytes,
        heap_bytes_after=forecast.heap_bytes_after,
        heap_bytes_full=forecast.heap_bytes_full,
        limit_bytes=forecast.limit_bytes,
        fits=forecast.fits,
    )


def _wish_of(payload: ModelLoadPayload) -> EngineWish:
    return EngineWish(payload.op_set, payload.kv_cache)


def describe_model(model: LoadedModel, host: Host) -> ModelFacts:
    """State the facts of the loaded file and the present use of memory."""
    facts = model.facts
    return ModelFacts(
        name=facts.name,
        context_tokens=facts.context_tokens,
        prompt_limit_tokens=facts.context_tokens - 1,
        # One prompt token is the least, so all but one may be answer.
        output_limit_tokens=facts.context_tokens - 1,
        kv_bytes_per_token=model.cache.storage.bytes_per_token,
        kv_bytes_total=model.cache.bytes_total,
        kv_bytes_used=model.cache.bytes_used,
        file_bytes=facts.file_bytes,
        parameters=facts.parameters,
        dtype=facts.dtype,
        tokenizer=TokenizerFacts(
            kind=model.tokenizer.kind,
            vocab_size=model.tokenizer.vocab_size,
            identity=model.tokenizer.identity,
        ),
        sha256=facts.sha256,
        checksum=facts.checksum,
        op_set=model.ops.name,
        kv_cache=model.cache.storage.format,
        threads=model.ops.seats,
        heap_bytes=int(host.heap_bytes()),
        licence=facts.licence,
        origin=facts.origin,
        chat_template=model.template.kind,
    )


async def _convert(
    payload: ModelLoadPayload, host: Host, *, pacer: Pacer, emit: Emit, stop: StopSignal
) -> tuple[str, FileOrigin]:
    """Write the file anew as `.slm` through the host, piece by piece."""
    written = await drain_paced(
        import_steps(HostSource(host, payload.handle), HostSink(host, payload.handle)),
        lambda step: emit(_describe_conversion(step)),
        pacer=pacer,
        stop=stop,
    )
    if written is None:
        raise RequestCancelledError(kind="model.load")
    stored = json.loads(await host.model_commit(payload.handle))
    if (stored["file_bytes"], stored["sha256"]) != (written.file_bytes, written.sha256):
        raise InvariantError(what="the shell stored other bytes than were written")
    origin = FileOrigin(payload.name, written.file_bytes, written.sha256)
    return str(stored["handle"]), origin


def _describe_conversion(step: ImportProgress) -> ProgressData:
    return ProgressData(step="convert", done=step.done, total=step.total, text=step.text)


def _describe_step(step: LoadStep) -> EventData:
    match step:
        case LoadProgress():
            return ProgressData(step="load", done=step.done, total=step.total, text=step.text)
        case OpSetFallback():
            return NoticeData(code="op_set_fallback", text=step.text)
        case CacheFallback():
            return NoticeData(code="kv_cache_fallback", text=step.text)
        case OldModelFreed():
            return NoticeData(code="old_model_freed", text=step.text)
        case _:
            assert_never(step)
