"""Compressing builds: every error by message with all its places, each kind of warning once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.builds.detector import detect
from aider_gardener.compress.builds.diagnostics import Diagnostic, Report, report
from aider_gardener.compress.builds.sites import (
    FEW_SITES,
    by_code,
    example_lines,
    in_detail,
    in_lines,
    kinds_of,
    some_sites,
    with_places,
    with_sites,
)
from aider_gardener.compress.frame import (
    allowance,
    clip,
    estimate,
    fitting,
    framed,
    lines_of,
    plural,
    untouched,
    unwrapped,
)
from aider_gardener.compress.logs.compressor import digest_lines
from aider_gardener.messages import Compressed, ContentClass, Focus

LARGE_SHARE, SMALL_SHARE = 0.045, 0.18
FLOORS = ((3_000, 0.3, 20), (10_000, 0.2, 7))
"""Below a size in tokens: the share that errors may take, at so many tokens each, so that in a short output
the place of every error is still told."""

ERRORS_LARGE_SHARE, ERRORS_SMALL_SHARE = 0.09, 0.24
"""The share that errors may take at 50,000 and at 3,000 tokens before places are left out."""

Maker = Callable[[Sequence[Diagnostic], Focus], list[str]]

COMPLETE: tuple[Maker, ...] = (
    in_detail,
    in_lines,
    with_places,
    partial(with_sites, width=300, names=True, columns=True),
    partial(with_sites, width=240, names=False, columns=True),
    partial(with_sites, width=160, names=False, columns=False),
    by_code,
)
"""How errors are written, from the most to the least detail; each tells every place."""

IN_PART: tuple[Maker, ...] = (
    partial(some_sites, most=80),
    partial(some_sites, most=FEW_SITES),
    partial(some_sites, most=8),
    lambda errors, focus: example_lines(kinds_of(errors), focus, width=160, sites=False),
)
"""The same for a flood of errors of which not every place can be told."""

WARNINGS = ((300, True), (200, True), (240, False), (160, False), (120, False), (100, False))
"""Width of the example of a kind of warning, and whether the places of the others are told."""


def compress(text: str, ctx: Context) -> Compressed:
    """A build or linter run as totals, every error with its places, and one example a kind of warning."""
    kind = ctx.kind or detect(text) or "build"
    whole = untouched(text, ctx, ContentClass.LOG, kind)
    if whole:
        return whole
    lines = lines_of(text)
    if kind in ("tsc", "eslint"):
        lines = unwrapped(lines)
    told = report(lines)
    tokens = estimate(text, ctx.count)
    errors = sum(1 for one in told.found if one.severity == "error")
    floor = next(
        (min(round(tokens * share), each * errors) for size, share, each in FLOORS if tokens < size), 0
    )
    budget = max(allowance(tokens, LARGE_SHARE, SMALL_SHARE), floor)
    summary = f"{kind}: {_summary(told)}"
    most = allowance(tokens, ERRORS_LARGE_SHARE, ERRORS_SMALL_SHARE)
    body, kept = build_lines(told, budget - ctx.count(summary) - 12, ctx, most)
    return framed(text, summary, body, ctx, ContentClass.LOG, kind, kept)


def build_lines(
    told: Report, budget: int, ctx: Context, errors_budget: int = 0
) -> tuple[list[str], dict[str, int]]:
    """The body of a compressed build within `budget` tokens, and counts of what it keeps.

    Where the places of all errors don't fit, the errors alone may have up to `errors_budget` tokens.
    """
    errors = _distinct([one for one in told.found if one.severity == "error"])
    warnings = _distinct([one for one in told.found if one.severity == "warning"])
    kinds = kinds_of(warnings)
    least = ctx.count("\n".join(example_lines(kinds, ctx.focus, width=WARNINGS[-1][0], sites=False)))
    shown = _errors(errors, budget - min(least, budget // 2), errors_budget, ctx)
    left = budget - ctx.count("\n".join(shown))
    variants = [
        partial(example_lines, kinds, ctx.focus, width=width, sites=sites) for width, sites in WARNINGS
    ]
    body = [*shown, *(fitting(variants, left, ctx.count) if kinds else ())]
    left = budget - ctx.count("\n".join(body))
    if told.other and left > 40:
        body = [*digest_lines(told.other, left // 2 if told.found else left, ctx), *body]
    return body, {"errors": len(errors), "kinds of warning": len(kinds)}


def _errors(errors: Sequence[Diagnostic], budget: int, errors_budget: int, ctx: Context) -> list[str]:
    """The errors in the first form that fits; in the tersest complete one as long as that is affordable."""
    if not errors:
        return []
    shown = fitting([partial(make, errors, ctx.focus) for make in COMPLETE], budget, ctx.count)
    if ctx.count("\n".join(shown)) <= max(budget, errors_budget):
        return shown
    return fitting([partial(make, errors, ctx.focus) for make in IN_PART], budget, ctx.count)


def _summary(told: Report) -> str:
    errors = sum(1 for one in told.found if one.severity == "error")
    counts = f"{plural(errors, 'error')}, {plural(len(told.found) - errors, 'warning')}"
    totals = "; ".join(clip(total, 200) for total in dict.fromkeys(told.totals[-4:]))
    return f"{counts}{'; ' if totals else ''}{totals}"


def _distinct(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings without exact repeats (a header included twice, a hook that ran twice)."""
    return list({(one.place, one.code, one.message): one for one in reversed(found)}.values())[::-1]
