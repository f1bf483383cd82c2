"""What the chats of a project show again and again, as proposals for rules, and what the user made of them.

A rule that was said in three sessions is proposed; not seen for 28 days it fades.
What the user takes stands among the rules of every later chat of the project, what is refused never comes
again; both are kept as events of the archive.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from aider_gardener.archive.sessions import project_sessions, short_ids
from aider_gardener.archive.store.location import is_shared
from aider_gardener.errors import UsageError, tolerating
from aider_gardener.messages import Entry
from aider_gardener.notes.rules import RULE_CHARS, is_spoken, repeats, rules_in, sentences, typed_words
from aider_gardener.phrases import when
from aider_gardener.reading.output import clipped, flat
from aider_gardener.reading.speech import FOR_NOW

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

SESSIONS_SEEN, FADES_SECONDS = 3, 28 * 86_400.0
SESSIONS_READ = 200
"""So many sessions, the last used, are looked through."""
MOST_TAKEN = 24
"""So many taken rules stand in chats, the newest."""
PROJECT, EVENT = "project", "observation"
"""The session of events that are about a project, none of its chats, and those of verdicts."""
WAITING, FADED, TAKEN, REFUSED = "waiting", "faded", "taken", "refused"

AGAIN = re.compile(
    r"^\W*(?:(?:no|wrong|again|nein|falsch|nochmals?|non|encore|otra vez|(?:as )?i (?:\w+ )?(?:said|told you)"
    r"(?: \w+)?|wie gesagt|comme je l'ai dit|(?:ya )?te (?:lo )?dije|再说一遍)\s*[,:：]|i said\b|我说过)"
    r"\s*(?=\S)",
    re.IGNORECASE,
)
"""Begins what corrects something or says it once more, whatever its form."""


@dataclass(frozen=True)
class Sighting:
    """Where something was seen, in its words."""

    text: str
    session: str
    turn: int
    at: float
    entry_id: str


@dataclass(frozen=True)
class Observation:
    """A rule that is proposed, or of which the user said what becomes of it (`state`, `at`). `evidence` is a
    sighting a session, the oldest first; `id` stays the same while that is there."""

    id: str
    proposal: str
    state: str
    at: float
    evidence: tuple[Sighting, ...] = ()

    def confirms(self, other: Observation) -> bool:
        return any(
            is_same_rule(other.proposal, text) for text in (self.proposal, *(e.text for e in self.evidence))
        )


def all_observations(
    store: Store, project: str, *, clock: Callable[[], float] = time.time
) -> list[Observation]:
    """What waits for the user, then the rules that were taken, then what was not seen for 28 days. Raises
    StoreError."""
    infos = project_sessions(store, project)[:SESSIONS_READ]
    answered = verdicts(store, project)
    rows = [verdict for verdict in answered if verdict.state == TAKEN]
    for found in gathered(one for info in infos for one in sightings(store.session_entries(info.id))):
        if not any(each.id == found.id or found.confirms(each) for each in answered):
            is_faded = clock() - found.at > FADES_SECONDS
            rows.append(replace(found, state=FADED) if is_faded else found)
    order = (WAITING, TAKEN, FADED)
    return sorted(rows, key=lambda each: (order.index(each.state), -len(each.evidence), each.at, each.id))


def sightings(entries: Iterable[Entry]) -> Iterator[Sighting]:
    """What some entries show that might be seen again in another session."""
    for entry in entries:
        found: tuple[str, ...] = ()
        with tolerating("reader of observations"):
            found = orders_in(typed_words(entry))
        for text in found:
            yield Sighting(flat(text), entry.session, entry.turn, entry.created_at, entry.id)


@lru_cache(maxsize=2_048)
def orders_in(text: str) -> tuple[str, ...]:
    """The sentences of typed words that set a rule, say one again, or correct something."""
    again = [
        clipped(each, RULE_CHARS) for _, each in sentences(text) if AGAIN.match(each) and is_spoken(each)
    ]
    found = (each for each in (*rules_in(text), *again) if not each.endswith(("?", "？")))
    return tuple(dict.fromkeys(each for each in found if not FOR_NOW.search(each.lower())))


def is_same_rule(one: str, other: str) -> bool:
    """Whether two sentences set the same rule, however they begin."""
    return repeats(_rule_in(one), _rule_in(other))


@lru_cache(maxsize=8_192)
def _rule_in(sentence: str) -> str:
    """A sentence without how it corrects or repeats."""
    return AGAIN.sub("", sentence.replace("’", "'"), count=1)


def gathered(all_sightings: Iterable[Sighting]) -> list[Observation]:
    """What was seen in enough sessions; a sentence joins a group of which half say what it does. What a
    forked chat has of the one before was said once."""
    groups: list[list[Sighting]] = []
    said = {(each.entry_id, each.at, each.text): each for each in all_sightings}.values()
    for sighting in sorted(said, key=lambda each: (each.at, each.session, each.turn)):
        for group in groups:
            if 2 * sum(is_same_rule(sighting.text, other.text) for other in group) >= len(group):
                group.append(sighting)
                break
        else:
            groups.append([sighting])
    enough = (group for group in groups if len({each.session for each in group}) >= SESSIONS_SEEN)
    return [_observation(group) for group in enough]


def _observation(group: list[Sighting]) -> Observation:
    """A group of sightings with the rule that it is proposed as: the shortest sentence."""
    evidence = tuple({each.session: each for each in group}.values())
    proposal = _rule_in(min((each.text for each in reversed(group)), key=len))
    name = hashlib.sha256(evidence[0].text.encode("utf-8", "replace")).hexdigest()[:6]
    return Observation(f"o{name}", proposal, WAITING, group[-1].at, evidence)


def verdicts(store: Store, project: str) -> list[Observation]:
    """The user's last word on each proposal of a project, oldest first. An archive in the project is its own,
    by whatever name it went."""
    is_own = not is_shared(store.directory, project)
    rows: dict[str, Observation] = {}
    for event in store.events(PROJECT, EVENT):
        if is_own or event.data.get("project") == project:
            name, text, state = (str(event.data.get(n, "")) for n in ("id", "text", "verdict"))
            rows[name] = Observation(name, text, state, event.at)
    return sorted(rows.values(), key=lambda verdict: verdict.at)


def taken_rules(store: Store, project: str) -> tuple[str, ...]:
    """The rules that the user took, for the chats of a project, oldest first."""
    taken = [each.proposal for each in verdicts(store, project) if each.state == TAKEN]
    return tuple(taken[-MOST_TAKEN:])


def decide(
    store: Store, project: str, given: Iterable[str], verdict: str, clock: Callable[[], float] = time.time
) -> Iterator[str]:
    """Keep what the user says of proposals, or of rules that were taken, named by number or id: all or none;
    tells of it in lines. Raises UsageError, StoreError."""
    rows = all_observations(store, project, clock=clock)
    for each in [_named(rows, name) for name in dict.fromkeys(given)]:
        data = {"project": project, "id": each.id, "verdict": verdict, "text": each.proposal}
        store.record_event(PROJECT, 0, EVENT, data, clock())
        outcome = "Rule of every chat from now on" if verdict == TAKEN else "Refused, it will not come again"
        yield f"{outcome}: {each.proposal}"


def _named(rows: list[Observation], given: str) -> Observation:
    for number, each in enumerate(rows, 1):
        if given.strip().lower() in (str(number), each.id):
            return each
    raise UsageError(f"there is no observation {given.strip()}; `gardener upkeep observations` lists them")


def render(store: Store, project: str, found: list[Observation], *, faded: bool = False) -> Iterator[str]:
    """The list as lines for people: proposals with their evidence, what was taken, what has `faded`."""
    short = short_ids([info.id for info in project_sessions(store, project)])
    if not found:
        yield "Nothing was seen in three sessions yet that would make a rule."
    for number, each in enumerate(found, 1):
        if each.state == FADED and not faded:
            continue
        state = "" if each.state == WAITING else f" ({each.state})"
        yield f"{number}. {each.proposal} [{each.id}]{state}"
        for one in each.evidence:
            where = f"session {short.get(one.session, one.session)}, turn {one.turn} ({one.entry_id})"
            yield f"   {when(one.at)}, {where}: {one.text}"
    hidden = 0 if faded else sum(each.state == FADED for each in found)
    if hidden:
        yield f"{hidden} more not seen for 28 days: --all lists them."
