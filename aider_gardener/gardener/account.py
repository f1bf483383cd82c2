"""What came of one session: what was asked and done, decided and set as a rule, which files, which errors.

Read from the archive alone, so it is the same for the same archive, and holds no secret that was taken out
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener.care import kept_rules
from aider_gardener.messages import Entry, Fidelity, SourceKind
from aider_gardener.notes.last_chat import edited_files
from aider_gardener.notes.names import faults_of
from aider_gardener.notes.rules import Constraint, Decision, decided, rules_of, spoken_words
from aider_gardener.plan.view import is_filler
from aider_gardener.recall.recall import EDIT_UNDONE

COMMITTED = re.compile(r"I committed the changes with git hash (\w{4,64}) & commit msg: ?(.*)", re.S)
CUTS = re.compile(
    r"\|\s*(?:tail|head|grep)\b"
    r"|(?:^|\s)(?:-k|-t|-run|--run|(?<!node )--test|--lib|--bin|--grep|--filter)(?![\w-])"
)
"""What of a command runs a part of the tests, or shows a part of what comes out."""
MODULE = re.compile(r"\bpython[\d.]* -m \S+")
NAMES = re.compile(r"(?:^|(?<=\s))(?![-2>&])\S*(?:[/\\]|::|\w\.\w)\S*")
"""A word of a command that names a file or folder."""
OUTPUTS = (SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT)
LINE_HEAD, LINE_ID = "reply: ", re.compile(r" \[g[0-9a-f]{9,64}\]$")
RAN, CUT = "ran ", " …: "
"""What stands in a line form before a command, and between one that is cut and what came out of it."""
EDITED = re.compile(
    r"\bedited [\w.-]+(?: \([^()]*\))?(?:, [\w.-]+(?: \([^()]*\))?)*(?: \+\d+ files?)?"
    r"(?:\.(?=\s|$)| …(?=\s|$)|$) ?"
)
"""What a line form says of edits: files without their folders."""


@dataclass(frozen=True)
class Commit:
    """A commit that the host made of an edit."""

    hash: str
    message: str


@dataclass(frozen=True)
class Reply:
    """What the model answered, on one line; the files that it edited, and whether that was taken back."""

    entry_id: str
    line: str
    edited: tuple[str, ...]
    undone: bool


@dataclass(frozen=True)
class Run:
    """A command that was run or a lint report, with what came out of it on one line."""

    entry_id: str
    command: str
    line: str


@dataclass(frozen=True)
class SessionStep:
    """What was asked in one prompt, and all that came of it before the next. `asked` and `entry_id`, the
    prompt's, are "" for what was done before the first prompt of a session."""

    turn: int
    entry_id: str
    asked: str
    replies: list[Reply] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)


@dataclass
class Edited:
    """A file that was edited: how often, in which turn last."""

    path: str
    times: int
    turn: int


@dataclass
class Met:
    """An error or failing test: where it came up first and last, and the turn in which it was gone (0: it was
    not). `entry_id` shows it last."""

    text: str
    kind: SourceKind
    command: str
    first_turn: int
    turn: int
    gone_turn: int
    entry_id: str


@dataclass(frozen=True)
class Account:
    """What came of a session. Everything is in the order in which it came, of `pinned` each once."""

    info: SessionInfo
    steps: tuple[SessionStep, ...]
    decisions: tuple[Decision, ...]
    rules: tuple[Constraint, ...]
    files: tuple[Edited, ...]
    errors: tuple[Met, ...]
    pinned: tuple[Entry, ...]

    @property
    def commits(self) -> list[Commit]:
        return [commit for step in self.steps for commit in step.commits]

    @property
    def open_errors(self) -> list[Met]:
        """The errors that were met and not seen to be gone."""
        return [met for met in self.errors if not met.gone_turn]


def account(store: Store, info: SessionInfo) -> Account:
    """The account of one session. Raises StoreError."""
    entries = store.session_entries(info.id)
    steps = tuple(each for each in _steps(store, info.id, entries) if each.asked or each.replies or each.runs)
    return Account(
        info=info,
        steps=steps,
        decisions=tuple(decided(entries)),
        rules=tuple(rules_of(entries, kept_rules(store, info.id))),
        files=tuple(_files(steps)),
        errors=tuple(_errors(entries)),
        pinned=tuple({entry.id: entry for entry in entries if entry.pinned}.values()),
    )


def _steps(store: Store, session: str, entries: Sequence[Entry]) -> list[SessionStep]:
    undone = {event.data.get("entry_id") for event in store.events(session, EDIT_UNDONE)}
    steps: list[SessionStep] = []
    for at, entry in enumerate(entries):
        kind, command = entry.source.kind, entry.source.detail
        if kind is SourceKind.TYPED:
            steps.append(SessionStep(entry.turn, entry.id, entry.content))
        elif not steps:
            steps.append(SessionStep(entry.turn, "", ""))
        if kind is SourceKind.REPLY and not is_filler(entry):
            behind = [each for each in entries[at + 1 : at + 2] if each.role != "assistant"]
            edited = tuple(edited_files([entry, *behind]))
            line = _line(store, entry).removeprefix(LINE_HEAD)
            line = EDITED.sub("", line).strip() if edited else line
            steps[-1].replies.append(Reply(entry.id, line, edited, entry.id in undone))
        elif kind in OUTPUTS:
            steps[-1].runs.append(Run(entry.id, command, _without_command(_line(store, entry), command)))
        elif kind is SourceKind.NOTICE and (committed := COMMITTED.match(entry.content)):
            message = committed[2].strip().partition("\n")[0]
            steps[-1].commits.append(Commit(committed[1], message))
    return steps


def _line(store: Store, entry: Entry) -> str:
    """An entry on one line, as notes show it, without its id."""
    made = store.renditions(entry.id).get(Fidelity.LINE)
    if made:
        return LINE_ID.sub("", made.text)
    return spoken_words(entry) if entry.source.kind is SourceKind.REPLY else entry.content


def _without_command(line: str, command: str) -> str:
    """What came out of a command, of a line form that names it, whole or cut."""
    begins, cut, rest = line.partition(CUT)
    if cut and f"{RAN}{' '.join(command.split())}".startswith(begins):
        return rest
    return line.removeprefix(f"{RAN}{command}: ")


def _files(steps: Iterable[SessionStep]) -> Iterable[Edited]:
    """The files that edits were applied to and not taken back, in the order of their first edit."""
    found: dict[str, Edited] = {}
    for step in steps:
        for path in (path for reply in step.replies if not reply.undone for path in reply.edited):
            file = found.setdefault(path, Edited(path, 0, 0))
            file.times, file.turn = file.times + 1, step.turn
    return found.values()


def _errors(entries: Iterable[Entry]) -> Iterable[Met]:
    """The errors and failing tests of a session, each with what became of it, in the order in which they were
    met last."""
    found: dict[str, Met] = {}
    for entry in entries:
        faults = faults_of(entry)
        for text, met in found.items():
            if not met.gone_turn and text not in faults and _shows_gone(entry, met):
                met.gone_turn = entry.turn
        for text in faults:
            first = found.pop(text).first_turn if text in found else entry.turn
            found[text] = Met(text, entry.source.kind, entry.source.detail, first, entry.turn, 0, entry.id)
    return found.values()


def _shows_gone(entry: Entry, met: Met) -> bool:
    """Whether an entry that does not name an error says that it is gone: its command was run again, or all
    tests or those of its file were; of what the linter said, whether an edit came behind it."""
    kind, command = entry.source.kind, entry.source.detail
    if met.kind is SourceKind.LINT:
        return kind is SourceKind.REPLY and bool(edited_files([entry]))
    if kind not in (SourceKind.TEST, SourceKind.COMMAND) or not met.command:
        return False
    return command == met.command or (kind is SourceKind.TEST and is_of(command, met.text))


def is_of(command: str, fault: str) -> bool:
    """Whether a test command, by its words, runs what a fault is about and shows all that fails. A test of
    which no file is told may be in any folder."""
    names = NAMES.findall(MODULE.sub("", command))
    has_place = "/" in fault or "::" in fault
    return not CUTS.search(command) and (
        not names
        or any(
            name.partition("::")[0].removeprefix("./") in fault or (name.endswith("/") and not has_place)
            for name in names
        )
    )
