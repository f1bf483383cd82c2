"""What replays come to: one summary per session and variant, and their sum.

Unlike runs refuse to be compared: `check_alike` holds everything but the variant, its settings and
the history budget against each other.

Among them the usable length: how far into a session a variant both fits the window and still knows what was
said. A report goes to JSON and back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.carryover import CarryOver, carry_over
from aider_gardener.replay.measure.cost import Cost, HistoryMark, added, costs, net_tokens
from aider_gardener.replay.measure.probes import tally
from aider_gardener.replay.measure.result import ProbeResult, Provenance, ReplayResult
from aider_gardener.replay.session.session import Session

FLOOR = "no-history"
"""The variant that answers from files and luck; it is shown apart."""

DISTANCES: tuple[tuple[str, int, int], ...] = (("≤ 10", 0, 10), ("11–25", 11, 25), ("> 25", 26, 1 << 30))
"""Name, least and greatest distance in turns."""

READ_TOKENS_PER_SECOND, WRITE_TOKENS_PER_SECOND, CALL_SECONDS = 5_000.0, 60.0, 0.5
"""The rate by which the wall-clock of LLM summaries is modelled, where none was measured."""

LIMIT_OF = "gardener"
"""The variant whose prompts give the limit of a session, for every variant that is run beside it."""

ALIKE = (
    "gardener",
    "commit",
    "aider",
    "litellm",
    "model",
    "weak_model",
    "tokenizer",
    "window_tokens",
    "map_tokens",
    "cache_prompts",
)
"""What two results must share to be compared."""

ALIKE_IN_SESSION = (*ALIKE, "session_sha256", "probes_sha256")
"""What two results of one session must share."""

FORMAT = 1
"""Of the JSON that `write_report` writes."""

NEEDED_SHARE = 0.8
"""The recall over everything said so far that a usable session keeps."""

LEAST_PROBES = 5
"""Below so many probes a share says nothing, and recall does not end the usable length."""


@dataclass(frozen=True)
class Recall:
    """Probes asked, and how many of them were present and supported."""

    asked: int = 0
    present: int = 0
    supported: int = 0

    def __add__(self, other: Recall) -> Recall:
        return Recall(
            self.asked + other.asked, self.present + other.present, self.supported + other.supported
        )


@dataclass(frozen=True)
class Summary:
    """One row of the table: a session (or several) under one variant.

    Compactions count rewrites of the history; `llm_discarded` are summaries that were paid for and
    thrown away. `llm_seconds` is modelled; `plan_seconds` and `overhead_ms`, one a turn, are measured.
    `decoys` counts wrong answers by kind: asked, and how many seemed present and supported.
    `answered` counts what a real model was asked, and what it answered right, `edits` those in its answers,
    and how many of them aider could apply. `net_tokens` are those of the prompts, read from a cache as a
    tenth; `limit_net_tokens` the same at the limit. `limit_of` is the variant whose prompts gave the limit,
    here and in `costs`.
    """

    session: str
    variant: str
    turns: int
    llm_compactions: int
    llm_discarded: int
    plan_compactions: int
    llm_seconds: float
    recall: Recall
    recall_by_distance: Mapping[str, Recall]
    recall_by_kind: Mapping[str, Recall]
    tokens_billed: int
    prompt_tokens: int
    completion_tokens: int
    largest_prompt: int
    costs: tuple[Cost, ...]
    carry_over: CarryOver
    usable: UsableLength | None
    plan_seconds: float = 0.0
    overhead_ms: tuple[float, ...] = ()
    decoys: Mapping[str, Recall] = field(default_factory=dict)
    answered: tuple[int, int] = (0, 0)
    edits: tuple[int, int] = (0, 0)
    net_tokens: int = 0
    limit_net_tokens: int = 0
    limit_of: str = ""

    @property
    def is_floor(self) -> bool:
        return self.variant == FLOOR


@dataclass(frozen=True)
class ReplayReport:
    """Everything one `gardener replay` found: results, their summaries in the same order, sums.

    `stopped` says how far a replay came that was stopped, and is empty for a whole one.
    """

    results: tuple[ReplayResult, ...]
    summaries: tuple[Summary, ...]
    totals: tuple[Summary, ...] = ()
    notes: tuple[str, ...] = field(default=())
    stopped: str = ""


def summarize(result: ReplayResult, session: Session) -> Summary:
    """The figures of one replay; needs the result's texts for the carry-over."""
    llm = [event for event in result.compactions if event.by == "llm"]
    net, least = net_tokens(result.calls)
    return Summary(
        session=result.session,
        variant=result.variant,
        turns=result.turns,
        llm_compactions=sum(event.applied for event in llm),
        llm_discarded=sum(not event.applied for event in llm),
        plan_compactions=sum(event.applied for event in result.compactions if event.by == "plan"),
        llm_seconds=sum(
            llm_wall_clock(event.calls, event.prompt_tokens, event.completion_tokens) for event in llm
        ),
        recall=recall_of(result.probes),
        recall_by_distance={
            name: recall_of(p for p in result.probes if least <= p.distance_turns <= most)
            for name, least, most in DISTANCES
        },
        recall_by_kind={
            kind: recall_of(p for p in result.probes if p.kind == kind)
            for kind in sorted({probe.kind for probe in result.probes})
        },
        tokens_billed=result.tokens_billed,
        prompt_tokens=result.prompt_tokens,
        completion_tokens=result.completion_tokens,
        largest_prompt=result.largest_prompt,
        costs=tuple(costs(result.calls, history_mark(result))),
        carry_over=carry_over(result, session),
        usable=usable_length(result),
        plan_seconds=sum(result.measured.plan_seconds),
        overhead_ms=tuple(s * 1000 for _, s in sorted(result.measured.overhead_seconds.items())),
        decoys={kind: Recall(*counts) for kind, counts in tally(result.decoys).items()},
        answered=answered(result.probes),
        edits=(sum(one.asked for one in result.edits), sum(one.applied for one in result.edits)),
        net_tokens=net,
        limit_net_tokens=least,
        limit_of=result.variant,
    )


def answered(probes: Iterable[ProbeResult]) -> tuple[int, int]:
    """How many probes a real model was asked, and how many it answered right."""
    asked = [probe for probe in probes if probe.answer is not None]
    return len(asked), sum(probe.answered for probe in asked)


def is_gardened(result: ReplayResult) -> bool:
    """Whether the gardener was installed under this variant."""
    from aider_gardener.replay.play.variants import variant_named

    return variant_named(result.variant).settings is not None


def fell_back(result: ReplayResult) -> bool:
    """Whether a gardener was installed and yet left no trace of work: the host's own path was taken."""
    planned = any(event.by == "plan" for event in result.compactions)
    return is_gardened(result) and not planned and not result.measured.overhead_seconds


def history_mark(result: ReplayResult) -> HistoryMark | None:
    """The mark that the gardener sets under --cache-prompts, where there was a gardener."""
    if not is_gardened(result):
        return None
    from aider_gardener.recall.recall import NOTE_HEAD

    return HistoryMark(frozenset(sha for sha, text in result.texts.items() if text.startswith(NOTE_HEAD)))


def llm_wall_clock(calls: int, prompt_tokens: int, completion_tokens: int) -> float:
    """Modelled seconds of LLM summaries."""
    return (
        calls * CALL_SECONDS
        + prompt_tokens / READ_TOKENS_PER_SECOND
        + completion_tokens / WRITE_TOKENS_PER_SECOND
    )


def recall_of(probes: Iterable[ProbeResult]) -> Recall:
    found = list(probes)
    return Recall(len(found), sum(p.present for p in found), sum(p.supported for p in found))


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; 0 of nothing."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else 0.0


def totals(summaries: Sequence[Summary]) -> tuple[Summary, ...]:
    """For each variant the sum over all sessions; nothing for a single session.

    Variants that ran on some sessions only are left out; the largest prompt is the largest of all;
    a usable length of several sessions isn't defined.
    """
    sessions = list(dict.fromkeys(summary.session for summary in summaries))
    if len(sessions) < 2:
        return ()
    by_variant: dict[str, list[Summary]] = {}
    for summary in summaries:
        by_variant.setdefault(summary.variant, []).append(summary)
    return tuple(
        total(f"all {len(sessions)} sessions", rows)
        for rows in by_variant.values()
        if len(rows) == len(sessions)
    )


def total(name: str, rows: Sequence[Summary]) -> Summary:
    """The sum of summaries of one variant."""

    def summed(get: Callable[[Summary], Any]) -> Any:
        values = [get(row) for row in rows]
        return sum(values[1:], values[0])

    def merged(get: Callable[[Summary], Mapping[str, Recall]]) -> dict[str, Recall]:
        names = list(dict.fromkeys(name for row in rows for name in get(row)))
        return {name: sum((get(row).get(name, Recall()) for row in rows), Recall()) for name in names}

    carried = [row.carry_over for row in rows]
    return replace(
        rows[0],
        session=name,
        turns=summed(lambda row: row.turns),
        llm_compactions=summed(lambda row: row.llm_compactions),
        llm_discarded=summed(lambda row: row.llm_discarded),
        plan_compactions=summed(lambda row: row.plan_compactions),
        llm_seconds=summed(lambda row: row.llm_seconds),
        recall=summed(lambda row: row.recall),
        recall_by_distance=merged(lambda row: row.recall_by_distance),
        recall_by_kind=merged(lambda row: row.recall_by_kind),
        tokens_billed=summed(lambda row: row.tokens_billed),
        prompt_tokens=summed(lambda row: row.prompt_tokens),
        completion_tokens=summed(lambda row: row.completion_tokens),
        largest_prompt=max(row.largest_prompt for row in rows),
        costs=tuple(total_cost(found) for found in zip(*(row.costs for row in rows), strict=True)),
        carry_over=CarryOver(*(sum(asdict(one)[key] for one in carried) for key in asdict(carried[0]))),
        usable=None,
        plan_seconds=summed(lambda row: row.plan_seconds),
        overhead_ms=summed(lambda row: row.overhead_ms),
        decoys=merged(lambda row: row.decoys),
        answered=(summed(lambda row: row.answered[0]), summed(lambda row: row.answered[1])),
        edits=(summed(lambda row: row.edits[0]), summed(lambda row: row.edits[1])),
        net_tokens=summed(lambda row: row.net_tokens),
        limit_net_tokens=summed(lambda row: row.limit_net_tokens),
        limit_of=rows[0].limit_of if len({row.limit_of for row in rows}) == 1 else "",
    )


def total_cost(found: Sequence[Cost]) -> Cost:
    """The sum of one provider's costs."""
    return replace(
        found[0],
        cached=added(one.cached for one in found),
        uncached=added(one.uncached for one in found),
        limit=added(one.limit for one in found),
    )


def with_one_limit(summaries: Sequence[Summary]) -> tuple[Summary, ...]:
    """The summaries, those of a session held against the limit of LIMIT_OF where that ran on it."""
    limits = {summary.session: summary for summary in summaries if summary.variant == LIMIT_OF}
    return tuple(limited_by(summary, limits.get(summary.session, summary)) for summary in summaries)


def limited_by(summary: Summary, other: Summary) -> Summary:
    """The summary with the limit of another variant of its session."""
    pairs = zip(summary.costs, other.costs, strict=True)
    return replace(
        summary,
        costs=tuple(replace(own, limit=theirs.limit) for own, theirs in pairs),
        limit_net_tokens=other.limit_net_tokens,
        limit_of=other.limit_of,
    )


def check_alike(results: Sequence[ReplayResult]) -> None:
    """ReplayError names the first thing in which results differ that must be the same."""
    first_of: dict[str, ReplayResult] = {}
    for result in results:
        same_session = first_of.setdefault(result.session, result)
        for other, names in ((results[0], ALIKE), (same_session, ALIKE_IN_SESSION)):
            differing = difference(other.provenance, result.provenance, names)
            if differing:
                raise ReplayError(
                    f"{other.session}/{other.variant} and {result.session}/{result.variant} can't be "
                    f"compared: {differing}; replay both again"
                )


def difference(one: Provenance, other: Provenance, names: Iterable[str]) -> str:
    """The first of the named fields in which two provenances differ, with both values; "" for none."""
    for name in names:
        if getattr(one, name) != getattr(other, name):
            return f"{name} is {getattr(one, name)!r} and {getattr(other, name)!r}"
    return ""


def make_report(found: Sequence[tuple[ReplayResult, Summary]], notes: Sequence[str] = ()) -> ReplayReport:
    """Put results together; ReplayError if they are unlike."""
    results = tuple(result for result, _ in found)
    check_alike(results)
    summaries = with_one_limit([summary for _, summary in found])
    return ReplayReport(results, summaries, totals(summaries), tuple(notes))


def report_json(report: ReplayReport) -> dict[str, Any]:
    """One JSON value; all that two runs of the same replay may differ in stands under `measured`."""
    return {
        "format": FORMAT,
        "kind": "replay",
        "rates": {
            "read_tokens_per_second": READ_TOKENS_PER_SECOND,
            "write_tokens_per_second": WRITE_TOKENS_PER_SECOND,
            "call_seconds": CALL_SECONDS,
        },
        "summaries": [summary_json(summary) for summary in report.summaries],
        "totals": [summary_json(summary) for summary in report.totals],
        "notes": list(report.notes),
        "results": [result.to_json() for result in report.results],
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    value = asdict(summary)
    for row, cost in zip(value["costs"], summary.costs, strict=True):
        row["over_limit"] = round(cost.over_limit, 3)
    value["measured"] = {
        "plan_seconds": value.pop("plan_seconds"),
        "overhead_ms_p50": percentile(summary.overhead_ms, 0.5),
        "overhead_ms_p95": percentile(summary.overhead_ms, 0.95),
    }
    del value["overhead_ms"]
    return value


def write_report(report: ReplayReport, path: Path) -> None:
    """Write the JSON to a file; ReplayError if that fails."""
    text = json.dumps(report_json(report), ensure_ascii=False, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


@dataclass(frozen=True)
class UsableLength:
    """`turns` of a session (or of several, one after the other) were usable.

    `ended_by` is "window" (the next prompt would not have fitted), "recall" (below NEEDED_SHARE at
    no later turn met again), or "" when the session was over first: then `turns` is a lower bound.
    With `at_most` recall was too low as soon as it could be judged: an upper bound.
    """

    turns: int
    ended_by: str
    at_most: bool = False

    def __str__(self) -> str:
        mark = "≤ " if self.at_most else "" if self.ended_by else "≥ "
        return f"{mark}{self.turns}"


def usable_length(
    result: ReplayResult, *, window_tokens: int | None = None, supported: bool = True
) -> UsableLength:
    """The usable length of one replay, by the figure "supported" or else "present"."""
    return usable_turns(
        [(call.turn, call.prompt_tokens) for call in result.main_calls()],
        result.probes,
        turns=result.turns,
        window_tokens=window_tokens or result.provenance.window_tokens,
        supported=supported,
    )


def usable_turns(
    prompts: Sequence[tuple[int, int]],
    probes: Sequence[ProbeResult],
    *,
    turns: int,
    window_tokens: int,
    supported: bool = True,
) -> UsableLength:
    """The last turn at which the prompt fits and recall over all that was said so far holds.

    `prompts` are (turn, tokens) of the main model's calls; turns of chained sessions are numbered
    through, and so are their probes. A window of 0 tokens is unknown and never ends a session.
    """
    overflow = min((turn for turn, tokens in prompts if 0 < window_tokens < tokens), default=None)
    limit = turns if overflow is None else overflow - 1
    last, ended_by, at_most = limit, "" if overflow is None else "window", False
    recall = recall_by_turn(probes, supported=supported)
    asked = [turn for turn in sorted(recall) if turn <= limit]
    if asked and recall[asked[-1]] < NEEDED_SHARE:
        good = [turn for turn in asked if recall[turn] >= NEEDED_SHARE]
        failing = [turn for turn in asked if not good or turn > good[-1]]
        last, ended_by, at_most = failing[0] - 1, "recall", not good
    return UsableLength(max(0, last), ended_by, at_most)


def recall_by_turn(probes: Sequence[ProbeResult], *, supported: bool = True) -> dict[int, float]:
    """For each turn at which a probe was asked: the share met of all probes asked up to it.

    Turns before LEAST_PROBES were asked are left out.
    """
    shares, met = {}, 0
    for count, probe in enumerate(sorted(probes, key=lambda one: one.ask_at_turn), 1):
        met += probe.supported if supported else probe.present
        if count >= LEAST_PROBES:
            shares[probe.ask_at_turn] = met / count
    return shares
