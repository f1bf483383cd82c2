"""The gardener's commands in the chat: /context-pressure, /gardener, /recall.

Those about single entries are in `commands_entries`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

OURS = frozenset(
    ["/context-pressure", "/gardener", "/recall", "/forget", "/pin", "/unpin", "/restore", "/why"]
)
OFF = "The gardener is off in this chat (started with --no-gardener, or stopped by a fault)."


def gardener_for(commands: Any) -> Gardener | None:
    """The chat's gardener, up to date with its lists; says so when there is none."""
    coder = commands.coder
    gardener = link.gardener_of(coder)
    if gardener is None:
        commands.io.tool_warning(OFF)
        return None
    link.refresh(gardener, coder)
    link.take_in(coder, gardener)
    return gardener


def measure(coder: Any, gardener: Gardener) -> None:
    """Take the measure of the prompt as it would be sent now; no plan is applied and nothing is kept."""
    acting, gardener.on = gardener.on, False
    try:
        coder.format_chat_chunks()
    finally:
        gardener.on = acting


def show_table(commands: Any, table: Any) -> None:
    """Print a rich table through the host, plain where the host is not pretty."""
    from aider_gardener.tables import as_text

    for line in as_text(table).splitlines():
        commands.io.tool_output(line)


def cmd_context_pressure(self: Any, args: Any) -> None:
    "Report what the chat uses of the context window, by part, class and message (--json for programs)"
    from aider_gardener.tables import pressure_table

    gardener = gardener_for(self)
    if gardener is None:
        return
    measure(self.coder, gardener)
    report = gardener.pressure()
    if (args or "").strip() == "--json":
        self.io.tool_output(json.dumps(report.as_json(), ensure_ascii=False))
    elif (args or "").strip():
        self.io.tool_error("Usage: /context-pressure [--json]")
    else:
        show_table(self, pressure_table(report))


def cmd_gardener(self: Any, args: Any) -> None:
    "Look after the chat's memory: status, on, off, plan (preview), undo, undo all, constraints, decisions"
    action = " ".join((args or "").split()) or "status"
    actions = {"status": show_status, "on": turn_on, "off": turn_off, "plan": show_plan, "undo": undo}
    actions |= {"undo all": undo_all, "constraints": show_constraints, "decisions": show_decisions}
    if action not in actions:
        self.io.tool_error(f"Usage: /gardener {'|'.join(actions)}")
        return
    gardener = gardener_for(self)
    if gardener is not None:
        actions[action](self, gardener)


def show_status(commands: Any, gardener: Gardener) -> None:
    from aider_gardener.tables import status_table

    show_table(commands, status_table(gardener.status()))


def show_constraints(commands: Any, gardener: Gardener) -> None:
    """The rules that the user set and that still hold."""
    from aider_gardener.notes.rules import line

    lines = [line(rule) for rule in gardener.constraints()]
    commands.io.tool_output("\n".join(lines) or "No rules were set in this chat.")


def show_decisions(commands: Any, gardener: Gardener) -> None:
    """What was decided or rejected, by whom."""
    rows = [(one, "you" if one.is_users else "model") for one in gardener.decisions()]
    lines = [f"[{one.turn}] {who}: {one.text}" for one, who in rows]
    commands.io.tool_output("\n".join(lines) or "No decisions were found in this chat.")


def turn_on(commands: Any, gardener: Gardener) -> None:
    gardener.on = True
    commands.io.tool_output(f"The gardener is on (mode {gardener.settings.mode}).")


def turn_off(commands: Any, gardener: Gardener) -> None:
    given = gardener.give_back()
    gardener.on = False
    back = (
        f"{counted(given.messages)} came back whole, {given.tokens:,} tokens more of history"
        if given.messages
        else "every message stands whole"
    )
    commands.io.tool_output(
        f"The gardener is off: {back}. The history is sent as it stands, aider summarises as it does without"
        " us. It goes on archiving; /gardener on takes over again."
    )


def counted(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages:,} messages"


def show_plan(commands: Any, gardener: Gardener) -> None:
    from aider_gardener.tables import plan_table

    measure(commands.coder, gardener)
    plan = gardener.plan()
    if plan is None:
        commands.io.tool_output("There is nothing worth compacting now.")
    else:
        show_table(commands, plan_table(plan))
        commands.io.tool_output("This is a preview: nothing was changed.")


def undo(commands: Any, gardener: Gardener) -> None:
    take_back(commands, gardener, every=False)


def undo_all(commands: Any, gardener: Gardener) -> None:
    take_back(commands, gardener, every=True)


def take_back(commands: Any, gardener: Gardener, *, every: bool) -> None:
    try:
        changed = gardener.undo(every=every)
    except GardenerError as error:
        commands.io.tool_error(str(error))
        return
    link.show(commands.coder, gardener)
    what = "every compaction of this chat" if every else "the last compaction"
    commands.io.tool_output(f"Took back {what}: {counted(changed)} changed.")


def cmd_recall(self: Any, args: Any) -> None:
    "Find what was said before, in this chat, before a /clear and in older sessions of the project"
    from aider_gardener.plan.view import FILLER
    from aider_gardener.recall.recall import recall_note
    from aider_gardener.tables import recalled_table

    query = (args or "").strip()
    if not query:
        self.io.tool_error("Usage: /recall QUESTION OR WORDS")
        return
    gardener = gardener_for(self)
    if gardener is None:
        return
    found = gardener.recall(query)
    if not found:
        self.io.tool_output("Nothing in the archive fits that. Try other words, or a name or number.")
        return
    show_table(self, recalled_table(found, session=gardener.archive.session))
    if self.io.confirm_ask("Add this to the chat?", default="n"):
        note = recall_note(found, session=gardener.archive.session)
        self.coder.cur_messages += [
            {"role": "user", "content": note},
            {"role": "assistant", "content": FILLER},
        ]
