"""Step 5: what this session may not see goes, before anybody reads it.

Takes candidates, gives those of the session's tenant, clearance and time. Runs before the
screening step: a text that may not be seen is not even looked at. Does not know relevance.
"""

from py_core.compiler.access import find_refusal
from py_core.compiler.draft import Draft, part
from py_core.compiler.request import CompileRequest


def filter_access(draft: Draft, request: CompileRequest) -> Draft:
    """Exclude foreign, too sensitive and outlived records."""
    session = request.session
    return part(draft, "filter_access", lambda found: find_refusal(found.record, session))
