"""Prose, by extraction only: the sentences that carry decisions, numbers, names and reasons stay.

Sentences are ranked by what they state and by their place; the best stay, in order and in their own words,
within a share of the original. One marker line at the end says how many were left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from aider_gardener.compress.base import PROMPT_WHOLE_TOKENS, Context, has_marker, omitted, unchanged
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.sentences import BLOCK_CHARS, Unit, content_words, units, worth
from aider_gardener.reading.speech import decides

QUOTED_SHARE = 0.46
"""Share of the tokens of running prose that stays, the marker not counted."""

PROMPT_QUOTED_SHARE = 0.60
"""The same for what the user typed, above PROMPT_WHOLE_TOKENS."""

WHOLE_TOKENS = 60
"""Prose up to this size stays whole: a marker would eat the gain."""

MOST_UNITS = 6_000
"""Of more sentences the first and the last so many, in equal parts, are ranked: the others go."""

DECIDED_BONUS = 1.0
"""Added to a sentence that decides or rejects something."""


def compress(text: str, ctx: Context) -> Compressed:
    """The sentences worth keeping, at most about half of the tokens; short texts stay whole."""
    return _extract(text, ctx, ContentClass.PROSE, QUOTED_SHARE, WHOLE_TOKENS)


def compress_prompt(text: str, ctx: Context) -> Compressed:
    """Typed words: whole up to PROMPT_WHOLE_TOKENS, above that their weightiest sentences."""
    return _extract(text, ctx, ContentClass.PROMPT, PROMPT_QUOTED_SHARE, PROMPT_WHOLE_TOKENS)


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
    """A score for each unit: the worth of what it states, its place, what of the focus it names."""
    names = sorted({*focus.paths, *(path.rpartition("/")[2] for path in focus.paths)})
    scores = []
    for index, unit in enumerate(found):
        unit_text = text[unit.start : unit.end]
        score = worth(unit_text) + 0.35 * unit.first + 0.1 * unit.last + 0.3 * (index == 0)
        score += 0.5 * (bool(focus.words) and not focus.words.isdisjoint(content_words(unit_text)))
        score += DECIDED_BONUS * decides(unit_text[:BLOCK_CHARS], is_users=False)
        score += 1.6 * any(name in unit_text for name in names)
        if unit.kind == "code":
            score -= 0.5
        scores.append(score)
    return scores


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
    """The chosen units in order, paragraphs apart as they were, pieces of one sentence by a mark: side by
    side they would say what it does not."""
    parts: list[str] = []
    last: Unit | None = None
    for index, unit in enumerate(found):
        if index not in chosen:
            continue
        own_line = unit.first or unit.kind != "sentence"
        if last is not None:
            own_line |= last.kind in ("heading", "row", "code")
            parts.append("\n\n" if unit.paragraph != last.paragraph else "\n" if own_line else " ")
        before = found[index - 1] if index else None
        if before is not last and any(each is not None and each.goes_on for each in (before, last)):
            parts.append("… ")
        parts.append(text[unit.start : unit.end].strip("\n" if own_line else None).rstrip())
        last = unit
    return "".join(parts)
