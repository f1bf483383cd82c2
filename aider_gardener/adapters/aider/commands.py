"""The gardener's commands in the chat: /context-pressure, /gardener, /recall, and about single entries
/forget, /pin, /unpin, /restore and /why, with their completions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder, HostCommands
from aider_gardener.adapters.aider.guard import ATTRIBUTE
from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aider_gardener.gardener.gardener import Gardener

OURS = frozenset(
    ["/context-pressure", "/gardener", "/recall", "/forget", "/pin", "/unpin", "/restore", "/why"]
)
OFF = "The gardener is off in this chat (started with --no-gardener, or stopped by a fault)."

HISTORY_COPY = (
    "aider's own files keep their copies: .aider.chat.history.md and .aider.input.history"
    " (and --llm-history-file if you use it). Delete them there by hand."
)
WHOLE_SESSION = "session"
YES = "--yes"
COMPLETED_IDS = 400
"""At most so many ids, the newest, are offered for completion."""


def name_of(command: Callable[..., None]) -> str:
    """What the user types to run a command."""
    return "/" + command.__name__.removeprefix("cmd_").replace("_", "-")


def gardener_for(commands: HostCommands) -> Gardener | None:
    """The chat's gardener, up to date with its lists; says so when there is none."""
    coder = commands.coder
    gardener = link.gardener_of(coder)
    if gardener is None:
        commands.io.tool_warning(OFF)
        return None
    link.refresh(gardener, coder)
    link.take_in(coder, gardener)
    return gardener


def measure(coder: HostCoder, gardener: Gardener) -> None:
    """Take the measure of the prompt as it would be sent now; no plan is applied and nothing is kept."""
    with gardener.state.only_looking():
        coder.format_chat_chunks()


def show_table(commands: HostCommands, table: RenderableType) -> None:
    """Print a rich table through the host, plain where the host is not pretty."""
    from aider_gardener.tables import as_text

    for line in as_text(table).splitlines():
        commands.io.tool_output(line)


def cmd_context_pressure(self: HostCommands, args: str) -> None:
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


def cmd_gardener(self: HostCommands, args: str) -> None:
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


def show_status(commands: HostCommands, gardener: Gardener) -> None:
    from aider_gardener.tables import status_table

    show_table(commands, status_table(gardener.status()))


def show_constraints(commands: HostCommands, gardener: Gardener) -> None:
    """The rules that the user set and that still hold."""
    from aider_gardener.notes.rules import line

    lines = [line(rule) for rule in gardener.constraints()]
    commands.io.tool_output("\n".join(lines) or "No rules were set in this chat.")


def show_decisions(commands: HostCommands, gardener: Gardener) -> None:
    """What was decided or rejected, by whom."""
    rows = [(one, "you" if one.is_users else "model") for one in gardener.decisions()]
    lines = [f"[{one.turn}] {who}: {one.text}" for one, who in rows]
    commands.io.tool_output("\n".join(lines) or "No decisions were found in this chat.")


def turn_on(commands: HostCommands, gardener: Gardener) -> None:
    gardener.state.on = True
    commands.io.tool_output(f"The gardener is on (mode {gardener.state.settings.mode}).")


def turn_off(commands: HostCommands, gardener: Gardener) -> None:
    given = gardener.give_back()
    gardener.state.on = False
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


def show_plan(commands: HostCommands, gardener: Gardener) -> None:
    from aider_gardener.tables import plan_table

    measure(commands.coder, gardener)
    plan = gardener.plan()
    if plan is None:
        commands.io.tool_output("There is nothing worth compacting now.")
    else:
        show_table(commands, plan_table(plan))
        commands.io.tool_output("This is a preview: nothing was changed.")


def undo(commands: HostCommands, gardener: Gardener) -> None:
    take_back(commands, gardener, every=False)


def undo_all(commands: HostCommands, gardener: Gardener) -> None:
    take_back(commands, gardener, every=True)


def take_back(commands: HostCommands, gardener: Gardener, *, every: bool) -> None:
    try:
        changed = gardener.undo(every=every)
    except GardenerError as error:
        commands.io.tool_error(str(error))
        return
    link.show(commands.coder, gardener)
    what = "every compaction of this chat" if every else "the last compaction"
    commands.io.tool_output(f"Took back {what}: {counted(changed)} changed.")


def cmd_recall(self: HostCommands, args: str) -> None:
    "Find what was said before, in this chat, before a /clear and in older sessions of the project"
    from aider_gardener.archive.entries import full_session
    from aider_gardener.plan.view import FILLER
    from aider_gardener.recall.asked import typed
    from aider_gardener.recall.recall import recall_note
    from aider_gardener.tables import recalled_table

    gardener = gardener_for(self)
    if gardener is None:
        return
    store, project = gardener.state.archive.store, gardener.state.archive.project
    try:
        request = typed(args or "", lambda given: full_session(store, project, given))
    except GardenerError as error:
        self.io.tool_error(str(error))
        return
    found = gardener.recall_for(request)
    if not found:
        self.io.tool_output("Nothing in the archive fits that. Try other words, or a name or number.")
        return
    show_table(self, recalled_table(found, session=gardener.state.archive.session, why=request.why))
    if self.io.confirm_ask("Add this to the chat?", default="n"):
        note = recall_note(found, session=gardener.state.archive.session)
        gardener.state.made.add(note)
        self.coder.cur_messages += [
            {"role": "user", "content": note},
            {"role": "assistant", "content": FILLER},
        ]


def act(commands: HostCommands, usage: str, args: str, step: Callable[[Gardener, str], None]) -> None:
    """Run a command that takes one id: usage, off, and our errors are one line each."""
    words = (args or "").split()
    if len(words) != 1:
        commands.io.tool_error(f"Usage: {usage}")
        return
    gardener = gardener_for(commands)
    if gardener is None:
        return
    store = gardener.state.archive.store
    before = store.notice
    try:
        step(gardener, words[0])
    except GardenerError as error:
        commands.io.tool_error(str(error))
    if store.notice not in ("", before):
        commands.io.tool_warning(f"aider-gardener: {store.notice}")


def cmd_forget(self: HostCommands, args: str) -> None:
    "Delete an entry for good, or with `session` all of this chat (--yes: without asking)"
    words = (args or "").split()
    sure = YES in words
    step = forget_session if [w for w in words if w != YES] == [WHOLE_SESSION] else forget_entry
    rest = " ".join(word for word in words if word != YES)
    act(self, f"/forget ID|{WHOLE_SESSION} [{YES}]", rest, lambda g, given: step(self, g, given, sure))


def forget_entry(commands: HostCommands, gardener: Gardener, given: str, sure: bool) -> None:
    from aider_gardener.gardener import care

    entry = care.find(gardener.state, given)
    first = " ".join(entry.content.split())[:60]
    question = f'Delete {entry.id} ("{first}", {entry.tokens:,} tokens) for good?'
    if sure or commands.io.confirm_ask(question, default="n"):
        count = gardener.forget(entry.id)
        notes = f" and {count - 1} notes that quoted it" if count > 1 else ""
        commands.io.tool_output(f"Forgot {entry.id}{notes}. {HISTORY_COPY}")


def forget_session(commands: HostCommands, gardener: Gardener, _given: str, sure: bool) -> None:
    count = len({entry.id for entry in gardener.state.chat.entries.values() if entry.id})
    question = f"Delete all of this chat, {count} entries, for good, and empty the chat?"
    if sure or commands.io.confirm_ask(question, default="n"):
        forgotten = gardener.forget_session()
        kept = count - forgotten
        elsewhere = f" {kept} that older sessions hold too stay theirs." if kept > 0 else ""
        commands.io.tool_output(
            f"Forgot this chat: {forgotten} entries.{elsewhere} The chat is empty. {HISTORY_COPY}"
        )


def cmd_pin(self: HostCommands, args: str) -> None:
    "Hold an entry whole in the chat; without an id list what is held"
    if not (args or "").strip():
        gardener = gardener_for(self)
        if gardener is not None:
            list_pinned(self, gardener)
        return

    def step(gardener: Gardener, given: str) -> None:
        entry = gardener.pin(given)
        self.io.tool_output(
            f"{entry.id} ({entry.tokens:,} tokens) stays whole in the chat; /unpin {entry.id} lets it go."
        )

    act(self, "/pin [ID]", args, step)


def list_pinned(commands: HostCommands, gardener: Gardener) -> None:
    from aider_gardener.gardener.care import pinned_entries
    from aider_gardener.tables import entries_table

    rows = pinned_entries(gardener.state)
    if rows:
        show_table(commands, entries_table(rows))
    else:
        commands.io.tool_output("Nothing is pinned in this chat; /pin ID holds an entry.")


def cmd_unpin(self: HostCommands, args: str) -> None:
    "Let go of a pinned entry: it may be compacted again"

    def step(gardener: Gardener, given: str) -> None:
        entry = gardener.pin(given, pinned=False)
        self.io.tool_output(f"{entry.id} is no longer pinned.")

    act(self, "/unpin ID", args, step)


def cmd_restore(self: HostCommands, args: str) -> None:
    "Put an original back into the chat whole, in its place or at the end"

    def step(gardener: Gardener, given: str) -> None:
        found = gardener.restore(given)
        entry = found.entry
        if not found.changed:
            self.io.tool_output(f"{entry.id} stands whole in the chat already.")
        elif found.in_place:
            self.io.tool_output(f"{entry.id} ({entry.tokens:,} tokens) stands whole in its place again.")
        else:
            self.io.tool_output(f"Added {entry.id} ({entry.tokens:,} tokens) to the end of the chat.")

    act(self, "/restore ID", args, step)


def cmd_why(self: HostCommands, args: str) -> None:
    "Tell why an entry was compressed, when, and what brings it back"

    def step(gardener: Gardener, given: str) -> None:
        from aider_gardener.tables import why_table

        show_table(self, why_table(gardener.why(given), session=gardener.state.archive.session))

    act(self, "/why ID", args, step)


def ids_of(commands: HostCommands, *, pinned: bool = False) -> list[str]:
    """The ids of the chat's entries for completion; none when the gardener is off. Reads memory only."""
    gardener = commands.coder.__dict__.get(ATTRIBUTE)
    if gardener is None:
        return []
    entries = list(gardener.state.chat.entries.values())  # a copy: completion runs in a thread of its own
    wanted = [entry.id for entry in entries if entry.id and (entry.pinned or not pinned)]
    return list(dict.fromkeys(wanted[-COMPLETED_IDS:]))


def completions_of_ids(self: HostCommands) -> list[str]:
    """The chat's entries; aider asks once for each line that is typed."""
    return ids_of(self)


def completions_forget(self: HostCommands) -> list[str]:
    return [WHOLE_SESSION, *ids_of(self)]


def completions_unpin(self: HostCommands) -> list[str]:
    return ids_of(self, pinned=True)
