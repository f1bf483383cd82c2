"""Prose, by extraction only: the sentences that carry decisions, numbers, names and reasons stay.

Sentences are ranked by TextRank (their words' overlap as a graph, Mihalcea and Tarau 2004), raised by
what they state and by their place; the best stay, in order and in their own words, within a share of
the original. One marker line at the end says how many were left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aider_gardener.compress.base import PROMPT_WHOLE_TOKENS, Context, has_marker, omitted, unchanged
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.sentences import BLOCK_CHARS, Unit, content_words, units, worth
from aider_gardener.reading.speech import decides

KEEP_SHARE = 0.46
"""Share of the tokens of running prose that stays, the marker not counted."""

PROMPT_KEEP_SHARE = 0.60
"""The same for what the user typed, above PROMPT_WHOLE_TOKENS."""

WHOLE_TOKENS = 60
"""Prose up to this size stays whole: a marker would eat the gain."""

GRAPH_LIMIT = 120
"""Up to so many sentences the graph is iterated; above, one step of it is taken (linear time)."""

MOST_UNITS = 6_000
"""Of more sentences the first and the last so many, in equal parts, are ranked: the others go."""

DECIDED_BONUS = 1.0
"""Added to a sentence that decides or rejects something."""

DAMPING, ITERATIONS = 0.85, 20


def compress(text: str, ctx: Context) -> Compressed:
    """The sentences worth keeping, at most about half of the tokens; short texts stay whole."""
    return _extract(text, ctx, ContentClass.PROSE, KEEP_SHARE, WHOLE_TOKENS)


def compress_prompt(text: str, ctx: Context) -> Compressed:
    """Typed words: whole up to PROMPT_WHOLE_TOKENS, above that their weightiest sentences."""
    return _extract(text, ctx, ContentClass.PROMPT, PROMPT_KEEP_SHARE, PROMPT_WHOLE_TOKENS)


def _extract(text: str, ctx: Context, cls: ContentClass, share: float, whole: int) -> Compressed:
    if len(text) <= whole or (len(text) < whole * 12 and ctx.count(text) <= whole) or has_marker(text):
        return unchanged(text, cls)
    found = units(text)
    if len(found) < 3:
        return unchanged(text, cls)
    ranked = found
    if len(found) > MOST_UNITS:
        ranked = [*found[: MOST_UNITS // 2], *found[-MOST_UNITS // 2 :]]
    scores = rank(text, ranked, ctx.focus)
    limit = max(len(text) * share, whole * 2.5)
    chosen = choose(ranked, scores, limit)
    if len(chosen) == len(found):
        return unchanged(text, cls)
    body = assemble(text, ranked, chosen)
    marker = omitted(f"{len(chosen)} of {len(found)} sentences", ctx.entry_id)
    return Compressed(f"{body}\n{marker}", cls, "prose")


def rank(text: str, found: Sequence[Unit], focus: Focus) -> list[float]:
    """A score for each unit: its centrality (0 to 1) plus the worth of what it states and its place."""
    words = [frozenset(content_words(text[unit.start : unit.end])) for unit in found]
    central = _textrank(words) if len(found) <= GRAPH_LIMIT else _degree(words)
    top = max(central, default=0.0) or 1.0
    names = sorted({*focus.paths, *(path.rpartition("/")[2] for path in focus.paths)})
    scores = []
    for index, unit in enumerate(found):
        score = 0.6 * central[index] / top + worth(text[unit.start : unit.end])
        score += 0.35 * unit.first + 0.1 * unit.last + 0.3 * (index == 0)
        score += 0.5 * bool(focus.words & words[index])
        score += DECIDED_BONUS * decides(text[unit.start : unit.end][:BLOCK_CHARS], is_users=False)
        score += 1.6 * any(name in text[unit.start : unit.end] for name in names)
        if unit.kind == "code":
            score -= 0.5
        scores.append(score)
    return scores


def _textrank(words: Sequence[frozenset[str]]) -> list[float]:
    size = len(words)
    weights: list[dict[int, float]] = [{} for _ in range(size)]
    for i in range(size):
        for j in range(i + 1, size):
            shared = len(words[i] & words[j])
            if shared:
                weights[i][j] = weights[j][i] = shared / (1.0 + len(words[i]) + len(words[j]))
    totals = [sum(row.values()) for row in weights]
    scores = [1.0] * size
    for _ in range(ITERATIONS):
        scores = [
            1 - DAMPING + DAMPING * sum(weight * scores[j] / totals[j] for j, weight in weights[i].items())
            for i in range(size)
        ]
    return scores


def _degree(words: Sequence[frozenset[str]]) -> list[float]:
    """One step of the same walk: how many sentences share this one's words, by length."""
    seen = Counter(word for unit in words for word in unit)
    return [sum(min(seen[word] - 1, 50) for word in unit) / (4.0 + len(unit)) for unit in words]


def choose(found: Sequence[Unit], scores: Sequence[float], limit_chars: float) -> set[int]:
    """The best units that fit within `limit_chars`, headings only along with something below them."""
    order = sorted(
        (index for index, unit in enumerate(found) if unit.kind != "heading"),
        key=lambda index: (
            -scores[index] / (0.5 + (found[index].end - found[index].start) / 240) ** 0.5,
            index,
        ),
    )
    above = _headings(found)
    chosen: set[int] = set()
    used = 0.0
    for index in order:
        extra = [head for head in above[index] if head not in chosen]
        size = sum(found[i].end - found[i].start for i in (index, *extra))
        if used + size <= limit_chars:
            chosen.update((index, *extra))
            used += size
    return chosen


def _headings(found: Sequence[Unit]) -> list[tuple[int, ...]]:
    """For each unit what must stand above it: the heading of its section, the head of its table."""
    above: list[tuple[int, ...]] = []
    heading = table = -1
    for index, unit in enumerate(found):
        if unit.kind == "heading":
            heading = index
        if unit.kind != "row":
            table = -1
        elif table < 0:
            table = index
        above.append(tuple(i for i in (heading, table) if 0 <= i < index))
    return above


def assemble(text: str, found: Sequence[Unit], chosen: set[int]) -> str:
    """The chosen units in order, paragraphs apart as they were."""
    parts: list[str] = []
    last: Unit | None = None
    for index, unit in enumerate(found):
        if index not in chosen:
            continue
        piece = text[unit.start : unit.end]
        if last is not None:
            own_line = unit.kind != "sentence" or last.kind in ("heading", "row", "code")
            gap = "\n\n" if unit.paragraph != last.paragraph else "\n" if own_line or unit.first else " "
            parts.append(gap)
            piece = piece.strip("\n") if own_line or unit.first else piece.strip()
        parts.append(piece.rstrip())
        last = unit
    return "".join(parts)
