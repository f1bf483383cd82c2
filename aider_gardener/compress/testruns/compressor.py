"""Compressing a test run: parse it, then write it within its allowance.

Failures are grouped by cause and told in as much detail as the budget allows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.builds.compressor import build_lines
from aider_gardener.compress.builds.diagnostics import report
from aider_gardener.compress.frame import allowance, estimate, fitting, framed, plural, touches, untouched
from aider_gardener.compress.logs.compressor import digest_lines
from aider_gardener.compress.testruns.cargo import parse_cargo
from aider_gardener.compress.testruns.gotest import parse_go
from aider_gardener.compress.testruns.jest import parse_jest
from aider_gardener.compress.testruns.junit import parse_junit
from aider_gardener.compress.testruns.numbered import parse_gtest, parse_numbered
from aider_gardener.compress.testruns.pytest_runs import parse_pytest
from aider_gardener.compress.testruns.run import Failure, Parser, Run
from aider_gardener.compress.testruns.tap import parse_node, parse_tap
from aider_gardener.compress.testruns.unittest_runs import parse_unittest
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.detectors import detect_test_run
from aider_gardener.reading.output import clip, lines_of, unwrapped

PARSERS: Mapping[str, Parser] = {
    "pytest": parse_pytest,
    "unittest": parse_unittest,
    "jest": parse_jest,
    "node-test": parse_node,
    "tap": parse_tap,
    "cargo-test": parse_cargo,
    "go-test": parse_go,
    "junit": parse_junit,
    "rspec": parse_numbered,
    "phpunit": parse_numbered,
    "ctest": parse_gtest,
}
WRAPPED = ("jest", "node-test", "tap")
TOKENS_PER_FAILURE = 76
LARGE_SHARE, SMALL_SHARE = 0.028, 0.14

VALUE = re.compile(
    r"!==?|==|\bbut was\b|\bgot\b|\bwant\b|\bto (?:be|equal|have)\b|expected|received|actual|left\b|"
    r"right\b|"
    r"^\s*[-+] ?\S|^\s*\+\s+where|At index|Differing|contains|\bError\b|Exception|panicked|assert|"
    r"timed? ?out",
    re.IGNORECASE,
)
OPERATOR = re.compile(r" (?:===?|!==?|<=|>=|not in|in|is not|is) (?=\S)")
FILLER = re.compile(
    r"^\s*\?[\s^+~.-]*$|^\s*(?:Full diff|Common items|Omitting \d+|Use -v|Differing (?:items|attributes)|"
    r"\.\.\.Full output|\+ actual - expected|[-+] (?:Expected|Received|Snapshot)\b|Difference:|"
    r"Comparing values:|Matching attributes|Drill down|\(Use --|\.{3} *$|[\[\]{}(),]+$|generatedMessage)"
)


def compress(text: str, ctx: Context) -> Compressed:
    """A test run as totals, every failure with id, message and place, and what was unusual."""
    kind = ctx.kind if ctx.kind in PARSERS else detect_test_run(text) or "pytest"
    whole = untouched(text, ctx, ContentClass.LOG, kind)
    if whole:
        return whole
    lines = lines_of(text)
    if kind in WRAPPED:
        lines = unwrapped(lines)
    run = PARSERS[kind](lines)
    run.failures = _distinct(run.failures)
    tokens = estimate(text, ctx.count)
    distinct = len({failure.cause() for failure in run.failures})
    budget = max(allowance(tokens, LARGE_SHARE, SMALL_SHARE), TOKENS_PER_FAILURE * distinct)
    summary = _summary(kind, run)
    body = _body(run, budget - ctx.count(summary) - 12, ctx)
    kept = {"failures": len(run.failures), "causes": distinct, "totals": len(run.totals)}
    return framed(text, summary, body, ctx, ContentClass.LOG, kind, kept)


def _distinct(failures: Sequence[Failure]) -> list[Failure]:
    """Failures without those that stand in the output twice (a run pasted or reported twice), the second
    time perhaps by name only."""
    told = {one.id for one in failures if one.message or one.where}
    solid = [one for one in failures if one.message or one.where or one.id not in told]
    return list({(one.id, one.outcome, *one.cause()): one for one in reversed(solid)}.values())[::-1]


def _build_errors(run: Run) -> int:
    return sum(1 for one in report(run.outside).found if one.severity == "error")


def _summary(kind: str, run: Run) -> str:
    told = list(dict.fromkeys(clip(line.strip(" =!"), 160) for line in run.totals))
    totals = "; ".join([f"{len(told) - 3} others", *told[-3:]] if len(told) > 4 else told)
    if not totals and run.build and (broken := _build_errors(run)):
        totals = f"did not build, {plural(broken, 'error')}"
    if not totals:
        totals = plural(len(run.failures), "failure") + (f", {run.passed} passed" if run.passed else "")
    return f"{kind} run: {totals}"


def _body(run: Run, budget: int, ctx: Context) -> list[str]:
    variants = [partial(failures_text, run, detail, ctx.focus) for detail in DETAILS]
    failures = fitting(variants, budget, ctx.count)
    left = budget - ctx.count("\n".join(failures))
    notes = _within(run.notes, left, ctx)
    left -= ctx.count("\n".join(notes)) if notes else 0
    return [*_outside(run.outside, left, ctx, run.build), *failures, *notes]


def _within(lines: Sequence[str], budget: int, ctx: Context) -> list[str]:
    kept: list[str] = []
    for line in lines:
        line = clip(line, 300)
        budget -= ctx.count(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return kept


def _outside(lines: Sequence[str], budget: int, ctx: Context, build: bool) -> list[str]:
    """What stands around the run: a build's output as a build, other programs' as a log."""
    solid = [line for line in lines if line.strip()]
    if not solid or budget < 30:
        return []
    if build:
        return build_lines(report(lines), budget, ctx)[0]
    return digest_lines(solid, budget, ctx)


@dataclass(frozen=True)
class Detail:
    """How much of each failure is written: lines of message, characters a line, places, code, output."""

    lines: int
    width: int
    places: int
    source: bool
    output: int


DETAILS = (
    Detail(14, 500, 4, True, 6),
    Detail(8, 400, 3, True, 3),
    Detail(6, 300, 2, True, 0),
    Detail(4, 240, 2, False, 0),
    Detail(3, 180, 2, False, 0),
    Detail(2, 140, 1, False, 0),
)


def failures_text(run: Run, detail: Detail, focus: Focus) -> list[str]:
    """All failures in order of their first occurrence, those of one cause together."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for failure in run.failures:
        groups.setdefault(failure.cause(), []).append(failure)
    written: list[str] = []
    for group in groups.values():
        near = any(touches(" ".join([one.id, *one.where]), focus) for one in group)
        more = _raised(detail) if near else detail
        written.extend(_group_text(group, more))
    return written


def _raised(detail: Detail) -> Detail:
    return DETAILS[max(0, DETAILS.index(detail) - 1)] if detail in DETAILS else detail


def _group_text(group: Sequence[Failure], detail: Detail) -> list[str]:
    lines = []
    shared = group[0].where[-1:] if len(group) > 1 else []
    for failure in group:
        where = [place for place in failure.where if place not in shared]
        chosen = places(where, detail.places)
        at = f"  at {' > '.join(chosen)}" if chosen else ""
        lines.append(f"{failure.outcome} {failure.id}{at}")
    first = group[0]
    if shared:
        lines.append(f"  all {len(group)} at {shared[0]}:")
    elif len(group) > 1:
        lines.append(f"  all {len(group)}:")
    if detail.source and first.source:
        lines.append("  > " + clip(first.source.strip(), detail.width // 2))
    lines.extend("  " + line for line in essence(first.message, detail.lines, detail.width))
    lines.extend("  | " + clip(line.strip(), detail.width) for line in first.output[: detail.output])
    return lines


def places(where: Sequence[str], most: int) -> list[str]:
    """The first and last places and as many between as `most` allows, without repeats."""
    distinct = list(dict.fromkeys(where))
    if len(distinct) <= most:
        return distinct
    return (
        [*distinct[: max(0, most - 2)], distinct[-1]] if most < 3 else [distinct[0], *distinct[-(most - 1) :]]
    )


def essence(message: Sequence[str], most: int, width: int) -> list[str]:
    """The lines of a message that carry its type and values, at most `most`, in order."""
    solid = [line.rstrip() for line in message if line.strip() and not FILLER.match(line)]
    if len(solid) > most:
        ranked = sorted(range(1, len(solid)), key=lambda at: (not VALUE.search(solid[at]), at))
        solid = [solid[at] for at in sorted([0, *ranked[: most - 1]])]
    return [clip_comparison(line, width) for line in solid]


def clip_comparison(line: str, size: int) -> str:
    """A line within `size` characters; of a comparison both sides keep their beginning."""
    found = OPERATOR.search(line) if len(line) > size else None
    if found is None:
        return clip(line, size)
    left, right = line[: found.start()], line[found.end() :]
    room = max(20, (size - len(found.group())) // 2)
    spare = max(0, room - min(len(left), len(right)))
    sides = [side if len(side) <= room + spare else side[: room + spare - 2] + " …" for side in (left, right)]
    return f"{sides[0]}{found.group()}{sides[1]}"
