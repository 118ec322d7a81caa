"""Builders of records and requests with full defaults: a test shows only what it is about.

Takes overrides, gives JSON values as they stand in a request file, and compiles them. Does not
know what the compiler should make of them.
"""

import json
from typing import Any

from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import Plan
from py_core.compiler.request import CompileRequest, TokenCounter, join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.records.read_request import read_request

Json = dict[str, Any]

TENANT = "ws-1"
NOW = "2026-07-10T12:00:00Z"
OBSERVED = "2026-07-10T09:00:00Z"
CONSENTED = "2026-06-01T00:00:00Z"

_PAYLOADS: dict[str, Json] = {
    "LongTermMemoryRecord": {"consented_at": CONSENTED},
    "TrustedMetadata": {"channel": "signed"},
    "ToolResult": {"tool": "build"},
    "ShortTermSummary": {
        "summariser": "extractive",
        "summariser_version": "1",
        "prompt_policy_hash": "0" * 64,
    },
    "MemoryPointer": {"locator": "mem:42"},
    "CompilerDiagnostic": {"code": "note"},
}


def make_record(record_id: str, kind: str, text: str | None = None, **overrides: Any) -> Json:
    """Build one record; overrides named after payload fields go into the payload."""
    payload = {**_PAYLOADS.get(kind, {}), **overrides.pop("payload", {})}
    if text is not None:
        payload["text"] = text
    return {
        "record_id": record_id,
        "kind": kind,
        "tenant_binding": TENANT,
        "source": "test",
        "observation_time": OBSERVED,
        "payload": payload,
        **overrides,
    }


def make_fact(slot: str, value: str) -> Json:
    """Build one claim."""
    return {"slot": slot, "value": value}


def make_policy(text: str = "You help.", record_id: str = "policy", **overrides: Any) -> Json:
    """Build a system policy."""
    return make_record(record_id, "SystemPolicyRecord", text, **overrides)


def make_turn(
    record_id: str, text: str, turn: int, role: str = "user", facts: tuple[Json, ...] = ()
) -> Json:
    """Build a message."""
    payload = {"role": role, "turn": turn, "facts": list(facts)}
    return make_record(record_id, "RoleTaggedMessage", text, payload=payload)


def make_request_value(records: list[Json], **overrides: Any) -> Json:
    """Build a request as it stands in a file."""
    session = {
        "tenant": TENANT,
        "clearance": "internal",
        "now": NOW,
        "session_key": "fixed for tests",
    }
    return {
        "records": records,
        "session": {**session, **overrides.pop("session", {})},
        "capacity": {"context_tokens": 2048, **overrides.pop("capacity", {})},
        **overrides,
    }


def make_request(
    records: list[Json], counter: TokenCounter | None = None, **overrides: Any
) -> CompileRequest:
    """Build a request and pass it through the reader, as a file would."""
    file = read_request(json.dumps(make_request_value(records, **overrides)).encode())
    used = counter or make_counter(file.capacity.counter)
    return join_request(file, used, make_template(file.capacity.template))


def compile_records(
    records: list[Json], counter: TokenCounter | None = None, **overrides: Any
) -> Plan:
    """Compile records."""
    return compile_context(make_request(records, counter, **overrides))


def reasons_of(plan: Plan) -> dict[str, str]:
    """Give record id to reason for all that stayed out."""
    return {exclusion.record_id: exclusion.reason.value for exclusion in plan.exclusions}


def ids_of(plan: Plan) -> list[str]:
    """Give the ids in the order of the prompt."""
    return [node.record_id for node in plan.nodes]
