"""The commands about single entries: /forget, /pin, /unpin, /restore, /why, and their completions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.commands import gardener_for, show_table
from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

HISTORY_COPY = (
    "aider's own files keep their copies: .aider.chat.history.md and .aider.input.history"
    " (and --llm-history-file if you use it). Delete them there by hand."
)
WHOLE_SESSION = "session"
YES = "--yes"
COMPLETED_IDS = 400
"""At most so many ids, the newest, are offered for completion."""


def act(commands: Any, usage: str, args: Any, step: Callable[[Gardener, str], None]) -> None:
    """Run a command that takes one id: usage, off, and our errors are one line each."""
    words = (args or "").split()
    if len(words) != 1:
        commands.io.tool_error(f"Usage: {usage}")
        return
    gardener = gardener_for(commands)
    if gardener is None:
        return
    store = gardener.archive.store
    before = store.notice
    try:
        step(gardener, words[0])
    except GardenerError as error:
        commands.io.tool_error(str(error))
    if store.notice not in ("", before):
        commands.io.tool_warning(f"aider-gardener: {store.notice}")


def cmd_forget(self: Any, args: Any) -> None:
    "Delete an entry for good, or with `session` all of this chat (--yes: without asking)"
    words = (args or "").split()
    sure = YES in words
    step = forget_session if [w for w in words if w != YES] == [WHOLE_SESSION] else forget_entry
    rest = " ".join(word for word in words if word != YES)
    act(self, f"/forget ID|{WHOLE_SESSION} [{YES}]", rest, lambda g, given: step(self, g, given, sure))


def forget_entry(commands: Any, gardener: Gardener, given: str, sure: bool) -> None:
    from aider_gardener.gardener import care

    entry = care.find(gardener, given)
    first = " ".join(entry.content.split())[:60]
    question = f'Delete {entry.id} ("{first}", {entry.tokens:,} tokens) for good?'
    if sure or commands.io.confirm_ask(question, default="n"):
        count = gardener.forget(entry.id)
        notes = f" and {count - 1} notes that quoted it" if count > 1 else ""
        commands.io.tool_output(f"Forgot {entry.id}{notes}. {HISTORY_COPY}")


def forget_session(commands: Any, gardener: Gardener, _given: str, sure: bool) -> None:
    count = len({entry.id for entry in gardener.chat.entries.values() if entry.id})
    question = f"Delete all of this chat, {count} entries, for good, and empty the chat?"
    if sure or commands.io.confirm_ask(question, default="n"):
        forgotten = gardener.forget_session()
        kept = count - forgotten
        elsewhere = f" {kept} that older sessions hold too stay theirs." if kept > 0 else ""
        commands.io.tool_output(
            f"Forgot this chat: {forgotten} entries.{elsewhere} The chat is empty. {HISTORY_COPY}"
        )


def cmd_pin(self: Any, args: Any) -> None:
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


def list_pinned(commands: Any, gardener: Gardener) -> None:
    from aider_gardener.gardener.care import pinned_entries
    from aider_gardener.tables import entries_table

    rows = pinned_entries(gardener)
    if rows:
        show_table(commands, entries_table(rows))
    else:
        commands.io.tool_output("Nothing is pinned in this chat; /pin ID holds an entry.")


def cmd_unpin(self: Any, args: Any) -> None:
    "Let go of a pinned entry: it may be compacted again"

    def step(gardener: Gardener, given: str) -> None:
        entry = gardener.pin(given, pinned=False)
        self.io.tool_output(f"{entry.id} is no longer pinned.")

    act(self, "/unpin ID", args, step)


def cmd_restore(self: Any, args: Any) -> None:
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


def cmd_why(self: Any, args: Any) -> None:
    "Tell why an entry was compressed, when, and what brings it back"

    def step(gardener: Gardener, given: str) -> None:
        from aider_gardener.tables import why_table

        show_table(self, why_table(gardener.why(given), session=gardener.archive.session))

    act(self, "/why ID", args, step)


def ids_of(commands: Any, *, pinned: bool = False) -> list[str]:
    """The ids of the chat's entries for completion; none when the gardener is off. Reads memory only."""
    gardener = commands.coder.__dict__.get(link.ATTRIBUTE)
    if gardener is None:
        return []
    entries = list(gardener.chat.entries.values())  # a copy: completion runs in a thread of its own
    wanted = [entry.id for entry in entries if entry.id and (entry.pinned or not pinned)]
    return list(dict.fromkeys(wanted[-COMPLETED_IDS:]))


def completions_of_ids(self: Any) -> list[str]:
    """The chat's entries; aider asks once for each line that is typed."""
    return ids_of(self)


def completions_forget(self: Any) -> list[str]:
    return [WHOLE_SESSION, *ids_of(self)]


def completions_unpin(self: Any) -> list[str]:
    return ids_of(self, pinned=True)
