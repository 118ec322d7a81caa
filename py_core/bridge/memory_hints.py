"""What a message of the user means for the memory, told to the page before the answer.

Takes the message and the keeper; gives a hint: the command in it, and the inferences that now wait.
Nothing is kept by this but pending inferences; a memory that cannot be reached is said, and the
turn goes on. Does not know the model.
"""

from collections.abc import Iterator
from typing import assert_never

from py_core.bridge.messages import MemoryHintData
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.traits import find_statement
from py_core.compiler.plan import Plan
from py_core.memory.commands import (
    ForgetAboutCommand,
    ForgetLastCommand,
    MemoryCommand,
    RememberCommand,
    find_command,
)
from py_core.memory_errors import StorageFullError, StorageLostError


async def find_hint(
    message: str, message_id: str, keeper: MemoryKeeper, now: str
) -> MemoryHintData | None:
    """Give the hint, or None when the message has nothing to do with the memory."""
    command = find_command(message)
    if command is not None:
        return _describe(command, message_id)
    try:
        pending = await keeper.suggest(message, message_id, now)
    except (StorageFullError, StorageLostError) as error:
        return MemoryHintData(command="unavailable", text=error.message, message_id=message_id)
    if not pending:
        return None
    return MemoryHintData(command="none", text="", message_id=message_id, pending=pending)


def list_offers(plan: Plan, message: str) -> Iterator[MemoryHintData]:
    """Offer to correct each memory that the message overrides; the override is for this turn."""
    for conflict in plan.conflicts:
        if conflict.updates_ledger:
            for record_id in conflict.loser_ids:
                yield MemoryHintData(
                    command="correct",
                    text=find_statement(message, conflict.slot),
                    message_id=conflict.winner_id,
                    record_id=record_id,
                )


def _describe(command: MemoryCommand, message_id: str) -> MemoryHintData:
    match command:
        case RememberCommand():
            return MemoryHintData(command="remember", text=command.text, message_id=message_id)
        case ForgetLastCommand():
            return MemoryHintData(command="forget_last", text="", message_id=message_id)
        case ForgetAboutCommand():
            return MemoryHintData(command="forget_about", text=command.query, message_id=message_id)
        case _:
            assert_never(command)
