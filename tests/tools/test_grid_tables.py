"""The tables of the grid: means over sessions, the floor last, what is missing said."""

from __future__ import annotations

from typing import Any

from grid_tables import grid

PROVIDERS = ("OpenAI", "DeepSeek")


def row(
    session: str, variant: str, supported: int, budget: int | None = None, **changed: Any
) -> dict[str, Any]:
    value = {
        "session": session, "variant": variant, "budget": budget, "history_tokens": budget or 5_000, "turns": 60,
        "recall": [20, 20, supported], "distance": {"≤ 10": [10, 9, 8], "11–25": [0, 0, 0], "> 25": [10, 5, 5]},
        "kind": {"path": [4, 4, 2]}, "decoys": {"never said": [20, 0, 0], "crossed": [20, 20, 1]},
        "tokens_billed": 100_000, "prompt_tokens": 90_000, "largest_prompt": 9_000,
        "usd": {name: [1.25, 2.5] for name in PROVIDERS}, "from_cache": dict.fromkeys(PROVIDERS, 0.5),
        "llm": [1, 2], "llm_seconds": 30.0, "plans": 4, "carry_over": [3, 4], "usable": "≥ 60",
        "measured": {"plan_seconds": 0.5, "overhead_ms": [10.0, 20.0], "replay_seconds": 9.0},
    }  # fmt: skip
    return {**value, **changed}


def value(*rows: dict[str, Any], missing: tuple[str, ...] = ()) -> dict[str, Any]:
    at = {"model": "gpt-4o", "window_tokens": 128_000, "weak_model": "mini", "aider": "0.86.2", "tokenizer": "o200k",
          "commit": "abc", "python": "3.11", "cpu": "A", "cores": 2, "load": 1.9}  # fmt: skip
    return {"rows": list(rows), "chained": [], "provenance": at, "missing": list(missing)}


def cells(lines: list[str], begins: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in lines
        if line.startswith(f"| {begins}")
    ]


def test_the_mean_weighs_sessions_alike_and_each_session_has_its_own() -> None:
    lines = list(grid(value(row("a", "tail", 10), row("b", "tail", 20, usable="≤ 9", tokens_billed=300_000))))
    mean, cost, a, _cost, b, _cost, *_kinds = cells(lines, "tail")
    assert mean[1:] == ["100 %", "75 %", "80 %", "–", "50 %", "75 %", "≥ 60, ≤ 9", "0 %", "5 %"]
    assert cost[1:5] == ["5,000", "200,000", "9,000", "1.25"]
    assert cost[6:] == ["50 %", "1.0 (2.0)", "4.0", "30", "0.50", "10 / 20"]
    assert (a[2], b[2]) == ("50 %", "100 %")
    assert [line for line in lines if line.startswith("###")][:3] == [
        "### Mean of 2 sessions: what is known", "### Mean of 2 sessions: what it costs", "### a: what is known",
    ]  # fmt: skip


def test_the_floor_stands_last_and_the_peer_has_its_name() -> None:
    lines = list(grid(value(row("a", "no-history", 5), row("a", "filter", 10), row("a", "gardener", 20))))
    names = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    assert names[2:5] == ["headroom-ai", "gardener", "no-history"]


def test_variants_that_lack_a_session_are_left_out_of_the_mean() -> None:
    lines = list(grid(value(row("a", "tail", 10), row("b", "tail", 20), row("a", "bag", 20))))
    assert len(cells(lines, "bag")) == 2, "in the tables of its session only"


def test_the_curve_shows_recall_and_tokens_at_each_budget() -> None:
    lines = list(grid(value(row("a", "tail", 10), row("a", "tail", 8, 1_000), row("a", "tail", 16, 4_000))))
    assert ["tail", "40 %, 100k", "80 %, 100k"] in cells(lines, "tail")
    assert not [line for line in grid(value(row("a", "tail", 10))) if "Over the history budget" in line]


def test_one_chat_of_all_sessions_stands_apart() -> None:
    one = row("chained", "tail", 5, usable="≤ 70", turns=182)
    lines = list(grid({**value(row("a", "tail", 20)), "chained": [one]}))
    assert "### All sessions in one chat of 182 turns" in lines
    assert ["tail", "≤ 70", "9,000", "25 %", "100,000"] in cells(lines, "tail")
    assert cells(lines, "tail")[0][2] == "100 %", "the mean is of the single sessions"


def test_times_from_a_busy_machine_are_called_so() -> None:
    found = value(row("a", "tail", 10))
    assert not [line for line in grid(found) if "busy" in line]
    found["provenance"]["load"] = 8.0
    assert [line for line in grid(found) if "busy with other work (load 8.0)" in line]


def test_what_is_missing_is_said() -> None:
    lines = list(grid(value(row("a", "tail", 10), missing=("a/bag@default", "a/none@default"))))
    assert lines[-1] == "2 of the 3 cells of the full grid are not measured yet: `make bench`."
