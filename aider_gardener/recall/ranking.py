"""Ranking: how well a passage fits a question, by words, by what stands around it, and by meaning.

Words are weighted by their rarity among the candidates (the Robertson/Spärck Jones idf). A passage's
lexical score is the share of the question's information that it holds; words that stand only beside it,
elsewhere in its message, or in what the message answers count for less. Meaning is the cosine of the
embeddings, on a fixed scale (each embedder's own, see `embed.Scale`), so that a score means the same in
every archive. The weight of meaning was
chosen on one half of the recorded sessions' probes and checked on the other (docs/decisions/0004).

Then where the answer stands: first the turn, then the passage in it. What answers a question often shares no
word with it: a number in an output, a name in a code block. But it stands in a turn that the question does
fit, or in the one after it: the prompt asks, the reply says why, and the code or the output has the answer.
So passages are put in order by their own score and, for less, by the best score in their turn, in the turn
before, and beside them. The scores themselves, which say whether anything is relevant at all, stay as they
are. Weights: docs/decisions/0005.

Last where the rest of the answer stands. What comes first by words alone or by meaning alone is put a little
forward: where one of the two sees nothing, the best of the other would be lost among what fits by half.
And each further passage of one entry counts a little less than the one before, so that an answer of several
pieces is not crowded out by the neighbours of its first. docs/decisions/0008.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from aider_gardener.archive.passages import chunk
from aider_gardener.archive.store.words import Word, keys
from aider_gardener.messages import Entry, SourceKind, content_key, remembered
from aider_gardener.reading.output import without_codes
from aider_gardener.recall.embed import MINILM_SCALE

STEM_WEIGHT = 0.75
"""What a match of the stem alone counts beside one of the word."""
LINE_WEIGHT = 0.3
"""The part of the lexical score that goes by the best single line: words that stand together."""
NEAR_WEIGHT, NEXT_WEIGHT, ENTRY_WEIGHT, CONTEXT_WEIGHT = 0.4, 0.2, 0.15, 0.4
"""What a word counts that stands only in the passages beside, in those behind them, elsewhere in the
entry, or only in the command or question that the entry answers."""
LEAST_INFORMATION = 0.2
"""Added to every word's idf, so that a word that all candidates hold still counts a little."""
UNHEARD_WEIGHT = 0.25
"""What a word counts that no candidate holds, beside the rarest of the others: where most of the question is
in other words, the few that are found by chance do not make a passage fit."""
MEANING_WEIGHT = 0.35

LINE_END = re.compile(r"\n|(?<=[.!?;])\s+|(?<=[。！？；])")
Found = Mapping[str, float]

TURN_WEIGHT, BEFORE_WEIGHT, BESIDE_WEIGHT = 0.6, 0.3, 0.12
AGE_WEIGHT = 0.06
"""What the latest turn has ahead of the first, as a share of the best score."""
FIRST_WEIGHT, FIRST_PASSAGES = 0.15, 10
"""What the best passage by words alone, and the best by meaning alone, gets beside its score; the second half
of it, the third a third, and so on for so many."""
TYPED_WEIGHT = 0.3
"""What the user's own words have ahead of the rest in the order, as a share of the best score: they hold what
is so, where the replies to them say it again at length."""
AGAIN_SHARE = 0.97
"""What each further passage of an entry counts beside the one before it."""
BEST_TURNS = 5
"""All passages of so many turns are looked at, beside those that a search found."""
COMPANY_PASSAGES = 240
"""So many passages more, at most."""
TERMS_KEPT, LINES_KEPT = 768, 2_048
"""So many passages and lines stay split into words, some 40 KB and 1 KB each: those of the last question or
two, for the next one finds most of them again."""

Turn = tuple[str, int]


@dataclass(frozen=True)
class QueryTerms:
    """The index words of a text, their stems, and the same for each of its lines or sentences."""

    words: frozenset[str]
    stems: frozenset[str]
    lines: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()


@dataclass(frozen=True)
class Passage:
    """A candidate, ready to be ranked. `place` orders the passages of one entry; `context` is the text
    of the command or question that the entry answers; `similarity` is on MiniLM's scale, 0
    where no vector is known."""

    entry: Entry
    start: int
    end: int
    text: str
    context: str = ""
    similarity: float = 0.0


@lru_cache(maxsize=TERMS_KEPT)
def terms(text: str) -> QueryTerms:
    """The terms of a text, cached: the same passages are candidates again and again."""
    lines = [plain(line) for line in LINE_END.split(text) if line.strip()]
    # No word goes on from one line to the next, so together they hold all there are.
    words = frozenset().union(*(line[0] for line in lines))
    stems = frozenset().union(*(line[1] for line in lines))
    return QueryTerms(words, stems, tuple(lines) if len(lines) > 1 else ())


@lru_cache(maxsize=LINES_KEPT)
def plain(text: str) -> tuple[frozenset[str], frozenset[str]]:
    return keys(text)


def shared(words: Sequence[Word], found: frozenset[str], stems: frozenset[str]) -> dict[str, float]:
    """The words of the question that stand in a text: 1 for the word itself, less for its stem alone."""
    points: dict[str, float] = {}
    for word in words:
        if word.text in found:
            points[word.text] = 1.0
        elif word.stem and (word.stem in stems or word.stem in found):
            points[word.text] = STEM_WEIGHT
    return points


def information(words: Sequence[Word], held: Sequence[Found]) -> dict[str, float]:
    """The weight of each word of the question that any candidate holds: its rarity among them."""
    total = len(held)
    counts: Counter[str] = Counter(word for found in held for word in found)
    return {word.text: rarity(counts[word.text], total) for word in words if counts[word.text]}


def rarity(holding: int, total: int) -> float:
    """What a word counts that so many of all candidates hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5)) + LEAST_INFORMATION


def by_words(words: Sequence[Word], passages: Sequence[Passage]) -> list[float]:
    """The share of the question's information that each passage holds, 0 to 1."""
    held = [shared(words, terms(p.text).words, terms(p.text).stems) for p in passages]
    weights = information(words, held)
    unheard = len(words) - len(weights)
    total = sum(weights.values()) + UNHEARD_WEIGHT * unheard * rarity(0, len(passages))
    scores = [0.0] * len(passages)
    if not weights:
        return scores
    by_entry: dict[int, list[int]] = {}
    for at, passage in enumerate(passages):
        by_entry.setdefault(id(passage.entry), []).append(at)
    for places in by_entry.values():
        places.sort(key=lambda at: passages[at].start)
        # Words of the question are shared out: the passage's own count whole, those around it in part and
        # only where the passage lacks them, so that a repeated word is no evidence twice.
        anywhere = in_entry(places, held, weights)
        for order, at in enumerate(places):
            own = weigh(held[at], weights)
            around = surroundings(order, places, passages, held, words, weights, anywhere)
            line = best_line(passages[at], [word for word in words if word.text in held[at]], weights)
            gained = sum(points for word, points in around.items() if word not in own)
            scores[at] = ((1 - LINE_WEIGHT) * sum(own.values()) + LINE_WEIGHT * line + gained) / total
    return scores


def fuse(lexical: float, similarity: float) -> float:
    """One score of the two; the lexical score alone where no similarity is known."""
    if not similarity:
        return lexical
    return (1 - MEANING_WEIGHT) * lexical + MEANING_WEIGHT * meaning_share(similarity)


def meaning_share(similarity: float) -> float:
    """How close two texts are in meaning, 0 to 1."""
    # A fixed scale, not one stretched over the candidates: unasked, the score decides whether anything is
    # relevant at all, and the best of a poor lot must stay poor.
    return min(1.0, max(0.0, (similarity - MINILM_SCALE.start) / MINILM_SCALE.span))


def weigh(found: Found, weights: Mapping[str, float], factor: float = 1.0) -> dict[str, float]:
    return {word: factor * share * weights[word] for word, share in found.items() if word in weights}


def best_line(passage: Passage, words: Sequence[Word], weights: Mapping[str, float]) -> float:
    """The information that stands together in one line, of those words that the passage holds."""
    if not words:
        return 0.0
    lines = terms(passage.text).lines
    if not lines:
        lines = (plain(passage.text),)
    return max(sum(weigh(shared(words, found, stems), weights).values()) for found, stems in lines)


def in_entry(places: Sequence[int], held: Sequence[Found], weights: Mapping[str, float]) -> dict[str, float]:
    """What each word counts that stands anywhere in an entry, given the places of its passages."""
    points: dict[str, float] = {}
    for at in places:
        for word, gained in weigh(held[at], weights, ENTRY_WEIGHT).items():
            points[word] = max(points.get(word, 0.0), gained)
    return points


def surroundings(
    order: int,
    places: Sequence[int],
    passages: Sequence[Passage],
    held: Sequence[Found],
    words: Sequence[Word],
    weights: Mapping[str, float],
    anywhere: Mapping[str, float],
) -> dict[str, float]:
    """What words count that stand around a passage: beside it, in its entry (`anywhere`), in what that
    answers. Words of the passage itself are among them."""
    points = dict(anywhere)

    def add(found: Found, factor: float) -> None:
        for word, gained in weigh(found, weights, factor).items():
            points[word] = max(points.get(word, 0.0), gained)

    for distance, factor in ((1, NEAR_WEIGHT), (2, NEXT_WEIGHT)):
        for other in (order - distance, order + distance):
            if 0 <= other < len(places):
                add(held[places[other]], factor)
    context = passages[places[order]].context
    if context:
        add(shared(words, *plain(context)), CONTEXT_WEIGHT)
    return points


def turn_of(passage: Passage) -> Turn:
    return passage.entry.session, passage.entry.turn


def best_by_turn(passages: Sequence[Passage], scores: Sequence[float]) -> dict[Turn, float]:
    """The best score in each turn."""
    best: dict[Turn, float] = {}
    for passage, score in zip(passages, scores, strict=True):
        key = turn_of(passage)
        best[key] = max(best.get(key, 0.0), score)
    return best


def turn_passages(
    passages: Sequence[Passage],
    scores: Sequence[float],
    session: str,
    of_turn: Callable[[int], Sequence[Entry]],
    similarity: float,
) -> list[Passage]:
    """The other passages of the turns that fit best, of one session whose entries `of_turn` gives;
    `similarity` is what is assumed of them."""
    best = best_by_turn(passages, scores)
    turns = sorted(best, key=lambda key: (-best[key], key))[:BEST_TURNS]
    known = {(passage.entry.id, passage.start, passage.end) for passage in passages}
    contexts = {passage.entry.id: passage.context for passage in passages}
    found: list[Passage] = []
    for own, turn in turns:
        said: dict[str, Entry] = {}
        for entry in of_turn(turn) if own == session else ():
            said.setdefault(entry.id, entry)
        for entry in said.values():
            context, content = contexts.get(entry.id, entry.source.detail), entry.content
            for start, end in cuts(entry):
                if (entry.id, start, end) not in known:
                    found.append(
                        Passage(entry, start, end, without_codes(content[start:end]), context, similarity)
                    )
    return found[:COMPANY_PASSAGES]


@remembered(512, key=content_key)
def cuts(entry: Entry) -> tuple[tuple[int, int], ...]:
    """The spans of an entry's passages."""
    return tuple((one.start, one.end) for one in chunk(entry.id, entry.content, entry.segments))


def in_order(passages: Sequence[Passage], scores: Sequence[float]) -> list[tuple[int, float]]:
    """The index of each passage and how likely it holds the answer, the likeliest first, but that further
    passages of one message make room for those of others.

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
    again: Counter[str] = Counter()
    ahead = TYPED_WEIGHT * top
    place = [
        points + ahead * (passage.entry.source.kind is SourceKind.TYPED)
        for points, passage in zip(likely, passages, strict=True)
    ]
    for at in sorted(range(len(passages)), key=lambda at: (-place[at], passages[at].start)):
        entry = passages[at].entry.id
        place[at] *= AGAIN_SHARE ** again[entry]
        again[entry] += 1
    order = sorted(
        range(len(passages)),
        key=lambda at: (-place[at], -passages[at].entry.turn, passages[at].entry.seq, passages[at].start),
    )
    return [(at, likely[at]) for at in order]


def put_forward(
    passages: Sequence[Passage], lexical: Sequence[float], scores: Sequence[float]
) -> list[float]:
    """The scores, with what the first by words alone and the first by meaning alone get beside them."""
    found = list(scores)
    similarity = [passage.similarity for passage in passages]
    for each in (lexical, similarity):
        best = heapq.nlargest(FIRST_PASSAGES, range(len(passages)), key=each.__getitem__)
        for place, at in enumerate(best, 1):
            if each[at] > 0:
                found[at] += FIRST_WEIGHT / place
    return found


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
