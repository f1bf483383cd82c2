"""What a project's chats have taught: proposals for rules, and what the user made of them.

A proposal that is taken stands among the rules of every later chat of the project; one that is refused never
comes again. Both are kept as events of the archive, so that export and import carry them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aider_gardener.archive.archive import is_shared
from aider_gardener.archive.sessions import said_in
from aider_gardener.archive.store.base import Store
from aider_gardener.errors import UsageError
from aider_gardener.notes.markdown import quoted
from aider_gardener.notes.observations import (
    KIND_RULE,
    Observation,
    Said,
    meaning,
    observed,
    says_same,
)
from aider_gardener.notes.rules import RULE_CHARS

PROJECT = "project"
"""The session of events that are about a project, none of its chats."""
EVENT = "observation"
ANNOUNCED = "observations told"
TAKEN, REFUSED = "taken", "refused"
SESSIONS_READ = 200
"""So many sessions, the last used, are looked through."""
MOST_TAKEN = 24
"""So many taken rules stand in chats, the newest."""
CONVENTIONS_NAME = "CONVENTIONS.md"
HEADING = "## Learnt in chats"
HEADS = re.compile(rb"^#{1,2} ", re.M)


@dataclass(frozen=True)
class Verdict:
    """What the user said of a proposal: `taken` or `refused`, when, and in what words it stood. `key` is that
    of a fault, "" for a sentence."""

    id: str
    verdict: str
    kind: str
    key: str
    text: str
    at: float


@dataclass(frozen=True)
class Learnt:
    """The proposals that wait for the user, those not seen for 28 days, and the rules that were taken, oldest
    first."""

    waiting: tuple[Observation, ...]
    faded: tuple[Observation, ...]
    taken: tuple[Verdict, ...]


def learnt(
    store: Store,
    project: str,
    *,
    clock: Callable[[], float] = time.time,
    pace: Callable[[], None] = lambda: None,
) -> Learnt:
    """What the last sessions of a project propose now; `pace` is called before each is read. Raises
    StoreError."""

    def read(session: str) -> Said:
        pace()
        return Said(session, store.session_entries(session))

    found = observed(read(info.id) for info in said_in(store, project)[:SESSIONS_READ])
    settled, now = verdicts(store, project), clock()
    left = [each for each in found if not any(is_about(verdict, each) for verdict in settled)]
    left.sort(key=lambda each: (-len(each.evidence), -each.last_at, each.id))
    return Learnt(
        tuple(each for each in left if not each.is_faded(now)),
        tuple(each for each in left if each.is_faded(now)),
        tuple(verdict for verdict in settled if verdict.verdict == TAKEN),
    )


def is_about(verdict: Verdict, found: Observation) -> bool:
    """Whether the user has said already what is to become of an observation."""
    if verdict.id == found.id:
        return True
    if verdict.kind != found.kind:
        return False
    if found.kind != KIND_RULE:
        return verdict.key == found.evidence[0].key
    said = meaning(verdict.text)
    return any(says_same(said, meaning(each.text)) for each in found.evidence) or says_same(
        said, meaning(found.proposal)
    )


def verdicts(store: Store, project: str) -> list[Verdict]:
    """The last word on each proposal of a project, oldest first."""
    rows: dict[str, Verdict] = {}
    for event in store.events(PROJECT, EVENT):
        data = event.data
        if is_of(store, project, str(data.get("project"))):
            verdict = Verdict(
                id=str(data.get("id")),
                verdict=str(data.get("verdict")),
                kind=str(data.get("kind")),
                key=str(data.get("key", "")),
                text=str(data.get("text", "")),
                at=event.at,
            )
            rows[verdict.id] = verdict
    return sorted(rows.values(), key=lambda verdict: verdict.at)


def is_of(store: Store, project: str, named: str) -> bool:
    """Whether what was said under one name of a project is of this one: an archive in the project is its own,
    by whatever name it went."""
    return named == project or not is_shared(store.directory, project)


def settle(store: Store, project: str, found: Observation | Verdict, verdict: str, at: float) -> None:
    """Keep what the user said of a proposal, or of a rule that was taken. Raises StoreError."""
    key = found.evidence[0].key if isinstance(found, Observation) else found.key
    data = {"project": project, "id": found.id, "verdict": verdict, "kind": found.kind, "key": key}
    data["text"] = text_of(found)
    store.record_event(PROJECT, 0, EVENT, data, at)


def text_of(found: Observation | Verdict) -> str:
    """The words of a proposal, or of a rule that was taken."""
    return found.proposal if isinstance(found, Observation) else found.text


def announce(store: Store, project: str, found: Learnt, at: float) -> int:
    """Note that the user is told of the proposals that wait; returns how many no chat told of before. Raises
    StoreError."""
    known = {
        str(stored_id)
        for event in store.events(PROJECT, ANNOUNCED)
        if is_of(store, project, str(event.data.get("project")))
        for stored_id in listed(event.data.get("ids"))
    }
    new = [each.id for each in found.waiting if each.id not in known]
    if new:
        store.record_event(PROJECT, 0, ANNOUNCED, {"project": project, "ids": new}, at)
    return len(new)


def listed(value: object) -> list[object]:
    """A list of an event's data; an archive may come from elsewhere."""
    return value if isinstance(value, list) else []


def taken_rules(store: Store, project: str) -> tuple[str, ...]:
    """The rules that the user took, for the chats of a project, oldest first."""
    taken = [verdict.text for verdict in verdicts(store, project) if verdict.verdict == TAKEN]
    return tuple(taken[-MOST_TAKEN:])


def numbered(found: Learnt, given: str) -> Observation | Verdict:
    """The proposal or taken rule that is meant, by its number in the list or its id. Raises UsageError."""
    rows: Sequence[Observation | Verdict] = [*found.waiting, *found.taken]
    wanted = given.strip().lower()
    if wanted.isdecimal() and 0 < int(wanted[:6]) <= len(rows):
        return rows[int(wanted[:6]) - 1]
    fitting = [row for row in [*rows, *found.faded] if row.id == wanted]
    if fitting:
        return fitting[0]
    have = f"they are numbered from 1 to {len(rows)}" if rows else "there is none"
    raise UsageError(f"there is no observation {given.strip()}: {have}; `gardener observations` lists them")


def with_rule(held: bytes, rule: str) -> bytes:
    """The bytes of a conventions file with one more rule, under a heading of its own at the end or where that
    stands already; every byte of before stays. The same bytes where the rule stands there already."""
    newline = b"\r\n" if b"\r\n" in held else b"\n"
    line = b"- " + quoted(rule, RULE_CHARS).encode("utf-8", "replace")
    if line in held.splitlines():
        return held
    at = held.find(HEADING.encode())
    if at < 0:
        gap = b"" if not held else newline if held.endswith(b"\n") else newline * 2
        return held + gap + HEADING.encode() + newline * 2 + line + newline
    head = HEADS.search(held, at + len(HEADING))
    end = head.start() if head else len(held)
    section = held[:end].rstrip(b"\r\n")
    behind = held[len(section) : end]
    return section + newline + line + (behind or newline) + held[end:]


def records(found: Learnt) -> list[dict[str, Any]]:
    """Everything as plain data, numbered as it is listed; what has faded has no number."""
    rows = [
        {**proposal_record(each), "number": number, "state": "waiting"}
        for number, each in enumerate(found.waiting, 1)
    ]
    rows += [
        {
            "id": v.id,
            "kind": v.kind,
            "rule": v.text,
            "at": v.at,
            "number": number,
            "state": TAKEN,
            "evidence": [],
        }
        for number, v in enumerate(found.taken, len(found.waiting) + 1)
    ]
    return rows + [{**proposal_record(each), "number": None, "state": "faded"} for each in found.faded]


def proposal_record(found: Observation) -> dict[str, Any]:
    """A proposal with its evidence."""
    return {
        "id": found.id,
        "kind": found.kind,
        "rule": found.proposal,
        "at": found.last_at,
        "evidence": [
            {"session": s.session, "turn": s.turn, "at": s.at, "entry_id": s.entry_id, "text": s.text}
            for s in found.evidence
        ],
    }


def told(
    found: Learnt, when: Callable[[float], str], short: Callable[[str], str], *, faded: bool = False
) -> Iterator[str]:
    """The list as lines for people: each proposal with its evidence, what was taken, and if wanted what
    has `faded`, which is named by its id alone."""
    if not (found.waiting or found.taken):
        yield "Nothing was seen in three sessions yet that would make a rule."
    for number, each in enumerate(found.waiting, 1):
        yield f"{number}. {each.proposal} [{each.id}]"
        yield from evidence_lines(each, when, short)
    if found.taken:
        yield "Rules of every chat of this project:"
    for number, verdict in enumerate(found.taken, len(found.waiting) + 1):
        yield f"{number}. {verdict.text} [{verdict.id}]"
    if found.faded:
        yield f"{len(found.faded)} more not seen for 28 days{':' if faded else ': --all lists them.'}"
    for each in found.faded if faded else ():
        yield f"{each.proposal} [{each.id}]"
        yield from evidence_lines(each, when, short)


def evidence_lines(
    found: Observation, when: Callable[[float], str], short: Callable[[str], str]
) -> Iterator[str]:
    """A line for each session in which it was seen."""
    for seen in found.evidence:
        where = f"session {short(seen.session)}, turn {seen.turn} ({seen.entry_id})"
        yield f"   {when(seen.at)}, {where}: {seen.text}"
