"""The gardener's commands about what was said: /recall, and about single messages /forget, /pin, /unpin,
/restore and /why, with their completions.

A message is named by its id, the beginning of it, its number in the list that was shown last, or `last`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCommands
from aider_gardener.adapters.aider.commands import CommandLine, command, put
from aider_gardener.adapters.aider.wrappers import ATTRIBUTE
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.phrases import counted
from aider_gardener.reading.output import squeeze

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.plan.chat import Chat
    from aider_gardener.recall.recall import Recalled

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
"""So many passages, the newest, get their vectors before a search, if they have none yet."""
QUOTED = re.compile(r"^> ?", re.MULTILINE)
"""What stands before each line of a text that a note quotes."""
USAGE = "Usage: {} (ID, its beginning, a number of the last list, or last)"


def _ids_of(commands: HostCommands, *, pinned: bool = False) -> list[str]:
    """The ids of the chat's entries for completion; none when the gardener is off. Reads memory only: aider
    asks for each line that is typed."""
    gardener = commands.coder.__dict__.get(ATTRIBUTE)
    if gardener is None:
        return []
    entries = list(gardener.state.chat.entries.values())  # a copy: completion runs in a thread of its own
    wanted = [entry.id for entry in entries if entry.id and (entry.pinned or not pinned)]
    return list(dict.fromkeys(wanted[-COMPLETED_IDS:]))


def _last_or_id(commands: HostCommands) -> list[str]:
    return [LAST, *_ids_of(commands)]


@command()
def cmd_recall(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Find what was said before, in this chat, before a /clear and in older sessions of the project"
    from aider_gardener.archive.entries import full_session
    from aider_gardener.recall.asked import typed
    from aider_gardener.recall.hits import as_text, hits
    from aider_gardener.recall.recall import recall_note
    from aider_gardener.terminal import columns

    state, archive = gardener.state, gardener.state.archive
    request = typed(args, lambda given: full_session(archive.store, archive.project, given))
    if archive.backlog is not None:  # the user waits; without a model of meanings words serve alone
        with contextlib.suppress(GardenerError), state.timed():
            archive.backlog.drain(EMBEDDED_FIRST)
    found = hits(gardener.recall_for(request), archive.store.original)[: max(SHOWN_HITS, request.passages)]
    if not found:
        self.io.tool_output("Nothing in the archive fits that. Try other words, or a name or number.")
        return
    state.listed = tuple(hit.best.entry_id for hit in found)
    here = stands_in(state.chat)
    standing = [hit for hit in found if all(here(passage) for passage in hit.passages)]
    put(
        self,
        as_text(found, session=archive.session, why=request.why, columns=columns(), standing=standing),
    )
    if len(standing) == len(found):
        self.io.tool_output("All of it stands in the chat already; nothing was added.")
        return
    numbers = "1" if len(found) == 1 else f"numbers such as 1 {len(found)}, all"
    wanted = picked(self.io.prompt_ask(f"Add to the chat? ({numbers}, none) [none]"), len(found))
    if not wanted:
        self.io.tool_output("Nothing was added.")
        return
    passages = [each for number in wanted for each in found[number - 1].passages if not here(each)]
    if not passages:
        self.io.tool_output("That stands in the chat already; nothing was added.")
        return
    note = recall_note(passages, session=archive.session)
    self.coder.cur_messages += gardener.add_note(note)
    self.io.tool_output(f"Added {state.count(note):,} tokens to the chat.")


def stands_in(chat: Chat) -> Callable[[Recalled], bool]:
    """Tells of a passage whether it stands in a chat anyway, whole or quoted in a note."""
    texts = [QUOTED.sub("", piece.content) for piece in [*chat.done, *chat.cur]]
    standing = squeeze("\n".join(texts))
    return lambda passage: squeeze(passage.text) in standing


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


def named(
    gardener: Gardener, args: str, usage: str, fits: Callable[[Entry], bool] = lambda _entry: True
) -> str:
    """The id, or its beginning, of the one message that is named behind a command; `last` is the newest that
    somebody or something said and that `fits`. Raises UsageError."""
    listed = gardener.state.listed
    if not args or " " in args:
        raise UsageError(USAGE.format(usage))
    if args.lower() == LAST:
        ours = (SourceKind.NOTICE, SourceKind.STUB)
        for entry in reversed(gardener.state.chat.all_entries()):
            if entry.id and entry.source.kind not in ours and fits(entry):
                return entry.id
        raise UsageError("there is no such message in this chat yet")
    if not args.isdecimal():
        return args
    if not 1 <= int(args[:6]) <= len(listed):
        seen = f"the last list had {counted(len(listed), 'message')}" if listed else "no list was shown yet"
        raise UsageError(f"there is no message {args}: {seen}; /recall and /context-pressure show lists")
    if found := listed[int(args) - 1]:
        return found
    raise UsageError(f"number {args} is a note about several messages; name one by its id")


@command(lambda self: [WHOLE_SESSION, *_last_or_id(self)])
def cmd_forget(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Delete a message for good, or with `session` all of this chat (--yes: without asking)"
    from aider_gardener.gardener import care, files

    words = args.split()
    given = " ".join(word for word in words if word != YES)
    entries, archive = gardener.state.chat.entries.values(), gardener.state.archive
    if given == WHOLE_SESSION:
        count = len({entry.id for entry in entries if entry.id})
        if not count:
            self.io.tool_output("There is nothing in this chat to forget.")
            return
        question = f"Delete all of this chat, {counted(count, 'message')}, for good, and empty the chat?"
    else:
        entry = care.find(gardener.state, named(gardener, given, f"/forget ID|{WHOLE_SESSION} [{YES}]"))
        first = " ".join(entry.content.split())[:60]
        question = f'Delete {entry.id} ("{first}", {entry.tokens:,} tokens) for good?'
    if YES not in words and not self.io.confirm_ask(question, default="n"):
        return
    if given == WHOLE_SESSION:
        forgotten = gardener.forget_session()
        kept = f" {count - forgotten} that older sessions hold too stay theirs." if count > forgotten else ""
        done = f"this chat: {counted(forgotten, 'message')}.{kept} The chat is empty."
    else:
        notes = gardener.forget(entry.id) - 1
        done = f"{entry.id} and {counted(notes, 'note')} that quoted it." if notes > 0 else f"{entry.id}."
    try:
        files.renew_index(archive.store, archive.project)
    except GardenerError as error:
        self.io.tool_warning(f"The index of sessions still holds it: {error}")
    self.io.tool_output(f"Forgot {done} {HISTORY_COPY}")


@command(_last_or_id)
def cmd_pin(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Hold a message whole in the chat; without a word after it list what is held"
    from aider_gardener.gardener.compactions import pinned_entries
    from aider_gardener.tables import entries_table

    if args:
        entry = gardener.pin(named(gardener, args, "/pin [ID]"))
        tokens = f"{entry.tokens:,} tokens"
        self.io.tool_output(f"{entry.id} ({tokens}) stays whole in the chat; /unpin {entry.id} lets it go.")
    elif rows := pinned_entries(gardener.state):
        gardener.state.listed = tuple(entry.id for entry in rows)
        put(self, entries_table(rows))
    else:
        self.io.tool_output("Nothing is pinned in this chat; /pin ID holds a message, /pin last the newest.")


@command(lambda self: _ids_of(self, pinned=True))
def cmd_unpin(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Let go of a pinned message: it may be compacted again"
    entry = gardener.pin(named(gardener, args, "/unpin ID", lambda entry: entry.pinned), pinned=False)
    self.io.tool_output(f"{entry.id} is no longer pinned.")


@command(_last_or_id)
def cmd_restore(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Put an original back into the chat whole, in its place or at the end"
    shorter = gardener.state.chat.fidelity
    found = gardener.restore(
        named(gardener, args, "/restore ID", lambda entry: not shorter or entry.seq in shorter)
    )
    entry, tokens = found.entry, f"{found.entry.tokens:,} tokens"
    if not found.changed:
        self.io.tool_output(f"{entry.id} stands whole in the chat already.")
    elif found.in_place:
        self.io.tool_output(f"{entry.id} ({tokens}) stands whole in its place again.")
    else:
        self.io.tool_output(f"Added {entry.id} ({tokens}) to the end of the chat.")


@command(_last_or_id)
def cmd_why(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Tell why a message was shortened or left out, when, and what brings it back"
    from aider_gardener.tables import why_table

    why = gardener.why(named(gardener, args, "/why ID"))
    put(self, why_table(why, session=gardener.state.archive.session))
