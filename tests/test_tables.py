"""Tables for people: the figures they show, marked where they are of note, in the terminal's width."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_chats import long_talk
from made_entries import entry, make_gardener

from aider_gardener.archive.entries import Why
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import ContentClass
from aider_gardener.plan.goals import Frame
from aider_gardener.tables import (
    BAR_CELLS,
    BEGINNING_CHARS,
    EXCERPT_CHARS,
    as_text,
    bar,
    checkup_table,
    entries_table,
    plan_table,
    pressure_table,
    pruning_table,
    recalled_table,
    stats_table,
    status_tables,
    why_table,
)


def compacted() -> Gardener:
    gardener = make_gardener(history_tokens=2_000)
    gardener.state.frame = Frame(20_000, {"system": 1_000})
    gardener.sync(long_talk(10), [])
    gardener.tend()
    return gardener


def flat(table: object, width: int = 120) -> str:
    """The words of a table, one space between them, without its lines."""
    return " ".join(re.sub("[─-╿]", " ", as_text(table, width=width)).split())


@given(st.floats(-1, 2))
def test_the_bar_has_its_length_and_fills_with_the_share(share: float) -> None:
    made = bar(share)
    assert len(made) == BAR_CELLS
    assert made.strip("█").strip("░") == ""
    assert abs(made.count("█") - BAR_CELLS * min(max(share, 0), 1)) <= 0.5


def test_text_is_of_the_terminals_width_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = entries_table([entry(0, "user", "word " * 90)])
    for columns, widest in (("20", 60), ("80", 80), ("500", 120)):
        monkeypatch.setenv("COLUMNS", columns)
        lines = as_text(table).splitlines()
        assert max(map(len, lines)) <= widest
        assert not any(line.endswith(" ") for line in lines)


def test_pressure_names_window_history_and_parts() -> None:
    gardener = compacted()
    report = gardener.pressure()
    text = flat(pressure_table(report))
    assert f"{report.utilization:.1%} of 20,000 tokens, OK" in text
    assert f"history {report.history_used:,} tokens, compacted above 2,000" in text
    for name, tokens in [*report.parts.items(), ("all", report.used)]:
        assert f"{name} {tokens:,}" in text
    gardener.state.frame = Frame()
    assert "this model's window is unknown" in flat(pressure_table(gardener.pressure()))


def test_a_plan_is_shown_swap_by_swap_with_its_cost() -> None:
    plan = compacted().state.compactions.applied[0].plan
    text = flat(plan_table(plan))
    assert f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history" in text
    assert f"{plan.prefix_tokens_broken:,} tokens of a cached prompt" in text
    for swap in plan.swaps:
        assert f"{swap.entry_id} {swap.before.value} → {swap.after.value} {swap.tokens_saved:,}" in text


def test_recalled_passages_are_cut_and_those_of_other_chats_marked() -> None:
    found = compacted().recall("answer 3 part number detail", token_limit=3_000)
    assert found
    here, elsewhere = (as_text(recalled_table(found, session=name)) for name in ("s", "another"))
    assert "older session" not in here
    assert elsewhere.count("older session") == len(found)
    assert all(item.entry_id in here for item in found)
    assert any(len(item.text) > EXCERPT_CHARS for item in found) == (" …" in here)


def test_entries_are_a_line_each_with_their_beginning() -> None:
    long = "begin " + "x" * 2 * BEGINNING_CHARS
    text = as_text(entries_table([entry(0, "user", long, cls=ContentClass.LOG)]), width=400)
    assert "log" in text
    assert long[:BEGINNING_CHARS] in text
    assert long[: BEGINNING_CHARS + 1] not in text


def test_why_shows_each_change_or_that_there_was_none() -> None:
    gardener = compacted()
    why = gardener.why(gardener.state.chat.entries[1].id)
    text = flat(why_table(why, session="s"))
    assert f"{why.standing}, {why.standing_tokens:,} of {why.tokens:,} tokens" in text
    assert f"full → {why.standing}" in text
    assert "older session" not in text
    assert "of an older session" in flat(why_table(why, session="another"))
    fresh: Why = gardener.why(gardener.state.chat.entries[19].id)
    assert "Nothing was ever done to it." in flat(why_table(fresh))


def test_the_status_has_its_parts_below_it_without_what_is_unknown() -> None:
    lines = as_text(
        status_tables({"turns": 1_200, "last_chat": {"level": "OK", "turns_left": None}}), width=80
    )
    assert lines.index("1,200") < lines.index("Last chat") < lines.index("OK")
    assert "turns left" not in lines


def test_what_may_go_is_summed_by_class_and_reason() -> None:
    rows = [
        {"class": "log", "reason": "older than 30 days, never used", "tokens": 1_000, "bytes": 10},
        {"class": "log", "reason": "older than 30 days, not lately", "tokens": 500, "bytes": 5},
        {"class": "prose", "reason": "over the size", "tokens": 7, "bytes": 1},
    ]
    text = flat(pruning_table(rows, "nothing was deleted"))
    assert "log older than 30 days 2 1,500 15" in text
    assert "prose over the size 1 7 1" in text
    assert "nothing was deleted" in text


def test_the_check_up_marks_what_is_not_in_order() -> None:
    text = flat(checkup_table([("git", True, "2.40"), ("store", False, "locked")]))
    assert text == "ok git 2.40 NOT OK store locked"


def test_what_was_said_is_text_never_markup() -> None:
    shown = as_text(entries_table([entry(0, "user", "[bold]why[/bold]\n  two lines")]), width=100)
    assert "[bold]why[/bold] two lines" in shown
    assert "[x] y" in as_text(checkup_table([("aider", False, "[x] y")]), width=80)


def test_statistics_are_of_all_and_by_class() -> None:
    by_class = {"log": {"entries": 2, "original_tokens": 4_000, "compressed_tokens": 100}}
    shown = as_text(stats_table({"sessions": 1, "by_class": by_class}), width=80)
    assert "By class" in shown and "4,000" in shown and "by_class" not in shown
