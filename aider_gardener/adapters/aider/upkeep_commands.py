"""/gardener archive, observations and tasks: upkeep of the project's chats from within one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCommands
from aider_gardener.errors import GardenerError, UsageError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

Step = Callable[[HostCommands, "Gardener", str], None]
OBSERVATIONS_USAGE = "Usage: /gardener observations [take N | refuse N]"
TASKS_USAGE = "Usage: /gardener tasks [--dry-run]"


def _step(lines_of: Callable[[Gardener, str], Iterable[str]]) -> Step:
    """A command that says some lines, or in one line why it can't."""

    def run(commands: HostCommands, gardener: Gardener, words: str) -> None:
        try:
            for line in lines_of(gardener, words.strip()):
                commands.io.tool_output(line)
        except GardenerError as error:
            commands.io.tool_error(str(error))

    return run


@_step
def archive(gardener: Gardener, _words: str) -> Iterable[str]:
    """Write the index of the project's sessions anew."""
    from aider_gardener.gardener import files

    held = gardener.state.archive
    yield files.renew_now(held.store, held.project, would=False) + "."


@_step
def observations(gardener: Gardener, words: str) -> Iterable[str]:
    """List what is proposed as a rule, or take or refuse one, which holds in this chat too."""
    from aider_gardener.gardener import learnt

    what, _, given = words.partition(" ")
    if words and (what not in ("take", "refuse") or not given.strip()):
        raise UsageError(OBSERVATIONS_USAGE)
    held = gardener.state.archive
    found = learnt.learnt(held.store, held.project, clock=held.clock)
    if not words:
        learnt.announce(held.store, held.project, found, held.clock())
        yield from learnt.render(held.store, held.project, found)
        return
    verdict = learnt.TAKEN if what == "take" else learnt.REFUSED
    yield learnt.decide(held.store, held.project, found.named(given), verdict, held.clock())
    gardener.state.taken = learnt.taken_rules(held.store, held.project)


@_step
def tasks(gardener: Gardener, words: str) -> Iterable[str]:
    """Move what is checked off to TASK_ARCHIVE.md, or only say what would move."""
    from aider_gardener.gardener import done_tasks

    if words not in ("", "--dry-run"):
        raise UsageError(TASKS_USAGE)
    held = gardener.state.archive
    found = done_tasks.moves(held.store, held.project, clock=held.clock)
    if not words:
        done_tasks.apply(held.store, held.project, found, clock=held.clock)
    yield from done_tasks.render(found, would=bool(words))
