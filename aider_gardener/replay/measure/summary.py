"""What replays come to: one summary per session and variant, and their sum.

Among the figures is the usable length: how far into a session a variant both fits the window and still knows
what was said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from aider_gardener.replay.measure.cost import Cost, added, costs, provider_of
from aider_gardener.replay.measure.result import Carried, ProbeResult, ReplayResult

DISTANCES: tuple[tuple[str, int, int], ...] = (("≤ 10", 0, 10), ("11–25", 11, 25), ("> 25", 26, 1 << 30))
"""Name, least and greatest distance in turns."""

READ_TOKENS_PER_SECOND, WRITE_TOKENS_PER_SECOND, CALL_SECONDS = 5_000.0, 60.0, 0.5
"""The rate by which the wall-clock of LLM summaries is modelled, where none was measured."""

FORMAT = 2
"""Of the JSON that is written."""

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


@dataclass(frozen=True)
class CarryOver:
    """How many old facts and lines the replies used, and how many of them their prompts held."""

    facts: int = 0
    facts_present: int = 0
    lines: int = 0
    lines_present: int = 0


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


@dataclass(frozen=True)
class Summary:
    """One row of the table: a session (or several) under one variant.

    Compactions count rewrites of the history; `llm_discarded` are summaries that were paid for and thrown
    away. `llm_seconds` is modelled; `plan_seconds` and `overhead_ms`, one a turn, are measured. `own` is the
    cost with the chat's own model, None without a price.
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
    tokens_billed: int
    prompt_tokens: int
    completion_tokens: int
    largest_prompt: int
    costs: tuple[Cost, ...]
    own: Cost | None
    carry_over: CarryOver
    usable: UsableLength | None
    plan_seconds: float = 0.0
    overhead_ms: tuple[float, ...] = ()

    @property
    def usd(self) -> float:
        """What the chat costs with its own model, the cache kept; 0 without a price."""
        return self.own.cached.usd if self.own else 0.0


@dataclass(frozen=True)
class ReplayReport:
    """Everything one `gardener replay` found: results, their summaries in the same order, sums."""

    results: tuple[ReplayResult, ...]
    summaries: tuple[Summary, ...]
    totals: tuple[Summary, ...] = ()
    notes: tuple[str, ...] = ()


def make_report(results: Sequence[ReplayResult], notes: Sequence[str] = ()) -> ReplayReport:
    """`totals` has for each variant that was run on all of several sessions the sum over them."""
    sessions = {result.session for result in results}
    by_variant: dict[str, list[ReplayResult]] = {}
    for result in results:
        by_variant.setdefault(result.variant, []).append(result)
    totals = tuple(summarize(*found) for found in by_variant.values() if len(found) == len(sessions) > 1)
    return ReplayReport(tuple(results), tuple(map(summarize, results)), totals, tuple(notes))


def summarize(*results: ReplayResult) -> Summary:
    """What the replays of one session, or of several, under a variant come to. The largest prompt is that of
    all; a usable length of several sessions isn't defined."""
    compactions = [event for result in results for event in result.compactions]
    llm = [event for event in compactions if event.by == "llm"]
    probes = [probe for result in results for probe in result.probes]
    return Summary(
        session=results[0].session if len(results) == 1 else f"all {len(results)} sessions",
        variant=results[0].variant,
        turns=sum(result.turns for result in results),
        llm_compactions=sum(event.applied for event in llm),
        llm_discarded=sum(not event.applied for event in llm),
        plan_compactions=sum(event.applied for event in compactions if event.by == "plan"),
        llm_seconds=sum(
            event.calls * CALL_SECONDS
            + event.prompt_tokens / READ_TOKENS_PER_SECOND
            + event.completion_tokens / WRITE_TOKENS_PER_SECOND
            for event in llm
        ),
        recall=recall_of(probes),
        recall_by_distance={
            name: recall_of(p for p in probes if least <= p.ask_at_turn - p.about_turn <= most)
            for name, least, most in DISTANCES
        },
        tokens_billed=sum(result.tokens_billed for result in results),
        prompt_tokens=sum(result.prompt_tokens for result in results),
        completion_tokens=sum(result.completion_tokens for result in results),
        largest_prompt=max(result.largest_prompt for result in results),
        costs=tuple(map(summed, zip(*(costs(each.calls) for each in results), strict=True))),
        own=own_cost(results),
        carry_over=carry_over([carried for result in results for carried in result.carried]),
        usable=usable_length(results[0]) if len(results) == 1 else None,
        plan_seconds=sum(sum(result.plan_seconds) for result in results),
        overhead_ms=tuple(s * 1000 for each in results for _, s in sorted(each.overhead_seconds.items())),
    )


def own_cost(results: Sequence[ReplayResult]) -> Cost | None:
    """What chats cost with their own models; None if one has no price."""
    found = []
    for result in results:
        provenance = result.provenance
        own = provider_of(provenance.model, provenance.weak_model, cache_prompts=provenance.cache_prompts)
        if own is None:
            return None
        found += costs(result.calls, [own])
    total = summed(found)
    return total if len({cost.model for cost in found}) == 1 else replace(total, model="each chat's model")


def summed(costs: Sequence[Cost]) -> Cost:
    """The sum of what chats cost at one provider."""
    cached, uncached = added(cost.cached for cost in costs), added(cost.uncached for cost in costs)
    return replace(costs[0], cached=cached, uncached=uncached)


def recall_of(probes: Iterable[ProbeResult]) -> Recall:
    found = list(probes)
    return Recall(len(found), sum(p.present for p in found), sum(p.supported for p in found))


def carry_over(carried: Sequence[Carried]) -> CarryOver:
    facts, lines = ([one.present for one in carried if one.is_line is kind] for kind in (False, True))
    return CarryOver(len(facts), sum(facts), len(lines), sum(lines))


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; 0 of nothing."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else 0.0


def report_json(report: ReplayReport) -> dict[str, object]:
    """One JSON value; all that two runs of the same replay may differ in stands under `measured`."""
    return {
        "format": FORMAT,
        "kind": "replay",
        "summaries": [summary_json(summary) for summary in report.summaries],
        "totals": [summary_json(summary) for summary in report.totals],
        "notes": list(report.notes),
        "results": [result.to_json() for result in report.results],
    }


def summary_json(summary: Summary) -> dict[str, object]:
    value = asdict(summary)
    value["measured"] = {
        "plan_seconds": value.pop("plan_seconds"),
        "overhead_ms_p50": percentile(summary.overhead_ms, 0.5),
        "overhead_ms_p95": percentile(summary.overhead_ms, 0.95),
    }
    del value["overhead_ms"]
    return value


def usable_length(result: ReplayResult) -> UsableLength:
    """The last turn at which the prompt fits and recall over all that was said so far holds.

    A window of 0 tokens is unknown and never ends a session.
    """
    window = result.provenance.window_tokens
    overflow = min(
        (call.turn for call in result.main_calls() if 0 < window < call.prompt_tokens), default=None
    )
    limit = result.turns if overflow is None else overflow - 1
    last, ended_by, at_most = limit, "" if overflow is None else "window", False
    recall, met = dict[int, float](), 0
    for count, probe in enumerate(sorted(result.probes, key=lambda one: one.ask_at_turn), 1):
        met += probe.supported
        if count >= LEAST_PROBES and probe.ask_at_turn <= limit:
            recall[probe.ask_at_turn] = met / count  # of all probes asked up to that turn
    asked = list(recall)
    if asked and recall[asked[-1]] < NEEDED_SHARE:
        good = [turn for turn in asked if recall[turn] >= NEEDED_SHARE]
        failing = [turn for turn in asked if not good or turn > good[-1]]
        last, ended_by, at_most = failing[0] - 1, "recall", not good
    return UsableLength(max(0, last), ended_by, at_most)
