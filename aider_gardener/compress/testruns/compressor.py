"""Compressing a test run: parse it, then write it within its allowance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from aider_gardener.compress.base import Context
from aider_gardener.compress.builds.compressor import build_lines
from aider_gardener.compress.builds.diagnostics import report
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
from aider_gardener.compress.testruns.cargo import parse_cargo
from aider_gardener.compress.testruns.detector import detect
from aider_gardener.compress.testruns.gotest import parse_go
from aider_gardener.compress.testruns.jest import parse_jest
from aider_gardener.compress.testruns.junit import parse_junit
from aider_gardener.compress.testruns.node import parse_node
from aider_gardener.compress.testruns.numbered import parse_gtest, parse_numbered
from aider_gardener.compress.testruns.pytest_runs import parse_pytest
from aider_gardener.compress.testruns.render import DETAILS, failures_text
from aider_gardener.compress.testruns.run import Failure, Parser, Run
from aider_gardener.compress.testruns.tap import parse_tap
from aider_gardener.compress.testruns.unittest_runs import parse_unittest
from aider_gardener.messages import Compressed, ContentClass

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


def compress(text: str, ctx: Context) -> Compressed:
    """A test run as totals, every failure with id, message and place, and what was unusual."""
    kind = ctx.kind if ctx.kind in PARSERS else detect(text) or "pytest"
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
