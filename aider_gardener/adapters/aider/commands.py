"""The gardener's commands about the chat as a whole: /context-pressure, /compact and /gardener."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider import link, upkeep_commands
from aider_gardener.adapters.aider.announce import shown
from aider_gardener.adapters.aider.coder import HostCoder, HostCommands
from aider_gardener.adapters.aider.rules import constraints
from aider_gardener.errors import GardenerError
from aider_gardener.plan.said import changes, counted, made_room, short

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aider_gardener.gardener.gardener import Gardener

OURS = frozenset("/context-pressure /gardener /compact /recall /forget /pin /unpin /restore /why".split())
OFF = "The gardener is off in this chat (started with --no-gardener, or stopped by a fault)."
NOTHING_WORTH_IT = "There is nothing worth compacting now."
UNCHANGED = "Nothing was changed."


def name_of(command: Callable[..., None]) -> str:
    """What the user types to run a command."""
    return "/" + command.__name__.removeprefix("cmd_").replace("_", "-")


def gardener_for(commands: HostCommands) -> Gardener | None:
    """The chat's gardener, up to date with its lists; says so when there is none."""
    coder = commands.coder
    gardener = link.gardener_of(coder)
    if gardener is None:
        commands.io.tool_warning(OFF)
    else:
        link.sync(coder, gardener)
    return gardener


def measure(coder: HostCoder, gardener: Gardener) -> None:
    """Take the measure of the prompt as it would be sent now; no plan is applied and nothing is kept."""
    with link.preview(coder, gardener) as state:
        coder.format_chat_chunks()
    gardener.state.frame = state.frame


def show_table(commands: HostCommands, table: RenderableType) -> None:
    """Print a rich table through the host, plain where the host is not pretty."""
    from aider_gardener.tables import as_text

    for line in as_text(table).splitlines():
        commands.io.tool_output(line)


def pressure_lines(coder: HostCoder, gardener: Gardener) -> list[str]:
    """The report of /context-pressure as lines, for aider's own /tokens."""
    from aider_gardener.tables import as_text, pressure_screen

    measure(coder, gardener)
    report = gardener.pressure()
    entries = {entry.id: entry for entry in gardener.state.chat.entries.values()}
    return as_text(pressure_screen(report, entries)).splitlines()


def cmd_context_pressure(self: HostCommands, args: str) -> None:
    "Report what the chat uses of the context window (--full: every table, --json: for programs)"
    from aider_gardener.tables import pressure_screen, pressure_table

    gardener = gardener_for(self)
    if gardener is None:
        return
    given = (args or "").strip()
    if given not in ("", "--full", "--json"):
        self.io.tool_error("Usage: /context-pressure [--full|--json]")
        return
    measure(self.coder, gardener)
    report, state = gardener.pressure(), gardener.state
    if given == "--json":
        self.io.tool_output(json.dumps(report.as_json(), ensure_ascii=False))
        return
    state.listed = tuple(report.largest_ids)
    entries = {entry.id: entry for entry in state.chat.entries.values()}
    made = pressure_table if given else pressure_screen
    show_table(self, made(report, entries))


def cmd_compact(self: HostCommands, args: str) -> None:
    "Make room in the chat now, keeping whole what your words name: shows what it would do and asks"
    gardener = gardener_for(self)
    if gardener is not None:
        compact(self, gardener, args or "")


def cmd_gardener(self: HostCommands, args: str) -> None:
    "Memory: status, on, off, plan, compact, undo [all], constraints, decisions, archive, observations, tasks"
    action, _space, words = " ".join((args or "").split()).partition(" ")
    step = STEPS.get(action or "status")
    if step is None or (words and action not in WITH_WORDS):
        self.io.tool_error(USAGE)
        return
    gardener = gardener_for(self)
    if gardener is not None:
        step(self, gardener, words)


def show_status(commands: HostCommands, gardener: Gardener, words: str) -> None:
    from aider_gardener.gardener.told import status_text

    measure(commands.coder, gardener)
    if words not in ("", "--json"):
        commands.io.tool_error(USAGE)
    elif words:
        commands.io.tool_output(json.dumps(gardener.status(), ensure_ascii=False))
    else:
        status, root = gardener.status(), Path(commands.coder.root or os.getcwd())
        for line in status_text({**status, "store": shown(Path(status["store"]), root)}).splitlines():
            commands.io.tool_output(line)


def show_decisions(commands: HostCommands, gardener: Gardener, _words: str) -> None:
    """What was decided or rejected, by whom."""
    rows = [(one, "you" if one.is_users else "model") for one in gardener.decisions()]
    lines = [f"[{one.turn}] {who}: {one.text}" for one, who in rows]
    commands.io.tool_output("\n".join(lines) or "No decisions were found in this chat.")


def turn_on(commands: HostCommands, gardener: Gardener, _words: str) -> None:
    gardener.state.on = True
    commands.io.tool_output(f"The gardener is on (mode {gardener.state.settings.mode}).")


def turn_off(commands: HostCommands, gardener: Gardener, _words: str) -> None:
    given = gardener.give_back()
    gardener.state.on = False
    back = (
        f"{counted(given.messages, 'message')} came back whole, {given.tokens:,} tokens more of history"
        if given.messages
        else "every message stands whole"
    )
    commands.io.tool_output(
        f"The gardener is off: {back}. The history is sent as it stands, aider summarises as it does without"
        " us. It goes on archiving; /gardener on takes over again."
    )


def show_plan(commands: HostCommands, gardener: Gardener, focus: str) -> None:
    from aider_gardener.tables import plan_table

    measure(commands.coder, gardener)
    plan = gardener.plan(focus)
    if plan is None:
        commands.io.tool_output(NOTHING_WORTH_IT)
        return
    gardener.state.listed = tuple(swap.entry_id for swap in plan.swaps)
    show_table(commands, plan_table(plan))
    commands.io.tool_output(
        f"This is a preview: nothing was changed. /compact {focus}".rstrip() + " does it."
    )


def compact(commands: HostCommands, gardener: Gardener, focus: str) -> None:
    """Show what a compaction would do, sparing what the focus names, and do it if the user agrees."""
    from aider_gardener.gardener import compactions

    state, focus = gardener.state, " ".join(focus.split())
    if not state.acts:
        why = "is off" if not state.on else "only watches (--gardener-mode observe)"
        commands.io.tool_error(f"The gardener {why} in this chat; nothing is compacted.")
        return
    measure(commands.coder, gardener)
    with state.timed():
        asked = compactions.asked_for(state, focus)
    if asked is None:
        commands.io.tool_output(NOTHING_WORTH_IT)
        return
    plan, named = asked.plan, asked.named
    commands.io.tool_output(
        f"{changes(plan, would=True)}: {plan.tokens_before:,} → {plan.tokens_after:,} tokens of history."
    )
    if named:
        tokens, stay = short(sum(entry.tokens for entry in named)), "stays" if len(named) == 1 else "stay"
        commands.io.tool_output(
            f'{counted(len(named), "message")} that "{focus}" names {stay} untouched ({tokens} tokens).'
        )
    elif focus:
        commands.io.tool_output(f'Nothing in the chat fits "{focus}".')
    if not commands.io.confirm_ask("Make room now?", default="y"):
        commands.io.tool_output(UNCHANGED)
        return
    with state.timed():
        compactions.apply(state, asked.draft, time.perf_counter())
    link.show(commands.coder, gardener)
    commands.io.tool_output(f"M{made_room(plan)[1:]}.")


def undo(commands: HostCommands, gardener: Gardener, words: str) -> None:
    """Take back the last compaction, or all of them."""
    if words not in ("", "all"):
        commands.io.tool_error(USAGE)
        return
    try:
        changed = gardener.undo(every=bool(words))
    except GardenerError as error:
        commands.io.tool_error(str(error))
        return
    link.show(commands.coder, gardener)
    what = "every compaction of this chat" if words else "the last compaction"
    commands.io.tool_output(f"Took back {what}: {counted(changed, 'message')} changed.")


STEPS: dict[str, Callable[[HostCommands, Gardener, str], None]] = {
    "status": show_status,
    "on": turn_on,
    "off": turn_off,
    "plan": show_plan,
    "compact": compact,
    "undo": undo,
    "constraints": constraints,
    "decisions": show_decisions,
    "archive": upkeep_commands.archive,
    "observations": upkeep_commands.observations,
    "tasks": upkeep_commands.tasks,
}
"""What each word behind /gardener does, given what stands behind it."""
WITH_WORDS = frozenset({"status", "plan", "compact", "undo", "constraints", "observations", "tasks"})
USAGE = (
    "Usage: /gardener status [--json]|on|off|plan [WORDS]|compact [WORDS]|undo [all]"
    "|constraints [add TEXT|edit N TEXT|drop N]|decisions|archive|observations [take N|refuse N]"
    "|tasks [--dry-run]"
)


def completions_gardener(self: HostCommands) -> list[str]:
    """What may stand behind /gardener."""
    return list(STEPS)
