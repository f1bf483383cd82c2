"""Where a chat stands, in a few lines: what is settled in it, files edited, open errors.

For the next chat of the project what was asked in the last one and what came of it, and for a host that
begins anew or has just compacted its context itself a block of the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import NOTES, host_of, last_first
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.compress.edits import read_edits
from aider_gardener.compress.shapes import gist, reports_failure
from aider_gardener.messages import ContentClass, Entry, Level, SourceKind, TokenCounter
from aider_gardener.notes.rules import decided, rules_of
from aider_gardener.phrases import counted, when
from aider_gardener.plan.view import has_edit, is_filler
from aider_gardener.reading.output import clipped, squeeze
from aider_gardener.reading.source import NOT_APPLIED, NOTE_END, failed_edit
from aider_gardener.tokens import fitting

TOKEN_LIMIT = 600
"""The note is never longer, whatever the history budget."""
PROMPT_CHARS, RESULT_CHARS = 200, 240
MOST_FILES = 12
MOST_FAULTS, FAULT_LINES = 4, 3
SESSIONS_TRIED = 5
"""So many sessions back one is looked for of which anything may be told."""
HEAD = (
    "(From the last chat in this project, {when}, kept by aider-gardener: a record of what was said and done,"
    " not a request. The files have what holds now; g… is the id of a whole original.)"
)
STATE_HEAD = "[Context Gardener State]"
STATE_ABOUT = "(A record kept by aider-gardener of {which}, not a request. g… is the id of a whole original.)"
RULES, DECIDED, FAILING, FILES = "Rules the user set:", "Decided:", "Still failing:", "Files edited last:"
PINNED, ASKED = "Pinned:", "Asked, and what came of it:"
ROOM = {PINNED: 1.0, RULES: 0.45, DECIDED: 0.75, FAILING: 0.9, FILES: 1.0, ASKED: 1.0}
"""The share of a note's budget that is spent when each part has had its own; what is pinned may take all."""
OUTPUTS = (SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT)
Part = tuple[str, Iterable[str]]
"""A part of a note: its title, and its rows, the newest first."""


class LastTime(NamedTuple):
    """What a chat begins with: the note, and for the user how many rows of each part it has."""

    note: str
    session: SessionInfo
    rows: Mapping[str, int]
    tokens: int

    def line(self) -> str:
        """One line for the user."""
        parts = {ASKED: "prompt", FAILING: "open error", RULES: "rule", DECIDED: "decision"}
        counts = [counted(self.rows[title], name) for title, name in parts.items() if title in self.rows]
        counts += [f"{self.rows[PINNED]:,} pinned"] if PINNED in self.rows else []
        summary = f"Last time ({when(self.session.last_at)}): {', '.join(counts)}."
        return f"{summary} {self.tokens:,} tokens; /clear drops it."


def last_time(archive: Archive, *, token_limit: int) -> LastTime | None:
    """The short account of the newest older session of which anything may be told, or None.

    Nothing that was cleared or forgotten, nothing that a local model was told when this chat's is remote.
    """
    for info in list(archive.past.values())[: -SESSIONS_TRIED - 1 : -1]:
        entries = archive.allowed(archive.store.session_entries(info.id))
        if any(entry.source.kind is SourceKind.TYPED for entry in entries):
            once = {entry.id: entry for entry in entries}.values()
            pinned = ["> " + "\n> ".join(e.content.splitlines()) + f" ({e.id})" for e in once if e.pinned]
            asked = reversed(_exchanges(archive, entries))
            parts = [(PINNED, reversed(pinned)), *_state_parts(entries), (ASKED, asked)]
            head, limit = HEAD.format(when=when(info.last_at)), min(token_limit, TOKEN_LIMIT)
            note, rows = _noted([head], parts, [NOTE_END], limit, archive.count)
            return LastTime(note, info, rows, archive.count(note)) if note else None
    return None


def state_of_last(archive: Archive, *, token_limit: int, everywhere: bool) -> str:
    """Where the newest other chat of the project stands of which anything may be told: rules, decisions, open
    errors, files; "" for none. Without `everywhere` only chats with this host count."""
    for info in last_first(archive.past.values()):
        host = host_of(archive.store, info.id)
        if info.id.startswith(NOTES) or not (everywhere or host == archive.host):
            continue
        entries = archive.allowed(archive.store.session_entries(info.id))
        day, _, _time = when(info.last_at).partition(" ")
        which = f"the last chat{'' if host == archive.host else f' in {host}'} of this project, {day}"
        if block := state_block(entries, which=which, token_limit=token_limit, count=archive.count):
            return block
    return ""


def state_block(
    entries: Sequence[Entry], *, which: str, token_limit: int, count: TokenCounter, reach: str = ""
) -> str:
    """Rules, decisions, open errors and files of a chat's entries within a budget, as quotes; "" when there
    is nothing to tell. `which` names the chat in the head, `reach` is a last line: how to see more."""
    head = [STATE_HEAD, STATE_ABOUT.format(which=which)]
    return _noted(head, _state_parts(entries), [reach] if reach else [], token_limit, count)[0]


def _noted(
    head: Sequence[str], parts: Iterable[Part], tail: Sequence[str], token_limit: int, count: TokenCounter
) -> tuple[str, dict[str, int]]:
    """A note of as many rows of each part as its room has, and how many these are; "" for none."""

    def cost(text: str) -> int:
        return count(text) + 1

    lines: list[str] = []
    rows_of: dict[str, int] = {}
    full = rest_tokens = token_limit - sum(map(cost, [*head, *tail]))
    for title, rows in parts:
        room = rest_tokens - int((1 - ROOM[title]) * full) - cost(title)
        chosen = [*fitting(rows, room, cost)]
        if chosen:
            lines += [title, *reversed(chosen)]
            rest_tokens -= sum(map(cost, [title, *chosen]))
            rows_of[title] = len(chosen)
    return ("\n".join([*head, *lines, *tail]) if lines else ""), rows_of


def _exchanges(archive: Archive, entries: Sequence[Entry]) -> list[str]:
    """For each prompt a block of two lines: what was asked, and the last reply before the next. A command of
    the host that nothing answered, as a history that was restored holds them, asked nothing."""
    exchanges: list[tuple[Entry, Entry | None]] = []
    for entry in entries:
        if entry.source.kind is SourceKind.TYPED:
            exchanges.append((entry, None))
        elif exchanges and entry.source.kind is SourceKind.REPLY and not is_filler(entry):
            exchanges[-1] = (exchanges[-1][0], entry)
    return [
        f"> [{asked.turn}] {clipped(asked.content, PROMPT_CHARS)} ({asked.id})"
        + (f"\n>   → {_one_line(archive, reply)}" if reply else "")
        for asked, reply in exchanges
        if reply or not asked.content.startswith("/")
    ]


def _one_line(archive: Archive, entry: Entry) -> str:
    """An entry on one line with its id: its line form where there is one."""
    rendition = archive.store.renditions(entry.id).get(Level.LINE)
    text, tag = clipped(rendition.text if rendition else entry.content, RESULT_CHARS), f"[{entry.id}]"
    return text if tag in text else f"{text} {tag}"


def _state_parts(entries: Sequence[Entry]) -> Iterator[Part]:
    """The parts that say where a chat stands, in the order of their worth."""
    yield RULES, [_quoted(rule.turn, rule.text, rule.entry_id) for rule in reversed(rules_of(entries))]
    yield DECIDED, [_quoted(one.turn, one.text, one.entry_id) for one in reversed(decided(entries))]
    failing = islice(open_errors(entries), MOST_FAULTS)
    yield FAILING, (_quoted(entry.turn, _fault_words(entry), entry.id) for entry in failing)
    files = edited_files(entries, MOST_FILES)
    yield FILES, [f"> {', '.join(files)}"] if files else []


def _quoted(turn: int, text: str, entry_id: str) -> str:
    """One line that nothing in it can leave."""
    return f"> [{turn}] {squeeze(text)} ({entry_id})"


def _fault_words(entry: Entry) -> str:
    """What failed, in one line: the command and the lines that tell most of it."""
    text = clipped("; ".join(map(squeeze, gist(entry.content, FAULT_LINES))), RESULT_CHARS)
    return f"{entry.source.detail}: {text}" if entry.source.detail else text


def edited_files(entries: Sequence[Entry], most: int | None = None) -> list[str]:
    """The paths of edit blocks that were applied, in the order of their last edit, the newest first and not
    more than `most`. Read from the end, so that a long chat takes no longer than a short one."""
    paths: dict[str, None] = {}
    for path in filter(None, _paths_from_the_end(entries)):
        paths[path] = None
        if len(paths) == most:
            break
    return list(paths)


def _paths_from_the_end(entries: Sequence[Entry]) -> Iterator[str]:
    is_failed = False
    for entry in reversed(entries):
        if entry.role == "user" or is_filler(entry):
            is_failed = is_failed or failed_edit(entry.content) == NOT_APPLIED
            continue
        is_applied, is_failed = has_edit(entry) and not is_failed, False
        for part in reversed(entry.segments if is_applied else ()):
            if part.cls is ContentClass.EDIT:
                edits = read_edits(entry.content[part.start : part.end], part.kind)
                yield from (edit.path for edit in reversed(edits))


def open_errors(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The outputs that report an error and are the last of their command, the newest first."""
    last: dict[tuple[SourceKind, str], Entry] = {}
    for entry in reversed(entries):
        if entry.source.kind in OUTPUTS:
            last.setdefault((entry.source.kind, entry.source.detail), entry)
    return filter(reports_error, last.values())


def reports_error(entry: Entry) -> bool:
    """Whether an output is an error, or states a failure or an error."""
    is_error = entry.cls is ContentClass.ERROR or entry.source.kind is SourceKind.LINT
    return is_error or reports_failure(entry.content)
