"""The page of scale shows the figures as they were measured, and reckons from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import scale_tables as tool
from pages import BadResults


def test_the_page_is_that_of_the_results() -> None:
    assert list(tool.faults()) == []


def test_size_and_load_are_reckoned_from_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "RESULTS", tmp_path)
    measured = {"database_mb": 2_000, "rows": 1_000_000, "load_seconds": 500.0}
    (tmp_path / tool.SEARCHES[-1]).write_text(json.dumps(measured))
    section = tool.reckoned()
    assert section.startswith("From the 2.0 kB a row that were measured, and 2,000 rows a second")
    assert [cell.strip() for cell in section.splitlines()[-1].split("|")[1:-1]] == [
        "10,000", "104.17", "750.00 million", "1,500 GB",
    ]  # fmt: skip


def test_figures_that_are_not_there_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "RESULTS", tmp_path)
    with pytest.raises(BadResults, match="make it again"):
        tool.kills()
    assert any("make it again" in fault for fault in tool.faults())
