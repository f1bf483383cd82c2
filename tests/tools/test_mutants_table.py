"""docs/contributing.md shows how many mutants the tests kill, and why the others live."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mutants_table as tool
import pytest

ROW = {
    "module": "plan/evict",
    "mutants": 62,
    "tried": 20,
    "killed": 17,
    "survivors": ["a: x → y", "b: x → y", "c: x → y"],
}
REASONS = {"plan/evict": {"a: x → y": "a cache", "b: x → y": "a bound", "c: x → y": "a cache"}}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, file in (
        ("PAGE", "contributing.md"),
        ("RESULTS", "mutants.json"),
        ("REASONS", "survivors.json"),
    ):
        monkeypatch.setattr(tool, name, tmp_path / file)
    tool.PAGE.write_text("# Contributing\n\n<!-- mutants -->\n<!-- /mutants -->\n", "utf-8")
    return tool.PAGE


def put(*rows: dict[str, Any], reasons: dict[str, Any] = REASONS) -> None:
    value = {
        "format": 1,
        "kind": "mutants",
        "sample": 20,
        "provenance": {"commit": "abc", "python": "3.11.7"},
    }
    tool.RESULTS.write_text(json.dumps({**value, "rows": rows}), "utf-8")
    tool.REASONS.write_text(json.dumps(reasons), "utf-8")


def test_a_module_has_its_row_and_each_reason_its_count_and_a_typed_in_figure_is_a_fault(page: Path) -> None:
    put(ROW, {**ROW, "module": "plan/view", "killed": 20, "survivors": []})
    assert tool.main([]) == 0
    text = page.read_text("utf-8")
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text.splitlines()
        if line[:1] == "|"
    ]
    assert rows[2:] == [
        ["plan/evict", "62", "20", "17", "85%"],
        ["plan/view", "62", "20", "20", "100%"],
        ["all", "124", "40", "37", "92%"],
    ]
    assert "- `plan/evict`: 2 × a cache; a bound\n" in text and "- `plan/view`" not in text
    assert tool.main(["--check"]) == 0
    page.write_text(text.replace("92%", "95%"), "utf-8")
    assert tool.main(["--check"]) == 1


def test_a_survivor_without_a_reason_is_a_fault(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(ROW, reasons={"plan/evict": {"a: x → y": "a cache"}})
    assert tool.main([]) == 1
    assert "no reason for: b: x → y" in capsys.readouterr().err
