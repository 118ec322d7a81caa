"""The hashes of all worked cases, written down: every runtime gives these.

A hash that changes here means that receipts made before no longer verify. That is right only
together with a new policy or plan version; the new hashes are then written into the file by hand.
"""

import json
from pathlib import Path

from py_core.commands.compile_command import compile_command
from py_core.compiler.policy import identify_table
from py_core.records.request_file import POLICY_VERSION

FIXTURES = Path(__file__).parents[2] / "fixtures"


def hash_cases() -> dict[str, str]:
    """Give case name to plan hash, the overflow left out."""
    hashes = {}
    for path in sorted((FIXTURES / "compile").glob("*.json")):
        answer = compile_command(path.name, path.read_bytes(), as_json=True)
        if answer.code == 0:
            hashes[path.stem] = json.loads(answer.output)["plan"]["plan_hash"]
    return hashes


def test_plan_hashes_are_those_of_every_other_runtime():
    """Natively, in each browser, in any Python: the same bytes."""
    written = json.loads((FIXTURES / "reference" / "plan_hashes.json").read_text(encoding="utf-8"))
    assert hash_cases() == written["plans"]


def test_the_policy_table_is_that_of_its_version():
    """A changed number needs a new version, so that a receipt names what it was made with."""
    written = json.loads((FIXTURES / "reference" / "plan_hashes.json").read_text(encoding="utf-8"))
    assert written["policies"][POLICY_VERSION] == identify_table()
