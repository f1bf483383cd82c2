"""Compressing builds: every error by message with all its places, each kind of warning once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.builds.detector import detect
from aider_gardener.compress.builds.diagnostics import Diagnostic, Report, labels, report
from aider_gardener.compress.logs.compressor import digest_lines
from aider_gardener.compress.terminal import (
    allowance,
    clip,
    estimate,
    fitting,
    framed,
    lines_of,
    plural,
    touches,
    untouched,
    unwrapped,
)
from aider_gardener.messages import Compressed, ContentClass, Focus

LARGE_SHARE, SMALL_SHARE = 0.045, 0.18
FLOORS = ((3_000, 0.3, 20), (10_000, 0.19, 7))
"""Below a size in tokens: the share that errors may take, at so many tokens each, so that in a short output
the place of every error is still told."""

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|\b\d+\b")
VARIABLE = re.compile(QUOTED.pattern + r"|\S*\d\S*")
PLACE = re.compile(r"^(.*?)(?::(\d+(?::\d+)?)|\((\d+(?:,\d+)*)\)|:\[(\d+,\d+)\])$")
SITES_SHOWN = 24


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
    body, kept = build_lines(told, budget - ctx.count(summary) - 12, ctx)
    return framed(text, summary, body, ctx, ContentClass.LOG, kind, kept)


def build_lines(told: Report, budget: int, ctx: Context) -> tuple[list[str], dict[str, int]]:
    """The body of a compressed build within `budget` tokens, and counts of what it keeps."""
    errors = _distinct([one for one in told.found if one.severity == "error"])
    warnings = _distinct([one for one in told.found if one.severity == "warning"])
    kinds = _kinds(warnings)
    makers: tuple[Maker, ...] = (
        _in_detail,
        _in_lines,
        *(partial(_grouped, most=most, width=width, exact=exact) for most, width, exact in GROUPS),
    )

    def variant(make: Maker, width: int) -> list[str]:
        return [*make(errors, ctx.focus), *_warning_lines(kinds, width)]

    makers = (*makers, _as_kinds)
    variants = [partial(variant, make, width) for make, width in zip(makers, WIDTHS, strict=True)]
    body = fitting(variants, budget, ctx.count)
    left = budget - ctx.count("\n".join(body))
    if told.other and left > 40:
        body = [*digest_lines(told.other, left // 2 if told.found else left, ctx), *body]
    return body, {"errors": len(errors), "warnings": len(kinds)}


Maker = Callable[[Sequence[Diagnostic], Focus], list[str]]
GROUPS = (
    (1_000, 400, True),
    (1_000, 300, False),
    (200, 300, True),
    (200, 300, False),
    (80, 240, False),
    (SITES_SHOWN, 240, False),
    (12, 200, False),
)
"""How many places of one message are told, the width of messages, and whether only equal messages are
told together (else those that differ in names and numbers are too)."""

WIDTHS = (300, 240, 200, 180, 160, 160, 140, 120, 100, 100)


def _summary(told: Report) -> str:
    errors = sum(1 for one in told.found if one.severity == "error")
    counts = f"{plural(errors, 'error')}, {plural(len(told.found) - errors, 'warning')}"
    totals = "; ".join(clip(total, 200) for total in dict.fromkeys(told.totals[-4:]))
    return f"{counts}{'; ' if totals else ''}{totals}"


def _distinct(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings without exact repeats (a header included twice, a hook that ran twice)."""
    return list({(one.place, one.code, one.message): one for one in reversed(found)}.values())[::-1]


def _kinds(warnings: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    kinds: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in warnings:
        key = (one.code, "") if one.code else ("", _shape(one.message))
        kinds.setdefault(key, []).append(one)
    return list(kinds.values())


def _shape(message: str) -> str:
    """What warnings of one kind have in common: for npm the first words, else all but names and numbers."""
    if message.startswith("npm "):
        return " ".join(message.split()[:3])
    return VARIABLE.sub("\0", message)[:120]


def _warning_lines(kinds: Sequence[Sequence[Diagnostic]], width: int) -> list[str]:
    lines = []
    for kind in kinds:
        more = ""
        if len(kind) > 1:
            files = len({_split(one.place)[0] for one in kind if one.place})
            more = f" [{len(kind)} of this kind" + (f" in {files} files]" if files > 1 else "]")
        lines.append(clip(kind[0].line(), width) + more)
    return lines


def _in_detail(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    lines = []
    for one in errors:
        lines.append(clip(one.line(), 500))
        lines.extend("    " + clip(text, 200) for text in labels(one)[:4])
    return lines


def _in_lines(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    lines = []
    for one in errors:
        lines.append(clip(one.line(), 400))
        if touches(one.line(), focus):
            lines.extend("    " + clip(text, 200) for text in labels(one)[:2])
    return lines


def _grouped(errors: Sequence[Diagnostic], focus: Focus, most: int, width: int, exact: bool) -> list[str]:
    """Errors of one code and message shape together: the message once, then its places by file."""
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in errors:
        shape = one.message if exact else QUOTED.sub("\0", one.message)
        groups.setdefault((one.code, shape), []).append(one)
    lines = []
    for group in groups.values():
        if len(group) == 1:
            lines.append(clip(group[0].line(), width))
            continue
        first = group[0]
        code = f" {first.code}" if first.code else ""
        lines.append(f"error{code} ×{len(group)}: {clip(first.message, width)}")
        lines.extend(_sites(group, most))
    return lines


def _as_kinds(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    """The last resort: one example of each kind of error with its count, as for warnings."""
    return _warning_lines(_kinds(errors), 160)


def _sites(group: Sequence[Diagnostic], most: int) -> list[str]:
    """`  file: line:column 'name', …` for each file of a group, at most `most` places."""
    first = QUOTED.findall(group[0].message)
    files: dict[str, list[str]] = {}
    for one in group[:most]:
        path, position = _split(one.place)
        position = position.replace(",", ":")
        parts = QUOTED.findall(one.message) if most >= 1_000 else []
        own = [part for part, other in zip(parts, first, strict=False) if part != other]
        files.setdefault(path, []).append(" ".join([position, *own]).strip())
    lines = [f"  {path}:{(', ' if most >= 1_000 else ' ').join(sites)}" for path, sites in files.items()]
    if len(group) > most:
        rest = Counter(_split(one.place)[0] for one in group[most:])
        told = ", ".join(f"{path} ×{times}" for path, times in rest.most_common(12))
        lines.append(f"  … {len(group) - most} more in {plural(len(rest), 'file')}: {told}")
    return lines


def _split(place: str) -> tuple[str, str]:
    found = PLACE.match(place)
    if not found:
        return place, ""
    return found.group(1), found.group(2) or found.group(3) or found.group(4)
