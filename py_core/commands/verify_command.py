"""`python -m py_core verify RECEIPT.json REQUEST.json [--model FILE.slm]`.

Takes the bytes of a receipt (alone, or inside what `compile --json` printed) and of a request;
compiles again and says whether both agree. Does not open files.
"""

import json
from collections.abc import Mapping

from py_core.commands.answer import BAD_INPUT, DONE, NEGATIVE, Answer
from py_core.commands.counting import ModelCounting, join_for_command
from py_core.compiler.pipeline import compile_context
from py_core.compiler.receipt import Receipt, make_receipt
from py_core.compiler.verify_receipt import find_difference
from py_core.errors import BadRequestError, ContextOverflowError
from py_core.records.read_request import parse_model, read_json, read_request


def verify_command(
    receipt: tuple[str, bytes], request: tuple[str, bytes], model: ModelCounting | None = None
) -> Answer:
    """Compare a receipt with a fresh compilation.

    Args:
        receipt: name and bytes of the receipt file.
        request: name and bytes of the request file.
        model: tokenizer and template of the model that the receipt was made with.
    """
    name, data = receipt
    try:
        stated = read_receipt(data)
        name, data = request
        plan = compile_context(join_for_command(read_request(data), model))
    except BadRequestError as error:
        return Answer(BAD_INPUT, "", f"{name}: {error.message}\n")
    except ContextOverflowError as error:
        return Answer(NEGATIVE, "", f"{name}: {error.message}\n")
    difference = find_difference(stated, make_receipt(plan))
    if difference is not None:
        return Answer(NEGATIVE, f"differs: {difference.tell()}\n")
    return Answer(DONE, f"verified: plan {plan.plan_hash}\n")


def read_receipt(data: bytes) -> Receipt:
    """Read a receipt.

    Raises:
        BadRequestError: with the path of the first field that is wrong.
    """
    document, prefix = read_json(data), ""
    if isinstance(document, Mapping) and "receipt" in document:
        document, prefix = document["receipt"], "receipt."
    return parse_model(Receipt, json.dumps(document).encode(), prefix)
