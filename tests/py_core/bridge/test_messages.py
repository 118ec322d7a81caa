"""Every example in fixtures/protocol is a message that the models accept, and reads back equal."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from py_core.bridge.chat_messages import GenerationSettings
from py_core.bridge.messages import (
    ErrorReply,
    OkReply,
    PageRequest,
    WorkerEvent,
)

FOLDER = Path(__file__).parents[3] / "fixtures" / "protocol"
MODELS: dict[str, TypeAdapter[Any]] = {
    "request": TypeAdapter(PageRequest),
    "event": TypeAdapter(WorkerEvent),
    "reply": TypeAdapter(OkReply | ErrorReply),
}
EXAMPLES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_read_and_written_back_equal(path):
    """Strict parsing loses nothing and adds nothing."""
    model = MODELS[path.name.split(".")[0]]

    message = model.validate_json(path.read_bytes())

    assert json.loads(model.dump_json(message)) == json.loads(path.read_bytes())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_unknown_field_is_refused(path):
    """Both sides are of one version, so a field that only one side knows is an error."""
    message = json.loads(path.read_bytes()) | {"extra": 1}

    with pytest.raises(ValidationError):
        MODELS[path.name.split(".")[0]].validate_json(json.dumps(message))


def test_the_defaults_of_generation_are_greedy():
    """Temperature 0 is the default."""
    assert GenerationSettings().temperature == 0
