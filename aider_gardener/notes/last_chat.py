"""The last chat in a project, in short: what was asked and what came of it, files edited, open errors."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.compress.edits import read_edits
from aider_gardener.messages import ContentClass, Entry, Fidelity, SourceKind
from aider_gardener.plan.view import is_filler
from aider_gardener.reading.facts import extract
from aider_gardener.reading.source import NOTE_END, is_failed_edit

TOKEN_LIMIT = 600
"""The note is never longer, whatever the history budget."""
PROMPT_CHARS, RESULT_CHARS = 200, 240
MOST_FILES, MOST_ERRORS = 12, 3
SESSIONS_TRIED = 5
"""So many sessions back one is looked for of which anything may be told."""
HEAD = (
    "(From the last chat in this project, {when}, kept by aider-gardener: a record of what was said and done,"
    " not a request. The files have what holds now; g… is the id of a whole original.)"
)
OUTPUTS = (SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT)
BAD_FACTS = frozenset({"failure", "error"})


@dataclass(frozen=True)
class LastTime:
    """What a chat begins with: the note, and for the user what it is made of."""

    note: str
    session: SessionInfo
    prompts: int
    files: int
    open_errors: int
    pinned: int
    tokens: int

    def line(self) -> str:
        """One line for the user."""
        counts = [
            (self.prompts, "prompt"),
            (self.files, "file edited"),
            (self.open_errors, "open error"),
            (self.pinned, "pinned entry"),
        ]
        told = ", ".join(f"{count} {plural(word, count)}" for count, word in counts if count)
        return f"Last time ({when(self.session.last_at)}): {told}. {self.tokens:,} tokens; /clear drops it."


def plural(word: str, count: int) -> str:
    """A noun, perhaps with words behind it, for a count."""
    first, _, rest = word.partition(" ")
    if count == 1:
        return word
    if word == "pinned entry":
        return "pinned entries"
    return f"{word}s" if word == "open error" else " ".join(filter(None, [first + "s", rest]))


def when(at: float) -> str:
    """A time as the user's clock shows it, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def last_time(archive: Archive, *, token_limit: int) -> LastTime | None:
    """The short account of the newest older session of which anything may be told, or None.

    Nothing that was cleared or forgotten, nothing that a local model was told when this chat's is remote.
    """
    limit = min(token_limit, TOKEN_LIMIT)
    for info in list(archive.past.infos.values())[: -SESSIONS_TRIED - 1 : -1]:
        told = archive.past.told(archive.store.session_entries(info.id), archive.provider)
        if any(entry.source.kind is SourceKind.TYPED for entry in told):
            return account(archive, info, told, limit)
    return None


def account(archive: Archive, info: SessionInfo, entries: Sequence[Entry], limit: int) -> LastTime | None:
    """The account of one session within a token limit: pinned entries, files and errors before prompts."""
    count = archive.count
    head, tail = HEAD.format(when=when(info.last_at)), NOTE_END
    left = limit - count(head) - count(tail) - 2
    lines: list[str] = []

    def take(block: str) -> bool:
        nonlocal left
        cost = count(block) + 1
        if cost > left:
            return False
        left -= cost
        lines.append(block)
        return True

    pinned = [take(f"> pinned ({e.id}): " + quoted(e.content)) for e in unique(entries) if e.pinned]
    files = edited_files(entries)
    shown = ", ".join(files[:MOST_FILES]) + (" …" if len(files) > MOST_FILES else "")
    has_files = bool(files) and take(f"> files edited: {shown}")
    failing = open_errors(entries)[-MOST_ERRORS:]
    errors = [take(f"> still failing: {one_line(archive, entry)}") for entry in failing]
    told: list[str] = []
    for block in reversed(exchange_lines(archive, entries)):
        if not take(block):
            break
        told.insert(0, lines.pop())
    if not told and not lines:
        return None
    note = "\n".join([head, *told, *lines, tail])
    files_told = len(files) if has_files else 0
    return LastTime(note, info, len(told), files_told, sum(errors), sum(pinned), count(note))


def unique(entries: Iterable[Entry]) -> list[Entry]:
    """Each original once, where it was said last."""
    return list({entry.id: entry for entry in entries}.values())


def quoted(text: str) -> str:
    """A text whose lines cannot leave the quote they stand in."""
    return "\n> ".join(text.splitlines())


def exchange_lines(archive: Archive, entries: Sequence[Entry]) -> list[str]:
    """For each prompt a block of two lines: what was asked, and the last reply before the next."""
    blocks: list[str] = []
    asked: Entry | None = None
    reply: Entry | None = None

    def close() -> None:
        if asked is not None:
            text = clipped(asked.content, PROMPT_CHARS)
            result = f"\n>   → {one_line(archive, reply)}" if reply is not None else ""
            blocks.append(f"> [{asked.turn}] asked ({asked.id}): {text}{result}")

    for entry in entries:
        if entry.source.kind is SourceKind.TYPED:
            close()
            asked, reply = entry, None
        elif entry.source.kind is SourceKind.REPLY and not is_filler(entry):
            reply = entry
    close()
    return blocks


def one_line(archive: Archive, entry: Entry) -> str:
    """An entry on one line with its id: its line form where there is one."""
    made: Mapping[Fidelity, object] = archive.store.renditions(entry.id)
    line = made.get(Fidelity.LINE)
    text = clipped(getattr(line, "text", "") or entry.content, RESULT_CHARS)
    tag = f"[{entry.id}]"
    return text if tag in text else f"{text} {tag}"


def clipped(text: str, chars: int) -> str:
    flat = " ".join(text.split())
    if len(flat) <= chars:
        return flat
    return flat[:chars].rsplit(" ", 1)[0] + " …"


def edited_files(entries: Sequence[Entry]) -> list[str]:
    """The paths of edit blocks that were applied, in the order of their last edit, the newest first."""
    paths: dict[str, None] = {}
    for at, entry in enumerate(entries):
        after = entries[at + 1].content if at + 1 < len(entries) else ""
        if entry.role != "assistant" or is_failed_edit(after):
            continue
        for part in entry.segments:
            if part.cls is ContentClass.EDIT:
                for edit in read_edits(entry.content[part.start : part.end], part.kind):
                    paths.pop(edit.path, None)
                    paths[edit.path] = None
    return [path for path in reversed(paths) if path]


def open_errors(entries: Sequence[Entry]) -> list[Entry]:
    """The outputs that report an error and are the last of their command."""
    last: dict[tuple[SourceKind, str], Entry] = {}
    for entry in entries:
        if entry.source.kind in OUTPUTS:
            key = (entry.source.kind, entry.source.detail)
            last.pop(key, None)
            last[key] = entry
    return [entry for entry in last.values() if reports_error(entry)]


def reports_error(entry: Entry) -> bool:
    """Whether an output is an error, or states a failure or an error."""
    if entry.cls is ContentClass.ERROR or entry.source.kind is SourceKind.LINT:
        return True
    return any(fact.kind in BAD_FACTS for fact in extract(entry.content))
