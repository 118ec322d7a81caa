"""`python -m py_core compile REQUEST.json [--model FILE.slm] [--json]`.

Takes the bytes of a request or fixture, gives the plan as text, or plan, ids and receipt as JSON.
Does not open files.
"""

import json

from py_core.commands.answer import BAD_INPUT, DONE, NEGATIVE, Answer
from py_core.commands.counting import ModelCounting, join_for_command
from py_core.compiler.explain import explain_plan
from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import Plan
from py_core.compiler.receipt import make_receipt
from py_core.errors import BadRequestError, ContextOverflowError, UserCanFixError
from py_core.records.read_request import read_request


def compile_command(
    name: str, data: bytes, model: ModelCounting | None = None, *, as_json: bool = False
) -> Answer:
    """Compile one request.

    Args:
        name: of the file, for messages.
        data: its bytes.
        model: tokenizer and template of a model file.
        as_json: print JSON for programs instead of text for people.
    """
    try:
        plan = compile_context(join_for_command(read_request(data), model))
    except BadRequestError as error:
        return _refuse(name, error, BAD_INPUT, as_json=as_json)
    except ContextOverflowError as error:
        return _refuse(name, error, NEGATIVE, as_json=as_json)
    output = write_json(plan) if as_json else explain_plan(plan)
    return Answer(DONE, f"{output}\n")


def write_json(plan: Plan) -> str:
    """Write plan, prompt ids and receipt as one JSON document."""
    return json.dumps(
        {
            "plan": plan.model_dump(mode="json", exclude={"prompt_ids"}),
            "prompt_ids": list(plan.prompt_ids),
            "receipt": make_receipt(plan).model_dump(mode="json"),
        },
        ensure_ascii=False,
        indent=1,
    )


def _refuse(name: str, error: UserCanFixError, code: int, *, as_json: bool) -> Answer:
    document = {"error": {"code": error.code, "message": error.message, "details": error.details}}
    output = f"{json.dumps(document, ensure_ascii=False)}\n" if as_json else ""
    return Answer(code, output, f"{name}: {error.message}\n")
