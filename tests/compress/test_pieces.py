"""What must stay stays, the rest goes by weight into the room, all in the order of the rows."""

from __future__ import annotations

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import GAP, LINE_CHARS, Reading, chosen
from aider_gardener.messages import Focus


def words(text: str) -> int:
    return len(text.split())


def chosen_of(reading: Reading, budget: int, **given: Focus) -> list[str]:
    return chosen(reading, budget, Context(count=words, **given))  # type: ignore[arg-type]


def test_what_must_stay_stays_in_no_room() -> None:
    reading = Reading()
    reading.add(4, "the second")
    reading.add(1, ("the first", "and its detail"))
    reading.add(2, "while there is room", 9.0)
    assert chosen_of(reading, 0) == ["the first", "and its detail", "the second"]


@pytest.mark.parametrize(("budget", "rows"), [(2, ["b"]), (4, ["b", "c"]), (6, ["a", "b", "c"])])
def test_the_heaviest_go_first_and_stand_in_order(budget: int, rows: list[str]) -> None:
    reading = Reading()
    for at, (line, weight) in enumerate([("a", 1.0), ("b", 3.0), ("c", 2.0)]):
        reading.add(at, line, weight)
    assert chosen_of(reading, budget) == rows


def test_gaps_are_marked_where_asked_for() -> None:
    reading = Reading(gaps=True)
    for at in (0, 1, 5):
        reading.add(at, f"row {at}")
    assert chosen_of(reading, 99) == ["row 0", "row 1", GAP, "row 5"]


def test_what_is_in_focus_weighs_more() -> None:
    reading = Reading()
    reading.add(0, "plain words", 5.0)
    reading.add(1, "the ledger", 3.0)
    assert chosen_of(reading, 3, focus=Focus(frozenset({"ledger"}))) == ["the ledger"]


def test_one_row_told_twice_stands_once_and_long_lines_are_clipped() -> None:
    reading = Reading()
    reading.add(0, "x" * 5 * LINE_CHARS)
    reading.add(0, "x" * 5 * LINE_CHARS, 4.0)
    (line,) = chosen_of(reading, 99)
    assert len(line) <= LINE_CHARS + 3 and "…" in line


def test_blank_lines_of_others_are_nobodys() -> None:
    reading = Reading()
    reading.other(3, "   ")
    reading.other(4, "said by another")
    assert reading.foreign == [(4, "said by another")]
