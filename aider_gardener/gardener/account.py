"""What came of one session: what was asked and done, decided and set as a rule, which files, which errors.

Read from the archive alone, so it is the same for the same archive, and holds no secret that was taken out
there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener import amendments
from aider_gardener.messages import Entry, Fidelity, SourceKind
from aider_gardener.notes.decisions import Decision, decided, spoken_words
from aider_gardener.notes.last_chat import edited_files
from aider_gardener.notes.names import faults_of
from aider_gardener.notes.rules import Constraint, standing
from aider_gardener.plan.view import is_filler
from aider_gardener.recall.recall import EDIT_UNDONE

COMMITTED = re.compile(r"I committed the changes with git hash (\w{4,64}) & commit msg: ?(.*)", re.S)
CUTS = re.compile(
    r"\|\s*(?:tail|head|grep)\b"
    r"|(?:^|\s)(?:-k|-t|-run|--run|(?<!node )--test|--lib|--bin|--grep|--filter)(?![\w-])"
)
"""What of a command runs a part of the tests, or shows a part of what comes out."""
MODULE = re.compile(r"\bpython[\d.]* -m \S+")
NAMES = re.compile(r"[/\\]|::|\w\.\w")
"""A word of a command that names a file or folder."""
OUTPUTS = (SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT)
LINE_ID = re.compile(r" \[g[0-9a-f]{9,64}\]$")
LINE_HEAD = "reply: "
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
class Step:
    """What was asked in one prompt, and all that came of it before the next. `asked` is "" for what was done
    before the first prompt of a session. `entry_id` is that of the prompt."""

    turn: int
    entry_id: str
    asked: str
    replies: tuple[Reply, ...]
    runs: tuple[Run, ...]
    commits: tuple[Commit, ...]


@dataclass(frozen=True)
class Edited:
    """A file that was edited: how often, in which turn last."""

    path: str
    times: int
    turn: int


@dataclass(frozen=True)
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
    steps: tuple[Step, ...]
    decisions: tuple[Decision, ...]
    rules: tuple[Constraint, ...]
    files: tuple[Edited, ...]
    errors: tuple[Met, ...]
    pinned: tuple[Entry, ...]

    @property
    def commits(self) -> tuple[Commit, ...]:
        return tuple(commit for step in self.steps for commit in step.commits)

    @property
    def open_errors(self) -> tuple[Met, ...]:
        """The errors that were met and not seen to be gone."""
        return tuple(met for met in self.errors if not met.gone_turn)


def account(store: Store, info: SessionInfo) -> Account:
    """The account of one session. Raises StoreError."""
    entries = store.session_entries(info.id)
    undone = {str(event.data.get("entry_id")) for event in store.events(info.id, EDIT_UNDONE)}
    steps = steps_of(store, entries, undone)
    changes = amendments.kept(store, info.id)
    return Account(
        info=info,
        steps=steps,
        decisions=tuple(decided(entries)),
        rules=tuple(standing(entries, changes)),
        files=files_of(steps),
        errors=errors_of(entries),
        pinned=tuple({entry.id: entry for entry in entries if entry.pinned}.values()),
    )


def steps_of(store: Store, entries: Sequence[Entry], undone: set[str]) -> tuple[Step, ...]:
    """The prompts of a session, each with what followed it."""
    groups: list[list[tuple[int, Entry]]] = []
    for at, entry in enumerate(entries):
        if entry.source.kind is SourceKind.TYPED or not groups:
            groups.append([])
        groups[-1].append((at, entry))
    found = (step(store, entries, group, undone) for group in groups)
    return tuple(each for each in found if each.asked or each.replies or each.runs)


def step(
    store: Store, entries: Sequence[Entry], group: Sequence[tuple[int, Entry]], undone: set[str]
) -> Step:
    """One prompt with what followed it; `group` are its entries with their places among all."""
    first = group[0][1]
    asked = first if first.source.kind is SourceKind.TYPED else None
    replies, runs, commits = [], [], []
    for at, entry in group:
        if entry.source.kind is SourceKind.REPLY and not is_filler(entry):
            replies.append(reply_of(store, entry, following(entries, at), entry.id in undone))
        elif entry.source.kind in OUTPUTS:
            runs.append(run_of(store, entry))
        elif entry.source.kind is SourceKind.NOTICE and (told := COMMITTED.match(entry.content)):
            commits.append(Commit(told[1], told[2].strip().partition("\n")[0]))
    turn, stored_id = first.turn, asked.id if asked else ""
    said = asked.content if asked else ""
    return Step(turn, stored_id, said, tuple(replies), tuple(runs), tuple(commits))


def following(entries: Sequence[Entry], at: int) -> list[Entry]:
    """The entry behind one, if it is the user's: it says whether an edit applied."""
    return [entry for entry in entries[at + 1 : at + 2] if entry.role != "assistant"]


def line_of(store: Store, entry: Entry) -> str:
    """An entry on one line, as notes show it, without its id and who said it."""
    made = store.renditions(entry.id).get(Fidelity.LINE)
    if made:
        return LINE_ID.sub("", made.text)
    return spoken_words(entry) if entry.source.kind is SourceKind.REPLY else entry.content


def reply_of(store: Store, entry: Entry, behind: Sequence[Entry], undone: bool) -> Reply:
    """A reply; of its edits the files are told apart, with their folders."""
    edited = tuple(edited_files([entry, *behind]))
    line = line_of(store, entry).removeprefix(LINE_HEAD)
    return Reply(entry.id, EDITED.sub("", line).strip() if edited else line, edited, undone)


def run_of(store: Store, entry: Entry) -> Run:
    """A command that was run; its line is what came out, without the command."""
    command, line = entry.source.detail, line_of(store, entry)
    begins, cut, rest = line.partition(CUT)
    if line.startswith(f"{RAN}{command}: "):
        line = line.removeprefix(f"{RAN}{command}: ")
    elif cut and f"{RAN}{' '.join(command.split())}".startswith(begins):
        line = rest
    return Run(entry.id, command, line)


def files_of(steps: Sequence[Step]) -> tuple[Edited, ...]:
    """The files that edits were applied to and not taken back, in the order of their first edit."""
    found: dict[str, Edited] = {}
    for each in steps:
        for path in (path for reply in each.replies if not reply.undone for path in reply.edited):
            times = found[path].times + 1 if path in found else 1
            found[path] = Edited(path, times, each.turn)
    return tuple(found.values())


def errors_of(entries: Sequence[Entry]) -> tuple[Met, ...]:
    """The errors and failing tests of a session, each with what became of it, in the order in which they were
    met last."""
    found: dict[str, Met] = {}
    for entry in entries:
        faults = faults_of(entry)
        for text, known in found.items():
            if not known.gone_turn and text not in faults and shows_gone(entry, known):
                found[text] = replace(known, gone_turn=entry.turn)
        for text in faults:
            first = found.pop(text).first_turn if text in found else entry.turn
            found[text] = Met(text, entry.source.kind, entry.source.detail, first, entry.turn, 0, entry.id)
    return tuple(found.values())


def shows_gone(entry: Entry, met: Met) -> bool:
    """Whether an entry that does not name an error says that it is gone: its command was run again, or all
    tests or those of its file were; of what the linter said, whether an edit came behind it."""
    if met.kind is SourceKind.LINT:
        return entry.source.kind is SourceKind.REPLY and bool(edited_files([entry]))
    if entry.source.kind not in (SourceKind.TEST, SourceKind.COMMAND) or not met.command:
        return False
    command = entry.source.detail
    return command == met.command or (entry.source.kind is SourceKind.TEST and is_of(command, met.text))


def is_of(command: str, fault: str) -> bool:
    """Whether a test command, by its words, runs what a fault is about and shows all that fails."""
    if CUTS.search(command):
        return False
    names = [word for word in MODULE.sub("", command).split() if NAMES.search(word) and word[0] not in "-2>&"]
    return not names or any(holds(word, fault) for word in names)


def holds(name: str, fault: str) -> bool:
    """Whether a file or folder that a command names is that of a failing test. One of which no file is told
    may be in any folder."""
    has_place = "/" in fault or "::" in fault
    return name.partition("::")[0].removeprefix("./") in fault or (name.endswith("/") and not has_place)
