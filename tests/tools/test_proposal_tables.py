"""The parts of the proposal that are made, not typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import proposal_tables
import pytest
from pages import BadResults
from patches_page import changes
from proposal_tables import PAGE, ROOT, wanted, with_part

BUDGETED = ("gardener", "gardener-as-order", "tail-search", "tail")
PARTS = ("gardener-no-recall", "gardener-no-compress", "gardener-no-forms")
PAGE_TEXT = "\n".join(
    f"<!-- {name} -->\nold\n<!-- /{name} -->" for name in ("discarded", "evidence", "sure", "parts")
)


def row(session: str, variant: str, budget: int | None, own: str, usd: float) -> dict[str, Any]:
    return {
        "session": session, "variant": variant, "budget": budget, "model": "gpt-4o",
        "marks": {"own": own, "paraphrased": "2", "late": ""}, "carried": {"facts": "110", "lines": ""},
        "tokens_billed": 1_234_567, "usd": {"OpenAI": [usd, 2.0]},
        "llm": [2, 3] if variant == "stock-fixed" else [0, 5],
    }  # fmt: skip


def value(*besides: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for session in ("a", "b"):
        rows += [
            row(session, name, None, "2222", 1.0)
            for name in (*PARTS, "gardener", "gardener-as-order", "stock")
        ]
        rows += [row(session, name, 8_000, "2200", 2.0) for name in BUDGETED]
        rows.append(row(session, "stock-fixed", None, "2000", 4.0))
    return {"format": 1, "kind": "grid", "cells": [{"row": one} for one in [*rows, *besides]]}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "grid.json"
    path.write_text(json.dumps(value()), "utf-8")
    monkeypatch.setattr(proposal_tables, "RESULTS", path)
    return path


def cells(text: str, begins: str) -> list[str]:
    found = next(line for line in text.splitlines() if line.startswith(f"| {begins}"))
    return [cell.strip() for cell in found[2:-2].split(" | ")]


def test_what_is_paid_for_and_thrown_away_comes_first(results: Path) -> None:
    text = wanted(PAGE_TEXT)
    assert cells(text, "`stock` ")[1:] == ["10", "0", "2,469,134", "2.00", "8 of 8", "4 of 6"]
    assert cells(text, "`stock-fixed`")[1:] == ["10", "4", "2,469,134", "8.00", "2 of 8", "4 of 6"]


def test_the_evidence_is_at_one_budget_but_for_its_first_line(results: Path) -> None:
    text = wanted(PAGE_TEXT)
    assert cells(text, "gardener, its own budget")[3] == "8 of 8"
    assert cells(text, "gardener  ")[3] == "4 of 8"
    assert cells(text, "tail-search")[3] == "4 of 8"


def test_differences_have_intervals(results: Path) -> None:
    found = cells(wanted(PAGE_TEXT), "gardener – stock-fixed")
    assert found[3].startswith("+25 (") and found[5] == "0.50 (0.50 to 0.50)"
    assert cells(wanted(PAGE_TEXT), "gardener-no-recall")[1].startswith("+0 (")


def test_a_part_is_put_between_its_marks_and_nowhere_else() -> None:
    page = "above\n<!-- sure -->\nold\n<!-- /sure -->\nbelow\n"
    assert with_part(page, "sure", "new\n") == page.replace("old", "new")
    with pytest.raises(BadResults):
        with_part("no marks", "sure", "new\n")


def test_what_is_stale_long_or_not_measured_is_told(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE_TEXT + "\n" + "more words\n" * 200, "utf-8")
    monkeypatch.setattr(proposal_tables, "PAGE", page)
    said = list(proposal_tables.faults())
    assert len(said) == 2 and "a table is not what" in said[0] and "it may have 200" in said[1]
    proposal_tables.write()
    assert [one for one in proposal_tables.faults() if "it may have" not in one] == []
    results.write_text(json.dumps({"format": 1, "kind": "grid", "cells": []}), "utf-8")
    assert "stock is not measured on all sessions: make bench" in next(iter(proposal_tables.faults()))


def test_the_page_is_up_to_date_and_short() -> None:
    assert list(proposal_tables.faults()) == []


def test_the_size_of_the_interface_is_that_of_its_patch() -> None:
    text = next((ROOT / "patches").glob("*-history-interface.patch")).read_text("utf-8")
    added = sum(one.added for one in changes(text) if not one.path.startswith("tests/"))
    assert f"{added} lines are added to aider" in " ".join(PAGE.read_text("utf-8").split())
