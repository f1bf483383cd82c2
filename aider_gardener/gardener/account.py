"""What came of one session: what was asked and what came of it, what was decided, set as a rule, edited and
left failing. Read from the archive alone: the same for the same archive, without the secrets taken out there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener.care import kept_rules
from aider_gardener.messages import Entry, Fidelity, SourceKind
from aider_gardener.notes.last_chat import OUTPUTS, edited_files, open_errors
from aider_gardener.notes.rules import Constraint, Decision, decided, rules_of, spoken_words
from aider_gardener.plan.view import is_filler
from aider_gardener.recall.recall import EDIT_UNDONE

COMMITTED = re.compile(r"I committed the changes with git hash (\w{4,64}) & commit msg: ?([^\n]*)")
LINE_ID = re.compile(r" \[g[0-9a-f]{9,64}\]$")


@dataclass(frozen=True)
class SessionStep:
    """What was asked in one prompt, and what came of it before the next, a line each with its entry's id.
    `asked` and `entry_id` are "" for what was done before the first prompt."""

    turn: int
    entry_id: str
    asked: str
    done: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Account:
    """What came of a session. Everything is in the order in which it came; `files` the last edited first."""

    info: SessionInfo
    steps: tuple[SessionStep, ...]
    commits: tuple[str, ...]
    decisions: tuple[Decision, ...]
    rules: tuple[Constraint, ...]
    files: tuple[str, ...]
    open_errors: tuple[Entry, ...]
    pinned: tuple[Entry, ...]


def account(store: Store, info: SessionInfo) -> Account:
    """The account of one session. Raises StoreError."""
    entries = store.session_entries(info.id)
    undone = {event.data.get("entry_id") for event in store.events(info.id, EDIT_UNDONE)}
    return Account(
        info=info,
        steps=tuple(step for step in _steps(store, entries) if step.asked or step.done),
        commits=tuple(commits_in(entries)),
        decisions=tuple(decided(entries)),
        rules=tuple(rules_of(entries, kept_rules(store, info.id))),
        files=tuple(edited_files([entry for entry in entries if entry.id not in undone])),
        open_errors=tuple(open_errors(entries)),
        pinned=tuple({entry.id: entry for entry in entries if entry.pinned}.values()),
    )


def commits_in(entries: Sequence[Entry]) -> list[str]:
    """Hash and message of each commit that the host made of an edit."""
    notices = (entry.content for entry in entries if entry.source.kind is SourceKind.NOTICE)
    return [f"{found[1]} {found[2].strip()}" for text in notices if (found := COMMITTED.match(text))]


def _steps(store: Store, entries: Sequence[Entry]) -> list[SessionStep]:
    steps = [SessionStep(0, "", "")]
    for entry in entries:
        if entry.source.kind is SourceKind.TYPED:
            steps.append(SessionStep(entry.turn, entry.id, entry.content))
        elif entry.source.kind in (SourceKind.REPLY, *OUTPUTS) and not is_filler(entry):
            steps[-1].done.append((_line(store, entry), entry.id))
        else:
            steps[-1].done.extend((f"committed {commit}", entry.id) for commit in commits_in([entry]))
    return steps


def _line(store: Store, entry: Entry) -> str:
    """An entry's line form, without its id; of what is so short that it has none, all that was said."""
    if made := store.renditions(entry.id).get(Fidelity.LINE):
        return LINE_ID.sub("", made.text)
    if entry.source.kind is SourceKind.REPLY:
        return spoken_words(entry).strip()
    body = "".join(entry.content[part.start : part.end] for part in entry.segments if part.kind != "wrapper")
    return f"ran {entry.source.detail}: {body}" if entry.source.detail else body
