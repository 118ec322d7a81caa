"""Errors carry a stable code, typed values and one sentence built from them."""

import re

import pytest

from py_core import errors, memory_errors
from py_core.errors import ContextOverflowError, ModelFileError, TinyloomError, UnknownKindError

EXAMPLES = [
    errors.ContextOverflowError(needed=20, allowed=11, tier=2),
    errors.ModelTooLargeError(name="big", needed_bytes=5),
    errors.ModelNotLoadedError(),
    errors.ModelNotLoadedError(is_loading=True),
    errors.BusyError(running_kind="chat.send", running_id=3),
    errors.InvalidSettingError(field="top_p", expected="above 0"),
    errors.InvalidTextError(field="text", expected="type a message"),
    errors.RequestCancelledError(kind="model.load"),
    errors.UnknownKindError(kind="chat.sing"),
    errors.WrongVersionError(expected=1),
    errors.BadMessageError(field="payload.text", expected="text"),
    errors.BadRequestError(field="records[0].kind", expected="expected a known kind"),
    errors.PlanNotKeptError(plan_hash="0" * 64, kept_plans=32),
    errors.RecordNotFoundError(record_id="turn-9-user"),
    errors.RecordWithheldError(record_id="m1", reason="tombstoned"),
    memory_errors.StorageFullError(),
    memory_errors.StorageFullError(used_bytes=9, quota_bytes=10),
    memory_errors.StorageLostError(reason="InvalidStateError"),
    memory_errors.SensitiveTextError(found="a password", count=1),
    memory_errors.ChangeRefusedError(field="record_id", expected="is not in the memory"),
    memory_errors.LedgerFileError(line=3, field="record.kind", expected="expected a kind"),
    memory_errors.StartupFileError(path=".uai/identity.uai", field="title", expected="is missing"),
    errors.ModelFileError("Bad magic.", reason="invalid_magic", number=4, field="magic", offset=0),
    errors.InvariantError(what="two is three"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: error.message)
def test_every_error_is_one_sentence_with_a_snake_case_code(error):
    """The code is part of the protocol; details are what the sentence was built from."""
    assert re.fullmatch(r"[a-z][a-z_]*", error.code)
    assert error.message.endswith(".")
    assert all(isinstance(value, str | int | None) for value in error.details.values())


def test_every_concrete_class_has_an_example_here():
    """A new class must be shown."""
    leaves = {leaf for branch in TinyloomError.__subclasses__() for leaf in branch.__subclasses__()}
    assert leaves == {type(error) for error in EXAMPLES}


def test_codes_are_unique():
    """A page can tell errors apart by code alone."""
    codes = [kind.code for kind in {type(error) for error in EXAMPLES}]
    assert len(codes) == len(set(codes))


def test_an_overflow_carries_its_numbers():
    """The page shows needed and allowed tokens and which text to shorten."""
    error = ContextOverflowError(needed=20, allowed=11, tier=1)

    assert error.details == {"needed": 20, "allowed": 11, "tier": 1}
    assert "20 tokens" in error.message
    assert "11" in error.message
    assert "system text" in error.message


def test_a_file_error_names_field_and_offset():
    """House rule: the field and the offset of a refusal reach the page."""
    error = ModelFileError("x.", reason="invalid_header", number=6, field="head_dim", offset=44)

    assert error.details["field"] == "head_dim"
    assert error.details["offset"] == 44


def test_an_unknown_kind_is_cut_before_it_is_repeated():
    """A hostile kind cannot flood the page."""
    assert len(UnknownKindError(kind="k" * 10_000).message) < 200
