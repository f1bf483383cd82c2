"""The pressure report and the status: the figures add up, and say what stands, not what was said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_chats import long_talk
from made_entries import make_gardener, message, talk

from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.report import DROPPABLE_SHOWN, droppable, pressure_report
from aider_gardener.messages import Level
from aider_gardener.plan.goals import Frame
from aider_gardener.tables import as_text, pressure_table

PARTS = {"system": 300, "files": 700}


def chat(turns: int = 8, **options: object) -> Gardener:
    """A chat with an open question, in a window of 20,000 tokens."""
    gardener = make_gardener(**{"history_tokens": 2_000, **options})
    gardener.state.frame = Frame(20_000, PARTS, {"big.py": 1_500, "small.py": 90}, "m")
    gardener.sync(long_talk(turns), [message("user", "and what of this now?")])
    return gardener


@settings(max_examples=5, deadline=None)
@given(st.sets(st.integers(0, 7)), st.sampled_from([Level.COMPRESSED, Level.LINE, Level.HIDDEN]))
def test_parts_messages_and_classes_add_up_whatever_stands(turns: set[int], level: Level) -> None:
    gardener = chat()
    hidden = dict.fromkeys((2 * turn for turn in turns), Level.HIDDEN)
    show(gardener.state, {**hidden, **{2 * turn + 1: level for turn in turns}}, "a test")
    report = pressure_report(gardener.state)
    assert report.used == sum(report.parts.values())
    assert report.used + report.available == 20_000
    standing = sum(row["tokens"] for row in report.by_message)
    assert report.parts["history"] + report.parts["current"] == standing
    assert report.history_used == gardener.state.history_used
    assert report.messages_count == len(gardener.state.chat.pieces)
    assert sum(row["count"] for row in report.by_class.values()) == 17
    assert sum(row["orig"] for row in report.by_class.values()) == report.total_original_tokens
    assert report.total_summary_tokens == sum(row["sum"] for row in report.by_class.values())
    assert all(row["sum"] <= row["orig"] for row in report.by_class.values())


def test_a_prompt_that_is_longer_than_the_window_is_said_to_be_of_that_window() -> None:
    gardener = chat()
    gardener.state.frame = Frame(20_000, {**PARTS, "files": 40_000}, {"big.py": 40_000}, "m")
    report = pressure_report(gardener.state)
    assert (report.used + report.available, report.level) == (20_000, "HARD")
    text = as_text(pressure_table(report, gardener.state.chat.entries.values()))
    assert f"{report.used:,} of 20,000 tokens, {report.utilization:.1%}" in text


def test_a_note_that_shows_several_is_of_no_class_and_what_is_hidden_takes_no_tokens() -> None:
    gardener = chat()
    show(gardener.state, {0: Level.HIDDEN, 1: Level.LINE}, "a test")
    report = pressure_report(gardener.state)
    assert [row["class"] for row in report.by_message][:4] == ["note", "note", "prompt", "prose"]
    entries = gardener.state.chat.entries
    assert gardener.state.tokens_shown(entries[0]) == 0
    line = gardener.state.archive.renditions(entries[1])[Level.LINE]
    assert gardener.state.tokens_shown(entries[1]) == line.tokens
    assert gardener.state.tokens_shown(entries[3]) == entries[3].tokens
    assert 0 < report.by_class["prose"]["ratio"] < 1


def test_what_a_compaction_would_save_is_what_it_then_saves() -> None:
    gardener = chat()
    report = pressure_report(gardener.state)
    plan = gardener.plan()
    assert (report.plan_would_save, report.eviction_candidates) == (plan.tokens_saved, len(plan.swaps))
    assert f"{plan.tokens_saved:,} tokens" in report.recommendation
    gardener.state.on = False
    assert pressure_report(gardener.state).plan_would_save == 0


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(0, 5_000), max_size=8), st.integers(0, 9_000))
def test_the_files_that_are_named_are_the_largest_that_take_a_noticeable_share(
    files: dict[str, int], window: int
) -> None:
    rows = droppable(Frame(window, files=files), used=8_000)
    least = 0.05 * (window or 8_000)
    large = sorted((tokens for tokens in files.values() if tokens >= least), reverse=True)
    assert [row["tokens"] for row in rows] == large[:DROPPABLE_SHOWN]
    assert all(files[row["path"]] == row["tokens"] for row in rows)


def test_the_status_counts_what_was_done() -> None:
    gardener = make_gardener(history_tokens=2_000)
    gardener.sync([*talk(("Never touch the table ledger_lines.", "Noted.")), *long_talk(10)], [])
    assert gardener.status()["compactions"] == 0
    assert gardener.compact_if_due() is not None
    status = gardener.status()
    assert status["compactions"] == 1
    assert (status["mode"], status["history_budget"], status["constraints"]) == ("garden", 2_000, 1)
    assert status["entries"] == status["stored_entries"] == 22
    assert status["seconds"] == pytest.approx(gardener.state.seconds, abs=0.001)
    gardener.state.on = False
    assert gardener.status()["mode"] == "off"


def test_the_advice_follows_level_limit_and_what_would_be_saved() -> None:
    gardener = make_gardener(history_tokens=100_000)
    gardener.sync(long_talk(4), [message("user", "and now?")])

    def advice(window: int, *, on: bool = True) -> str:
        gardener.state.on = on
        gardener.state.frame = Frame(window, PARTS, {"big.py": 1_500})
        return pressure_report(gardener.state).recommendation

    used = sum(pressure_report(gardener.state).parts.values()) + 1_000
    assert advice(2 * used).startswith("Nothing to do.") and advice(2 * used, on=False) == "Nothing to do."
    assert "by itself" in advice(int(used / 0.8)) and "by itself" not in advice(int(used / 0.8), on=False)
    assert advice(int(used / 0.9)).endswith("worth a /drop if not needed: big.py.")
    assert advice(used).startswith("The window is full; the next prompt compacts the history.")
    assert gardener.state.is_hard and gardener.compact_if_due() and not gardener.state.is_hard
    assert advice(sum(PARTS.values()) + 40).startswith("The prompt hardly fits"), "compacted too"
    above = chat()
    assert above.pressure().recommendation.startswith("The history is above its limit")
    above.state.on = False
    assert above.pressure().recommendation == "Nothing to do.", "nothing compacts it then"
