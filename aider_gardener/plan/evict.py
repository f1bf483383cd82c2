"""Eviction: choose renditions so that the value kept per token is highest (greedy on the hull).

Each entry offers renditions with tokens and value. Walking an entry down its upper convex hull gives
steps of rising value lost per token saved; taking all entries' steps in that order until the target is
met is the greedy for the multiple-choice knapsack relaxation, off the optimum by at most one step.

The value is the entry's priority, 0 to 100, from its class, age, mentions and use, for each token shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from aider_gardener.messages import ContentClass, Entry, Fidelity, Focus, SourceKind, Swap

BASE = {
    ContentClass.PROMPT: 90.0,
    ContentClass.ERROR: 80.0,
    ContentClass.CODE: 60.0,
    ContentClass.PROSE: 40.0,
    ContentClass.DIFF: 35.0,
    ContentClass.STRUCTURED: 30.0,
    ContentClass.LOG: 20.0,
    ContentClass.LISTING: 20.0,
    ContentClass.EDIT: 10.0,
}
RECENCY_POINTS = 15.0
RECENCY_HALF_LIFE_TURNS = 3.0
MENTION_POINTS, MOST_WORDS = 20.0, 40
STALENESS_POINTS = 15.0
STALENESS_TURNS = 40.0
NOTICE_BASE = 5.0

FOCUS_WORD = re.compile(r"[^\W\d_]\w{2,}|\d[\d.:,_-]*\d")
COMMON_WORDS = frozenset(
    "the and for with that this from have not you are was but can all has had its out what which when"
    " will would should could there their they then than them these those into about also just like make"
    " use using used one two how why where who did does done been being get got let our your now some any"
    " only more most very here please want need same other over after before again still were".split()
)

TOKEN_VALUE = {Fidelity.FULL: 1.0, Fidelity.COMPRESSED: 2.0, Fidelity.LINE: 2.5, Fidelity.HIDDEN: 0.0}
"""What a token of each form is worth beside one of the original."""
MOST_KEPT = {Fidelity.FULL: 2.5, Fidelity.COMPRESSED: 0.9, Fidelity.LINE: 0.8, Fidelity.HIDDEN: 0.0}
"""What each form is worth at most, as a share of priority times tokens of the original."""
LINE_TOKENS = 60
"""An original of so few tokens is as dense as a line."""
ORDER = tuple(Fidelity)
"""From the whole down to nothing."""


class Shield(IntEnum):
    """How late an entry may be sacrificed. A higher shield is touched only when lower ones are spent."""

    NONE = 0
    PROMPT = 1
    """The user's own words."""
    TAIL = 2
    """The last exchanges, as many as the low mark has room for."""
    FORMAT = 3
    """The last edit reply, which shows the model the edit format, and the one before where it stands nowhere
    else."""
    LAST = 4
    """The last exchange: only when the prompt could not be sent otherwise."""


@dataclass(frozen=True)
class Candidate:
    """An entry as the planner sees it: what is shown now, the tokens of each form that it has, what it is
    worth. `floors` says how far down it may go once a shield is given up; a missing shield allows nothing.
    """

    entry: Entry
    current: Fidelity
    forms: Mapping[Fidelity, int]
    priority: float
    floors: Mapping[Shield, Fidelity] = field(default_factory=lambda: {Shield.NONE: Fidelity.HIDDEN})

    def floor(self, shield: Shield) -> Fidelity:
        """The lowest fidelity allowed when all shields up to `shield` are given up."""
        allowed = [level for key, level in self.floors.items() if key <= shield]
        return max([self.current, *allowed], key=ORDER.index)


@dataclass(frozen=True)
class Step:
    """One downgrade on an entry's hull, with the value lost per token saved."""

    candidate: Candidate
    before: Fidelity
    after: Fidelity
    tokens_saved: int
    loss_per_token: float


def priority(entry: Entry, *, turn: int, focus: Focus) -> float:
    """Points from 0 to 100 for keeping `entry` at `turn`, given what the user is about now.

    Base by class, + up to 15 for recency (halved every 3 turns), + up to 20 for the share of the focus's 40
    longest words that the entry holds, − up to 15 for staleness (linear over 40 turns without an access). An
    edit of a file that is not in the chat counts as code: it is nowhere else. Text that the host wrote
    itself is worth 5 at most.
    """
    return max(0.0, min(100.0, sum(parts(entry, turn=turn, focus=focus).values())))


def parts(entry: Entry, *, turn: int, focus: Focus) -> dict[str, float]:
    """The points that make the priority, by what they are for; below 0 for staleness."""
    if entry.source.kind is SourceKind.NOTICE:
        return {"notice": NOTICE_BASE}
    age = max(0, turn - entry.turn)
    words = sorted(focus.words, key=lambda word: (-len(word), word))[:MOST_WORDS]
    lowered = entry.content.lower() if words else ""
    mentioned = sum(word in lowered for word in words) / max(1, len(words))
    only_here = entry.cls is ContentClass.EDIT and not names_any(entry, focus.paths)
    return {
        "class": BASE[ContentClass.CODE if only_here else entry.cls],
        "recency": RECENCY_POINTS * math.pow(0.5, age / RECENCY_HALF_LIFE_TURNS),
        "mentions": MENTION_POINTS * mentioned,
        "staleness": 0.0 if entry.access_count else -STALENESS_POINTS * min(1.0, age / STALENESS_TURNS),
    }


def names_any(entry: Entry, paths: Iterable[str]) -> bool:
    """Whether the entry names one of these files: an edit of theirs does, in the line before its block."""
    return any(path in entry.content for path in paths)


def focus_words(texts: list[str], *, limit: int = 120) -> frozenset[str]:
    """Lower-case words, identifiers and numbers of the user's last messages, longest first."""
    found = {match.group().lower() for text in texts for match in FOCUS_WORD.finditer(text[:20_000])}
    return frozenset(sorted(found - COMMON_WORDS, key=lambda word: (-len(word), word))[:limit])


def value(candidate: Candidate, fidelity: Fidelity) -> float:
    """What a rendition is worth: the entry's priority for each of its tokens, times how much a token of
    that form says beside one of the original.

    So of two entries the one of lower priority is shortened first, and hidden first, whatever their
    lengths, unless the line of the other is more than 0.32 of it (0.8 of its worth, at 2.5 a token): then
    the line has little to add. An original no longer than a line says as much a token as a line.
    """
    tokens = candidate.forms[fidelity]
    weight = TOKEN_VALUE[Fidelity.LINE] if tokens <= LINE_TOKENS else TOKEN_VALUE[fidelity]
    whole = candidate.priority * candidate.forms[Fidelity.FULL]
    return min(candidate.priority * tokens * weight, whole * MOST_KEPT[fidelity])


def hull_steps(candidate: Candidate, at: Fidelity, floor: Fidelity) -> list[Step]:
    """The downgrades of one entry from `at` to `floor`, each the cheapest in value per token next."""
    forms = candidate.forms
    steps: list[Step] = []
    while True:
        further = ORDER[ORDER.index(at) + 1 : ORDER.index(floor) + 1]
        below = [level for level in further if forms.get(level, forms[at]) < forms[at]]
        if not below:
            return steps

        def loss(level: Fidelity, at: Fidelity = at) -> float:
            return (value(candidate, at) - value(candidate, level)) / (forms[at] - forms[level])

        best = min(below, key=lambda level: (loss(level), forms[level]))
        steps.append(Step(candidate, at, best, forms[at] - forms[best], loss(best)))
        at = best


def choose(
    candidates: Sequence[Candidate], fidelity: Mapping[int, Fidelity], *, tokens_to_save: int, shield: Shield
) -> list[Step]:
    """The steps, least value lost per token saved first, that save at least `tokens_to_save`.

    Starts from `fidelity` (full where none is given). Shields are given up one after the other, up to
    `shield`. If the target cannot be met, every possible step is returned.
    """
    chosen: list[Step] = []
    at = {item.entry.seq: fidelity.get(item.entry.seq, Fidelity.FULL) for item in candidates}
    saved = 0
    for given_up in Shield:
        if given_up > shield:
            break
        rows = [
            step for item in candidates for step in hull_steps(item, at[item.entry.seq], item.floor(given_up))
        ]
        rows.sort(key=lambda step: (step.loss_per_token, step.candidate.entry.seq))
        for step in rows:
            if saved >= tokens_to_save:
                return chosen
            chosen.append(step)
            at[step.candidate.entry.seq] = step.after
            saved += step.tokens_saved
    return chosen


def swaps(
    candidates: Sequence[Candidate],
    before: Mapping[int, Fidelity],
    after: Mapping[int, Fidelity],
    *,
    turn: int,
) -> tuple[Swap, ...]:
    """The difference of two views as swaps, one an entry, in the order of the chat, each with its reason in
    words for the user."""
    found: list[Swap] = []
    for item in candidates:
        entry = item.entry
        old, new = (view.get(entry.seq, Fidelity.FULL) for view in (before, after))
        if old is not new:
            age = turn - entry.turn
            when = "this turn" if age <= 0 else "1 turn ago" if age == 1 else f"{age} turns ago"
            reason = f"{entry.cls.value}, priority {item.priority:.0f}, {when}"
            found.append(Swap(entry.id, old, new, item.forms[old] - item.forms[new], reason))
    return tuple(found)
