"""The table marks what misses its goal and counts it in the last line."""

from __future__ import annotations

from typing import Any

from dominance_table import MISS, dominance

from bench.goals import CHAIN, CHOSEN_ON, GOALS, PLAIN, PRICES, SESSION


def figures(facts: int, usd: float) -> dict[str, Any]:
    return {
        "supported": [9, 10], "facts": [facts, 10], "lines": [0, 0], "tokens_billed": 12_345,
        "usd": {name: [usd, usd] for name in PRICES},
    }  # fmt: skip


def row(kind: str, name: str, half: str, facts: int = 5, usd: float = 1.0) -> dict[str, Any]:
    variants = {"gardener": figures(facts, usd), "stock-fixed": figures(5, 1.0), "stock": figures(10, 3.0)}
    return {"kind": kind, "session": name, "half": half, "model": "gpt-4o", "variants": variants, "notes": []}


def shown(*rows: dict[str, Any], **besides: Any) -> list[str]:
    return list(dominance({"rows": list(rows), "missing": [], **besides}))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def test_misses_are_marked_in_the_gardener_s_row_and_counted_with_those_of_the_sums() -> None:
    lines = shown(row(SESSION, "shop", CHOSEN_ON, facts=3, usd=0.5), row(PLAIN, "shop", CHOSEN_ON))
    block = [cells(line) for line in lines if line.startswith("|")][2:5]
    assert block[0][:6] == ["shop (chosen on)", "gardener", "9 of 10", f"3 of 10 {MISS}", "0 of 0", "12,345"]
    assert block[0][6:] == ["0.500"] * 6
    assert [found[0] for found in block[1:]] == ["stock-fixed", "stock"]  # the name stands once
    assert MISS not in "".join(block[1] + block[2])
    assert lines[-2] == f"{MISS} marks a cell that misses its goal: 2 of {4 * GOALS} do."


def test_each_kind_has_a_table_and_the_chain_no_halves() -> None:
    lines = shown(row(SESSION, "a", CHOSEN_ON), row(CHAIN, "2 sessions", ""), row(PLAIN, "a", CHOSEN_ON))
    titles = [line for line in lines if line.startswith("#")]
    assert titles == [
        "### Sessions as recorded", "### All sessions in one chat", "### Sessions as plain chats, without files",
    ]  # fmt: skip
    assert sum("together" in line for line in lines) == 2


def test_a_cost_that_is_higher_is_marked_where_it_is() -> None:
    dear = row(CHAIN, "2 sessions", "")
    dear["variants"]["gardener"]["usd"]["DeepSeek"] = [1.0, 1.5]
    first = next(line for line in shown(dear) if "2 sessions" in line)
    assert cells(first)[6:] == ["1.000"] * 5 + [f"1.500 {MISS}"]


def test_what_was_not_measured_and_what_is_weak_is_said() -> None:
    text = "\n".join(shown({**row(CHAIN, "2 sessions", ""), "notes": ["a placeholder"]}, missing=["shop"]))
    assert "- a placeholder\n- Not measured: shop.\n" in text
