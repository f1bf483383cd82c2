"""The tables of the grid: shares with intervals, pairs, halves, budgets, long sessions, what is missing."""

from __future__ import annotations

from typing import Any

from grid_tables import grid

PROVIDERS = ("OpenAI", "DeepSeek")


def row(session: str, variant: str, own: str, budget: int | None = None, **changed: Any) -> dict[str, Any]:
    value = {
        "session": session, "variant": variant, "budget": budget, "model": "gpt-4o", "turns": 60,
        "recall": [4, 4, own.count("2")], "distance": {"≤ 10": [10, 9, 8], "11–25": [0, 0, 0], "> 25": [10, 5, 5]},
        "decoys": {"never said": [20, 0, 0], "crossed": [20, 20, 1]},
        "marks": {"own": own, "paraphrased": "2", "late": "20"}, "carried": {"facts": "1101", "lines": "0"},
        "main": [10, 20_000], "prompts": {"1": 900, "49": 8_500, "60": 9_000},
        "tokens_billed": 100_000, "largest_prompt": 9_000, "usable": "≥ 60",
        "usd": {name: [1.25, 2.5] for name in PROVIDERS}, "llm": [1, 2], "llm_seconds": 30.0, "plans": 4,
        "measured": {"plan_seconds": 0.5, "overhead_ms": [10.0, 20.0], "replay_seconds": 9.0},
    }  # fmt: skip
    return {**value, **changed}


def value(*rows: dict[str, Any], missing: tuple[str, ...] = ()) -> dict[str, Any]:
    at = {"model": "gpt-4o", "window_tokens": 128_000, "weak_model": "mini", "aider": "0.86.2", "tokenizer": "o200k",
          "commit": "abc", "python": "3.11", "cpu": "A", "cores": 2, "load": 1.9}  # fmt: skip
    return {"cells": [{"row": row} for row in rows], "provenance": at, "missing": list(missing)}


ROWS = (
    row("a", "gardener", "2222"), row("b", "gardener", "2221"), row("a", "gardener", "2222", 8_000),
    row("b", "gardener", "2220", 8_000), row("a", "gardener-as-order", "2000"), row("b", "gardener-as-order", "2200"),
    row("a", "tail", "0000", 8_000), row("b", "tail", "0000", 8_000, usd={name: [2.5, 5.0] for name in PROVIDERS}),
    row("a", "gardener-no-recall", "0000"), row("b", "gardener-no-recall", "0000"),
    row("a", "no-history", "0000", main=[10, 5_000]), row("b", "no-history", "0000", main=[10, 5_000]),
    row("a", "stock", "2222"), row("b", "stock", "2222"),
)  # fmt: skip


def chapter(lines: list[str], begins: str) -> list[list[str]]:
    """The rows of the table under a heading, split into cells."""
    at = next(place for place, line in enumerate(lines) if line.startswith(f"### {begins}"))
    ends = next(
        (at + 1 + place for place, line in enumerate(lines[at + 1 :]) if line.startswith("### ")), len(lines)
    )
    return [
        [cell.strip() for cell in line[2:-2].split(" | ")]
        for line in lines[at:ends]
        if line.startswith("| ") and "---" not in line
    ]


def test_the_headline_counts_everything_and_bounds_it() -> None:
    head, *rows = chapter(list(grid(value(*ROWS))), "What 2 sessions show")
    assert head[1:5] == ["facts carried over", "lines", "probes supported", "paraphrased"]
    assert [row[0] for row in rows if len(row) > 3 and row[0]] == [
        "gardener", "gardener-as-order", "tail", "stock", "no-history",
    ]  # fmt: skip
    gardener = rows[0]
    assert gardener[1:5] == ["6 of 8", "0 of 2", "7 of 8", "2 of 2"]
    assert gardener[5:] == ["1,500", "200,000", "2.50"], "history, tokens, dollars"
    low, high = rows[1][3].removesuffix(" %").split("–")
    assert 0 < int(low) < 87 < int(high) <= 100


def test_differences_are_paired_and_at_one_budget() -> None:
    rows = chapter(list(grid(value(*ROWS))), "The gardener at 8,000")
    by_name = {row[0]: row for row in rows}
    assert by_name["gardener – tail"][3].startswith("**+88 (")
    assert by_name["gardener – tail"][1] == "+0 (+0 to +0)"
    assert by_name["gardener – tail"][5].startswith("0.67 (")
    assert "gardener-as-order – tail" in by_name and "gardener – stock" in by_name


def test_halves_stand_apart() -> None:
    rows = chapter(list(grid(value(*ROWS))), "By half")
    assert ["chosen on", "gardener", "3 of 4", "0 of 1", "4 of 4", "1 of 1", "1.25"] in rows
    assert ["held out", "tail", "3 of 4", "0 of 1", "0 of 4", "1 of 1", "2.50"] in rows


def test_budgets_show_what_a_prompt_holds_of_the_past() -> None:
    head, *rows = chapter(list(grid(value(*ROWS))), "At equal budgets")
    assert head == ["variant", "8,000"]
    assert ["gardener", "75 / 88 (1,500, $2.50)"] in rows


def test_a_part_is_worth_what_is_lost_without_it() -> None:
    rows = chapter(list(grid(value(*ROWS))), "What the parts give")
    assert rows[1][0] == "gardener" and rows[1][3] == "7 of 8"
    assert rows[2][0] == "gardener-no-recall" and rows[2][3].startswith("**-88 (")


def test_long_sessions_have_the_rows_of_a_proposal() -> None:
    rows = chapter(list(grid(value(*ROWS))), "Sessions of at least 50 turns")
    assert rows[0] == ["session", "", "stock", "stock-fixed", "gardener"]
    assert rows[1] == ["a", "tokens of the prompt at turn 50", "8,500", "–", "8,500"]
    assert rows[2][1:] == ["late probes supported", "1 of 2", "–", "1 of 2"]
    assert rows[3][1:3] == ["seconds for compaction", "30.5"]
    short = list(grid(value(*(dict(one, turns=30) for one in ROWS))))
    assert not [line for line in short if "Sessions of at least" in line]


def test_small_windows_and_chains_stand_apart() -> None:
    more = [
        row("a", "gardener", "2222", model="gpt-4", usable="12"),
        row("chained", "stock", "2222", turns=500, usable="84"),
    ]
    lines = list(grid(value(*ROWS, *more)))
    assert chapter(lines, "Small windows")[1] == ["8,191", "gardener", "12", "4 of 4", "9,000"]
    assert chapter(lines, "All sessions in one chat of 500")[1][:2] == ["stock", "84"]
    assert chapter(lines, "What 2 sessions show")[1][1] == "6 of 8", "neither is counted among the sessions"


def test_what_is_missing_and_a_busy_machine_are_said() -> None:
    lines = list(grid(value(*ROWS, missing=("a/x@default", "b/x@default"))))
    assert f"2 of the {len(ROWS) + 2} cells are not measured yet: `make bench`." in lines
    busy = value(*ROWS)
    busy["provenance"]["load"] = 4.5
    assert any("busy with other work (load 4.5)" in line for line in grid(busy))
    assert not any("busy" in line for line in lines)
