"""How tokens are counted on the command line.

Takes a request file and, where one is given, the counter and template of a model; gives the
compile request. Does not open model files.
"""

from dataclasses import dataclass

from py_core.compiler.request import CompileRequest, PromptTemplate, TokenCounter, join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.records.request_file import RequestFile


@dataclass(frozen=True, slots=True)
class ModelCounting:
    """A model's tokenizer and template, without its weights."""

    counter: TokenCounter
    template: PromptTemplate


def join_for_command(file: RequestFile, model: ModelCounting | None) -> CompileRequest:
    """Count with the model's tokenizer, or by the rule that the request names."""
    if model is not None:
        return join_request(file, model.counter, model.template)
    capacity = file.capacity
    return join_request(file, make_counter(capacity.counter), make_template(capacity.template))
