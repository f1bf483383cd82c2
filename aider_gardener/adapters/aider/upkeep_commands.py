"""/gardener archive, observations and tasks: upkeep of the project's chats from within one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCommands
from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

OBSERVATIONS_USAGE = "Usage: /gardener observations [take N | refuse N]"
TASKS_USAGE = "Usage: /gardener tasks [--dry-run]"


def archive(commands: HostCommands, gardener: Gardener, _words: str) -> None:
    """Write the index of the project's sessions anew."""
    from aider_gardener.gardener import files

    held = gardener.state.archive
    try:
        commands.io.tool_output(files.renew_now(held.store, held.project, would=False) + ".")
    except GardenerError as error:
        commands.io.tool_error(str(error))


def observations(commands: HostCommands, gardener: Gardener, args: str) -> None:
    """List what is proposed as a rule, or take or refuse one."""
    what, _, given = args.strip().partition(" ")
    try:
        if not what:
            say(commands, listed(gardener))
        elif what in ("take", "refuse") and given.strip():
            commands.io.tool_output(settle(gardener, what, given))
        else:
            commands.io.tool_error(OBSERVATIONS_USAGE)
    except GardenerError as error:
        commands.io.tool_error(str(error))


def listed(gardener: Gardener) -> Iterable[str]:
    """The proposals and the rules taken, as lines."""
    from aider_gardener.archive.sessions import said_in, short_ids
    from aider_gardener.gardener import learnt
    from aider_gardener.notes.last_chat import when

    held = gardener.state.archive
    short = short_ids([info.id for info in said_in(held.store, held.project)])
    found = learnt.learnt(held.store, held.project, clock=held.clock)
    learnt.announce(held.store, held.project, found, held.clock())
    return learnt.told(found, when, lambda session: short.get(session, session))


def settle(gardener: Gardener, what: str, given: str) -> str:
    """Take or refuse one; what became of it, in one line. It holds in this chat too."""
    from aider_gardener.gardener import learnt

    held = gardener.state.archive
    found = learnt.numbered(learnt.learnt(held.store, held.project, clock=held.clock), given)
    verdict = learnt.TAKEN if what == "take" else learnt.REFUSED
    learnt.settle(held.store, held.project, found, verdict, held.clock())
    gardener.state.taken = learnt.taken_rules(held.store, held.project)
    text = learnt.text_of(found)
    if what == "take":
        return f"Rule of every chat from now on: {text}"
    return f"Refused, it will not come again: {text}"


def tasks(commands: HostCommands, gardener: Gardener, args: str) -> None:
    """Move what is checked off to TASK_ARCHIVE.md, or only say what would move."""
    from aider_gardener.gardener import done_tasks

    would = args.strip() == "--dry-run"
    if args.strip() and not would:
        commands.io.tool_error(TASKS_USAGE)
        return
    held = gardener.state.archive
    try:
        found = done_tasks.moves(held.store, held.project, clock=held.clock)
        if not would:
            done_tasks.apply(held.store, held.project, found, clock=held.clock)
        say(commands, done_tasks.told(found, would=would))
    except GardenerError as error:
        commands.io.tool_error(str(error))


def say(commands: HostCommands, lines: Iterable[str]) -> None:
    for line in lines:
        commands.io.tool_output(line)
