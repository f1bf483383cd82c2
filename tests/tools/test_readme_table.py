"""The README quotes what is made from the committed results, or says how to make it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import check_docs
import pytest
import readme_table

HEAD, TAIL = "# Title\n\n<!-- measured -->\n", "<!-- /measured -->\n\nThe end.\n"


def row(session: str, variant: str, own: str, facts: str, usd: float) -> dict[str, Any]:
    return {
        "session": session, "variant": variant, "budget": 8_000 if variant == "tail-search" else None,
        "model": "gpt-4o", "turns": 40, "marks": {"own": own, "paraphrased": "2", "late": ""},
        "carried": {"facts": facts, "lines": "1"}, "tokens_billed": 600_000, "largest_prompt": 9_000,
        "usd": {name: [usd, 2 * usd] for name in readme_table.PRICED}, "llm": [3, 4],
        "measured": {"overhead_ms": [20.0, 90.0] if variant.startswith("gardener") else [0.0, 0.0]},
    }  # fmt: skip


def results() -> dict[str, Any]:
    rows = [
        row(session, variant, own, facts, usd)
        for session in ("a", "b")
        for variant, own, facts, usd in (
            ("stock", "2222", "1111", 4.0), ("stock-fixed", "2000", "1000", 2.0), ("tail-search", "2220", "1100", 2.0),
            ("gardener", "2221", "1110", 1.0), ("gardener-as-order", "2200", "1100", 1.0), ("no-history", "0000", "0000", 1.0),
        )
    ]  # fmt: skip
    at = {
        "model": "gpt-4o",
        "window_tokens": 128_000,
        "aider": "0.86.2",
        "tokenizer": "o200k_base",
        "commit": "abc",
    }
    return {
        "format": 1,
        "kind": "grid",
        "provenance": at,
        "missing": [],
        "cells": [{"row": row} for row in rows],
    }


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A README with the markers beside results."""
    monkeypatch.setattr(readme_table, "README", tmp_path / "README.md")
    monkeypatch.setattr(readme_table, "RESULTS", tmp_path / "grid.json")
    (tmp_path / "README.md").write_text(HEAD + TAIL, "utf-8")
    (tmp_path / "grid.json").write_text(json.dumps(results()), "utf-8")
    return tmp_path / "README.md"


def test_the_project_readme_is_up_to_date() -> None:
    assert list(readme_table.faults()) == []


def test_the_words_and_the_table_are_those_of_the_results(page: Path) -> None:
    assert readme_table.main([]) == 0
    text = " ".join(page.read_text("utf-8").split())
    assert (
        "over 80 turns: of the facts that replies used again 75% stood in the prompt with the gardener"
        in text
    )
    assert "25% if aider's summaries worked (stock-fixed); 100% with aider as it is" in text
    assert (
        "could still know 75%, 25%, 100% and 75%; 50% where the gardener gives the question no more" in text
    )
    assert (
        "That took $2.00, $4.00, $8.00 and $4.00" in text
        and "stock-fixed made 6 and stock paid for 8" in text
    )
    lines = page.read_text("utf-8").splitlines()
    cells = {
        one.split("|")[1].strip(): [c.strip() for c in one.split("|")[2:-1]] for one in lines if "|" in one
    }
    assert cells["all 2 sessions, 80 turns"] == list(readme_table.SHOWN)
    assert cells["probes supported, of 8"] == ["8", "2", "6", "6", "4", "0"]
    assert cells["$ gpt-4o"] == ["8.00", "4.00", "4.00", "2.00", "2.00", "2.00"]
    assert cells["overhead ms, p50 / p95"] == ["–", "–", "–", "20 / 90", "–", "–"]


def test_the_differences_have_their_intervals(page: Path) -> None:
    readme_table.main([])
    text = " ".join(page.read_text("utf-8").split())
    assert "beside stock-fixed +50 (" in text
    assert "points of the probes, 0.50 (0.50 to 0.50) times its price; beside tail-search" in text


def test_what_is_around_the_section_stays(page: Path) -> None:
    readme_table.main([])
    text = page.read_text("utf-8")
    assert text.startswith(HEAD) and text.endswith(TAIL)
    assert readme_table.main(["--check"]) == 0
    page.write_text(text.replace("75%", "76%"), "utf-8")
    assert readme_table.main(["--check"]) == 1


def test_without_results_the_section_says_how_to_make_them(page: Path) -> None:
    readme_table.RESULTS.unlink()
    assert readme_table.main([]) == 0
    assert "Not measured yet: `make bench`" in page.read_text("utf-8")
    assert list(readme_table.faults()) == [], "nothing to compare with"


def test_results_that_cannot_be_shown_are_one_line(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = results()
    value["cells"] = [cell for cell in value["cells"] if cell["row"]["variant"] != "tail-search"]
    readme_table.RESULTS.write_text(json.dumps(value), "utf-8")
    assert readme_table.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert "tail-search not measured on all sessions: make bench" in said and said.count("\n") == 1
    page.write_text("# Title\n", "utf-8")
    assert readme_table.main([]) == 1


def test_the_check_of_the_docs_holds_the_readme(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("measured section" in fault for fault in readme_table.faults())
    assert check_docs.readme_table is readme_table
