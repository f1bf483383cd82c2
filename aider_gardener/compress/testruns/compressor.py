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
from aider_gardener.compress.testruns.bats import parse_bats, parse_prove
from aider_gardener.compress.testruns.cargo import parse_cargo
from aider_gardener.compress.testruns.ctest import parse_gtest
from aider_gardener.compress.testruns.dart import parse_dart
from aider_gardener.compress.testruns.endings import endings, is_table
from aider_gardener.compress.testruns.exunit import parse_exunit
from aider_gardener.compress.testruns.gotest import parse_go
from aider_gardener.compress.testruns.groups import (
    WHOLE_IDS,
    grouped,
    named,
    shared_start,
    value_ranges,
    variant_of,
)
from aider_gardener.compress.testruns.jest import parse_jest
from aider_gardener.compress.testruns.junit import parse_junit
from aider_gardener.compress.testruns.numbered import parse_numbered
from aider_gardener.compress.testruns.pest import parse_pest
from aider_gardener.compress.testruns.playwright import parse_playwright
from aider_gardener.compress.testruns.pytest_runs import parse_pytest
from aider_gardener.compress.testruns.ruby_runs import parse_ruby
from aider_gardener.compress.testruns.run import Failure, Parser, SuiteRun, unique
from aider_gardener.compress.testruns.tap import parse_node, parse_tap
from aider_gardener.compress.testruns.unittest_runs import parse_unittest
from aider_gardener.compress.testruns.xctest import parse_xctest
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
    "exunit": parse_exunit,
    "ruby-test": parse_ruby,
    "pest": parse_pest,
    "playwright": parse_playwright,
    "dart-test": parse_dart,
    "xctest": parse_xctest,
    "bats": parse_bats,
    "prove": parse_prove,
}
WRAPPED = ("jest", "node-test", "tap")
SHARED = ("jest", "junit", "rspec", "phpunit", "tap", "ctest")
"""Kinds that several runners write, so that no summary names one."""

TOKENS_PER_FAILURE, FAILURES_IN_DETAIL, TOKENS_PER_FURTHER = 76, 40, 36
LEAST_FAILURES, MOST_SHARE = 1_500, 0.3
"""Tokens that a cause may take, beyond FAILURES_IN_DETAIL causes each further one less, and the share of
the text that all may take.
"""

LARGE_SHARE, SMALL_SHARE = 0.028, 0.34
LEAST_NOTES, LEAST_OUTSIDE, LEAST_BROKEN = 160, 40, 160
"""Tokens for what is no failure, however much the failures take."""

BROKEN = re.compile(r"\berror\b(?: [A-Z]+\d+)?:|\berror\[|^(?:Fatal|FATAL|fatal)\b|\[ERROR\]")
"""A line around a run that says why it was none."""

COMPARED = re.compile(
    r"!==?|==|\bbut was\b|\bgot\b|\bwant\b|\bto (?:be|equal|have)\b|"
    r"^\W*(?:expected|received|actual)\b|^\s*(?:left|right): |^\s*[-+] ?\S|At index|Differing|"
    r"contains|missing|Which is",
    re.IGNORECASE,
)
"""A line with the values that were compared."""

VALUE = re.compile(
    r"expected|received|actual|left\b|right\b|^\s*\+\s+where|\bError\b|Exception|panicked|assert|timed? ?out",
    re.IGNORECASE,
)
LINE_VALUES = 120
IN_FOCUS = 2
IN_LINES = (1_200, 800, 600, 400, 300, 250, 200, 150, 100)
"""Of so many causes each has its line where not all of them have."""

OTHERS = 8
"""Of so many different values of one cause each is told."""

SAME = re.compile(r"^\s*(?:Common items|Matching attributes):")
WHOLE_DIFF = re.compile(r"^\s*Full diff:")
CHANGED = re.compile(r"^\s*[-+]|^\(after: ")
COMPARISON = re.compile(
    r" (?:===?|!==?|<=|>=|not in|in|is not|is) (?=\S)|\bbut was\b|\bwant\b|"
    r"\bexpected\b.{0,300}\b(?:to|but|got)\b|\bgot\b.{0,300}\bexpected\b|"
    r"\bthat .{1,300} (?:matches|equals|contains)\b|\bnot (?:equal|less|greater)\b",
    re.IGNORECASE,
)
"""A line that says by itself what was compared."""

OPERATOR = re.compile(r" (?:===?|!==?|<=|>=|not in|in|is not|is) (?=\S)")
FILLER = re.compile(
    r"^\s*\?[\s^+~.-]*$|^\s*(?:Diff:$|--- [Ee]xpected|\+\+\+ [Aa]ctual|@@ .*@@$)|"
    r"^\s*(?:Full diff|Common items|Skipping \d+ identical|Omitting \d+|Use -v|"
    r"Differing (?:items|attributes)|"
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
    groups = grouped(run.failures)
    few = min(len(groups), FAILURES_IN_DETAIL)
    least = TOKENS_PER_FAILURE * few + TOKENS_PER_FURTHER * (len(groups) - few)
    least = min(least, max(LEAST_FAILURES, round(tokens * MOST_SHARE)))
    budget = max(allowance(tokens, LARGE_SHARE, SMALL_SHARE), least)
    summary = _summary(kind, run)
    body = _body(run, groups, endings(lines, run.totals), budget - ctx.count(summary) - 12, ctx)
    kept = {"failures": len(run.failures), "causes": len(groups), "totals": len(run.totals)}
    return framed(text, summary, body, ctx, ContentClass.LOG, kind, kept)


def _distinct(failures: Sequence[Failure]) -> list[Failure]:
    """Failures without those that stand in the output twice (a run pasted or reported twice), the second
    time perhaps by name only."""
    told = {one.id for one in failures if one.message or one.where}
    solid = [one for one in failures if one.message or one.where or one.id not in told]
    return list({(one.id, one.outcome, *one.cause()): one for one in reversed(solid)}.values())[::-1]


def _build_errors(run: SuiteRun) -> int:
    return sum(1 for one in report(run.outside).found if one.severity == "error")


def _summary(kind: str, run: SuiteRun) -> str:
    told = list(dict.fromkeys(clip(line.strip(" =!"), 400) for line in run.totals))
    totals = "; ".join([f"{len(told) - 3} others", *told[-3:]] if len(told) > 4 else told)
    if not totals and run.build and (broken := _build_errors(run)):
        totals = f"did not build, {plural(broken, 'error')}"
    if not totals:
        failed = [plural(len(run.failures), "failure")] if run.failures else []
        passed = [f"{run.passed} passed"] if run.passed else []
        totals = ", ".join([*failed, *passed, "no closing line"])
    return f"{'test' if kind in SHARED else kind} run: {totals}"


def _body(
    run: SuiteRun, groups: Sequence[Sequence[Failure]], last: Sequence[str], budget: int, ctx: Context
) -> list[str]:
    variants = [partial(failures_text, groups, detail, ctx.focus) for detail in DETAILS]
    if len(groups) > FAILURES_IN_DETAIL:
        variants += [partial(failures_in_lines, groups, most, ctx.focus) for most in (len(groups), *IN_LINES)]
    failures = fitting(variants, budget - ctx.count("\n".join(last)), ctx.count)
    left = budget - ctx.count("\n".join([*failures, *last]))
    known = {line.strip() for line in last}
    told = [line for line in unique(run.notes) if line.strip() not in known]
    notes = _within(told, max(left, LEAST_NOTES), ctx)
    left -= ctx.count("\n".join(notes)) if notes else 0
    around = [line for line in run.outside if line.strip() not in known and not is_table(line)]
    least = LEAST_BROKEN if any(BROKEN.search(line) for line in around) else LEAST_OUTSIDE
    return [*_outside(around, max(left, least), ctx, run.build), *failures, *notes, *last]


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
    Detail(24, 600, 4, True, 6),
    Detail(14, 500, 4, True, 4),
    Detail(8, 400, 3, True, 3),
    Detail(6, 300, 2, True, 0),
    Detail(5, 240, 2, False, 0),
    Detail(4, 180, 2, False, 0),
)


def failures_text(groups: Sequence[Sequence[Failure]], detail: Detail, focus: Focus) -> list[str]:
    """All failures in order of their first occurrence, those of one cause together."""
    written: list[str] = []
    for group in groups:
        more = _raised(detail) if _near(group, focus) else detail
        written.extend(_group_text(group, more))
    return written


def _near(group: Sequence[Failure], focus: Focus) -> bool:
    return any(touches(" ".join([one.id, *one.where]), focus) for one in group)


def failures_in_lines(groups: Sequence[Sequence[Failure]], most: int, focus: Focus) -> list[str]:
    """A line for each of the first `most` causes, the ids of the rest after them; those in focus in full."""
    lines = []
    rest: list[str] = []
    for at, group in enumerate(groups):
        first = group[0]
        if _near(group, focus):
            lines.extend(_group_text(group, DETAILS[IN_FOCUS]))
            continue
        if at >= most:
            rest.extend(one.id for one in group)
            continue
        where = f"  at {first.where[-1]}" if first.where else ""
        times = f" {len(group)} times" if len(group) > 1 else ""
        values = clip_comparison(compared_values(group[:1])[0], LINE_VALUES)
        lines.append(
            f"{first.outcome}{times} {named([one.id for one in group])}{where}: {values}".rstrip(": ")
        )
    if rest:
        lines.append(f"{len(rest)} more: {named(rest)}")
    return lines


def _raised(detail: Detail) -> Detail:
    return DETAILS[max(0, DETAILS.index(detail) - 2)] if detail in DETAILS else detail


def _group_text(group: Sequence[Failure], detail: Detail) -> list[str]:
    first = group[0]
    shared = first.where[-1:] if len(group) > 1 and len({tuple(one.where[-1:]) for one in group}) == 1 else []
    if len(group) <= WHOLE_IDS:
        lines = [f"{one.outcome} {clip(one.id, 500)}{_at(one, detail, shared)}" for one in group]
    else:
        together = _at(first, detail, ()) if shared else ""
        lines = [f"{first.outcome} {len(group)} times {named([one.id for one in group])}{together}"]
    if 1 < len(group) <= WHOLE_IDS:
        lines.append(f"  all {len(group)}{f' at {shared[0]}' if shared else ''}:")
    if detail.source and first.source:
        lines.append("  > " + clip_comparison(first.source.strip(), max(120, detail.width // 2)))
    lines.extend("  " + line for line in essence(first.message, detail.lines, detail.width))
    lines.extend("  " + line for line in _others(group, detail))
    lines.extend("  | " + clip(line.strip(), detail.width) for line in first.output[: detail.output])
    return lines


def _at(failure: Failure, detail: Detail, shared: Sequence[str]) -> str:
    chosen = places([place for place in failure.where if place not in shared], detail.places)
    return f"  at {' > '.join(chosen)}" if chosen else ""


def _others(group: Sequence[Failure], detail: Detail) -> list[str]:
    """What the other failures of a cause compared: each of a few, of many some and what all run over."""
    told = dict(zip((one.id for one in group), compared_values(group), strict=True))
    kinds = list(dict.fromkeys(told.values()))
    if len(kinds) < 2:
        return []
    spread = value_ranges(kinds) if len(kinds) > OTHERS else ""
    most = OTHERS if len(kinds) <= OTHERS or not spread else OTHERS // 4
    shown = kinds[1:] if len(kinds) <= most + 1 else [*kinds[1:most], kinds[-1]]
    by_kind: dict[str, list[str]] = {}
    for name, value in told.items():
        by_kind.setdefault(value, []).append(name)
    lines = [
        f"{_short_name(by_kind[value], group[0].id)}: {clip_comparison(value, min(detail.width, 240))}"
        for value in shown
        if value
    ]
    if spread:
        lines.append(f"all: {clip(spread, detail.width)}")
    elif len(kinds) > most + 1:
        lines.append(f"… {len(kinds) - 1 - len(shown)} more values")
    return lines


def _short_name(ids: Sequence[str], first: str) -> str:
    """What an id has beyond what the group's ids have in common."""
    names = [variant_of(one) for one in ids[:3]]
    return ", ".join(names) + (f", … {len(ids) - 3} more" if len(ids) > 3 else "")


def compared_values(group: Sequence[Failure]) -> list[str]:
    """What each failure of a cause compared, on one line: its comparison where the first line of the message
    is one, else the lines in which the messages differ."""
    messages = [_solid(one.message) for one in group]
    model = messages[0]
    varying = sorted(
        {
            at
            for message in messages
            if len(message) == len(model)
            for at, (line, other) in enumerate(zip(message, model, strict=True))
            if line != other
        }
    )[:4]
    told = []
    for message in messages:
        if message and COMPARISON.search(message[0]):
            told.append(message[0].strip())
        elif varying and len(message) == len(model):
            told.append("; ".join(message[at].strip() for at in varying)[:600])
        else:
            told.append("; ".join(line.strip() for line in _compared(message)[:3]))
    return told


def _solid(message: Sequence[str]) -> list[str]:
    """The lines of a message without rules, and without what both sides of a comparison have in common."""
    solid: list[str] = []
    same = whole = False
    for line in message:
        if not line.strip():
            continue
        same = bool(SAME.match(line)) or (same and not line.rstrip().endswith(":"))
        whole = whole or bool(WHOLE_DIFF.match(line))
        if not same and not FILLER.match(line) and (not whole or CHANGED.match(line)):
            solid.append(line.rstrip())
    return solid


def _compared(solid: Sequence[str]) -> list[str]:
    return [line for line in solid if COMPARED.search(line)] or list(solid[:1])


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
    solid = _solid(message)
    if len(solid) > most:
        ranked = sorted(range(1, len(solid)), key=lambda at: (_rank(solid[at]), at))
        solid = [solid[at] for at in sorted([0, *ranked[: most - 1]])]
    return [clip_comparison(line, width) for line in solid]


def _rank(line: str) -> int:
    return 0 if COMPARED.search(line) else 1 if VALUE.search(line) else 2


def clip_comparison(line: str, size: int) -> str:
    """A line within about `size` characters; of a comparison both sides with what differs between them."""
    found = OPERATOR.search(line) if len(line) > size else None
    if found is None:
        return clip(line, size)
    left, right = differing(line[: found.start()], line[found.end() :], max(40, (size - 4) // 2))
    return f"{left}{found.group()}{right}"


def differing(left: str, right: str, room: int) -> tuple[str, str]:
    """Two long values, each within about `room` characters: what they share is cut, not what differs."""
    if len(left) <= room and len(right) <= room:
        return left, right
    start = max(left.find(mark) for mark in ("[", "{", "(", "'", '"'))
    lead = len(left) - len(left.lstrip()) if start < 0 else _lead(left, right)
    same = len(shared_start([left[lead:], right]))
    rest_left, rest_right = left[lead + same :], right[same:]
    end = len(shared_start([rest_left[::-1], rest_right[::-1]]))
    if same + end < 24:
        return _ends(left, room), _ends(right, room)
    return (
        left[:lead] + _around(left[lead:], same, end, room - lead),
        _around(right, same, end, room),
    )


def _lead(left: str, right: str) -> int:
    """Where the value begins in the left side of a comparison, after `assert` and the like."""
    at = left.find(right[:4]) if right[:4].strip() else -1
    return max(0, at)


def _around(value: str, same: int, end: int, room: int) -> str:
    """A value with its differing middle and a little of what is around it."""
    begin, stop = max(0, same - 24), len(value) - max(0, end - 12)
    middle = value[begin:stop]
    if len(middle) > max(room, 60):
        middle = _ends(middle, max(room, 60))
    return ("… " if begin else "") + middle + (" …" if stop < len(value) else "")


def _ends(value: str, room: int) -> str:
    return value if len(value) <= room else value[: max(8, room - 2)] + " …"
