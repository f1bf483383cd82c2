"""The gardener's commands about what was said: /recall, and about single messages /forget, /pin, /unpin,
/restore and /why, with their completions.

A message is named by its id, the beginning of it, its number in the list that was shown last, or `last`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCommands
from aider_gardener.adapters.aider.commands import gardener_for, show_table
from aider_gardener.adapters.aider.guard import ATTRIBUTE
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.plan.said import counted

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.messages import Entry
    from aider_gardener.recall.hits import Hit

HISTORY_COPY = (
    "aider's own files keep their copies: .aider.chat.history.md and .aider.input.history"
    " (and --llm-history-file if you use it). Delete them there by hand."
)
WHOLE_SESSION, LAST = "session", "last"
YES = "--yes"
COMPLETED_IDS = 400
"""At most so many ids, the newest, are offered for completion."""
SHOWN_HITS = 5
"""So many messages /recall lists, unless more passages were asked for: one screen."""
EMBEDDED_FIRST = 100
"""So many passages, this chat's first, get their vectors before a search, if they have none yet."""
NAMED = "ID, its beginning, a number of the last list, or last"


def cmd_recall(self: HostCommands, args: str) -> None:
    "Find what was said before, in this chat, before a /clear and in older sessions of the project"
    from aider_gardener.archive.entries import full_session
    from aider_gardener.recall.asked import typed
    from aider_gardener.recall.hits import hits
    from aider_gardener.tables import recalled_screen

    gardener = gardener_for(self)
    if gardener is None:
        return
    archive = gardener.state.archive
    try:
        request = typed(args or "", lambda given: full_session(archive.store, archive.project, given))
    except GardenerError as error:
        self.io.tool_error(str(error))
        return
    embed_first(gardener)
    found = hits(gardener.recall_for(request), archive.store.original)[: max(SHOWN_HITS, request.passages)]
    if not found:
        self.io.tool_output("Nothing in the archive fits that. Try other words, or a name or number.")
        return
    gardener.state.listed = tuple(hit.best.entry_id for hit in found)
    show_table(self, recalled_screen(found, session=archive.session, why=request.why))
    numbers = "1" if len(found) == 1 else f"numbers such as 1 {len(found)}, all"
    answer = self.io.prompt_ask(f"Add to the chat? ({numbers}, none) [none]")
    try:
        wanted = picked(answer, len(found))
    except UsageError as error:
        self.io.tool_error(str(error))
        return
    if wanted:
        add(self, gardener, [found[number - 1] for number in wanted])
    else:
        self.io.tool_output("Nothing was added.")


def embed_first(gardener: Gardener) -> None:
    """Load the model of meanings, if it is not yet, and give vectors to what was said last: the user waits
    for an answer. Where that fails words serve alone."""
    from aider_gardener.errors import StoreError
    from aider_gardener.recall.embed import EmbedderError

    backlog = gardener.state.archive.backlog
    if backlog is not None:
        with contextlib.suppress(EmbedderError, StoreError), gardener.state.timed():
            backlog.drain(EMBEDDED_FIRST)


def picked(answer: str, most: int) -> list[int]:
    """The numbers that an answer names, in its order. Raises UsageError."""
    words = [word for word in re.split(r"[\s,;]+", answer.strip().lower()) if word]
    if words in ([], ["n"], ["no"], ["none"]):
        return []
    if words in (["a"], ["all"], ["y"], ["yes"]):  # aider answers yes for a user who said --yes-always
        return list(range(1, most + 1))
    for word in words:
        if not word.isdecimal() or not 1 <= int(word[:6]) <= most:
            raise UsageError(f"{word} is no number from 1 to {most}; nothing was added")
    return list(dict.fromkeys(map(int, words)))


def add(commands: HostCommands, gardener: Gardener, chosen: Iterable[Hit]) -> None:
    """Put what was found into the chat as a note."""
    from aider_gardener.recall.recall import recall_note

    state = gardener.state
    passages = [passage for hit in chosen for passage in hit.passages]
    note = recall_note(passages, session=state.archive.session)
    commands.coder.cur_messages += gardener.add_note(note)
    commands.io.tool_output(f"Added {state.count(note):,} tokens to the chat.")


def named(gardener: Gardener, given: str, last: Callable[[Gardener], str]) -> str:
    """The id, or its beginning, that a word names. Raises UsageError for a number that no list has."""
    listed = gardener.state.listed
    if given.isdecimal():
        if not 1 <= int(given[:6]) <= len(listed):
            seen = (
                f"the last list had {counted(len(listed), 'message')}" if listed else "no list was shown yet"
            )
            raise UsageError(f"there is no message {given}: {seen}; /recall and /context-pressure show lists")
        found = listed[int(given) - 1]
        if not found:
            raise UsageError(f"number {given} is a note about several messages; name one by its id")
        return found
    return last(gardener) if given.lower() == LAST else given


def newest(gardener: Gardener, fits: Callable[[Entry], bool] = lambda _entry: True) -> str:
    """The id of the newest message that somebody or something said and that fits. Raises UsageError."""
    from aider_gardener.messages import SourceKind

    entries = gardener.state.chat.all_entries()
    said = (e for e in reversed(entries) if e.source.kind not in (SourceKind.NOTICE, SourceKind.STUB))
    found = next((entry.id for entry in said if entry.id and fits(entry)), None)
    if found is None:
        raise UsageError("there is no such message in this chat yet")
    return found


def newest_short(gardener: Gardener) -> str:
    """The id of the newest message that does not stand whole, else of the newest."""
    standing = gardener.state.chat.fidelity
    if not standing:
        return newest(gardener)
    return newest(gardener, lambda entry: entry.seq in standing)


def newest_pinned(gardener: Gardener) -> str:
    return newest(gardener, lambda entry: entry.pinned)


def act(
    commands: HostCommands,
    usage: str,
    args: str,
    step: Callable[[Gardener, str], None],
    last: Callable[[Gardener], str] = newest,
) -> None:
    """Run a command that takes one message: usage, off, and our errors are one line each."""
    words = (args or "").split()
    if len(words) != 1:
        commands.io.tool_error(f"Usage: {usage} ({NAMED})")
        return
    gardener = gardener_for(commands)
    if gardener is None:
        return
    store = gardener.state.archive.store
    before = store.notice
    try:
        step(gardener, words[0] if words[0] == WHOLE_SESSION else named(gardener, words[0], last))
    except GardenerError as error:
        commands.io.tool_error(str(error))
    if store.notice not in ("", before):
        commands.io.tool_warning(f"aider-gardener: {store.notice}")


def cmd_forget(self: HostCommands, args: str) -> None:
    "Delete a message for good, or with `session` all of this chat (--yes: without asking)"
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
        renew_index(commands, gardener)
        notes = f" and {counted(count - 1, 'note')} that quoted it" if count > 1 else ""
        commands.io.tool_output(f"Forgot {entry.id}{notes}. {HISTORY_COPY}")


def forget_session(commands: HostCommands, gardener: Gardener, _given: str, sure: bool) -> None:
    count = len({entry.id for entry in gardener.state.chat.entries.values() if entry.id})
    question = f"Delete all of this chat, {counted(count, 'message')}, for good, and empty the chat?"
    if sure or commands.io.confirm_ask(question, default="n"):
        forgotten = gardener.forget_session()
        renew_index(commands, gardener)
        kept = count - forgotten
        elsewhere = f" {kept} that older sessions hold too stay theirs." if kept > 0 else ""
        commands.io.tool_output(
            f"Forgot this chat: {counted(forgotten, 'message')}.{elsewhere} The chat is empty. {HISTORY_COPY}"
        )


def renew_index(commands: HostCommands, gardener: Gardener) -> None:
    """Take what was forgotten out of the index of sessions too, where there is one."""
    from aider_gardener.gardener import files

    archive = gardener.state.archive
    try:
        files.renew_index(archive.store, archive.project)
    except GardenerError as error:
        commands.io.tool_warning(f"The index of sessions still holds it: {error}")


def cmd_pin(self: HostCommands, args: str) -> None:
    "Hold a message whole in the chat; without a word after it list what is held"
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
    from aider_gardener.gardener.compactions import pinned_entries
    from aider_gardener.tables import entries_table

    rows = pinned_entries(gardener.state)
    if rows:
        gardener.state.listed = tuple(entry.id for entry in rows)
        show_table(commands, entries_table(rows))
    else:
        commands.io.tool_output(
            "Nothing is pinned in this chat; /pin ID holds a message, /pin last the newest."
        )


def cmd_unpin(self: HostCommands, args: str) -> None:
    "Let go of a pinned message: it may be compacted again"

    def step(gardener: Gardener, given: str) -> None:
        entry = gardener.pin(given, pinned=False)
        self.io.tool_output(f"{entry.id} is no longer pinned.")

    act(self, "/unpin ID", args, step, newest_pinned)


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

    act(self, "/restore ID", args, step, newest_short)


def cmd_why(self: HostCommands, args: str) -> None:
    "Tell why a message was shortened or left out, when, and what brings it back"

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
    """The chat's messages; aider asks once for each line that is typed."""
    return [LAST, *ids_of(self)]


def completions_forget(self: HostCommands) -> list[str]:
    return [WHOLE_SESSION, LAST, *ids_of(self)]


def completions_unpin(self: HostCommands) -> list[str]:
    return ids_of(self, pinned=True)
