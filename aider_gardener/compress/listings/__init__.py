"""Listings: grep, ls, trees, git log, tables, profiles as groups with counts and the first of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aider_gardener.compress.base import Context, unchanged
from aider_gardener.compress.frame import allowance, cut, estimate, framed, untouched
from aider_gardener.compress.listings.paths import write_counts, write_grep, write_ls, write_paths, write_tree
from aider_gardener.compress.listings.rows import (
    write_dependencies,
    write_git_log,
    write_profile,
)
from aider_gardener.compress.tools import tables
from aider_gardener.compress.tools.frame import read_with
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.detectors import detect_listing
from aider_gardener.reading.output import lines_of

LARGE_SHARE, SMALL_SHARE = 0.08, 0.18

Writer = Callable[[Sequence[str], int, Context], tuple[str, list[str], dict[str, int]]]
"""Takes the lines, a budget in tokens and the context; returns summary, body and counts of what is kept."""

WRITERS: Mapping[str, Writer] = {
    "grep": write_grep,
    "counts": write_counts,
    "paths": write_paths,
    "ls": write_ls,
    "tree": write_tree,
    "npm-ls": write_dependencies,
    "git-log": write_git_log,
    "profile": write_profile,
}

WHOLE = frozenset({"git-log", "npm-ls", "profile"})
"""Kinds whose writers say themselves what must stay."""


def compress(text: str, ctx: Context) -> Compressed:
    """A listing as groups with counts, the first of each, and what stands out."""
    kind = ctx.kind if ctx.kind in WRITERS else detect_listing(text) or "table"
    if kind == "table":
        return read_with(tables.read, text, ctx, ContentClass.LISTING, kind) or unchanged(
            text, ContentClass.LISTING, kind
        )
    whole = untouched(text, ctx, ContentClass.LISTING, kind)
    if whole:
        return whole
    lines = [line.rstrip() for line in lines_of(text) if line.strip()]
    if not lines:
        return unchanged(text, ContentClass.LISTING, kind)
    budget = allowance(estimate(text, ctx.count), LARGE_SHARE, SMALL_SHARE) - 30
    summary, body, kept = WRITERS[kind](lines, budget, ctx)
    if kind not in WHOLE:
        body = cut(body, budget + budget // 2 + 40, ctx.count)
    return framed(text, f"{kind}: {summary}", body, ctx, ContentClass.LISTING, kind, kept)
