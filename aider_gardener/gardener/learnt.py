"""What a project's chats have taught: proposals for rules, and what the user made of them.

A proposal that is taken stands among the rules of every later chat of the project; one that is refused never
comes again. Both are kept as events of the archive, so that export and import carry them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import is_shared
from aider_gardener.archive.sessions import project_sessions, short_ids
from aider_gardener.archive.store.base import Event, Store
from aider_gardener.errors import UsageError
from aider_gardener.files import read_bytes, write_if_unchanged
from aider_gardener.notes.last_chat import when
from aider_gardener.notes.markdown import quoted
from aider_gardener.notes.observations import Observation, Sighting, gathered, sightings
from aider_gardener.notes.rules import RULE_CHARS

PROJECT = "project"
"""The session of events that are about a project, none of its chats."""
EVENT, ANNOUNCED = "observation", "observations told"
TAKEN, REFUSED = "taken", "refused"
SESSIONS_READ = 200
"""So many sessions, the last used, are looked through."""
MOST_TAKEN = 24
"""So many taken rules stand in chats, the newest."""
CONVENTIONS_NAME = "CONVENTIONS.md"
HEADING = "## Learnt in chats"


@dataclass(frozen=True)
class Verdict:
    """What the user said of a proposal: `taken` or `refused`, when, and in what words it stood. `key` is that
    of a fault, "" for a sentence."""

    id: str
    verdict: str
    kind: str
    key: str
    proposal: str
    at: float


@dataclass(frozen=True)
class Learnt:
    """The proposals that wait for the user, those not seen for 28 days, and the rules that were taken, oldest
    first."""

    waiting: tuple[Observation, ...]
    faded: tuple[Observation, ...]
    taken: tuple[Verdict, ...]

    @property
    def numbered(self) -> tuple[Observation | Verdict, ...]:
        """What has a number in the list, from 1."""
        return (*self.waiting, *self.taken)

    def named(self, given: str) -> Observation | Verdict:
        """The proposal or taken rule that is meant, by its number or its id. Raises UsageError."""
        wanted = given.strip().lower()
        if wanted.isdecimal() and 0 < int(wanted[:6]) <= len(self.numbered):
            return self.numbered[int(wanted[:6]) - 1]
        for row in (*self.numbered, *self.faded):
            if row.id == wanted:
                return row
        have = f"they are numbered from 1 to {len(self.numbered)}" if self.numbered else "there is none"
        raise UsageError(
            f"there is no observation {given.strip()}: {have}; `gardener observations` lists them"
        )


def learnt(
    store: Store,
    project: str,
    *,
    clock: Callable[[], float] = time.time,
    pace: Callable[[], None] = lambda: None,
) -> Learnt:
    """What the last sessions of a project propose now; `pace` is called before each is read. Raises
    StoreError."""
    seen: list[Sighting] = []
    for info in project_sessions(store, project)[:SESSIONS_READ]:
        pace()
        seen += sightings(store.session_entries(info.id))
    answered = verdicts(store, project)
    found = sorted(gathered(seen), key=lambda each: (-len(each.evidence), -each.last_at, each.id))
    now, waiting, faded = clock(), list[Observation](), list[Observation]()
    for each in found:
        if not any(v.id == each.id or each.is_about(v.kind, v.key, v.proposal) for v in answered):
            (faded if each.is_faded(now) else waiting).append(each)
    taken = tuple(verdict for verdict in answered if verdict.verdict == TAKEN)
    return Learnt(tuple(waiting), tuple(faded), taken)


def project_events(store: Store, project: str, kind: str) -> list[Event]:
    """The events of a kind that are about a project, oldest first. An archive in the project is its own, by
    whatever name it went."""
    is_own = not is_shared(store.directory, project)
    return [e for e in store.events(PROJECT, kind) if is_own or e.data.get("project") == project]


def verdicts(store: Store, project: str) -> list[Verdict]:
    """The last word on each proposal of a project, oldest first."""
    rows: dict[str, Verdict] = {}
    for event in project_events(store, project, EVENT):
        names = {"id": "id", "verdict": "verdict", "kind": "kind", "key": "key", "proposal": "text"}
        said = {field: str(event.data.get(name, "")) for field, name in names.items()}
        rows[said["id"]] = Verdict(**said, at=event.at)
    return sorted(rows.values(), key=lambda verdict: verdict.at)


def decide(store: Store, project: str, found: Observation | Verdict, verdict: str, at: float) -> str:
    """Keep what the user said of a proposal, or of a rule that was taken; returns that in a line. Raises
    StoreError."""
    key = found.evidence[0].key if isinstance(found, Observation) else found.key
    data = {"project": project, "id": found.id, "verdict": verdict, "kind": found.kind, "key": key}
    store.record_event(PROJECT, 0, EVENT, {**data, "text": found.proposal}, at)
    said = "Rule of every chat from now on" if verdict == TAKEN else "Refused, it will not come again"
    return f"{said}: {found.proposal}"


def announce(store: Store, project: str, found: Learnt, at: float) -> int:
    """Note that the user is told of the proposals that wait; returns how many no chat told of before. Raises
    StoreError."""
    known: set[object] = set()
    for event in project_events(store, project, ANNOUNCED):
        ids = event.data.get("ids")
        known.update(ids if isinstance(ids, list) else ())
    new = [each.id for each in found.waiting if each.id not in known]
    if new:
        store.record_event(PROJECT, 0, ANNOUNCED, {"project": project, "ids": new}, at)
    return len(new)


def taken_rules(store: Store, project: str) -> tuple[str, ...]:
    """The rules that the user took, for the chats of a project, oldest first."""
    taken = [each.proposal for each in verdicts(store, project) if each.verdict == TAKEN]
    return tuple(taken[-MOST_TAKEN:])


def add_conventions(path: Path, rules: list[str]) -> int:
    """Add to a conventions file what of some rules does not stand there yet; returns how many. Raises
    StoreError."""
    before = read_bytes(path)
    held, added = before or b"", 0
    for rule in rules:
        longer = with_rule(held, rule)
        added += longer != held
        held = longer
    if added:
        write_if_unchanged(path, before, held)
    return added


def with_rule(held: bytes, rule: str) -> bytes:
    """The bytes of a conventions file with one more rule, at the end under a heading of its own or, where
    that stands already, as its first; every byte of before stays. The same bytes where it has the rule."""
    newline = b"\r\n" if b"\r\n" in held else b"\n"
    heading, line = HEADING.encode() + newline * 2, f"- {quoted(rule, RULE_CHARS)}".encode("utf-8", "replace")
    if line in held.splitlines():
        return held
    before, found, behind = held.partition(heading)
    if not found and held:
        before += newline if held.endswith(b"\n") else newline * 2
    return before + heading + line + newline + behind


def records(found: Learnt) -> list[dict[str, Any]]:
    """Everything as plain data, numbered as it is listed; what has faded has no number."""
    rows: list[dict[str, Any]] = []
    listed = len(found.numbered)
    for number, each in enumerate((*found.numbered, *found.faded), 1):
        row: dict[str, Any] = {"id": each.id, "kind": each.kind, "rule": each.proposal}
        if isinstance(each, Verdict):
            row |= {"at": each.at, "evidence": [], "number": number, "state": TAKEN}
        else:
            names = ("session", "turn", "at", "entry_id", "text")
            seen = [{name: getattr(one, name) for name in names} for one in each.evidence]
            state = "waiting" if number <= listed else "faded"
            row |= {"at": each.last_at, "evidence": seen, "number": number, "state": state}
            row["number"] = number if number <= listed else None
        rows.append(row)
    return rows


def render(store: Store, project: str, found: Learnt, *, faded: bool = False) -> Iterator[str]:
    """The list as lines for people: each proposal with its evidence, what was taken, and if wanted what
    has `faded`, which is named by its id alone."""
    short = short_ids([info.id for info in project_sessions(store, project)])

    def proposal(each: Observation, number: str = "") -> Iterator[str]:
        yield f"{number}{each.proposal} [{each.id}]"
        for seen in each.evidence:
            where = f"session {short.get(seen.session, seen.session)}, turn {seen.turn} ({seen.entry_id})"
            yield f"   {when(seen.at)}, {where}: {seen.text}"

    if not found.numbered:
        yield "Nothing was seen in three sessions yet that would make a rule."
    for number, each in enumerate(found.waiting, 1):
        yield from proposal(each, f"{number}. ")
    if found.taken:
        yield "Rules of every chat of this project:"
    for number, verdict in enumerate(found.taken, len(found.waiting) + 1):
        yield f"{number}. {verdict.proposal} [{verdict.id}]"
    if found.faded:
        yield f"{len(found.faded)} more not seen for 28 days{':' if faded else ': --all lists them.'}"
    for each in found.faded if faded else ():
        yield from proposal(each)
