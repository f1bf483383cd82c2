"""Tables: what their rows need above them, and which rows a short form has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from aider_gardener.compress.shapes import shortened
from aider_gardener.compress.tables import read


def tokens(text: str) -> int:
    return len(text) // 4


def short(lines: list[str]) -> list[str]:
    return [line.split(" [+")[0] for line in shortened("\n".join(lines), tokens).text.split("\n")]


def rows(odd: tuple[str, ...] = ("k7", "9", "ok")) -> list[tuple[str, ...]]:
    """A header and 60 rows that are alike but for one."""
    plain = [(f"k{n}", str(10 + n * 7 % 23), "ok") for n in range(60)]
    return [("NAME", "COUNT", "STATE"), *plain[:40], odd, *plain[41:]]


WAYS: dict[str, Callable[[Sequence[str]], str]] = {
    "aligned": lambda row: f"{row[0]:<8}  {row[1]:>7}  {row[2]}",
    "tabs": "\t".join,
    "commas": ",".join,
    "semicolons": ";".join,
    "bars": lambda row: f"| {row[0]:<8} | {row[1]:>7} | {row[2]:<9} |",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "odd", [("k40", "17", "lost"), ("k40", "90210", "ok"), ("k40", "17", ""), ("k40", "-3", "ok")]
)
def test_the_row_that_is_unlike_the_rest_is_shown_under_the_header(way: str, odd: tuple[str, ...]) -> None:
    lines = [WAYS[way](row) for row in rows(odd)]
    notes = read(lines)
    assert set(notes) == set(range(61)) and all(notes[row].above == 0 for row in range(1, 61))
    shown = short(lines)
    assert shown[0] == lines[0].rstrip() and lines[41].rstrip() in shown and lines[1].rstrip() in shown
    assert len(shown) < 20


def test_rules_are_not_rows_and_a_sum_counts_most() -> None:
    lines = [
        " sacks | mill",
        "-------+------",
        *(f" {n:5} | m{n}" for n in range(40)),
        "-------+------",
        "   780 | all",
    ]
    notes = read(lines)
    assert notes[2].above == 0 and notes[43].worth == max(note.worth for note in notes.values())
    totals = read(
        [
            "Name   Lines  Cover",
            "-" * 19,
            *(f"m{n:<5} {n:5}  {n:4}%" for n in range(9)),
            "TOTAL     36    50%",
        ]
    )
    assert totals[11].worth > totals[3].worth


def test_the_first_rows_of_a_ranked_list_without_a_header_are_shown_and_its_largest() -> None:
    lines = [f"{4000 // n:>7} 10.0.0.{n}" for n in range(1, 90)]
    assert {lines[0].strip(), lines[1].strip()} <= {line.strip() for line in short(lines)}
    mixed = [f"{n % 7 + 3:>7} sack-{n}" for n in range(80)]
    mixed[50] = "  99120 sack-50"
    assert "  99120 sack-50" in short(mixed)


def test_two_tables_keep_their_own_headers() -> None:
    first = [WAYS["aligned"](row) for row in rows()]
    notes = read([*first, "", *first])
    assert notes[5].above == 0 and notes[80].above == 62
