"""The verdict on a replay in plain sentences: is the gardener worth it for this chat, and what was lost with
it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aider_gardener.phrases import counted
from aider_gardener.replay.measure.result import Carried, ReplayResult
from aider_gardener.replay.measure.summary import NEEDED_SHARE, ReplayReport, Summary
from aider_gardener.replay.play.variants import variant_named

GARDENER, WHOLE = "gardener", "stock"
STOCK = (WHOLE, "stock-fixed")
"""The variants without a gardener that a user of aider could have."""

WORTH_SHARE = 0.1
"""From this share on a saving, or a difference in what was known, is worth a change of tools."""


def verdict(report: ReplayReport, session: str = "") -> tuple[str, ...]:
    """What is said of one chat or of all: whether it is worth it and why, and what was lost. There is none
    without a gardener and aider without one."""
    chats = len({row.session for row in report.summaries}) if not session else 1
    rows = report.totals if chats > 1 else report.summaries
    results = [one for one in report.results if session in ("", one.session)]
    found = {row.variant: row for row in rows if chats > 1 or session in ("", row.session)}
    return verdict_on(found, results, chats)


def verdict_on(
    rows: Mapping[str, Summary], results: Sequence[ReplayResult], chats: int = 1
) -> tuple[str, ...]:
    """The gardener held against the stock variant that knew most, of the rows by variant."""
    gardened, stock = gardened_in(rows), best_stock(rows)
    if not gardened or not stock:
        return ()
    own, other = rows[gardened], rows[stock]
    chat = "this chat" if chats == 1 else f"these {chats:,} chats"
    if own.tokens_billed == other.tokens_billed and not own.plan_compactions:
        idle = f"{'its history' if chats == 1 else 'their histories'} never passed aider's own limit"
        return (f"No difference for {chat}: {idle}, and until then prompts are aider's.",)
    lost, gained = only_in_other(results, gardened, stock), only_in_other(results, stock, gardened)
    losses = (
        f"Lost: {lost or 'nothing that was asked or used again'}.{f' Gained: {gained}.' if gained else ''}"
    )
    return answer(own, other, chat), losses


def gardened_in(variants: Iterable[str]) -> str:
    """The gardener with its defaults, else the first variant that has one; "" if there is none."""
    found = [name for name in variants if variant_named(name).settings is not None]
    return GARDENER if GARDENER in found else next(iter(found), "")


def best_stock(rows: Mapping[str, Summary]) -> str:
    """The stock variant that still knew most, the cheaper of two that knew as much; "" if there is none."""
    return max(
        (name for name in STOCK if name in rows),
        key=lambda name: (count_known(rows[name]), -rows[name].usd),
        default="",
    )


def count_known(row: Summary) -> int:
    """How much was known of the questions, and of the facts and lines that replies used again."""
    return row.recall.supported + row.carry_over.facts_present + row.carry_over.lines_present


def answer(own: Summary, other: Summary, chat: str) -> str:
    """Worth it or not, and why.

    It is worth it if it costs WORTH_SHARE less and of all that was known without it NEEDED_SHARE still was;
    or if it knew WORTH_SHARE more at about the same price; or if without it the window was too small.
    """
    mine, theirs = (own.usd, other.usd) if other.usd else (own.tokens_billed, other.tokens_billed)
    saved = round(1 - mine / theirs, 2) if theirs else 0.0  # as it is shown, so that what is said fits it
    percent = round(100 * abs(saved))
    difference = f"{percent} % {'less' if saved > 0 else 'more'}" if percent else "about as much"
    apart = "without it" if other.variant == WHOLE else f"with {other.variant}"
    if own.own and other.usd:
        bill = f"${money(own.usd)} instead of ${money(other.usd)} {apart} at {own.own.model}, {difference}"
    else:
        bill = f"{own.tokens_billed:,} tokens instead of {other.tokens_billed:,} {apart}, {difference}"
    known_share = max(1, count_known(own)) / max(1, count_known(other))
    ends = [row.usable.ended_by if row.usable else "" for row in (own, other)]
    if other.usable and ends[1] == "window" != ends[0]:
        turn = other.usable.turns + 1
        return f"Worth it for {chat}: without it turn {turn} no longer fits the window; {bill}."
    if saved >= WORTH_SHARE and known_share >= NEEDED_SHARE:
        return f"Worth it for {chat}: {bill}."
    if abs(saved) < WORTH_SHARE <= known_share - 1:
        return f"Worth it for {chat}: more was still known, for about as much: {bill}."
    if saved < 0 and percent:
        why = "it costs more"
    elif saved < WORTH_SHARE:
        why = f"it saves less than {WORTH_SHARE:.0%}"
    else:
        why = f"less than {NEEDED_SHARE:.0%} of what is known without it still is"
    return f"Not worth it for {chat}, because {why}: {bill}."


def only_in_other(results: Sequence[ReplayResult], one: str, other: str) -> str:
    """What stood in the prompts of another variant and not in those of one, of all that was asked or used
    again; "" for nothing."""
    of = {(result.session, result.variant): result for result in results}
    asked = unanswered = 0
    used, lost = list[Carried](), list[Carried]()
    for (name, variant), mine in of.items():
        if variant != one or (theirs := of.get((name, other))) is None:
            continue
        asked, used = asked + len(mine.probes), [*used, *mine.carried]
        met = {probe.number for probe in theirs.probes if probe.supported}
        unanswered += sum(not probe.supported and probe.number in met for probe in mine.probes)
        there = {(each.used_turn, each.text) for each in theirs.carried if each.present}
        lost += [each for each in mine.carried if not each.present and (each.used_turn, each.text) in there]
    kinds = [
        f"{count:,} of {counted(sum(each.is_line is is_line for each in used), what)}"
        for is_line, what in ((False, "fact"), (True, "line"))
        if (count := sum(each.is_line is is_line for each in lost))
    ]
    again = f"{' and '.join(kinds)} that a reply used again" if kinds else ""
    answers = f"the answers to {unanswered:,} of {counted(asked, 'question')}" if unanswered else ""
    return "; ".join(filter(None, (answers, again)))


def money(usd: float) -> str:
    """Cents for whole dollars, a tenth of a cent below."""
    return f"{usd:,.2f}" if usd >= 1 else f"{usd:.3f}"
