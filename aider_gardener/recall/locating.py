"""Where a question's answer stands: first the turn, then the passage in it.

What answers a question often shares no word with it: a number in an output, a name in a code block. But
it stands in a turn that the question does fit, or in the one after it: the prompt asks, the reply says
why, and the code or the output has the answer. So passages are put in order by their own score and, for
less, by the best score in their turn, in the turn before, and beside them. The scores themselves, which
say whether anything is relevant at all, stay as they are. Weights: docs/decisions/0005.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from aider_gardener.archive.passages import chunk
from aider_gardener.messages import Entry, Segment
from aider_gardener.recall.ranking import Passage

TURN_WEIGHT, BEFORE_WEIGHT, BESIDE_WEIGHT = 0.6, 0.3, 0.12
AGE_WEIGHT = 0.06
"""What the latest turn has ahead of the first, as a share of the best score."""
BEST_TURNS = 5
"""All passages of so many turns are looked at, beside those that a search found."""
COMPANY_PASSAGES = 240
"""So many passages more, at most."""

Turn = tuple[str, int]


def turn_of(passage: Passage) -> Turn:
    return passage.entry.session, passage.entry.turn


def best_by_turn(passages: Sequence[Passage], scores: Sequence[float]) -> dict[Turn, float]:
    """The best score in each turn."""
    best: dict[Turn, float] = {}
    for passage, score in zip(passages, scores, strict=True):
        key = turn_of(passage)
        best[key] = max(best.get(key, 0.0), score)
    return best


def company(
    passages: Sequence[Passage], scores: Sequence[float], entries: Iterable[Entry], similarity: float
) -> list[Passage]:
    """The other passages of the turns that fit best; `similarity` is what is assumed of them."""
    best = best_by_turn(passages, scores)
    turns = sorted(best, key=lambda key: (-best[key], key))[:BEST_TURNS]
    known = {(passage.entry.id, passage.start, passage.end) for passage in passages}
    contexts = {passage.entry.id: passage.context for passage in passages}
    found: list[Passage] = []
    by_turn: dict[Turn, dict[str, Entry]] = {}
    for entry in entries:
        by_turn.setdefault((entry.session, entry.turn), {}).setdefault(entry.id, entry)
    for turn in turns:
        for entry in by_turn.get(turn, {}).values():
            context = contexts.get(entry.id, entry.source.detail)
            for start, end in cuts(entry.id, entry.content, entry.segments):
                if (entry.id, start, end) not in known:
                    found.append(Passage(entry, start, end, entry.content[start:end], context, similarity))
    return found[:COMPANY_PASSAGES]


@lru_cache(maxsize=512)
def cuts(entry_id: str, content: str, segments: tuple[Segment, ...]) -> tuple[tuple[int, int], ...]:
    """The spans of an entry's passages."""
    return tuple((one.start, one.end) for one in chunk(entry_id, content, segments))


def in_order(passages: Sequence[Passage], scores: Sequence[float]) -> list[tuple[int, float]]:
    """The index of each passage and how likely it is to hold the answer, the likeliest first.

    The figures have no unit; they compare the passages of one question.
    """
    turns = best_by_turn(passages, scores)
    top = max(scores, default=0.0)
    last = max((passage.entry.turn for passage in passages), default=0) or 1
    beside = neighbours(passages, scores)
    likely = [
        score
        + TURN_WEIGHT * turns[turn_of(passage)]
        + BEFORE_WEIGHT * turns.get((passage.entry.session, passage.entry.turn - 1), 0.0)
        + BESIDE_WEIGHT * near
        + AGE_WEIGHT * top * passage.entry.turn / last
        for passage, score, near in zip(passages, scores, beside, strict=True)
    ]
    order = sorted(
        range(len(passages)),
        key=lambda at: (-likely[at], -passages[at].entry.turn, passages[at].entry.seq, passages[at].start),
    )
    return [(at, likely[at]) for at in order]


def neighbours(passages: Sequence[Passage], scores: Sequence[float]) -> list[float]:
    """For each passage the better score of the two that stand next to it among those of its entry."""
    beside = [0.0] * len(passages)
    by_entry: dict[str, list[int]] = {}
    for at, passage in enumerate(passages):
        by_entry.setdefault(passage.entry.id, []).append(at)
    for places in by_entry.values():
        places.sort(key=lambda at: passages[at].start)
        for one, other in pairwise(places):
            beside[one] = max(beside[one], scores[other])
            beside[other] = max(beside[other], scores[one])
    return beside
