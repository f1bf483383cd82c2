"""Tables, profiles and dependency trees: the head, the first rows, the rows that stand out, totals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import clip, fitting, plural, touches
from aider_gardener.compress.listings.detector import is_rule

NUMBER = re.compile(r"^[-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?%?(?:ms|s|us|KB|MB|GB|B|K|M|G)?$")
TOTAL = re.compile(
    r"^\W*(?:total|sum|all|overall|average|mean|\d+ (?:rows?|orders?|items?|records?))\b|\brows?\)$",
    re.IGNORECASE,
)
MARKED = re.compile(
    r"(?:^|\s)(?:\*+|!+|<-+|FAIL\w*|ERROR|LOST|MISS\w*|WARN\w*|NO|✗|✘|❌)\s*$|\b(?:FAIL(?:ED)?|ERROR|LOST)\b"
)
CELLS = re.compile(r"\s*\|\s*|\s{2,}|\t|(?<=\S)\s(?=[-+]?[\d.]+(?:\s|$))")
DEPENDENCY = re.compile(r"^((?:[│|] ?|  )*)(?:[├└+`\\]─*[┬─]*-* ?)(.*)$")
TROUBLE = re.compile(r"UNMET|invalid|missing|extraneous|deprecated|ERR!|conflict", re.IGNORECASE)
PROFILE_HEAD = re.compile(
    r"function calls|Ordered by|ncalls|cumulative|flat|Overhead|ticks|Total|Duration|Showing|seconds", re.I
)


PROFILE_ROW = re.compile(r"^\s*[\d.]+[%\w./]*\s")


def write_table(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """Header, first rows, rows with the extremes of number columns, marked rows, totals."""
    head, rows, tail = _parts(lines)
    ranked = [*_standing_out(rows, ctx), *range(len(rows))]
    room = budget - ctx.count("\n".join([*head, *tail]))
    chosen: set[int] = set()
    for at in dict.fromkeys(ranked):
        room -= ctx.count(clip(rows[at], 300)) + 1
        if room < 8:
            break
        chosen.add(at)
    body = [*head, *_with_gaps(rows, chosen, "row"), *tail]
    return plural(len(rows), "row"), [clip(line, 300) for line in body], {"rows": len(chosen)}


def _parts(lines: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    rule = next((at for at, line in enumerate(lines[:6]) if is_rule(line)), None)
    start = (
        rule + 1 if rule is not None else (0 if any(NUMBER.match(cell) for cell in _cells(lines[0])) else 1)
    )
    if rule == 0:
        start = min(len(lines), 3)
    end = len(lines)
    while end > start and end > len(lines) - 4 and (TOTAL.search(lines[end - 1]) or is_rule(lines[end - 1])):
        end -= 1
    return list(lines[:start]), list(lines[start:end]), list(lines[end:])


def _cells(line: str) -> list[str]:
    return [cell for cell in CELLS.split(line.strip()) if cell]


def _value(cell: str) -> float | None:
    if not NUMBER.match(cell):
        return None
    try:
        return float(re.sub(r"[^\d.eE+-]|(?<=\d)[eE](?![-+\d])", "", cell.rstrip("%KMGBmsu")) or "x")
    except ValueError:
        return None


def _standing_out(rows: Sequence[str], ctx: Context) -> list[int]:
    """Indexes of rows worth keeping first: asked about, first two, marked, extremes of each column, last."""
    best = [at for at, row in enumerate(rows) if touches(row, ctx.focus)][:12]
    best.extend(at for at in (0, 1, len(rows) - 1) if 0 <= at < len(rows))
    best.extend([at for at, row in enumerate(rows) if MARKED.search(row)][:40])
    columns: dict[int, list[tuple[float, int]]] = {}
    for at, row in enumerate(rows[:20_000]):
        cells = _cells(row)
        for column, cell in enumerate(cells):
            value = _value(cell)
            if value is not None:
                columns.setdefault(column - len(cells), []).append((value, at))
    for values in columns.values():
        if len(values) >= 0.5 * len(rows):
            best.extend((max(values)[1], min(values)[1]))
    return best


def _with_gaps(rows: Sequence[str], chosen: set[int], word: str) -> Iterator[str]:
    skipped = 0
    for at, row in enumerate(rows):
        if at in chosen:
            if skipped:
                yield f"… {plural(skipped, word)}"
            skipped = 0
            yield row
        else:
            skipped += 1
    if skipped:
        yield f"… {plural(skipped, word)}"


def write_profile(lines: Sequence[str], budget: int, ctx: Context) -> tuple[str, list[str], dict[str, int]]:
    """A profile: its heads, and the first rows of each table (they are sorted by cost)."""

    heads = [bool(PROFILE_HEAD.search(line, 0, 200)) or not PROFILE_ROW.match(line) for line in lines]

    def variant(most: int) -> list[str]:
        return list(_profile(lines, heads, most, ctx))

    body = fitting([partial(variant, most) for most in (30, 20, 14, 10, 7, 5, 3)], budget, ctx.count)
    return plural(len(lines), "line"), body, {"rows": len(body)}


def _profile(lines: Sequence[str], heads: Sequence[bool], most: int, ctx: Context) -> Iterator[str]:
    rows = skipped = 0
    for line, head in zip(lines, heads, strict=True):
        if head:
            if skipped:
                yield f"… {plural(skipped, 'row')}"
            rows = skipped = 0
            yield clip(line, 160)
        elif rows < most or touches(line, ctx.focus):
            rows += 1
            yield clip(" ".join(line.split()), 160)
        else:
            skipped += 1
    if skipped:
        yield f"… {plural(skipped, 'row')}"


def write_dependencies(
    lines: Sequence[str], budget: int, ctx: Context
) -> tuple[str, list[str], dict[str, int]]:
    """A dependency tree: direct ones with how many hang below them, and every one in trouble."""
    variants = [partial(_dependencies, lines, depth, ctx) for depth in (3, 2, 1)]
    packages = len({found.group(2) for found in map(DEPENDENCY.match, lines) if found})
    return plural(packages, "package"), fitting(variants, budget, ctx.count), {"packages": packages}


def _dependencies(lines: Sequence[str], most: int, ctx: Context) -> list[str]:
    written: list[str] = []
    below = 0
    for line in lines:
        found = DEPENDENCY.match(line)
        depth = len(found.group(1)) // 2 + 1 if found else 0
        if depth <= most or TROUBLE.search(line) or touches(line, ctx.focus):
            if below and written:
                written[-1] += f" (+{below} below)"
            below = 0
            written.append(clip(line, 160))
        else:
            below += 1
    if below and written:
        written[-1] += f" (+{below} below)"
    return written
