"""The same request gives the same plan: in any order, any place, any notation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import Plan
from py_core.compiler.receipt import make_receipt
from py_core.compiler.request import join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.errors import ContextOverflowError
from py_core.records.read_request import read_request
from tests.laws.strategies import request_values
from tests.record_builders import Json

ROOT = Path(__file__).parents[2]

HASH_ALL_CASES = """
import hashlib, pathlib
from py_core.commands.compile_command import compile_command
total = hashlib.sha256()
for path in sorted(pathlib.Path("fixtures/compile").glob("*.json")):
    answer = compile_command(path.name, path.read_bytes(), as_json=True)
    total.update(answer.output.encode())
print(total.hexdigest())
"""


def compile_value(value: Json) -> Plan | ContextOverflowError:
    """Compile a request value; an overflow is a result like any other."""
    file = read_request(json.dumps(value).encode())
    counter = make_counter(file.capacity.counter)
    request = join_request(file, counter, make_template(file.capacity.template))
    try:
        return compile_context(request)
    except ContextOverflowError as error:
        return error


def describe(result: Plan | ContextOverflowError) -> object:
    """Give what has to be equal."""
    if isinstance(result, ContextOverflowError):
        return result.message
    return result.model_dump(), make_receipt(result).model_dump()


@given(request_values(), st.randoms(use_true_random=False))
def test_any_order_of_the_records_gives_the_same_plan_and_receipt(value, random):
    """Permuting the input changes no byte of plan, ids and receipt (section 5)."""
    shuffled = [*value["records"]]
    random.shuffle(shuffled)
    assert describe(compile_value(value)) == describe(compile_value({**value, "records": shuffled}))


@given(request_values())
def test_compiling_twice_gives_the_same_plan(value):
    """No step keeps a memory: warm caches change nothing."""
    assert describe(compile_value(value)) == describe(compile_value(value))


@given(request_values())
def test_the_same_instant_in_another_zone_gives_the_same_plan(value):
    """A time counts as the instant it names, not as its digits."""
    moved = [
        {
            **record,
            "observation_time": record["observation_time"].replace("09:00:00Z", "14:30:00+05:30"),
        }
        for record in value["records"]
    ]
    assert describe(compile_value(value)) == describe(compile_value({**value, "records": moved}))


@given(request_values())
def test_field_order_and_spacing_of_the_file_change_nothing(value):
    """Hashes are taken from values, not from the bytes that carried them."""
    turned = json.loads(json.dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert describe(compile_value(value)) == describe(compile_value(turned))


@pytest.mark.skipif(sys.platform == "emscripten", reason="a browser tab has no processes")
def test_hash_seed_time_zone_and_locale_change_nothing():
    """Every case comes out byte by byte alike in processes with other surroundings."""
    surroundings = [
        {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
        {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"},
    ]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", HASH_ALL_CASES],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **surrounding},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for surrounding in surroundings
    }
    assert len(outputs) == 1
