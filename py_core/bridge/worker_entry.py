"""The only function that the shell calls: `start(host)` gives `receive(text)`.

Takes messages as JSON text and answers through `host.post`, also as JSON text. Each request gets
zero or more events, then exactly one reply, then nothing. This is the one place with a broad
except: what is not one of our errors becomes `internal`, without any text of a record. Does not
know what requests do.
"""

import asyncio
import sys
import traceback
from collections.abc import Callable

from py_core.bridge.dispatch import Dispatcher
from py_core.bridge.host import Host
from py_core.bridge.messages import (
    ErrorBody,
    ErrorReply,
    EventData,
    MemoryEvent,
    MemoryHintData,
    NoticeData,
    NoticeEvent,
    OkReply,
    PageRequest,
    PlanData,
    PlanEvent,
    ProgressData,
    ProgressEvent,
    TokenData,
    TokenEvent,
    WorkerEvent,
)
from py_core.bridge.parse_request import Refused, parse_request
from py_core.errors import BadMessageError, TinyloomError, WeAreWrongError

INTERNAL_MESSAGE = "Something inside failed: reload the page, and report it if it comes again."


def start(host: Host) -> Callable[[str], None]:
    """Build everything once and give the function that takes messages.

    Must be called where an event loop is current; in the browser there always is one.
    """
    return Border(host, asyncio.get_event_loop()).receive


class Border:
    """Parses, runs each request as a task, and posts what comes out."""

    def __init__(self, host: Host, loop: asyncio.AbstractEventLoop) -> None:
        """Start with nothing running."""
        self._host, self._loop = host, loop
        self._dispatcher = Dispatcher(host)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._warming = loop.create_task(self._dispatcher.warm())

    def receive(self, text: str) -> None:
        """Take one message from the page; never raises for what is in it."""
        parsed = parse_request(text)
        if isinstance(parsed, Refused):
            self._post(_describe_error(parsed.request_id, parsed.error))
        elif parsed.id in self._tasks:
            error = BadMessageError(field="id", expected="an id that is not running")
            self._post(_describe_error(parsed.id, error))
        else:
            task = self._loop.create_task(self._run(parsed))
            # The loop keeps only weak references to tasks.
            self._tasks[parsed.id] = task
            task.add_done_callback(lambda _: self._tasks.pop(parsed.id, None))

    async def _run(self, request: PageRequest) -> None:
        def emit(data: EventData) -> None:
            self._post(_wrap_event(request.id, data))

        try:
            value = await self._dispatcher.answer(request, emit)
        except Exception as error:
            self._post(_describe_error(request.id, error))
        else:
            self._post(OkReply(id=request.id, value=value))

    def _post(self, message: WorkerEvent | OkReply | ErrorReply) -> None:
        self._host.post(message.model_dump_json())


def _wrap_event(request_id: int, data: EventData) -> WorkerEvent:
    match data:
        case ProgressData():
            return ProgressEvent(id=request_id, data=data)
        case PlanData():
            return PlanEvent(id=request_id, data=data)
        case TokenData():
            return TokenEvent(id=request_id, data=data)
        case NoticeData():
            return NoticeEvent(id=request_id, data=data)
        case MemoryHintData():
            return MemoryEvent(id=request_id, data=data)


def _describe_error(request_id: int, error: Exception) -> ErrorReply:
    if isinstance(error, TinyloomError) and not isinstance(error, WeAreWrongError):
        body = ErrorBody(code=error.code, message=error.message, details=error.details)
        return ErrorReply(id=request_id, error=body)
    _log_without_text(error)
    details: dict[str, str | int | None] = {"type": type(error).__name__}
    body = ErrorBody(code=WeAreWrongError.code, message=INTERNAL_MESSAGE, details=details)
    return ErrorReply(id=request_id, error=body)


def _log_without_text(error: Exception) -> None:
    """Write the places of the traceback for a developer; the error's own text may hold a record."""
    places = "".join(traceback.format_tb(error.__traceback__))
    sys.stderr.write(f"{type(error).__name__}\n{places}")
