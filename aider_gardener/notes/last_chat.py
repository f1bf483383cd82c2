"""Where a chat stands, in a few lines: what is settled in it, files edited, open errors.

For the next chat of the project what was asked in the last one and what came of it, and for a host that
begins anew or has just compacted its context itself a block of the state.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.compress.edits import read_edits
from aider_gardener.messages import ContentClass, Entry, Fidelity, SourceKind, TokenCounter
from aider_gardener.notes.names import faults_of
from aider_gardener.notes.rules import decided, rules_of
from aider_gardener.plan.view import is_filler
from aider_gardener.reading.facts import extract
from aider_gardener.reading.output import clipped, squeeze
from aider_gardener.reading.source import NOTE_END, is_failed_edit
from aider_gardener.tokens import fitting

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
STATE_HEAD = "[Context Gardener State]"
STATE_ABOUT = "(A record kept by aider-gardener of {which}, not a request. g… is the id of a whole original.)"
RULES, DECIDED, FAILING, FILES = "Rules the user set:", "Decided:", "Still failing:", "Files edited last:"
ROOM = (0.45, 0.75, 0.9, 1.0)
"""The share of the state's budget that is spent when rules, decisions, errors and files have had theirs."""
MOST_FAULTS, FAULTS_EACH = 4, 3
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
        parts = {
            plural("prompt", self.prompts): self.prompts,
            plural("file", self.files) + " edited": self.files,
            plural("open error", self.open_errors): self.open_errors,
            "pinned entry" if self.pinned == 1 else "pinned entries": self.pinned,
        }
        counts = ", ".join(f"{count} {what}" for what, count in parts.items() if count)
        return f"Last time ({when(self.session.last_at)}): {counts}. {self.tokens:,} tokens; /clear drops it."


def plural(word: str, count: int) -> str:
    """A noun for a count."""
    return word if count == 1 else f"{word}s"


def when(at: float) -> str:
    """A time as the user's clock shows it, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def last_time(archive: Archive, *, token_limit: int) -> LastTime | None:
    """The short account of the newest older session of which anything may be told, or None.

    Nothing that was cleared or forgotten, nothing that a local model was told when this chat's is remote.
    """
    limit = min(token_limit, TOKEN_LIMIT)
    for info in list(archive.past.infos.values())[: -SESSIONS_TRIED - 1 : -1]:
        entries = archive.past.told(archive.store.session_entries(info.id), archive.provider)
        if any(entry.source.kind is SourceKind.TYPED for entry in entries):
            return _account(archive, info, entries, limit)
    return None


def _account(archive: Archive, info: SessionInfo, entries: Sequence[Entry], limit: int) -> LastTime | None:
    """The account of one session within a token limit: pinned entries, files and errors before prompts."""
    count, head = archive.count, HEAD.format(when=when(info.last_at))
    left = limit - count(head) - count(NOTE_END) - 2

    def cost(block: str) -> int:
        return count(block) + 1

    def that_fit(blocks: Iterable[str], *, gaps: bool = True) -> list[str]:
        nonlocal left
        kept = [*fitting(blocks, left, cost, gaps=gaps)]
        left -= sum(map(cost, kept))
        return kept

    once = {entry.id: entry for entry in entries}.values()
    pinned = that_fit(f"> pinned ({e.id}): " + "\n> ".join(e.content.splitlines()) for e in once if e.pinned)
    files = edited_files(entries)
    shown = ", ".join(files[:MOST_FILES]) + (" …" if len(files) > MOST_FILES else "")
    edited = that_fit([f"> files edited: {shown}"] if files else [])
    failing = open_errors(entries)[-MOST_ERRORS:]
    errors = that_fit(f"> still failing: {_one_line(archive, entry)}" for entry in failing)
    asked = that_fit(reversed(_exchange_lines(archive, entries)), gaps=False)
    lines = [*reversed(asked), *pinned, *edited, *errors]
    if not lines:
        return None
    note = "\n".join([head, *lines, NOTE_END])
    number = len(files) if edited else 0
    return LastTime(note, info, len(asked), number, len(errors), len(pinned), count(note))


def _exchange_lines(archive: Archive, entries: Sequence[Entry]) -> list[str]:
    """For each prompt a block of two lines: what was asked, and the last reply before the next."""
    exchanges: list[tuple[Entry, Entry | None]] = []
    for entry in entries:
        if entry.source.kind is SourceKind.TYPED:
            exchanges.append((entry, None))
        elif exchanges and entry.source.kind is SourceKind.REPLY and not is_filler(entry):
            exchanges[-1] = (exchanges[-1][0], entry)
    return [
        f"> [{asked.turn}] asked ({asked.id}): {clipped(asked.content, PROMPT_CHARS)}"
        + (f"\n>   → {_one_line(archive, reply)}" if reply else "")
        for asked, reply in exchanges
    ]


def _one_line(archive: Archive, entry: Entry) -> str:
    """An entry on one line with its id: its line form where there is one."""
    made: Mapping[Fidelity, object] = archive.store.renditions(entry.id)
    line = made.get(Fidelity.LINE)
    text = clipped(getattr(line, "text", "") or entry.content, RESULT_CHARS)
    tag = f"[{entry.id}]"
    return text if tag in text else f"{text} {tag}"


def state_block(
    entries: Sequence[Entry], *, which: str, token_limit: int, count: TokenCounter, reach: str = ""
) -> str:
    """Rules, decisions, open errors and files of a chat's entries within a budget, as quotes; "" when there
    is nothing to tell. `which` names the chat in the head, `reach` is a last line: how to see more."""

    def cost(text: str) -> int:
        return count(text) + 1

    head, tail = [STATE_HEAD, STATE_ABOUT.format(which=which)], [reach] if reach else []
    lines: list[str] = []
    full = left = token_limit - sum(map(cost, [*head, *tail]))
    for share, (title, rows) in zip(ROOM, _state_sections(entries), strict=True):
        room = left - int((1 - share) * full) - cost(title)
        kept = [*fitting(reversed(rows), room, cost)]
        if kept:
            lines += [title, *reversed(kept)]
            left -= sum(map(cost, [title, *kept]))
    return "\n".join([*head, *lines, *tail]) if lines else ""


def _state_sections(entries: Sequence[Entry]) -> Iterator[tuple[str, list[str]]]:
    """The parts in the order of their worth, each with its lines, the newest last."""
    yield RULES, [_quoted(rule.turn, rule.text, rule.entry_id) for rule in rules_of(entries)]
    yield DECIDED, [_quoted(one.turn, one.text, one.entry_id) for one in decided(entries)]
    failing = open_errors(entries)[-MOST_FAULTS:]
    yield FAILING, [_quoted(entry.turn, _fault_words(entry), entry.id) for entry in failing]
    files = edited_files(entries)[:MOST_FILES]
    yield FILES, [f"> {', '.join(files)}"] if files else []


def _quoted(turn: int, text: str, entry_id: str) -> str:
    """One line that nothing in it can leave."""
    return f"> [{turn}] {squeeze(text)} ({entry_id})"


def _fault_words(entry: Entry) -> str:
    """What failed, in one line: the command and the first of its faults."""
    faults = faults_of(entry)
    first = "; ".join(faults[:FAULTS_EACH]) or squeeze(entry.content)[:160]
    more = f" (+{len(faults) - FAULTS_EACH} more)" if len(faults) > FAULTS_EACH else ""
    return f"{entry.source.detail}: {first}{more}" if entry.source.detail else first + more


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
