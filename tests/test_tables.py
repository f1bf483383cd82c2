"""Tables for people: the figures they show, marked where they are of note, in the terminal's width."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_chats import long_talk
from made_entries import entry, make_gardener

from aider_gardener.archive.lookup import Why
from aider_gardener.archive.retention import Pruning
from aider_gardener.archive.store.base import Holding
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Entry
from aider_gardener.phrases import LEVELS, bar
from aider_gardener.plan.goals import Frame
from aider_gardener.tables import (
    as_text,
    entries_table,
    level_words,
    plan_table,
    pressure_table,
    pruning_table,
    why_table,
)


def compacted() -> Gardener:
    gardener = make_gardener(history_tokens=2_000)
    gardener.state.frame = Frame(20_000, {"system": 1_000})
    gardener.sync(long_talk(10), [])
    gardener.compact_if_due()
    return gardener


def flat(table: object, width: int = 120) -> str:
    """The words of a table, one space between them, without its lines."""
    return " ".join(re.sub("[─-╿]", " ", as_text(table, width=width)).split())


@given(st.floats(-1, 2))
def test_the_bar_has_its_length_and_fills_with_the_share(share: float) -> None:
    made = bar(share, 30)
    assert len(made) == 30
    assert made.strip("█").strip("░") == ""
    assert abs(made.count("█") - 30 * min(max(share, 0), 1)) <= 0.5


def test_text_is_of_the_terminals_width_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = entries_table([entry(0, "user", "word " * 90)])
    for columns, widest in (("20", 60), ("80", 80), ("500", 120)):
        monkeypatch.setenv("COLUMNS", columns)
        lines = as_text(table).splitlines()
        assert max(map(len, lines)) <= widest
        assert not any(line.endswith(" ") for line in lines)


def entries_of(gardener: Gardener) -> list[Entry]:
    return list(gardener.state.chat.entries.values())


def test_pressure_names_window_history_and_parts() -> None:
    gardener = compacted()
    report = gardener.pressure()
    text = flat(pressure_table(report, entries_of(gardener)))
    assert f"of 20,000 tokens, {report.utilization:.1%}" in text
    assert f"The history has {report.history_used:,} tokens; room is made above 2,000" in text
    for name, tokens in report.parts.items():
        assert f"{name.replace('current', 'this turn')} {tokens:,}" in text
    assert text.endswith(report.recommendation)
    gardener.state.frame = Frame()
    assert "this model's window is unknown" in flat(pressure_table(gardener.pressure(), ()))


def test_the_screen_of_pressure_is_one_screen_and_numbers_what_it_lists() -> None:
    gardener = make_gardener(history_tokens=100_000)
    gardener.state.frame = Frame(20_000, {"system": 1_000, "map": 2, "files": 3, "notes": 4})
    for n in range(8):
        gardener.enter_turn()
        gardener.sync(long_talk(n + 1), [])
    report = gardener.pressure()
    classes = {name: {"count": 1, "orig": 10, "sum": 5, "ratio": 0.5} for name in "abcdefghi"}
    table = pressure_table(replace(report, by_class=classes), entries_of(gardener))
    lines = as_text(table, width=80).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert "i 1 10 5 50%" in " ".join(" ".join(lines).split())
    first = next(line for line in lines if line.startswith("1  "))
    assert report.largest_ids[0] in first and first.endswith("…")
    assert any(each.content[:20] in first for each in entries_of(gardener) if each.id in first)


def test_a_plan_is_shown_swap_by_swap_with_its_cost() -> None:
    plan = compacted().state.plans[0].plan
    text = flat(plan_table(plan))
    assert f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history" in text
    assert f"{plan.prefix_tokens_broken:,} tokens of a cached prompt" in text
    for number, swap in enumerate(plan.swaps, 1):
        change = f"{LEVELS[swap.before]} → {LEVELS[swap.after]}"
        assert f"{number} {swap.entry_id} {change} −{swap.tokens_saved:,} {swap.reason}" in text
    assert "more." not in text
    text = flat(plan_table(replace(plan, swaps=plan.swaps[:1] * 300)))
    assert "… and 280 messages more." in text and text.count(plan.swaps[0].entry_id) == 20


def test_why_shows_each_change_or_that_there_was_none() -> None:
    gardener = compacted()
    why = gardener.why(gardener.state.chat.entries[1].id)
    text = flat(why_table(why, session="s"))
    assert f"{level_words(why.standing)}, {why.standing_tokens:,} of {why.tokens:,} tokens" in text
    assert f"whole → {level_words(why.standing)}" in text
    assert not {"full", "hidden", "compressed"} & set(text.split())
    assert "older session" not in text
    assert "of an older session" in flat(why_table(why, session="another"))
    fresh: Why = gardener.why(gardener.state.chat.entries[19].id)
    assert "Nothing was ever done to it." in flat(why_table(fresh))


def test_what_may_go_is_summed_by_class_and_reason() -> None:
    rows = [
        ("log", 1_000, 10, "older than 30 days, never used"),
        ("log", 500, 5, "older than 30 days, not lately"),
        ("prose", 7, 1, "over the size"),
    ]
    due = [
        Pruning(Holding("g1", cls, tokens, size, 0.0, 0, 1.0, False, ()), 1.0, 1.0, why)
        for cls, tokens, size, why in rows
    ]
    text = flat(pruning_table(due, "nothing was deleted"))
    assert "log older than 30 days 2 1,500 15" in text
    assert "prose over the size 1 7 1" in text
    assert "nothing was deleted" in text
