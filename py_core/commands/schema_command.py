"""`python -m py_core schema FOLDER`.

Takes nothing but the models, gives the JSON Schema of every record kind, of the request, the plan
and the receipt by file name. Does not write files.
"""

import json

from py_core.compiler.plan import Plan
from py_core.compiler.receipt import Receipt
from py_core.records.kinds import RECORD_CLASSES
from py_core.records.request_file import RequestFile


def write_schemas() -> dict[str, str]:
    """Give file name to text of every schema."""
    models = {kind.__name__: kind for kind in RECORD_CLASSES}
    documents = {
        **{name: model.model_json_schema(mode="validation") for name, model in models.items()},
        "compile_request": RequestFile.model_json_schema(mode="validation"),
        "plan": Plan.model_json_schema(mode="serialization"),
        "receipt": Receipt.model_json_schema(mode="serialization"),
    }
    return {
        f"{name}.schema.json": json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
        + "\n"
        for name, document in documents.items()
    }
