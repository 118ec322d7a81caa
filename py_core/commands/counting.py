"""How tokens are counted on the command line.

Takes a request file and, where one is given, what the compiler needs of a model file; gives the
compile request. Does not open model files.
"""

from dataclasses import dataclass, replace

from py_core.compiler.request import CompileRequest, PromptTemplate, TokenCounter, join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.errors import BadRequestError
from py_core.records.request_file import RequestFile

UNNAMED_MODEL = "none"


@dataclass(frozen=True, slots=True)
class ModelCounting:
    """A model's tokenizer, template, context and hash, without its weights."""

    counter: TokenCounter
    template: PromptTemplate
    context_tokens: int
    identity: str


def join_for_command(file: RequestFile, model: ModelCounting | None) -> CompileRequest:
    """Count with the model's tokenizer, or by the rule that the request names.

    Raises:
        BadRequestError: the request wants a larger context than the model has.
    """
    capacity = file.capacity
    if model is None:
        return join_request(file, make_counter(capacity.counter), make_template(capacity.template))
    if capacity.context_tokens > model.context_tokens:
        raise BadRequestError(
            field="capacity.context_tokens",
            expected=f"expected at most {model.context_tokens}, the context of the model",
        )
    request = join_request(file, model.counter, model.template)
    is_named = capacity.model_identity != UNNAMED_MODEL
    identity = capacity.model_identity if is_named else model.identity
    return replace(request, capacity=capacity.model_copy(update={"model_identity": identity}))
