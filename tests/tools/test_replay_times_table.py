"""docs/replay.md shows the times that were measured, and nothing typed in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import replay_times_table as tool

PROVENANCE = {"commit": "abc", "python": "3.11.7", "cpu": "A fast one", "cores": 2}
RUN = {"sign": 0.31, "seconds": 241.6, "cpu": 417.0, "megabytes": 1234}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tool, "PAGE", tmp_path / "replay.md")
    monkeypatch.setattr(tool, "RESULTS", tmp_path / "replay-times.json")
    tool.PAGE.write_text("# Replay\n\n<!-- replay-times -->\n<!-- /replay-times -->\n", "utf-8")
    return tool.PAGE


def put(**before: object) -> None:
    row = {"name": "20 MB", "bytes": 20_000_000, "chats": 505, "now": RUN, **before}
    value = {
        "format": 1,
        "kind": "replay-times",
        "provenance": PROVENANCE,
        "variants": ["stock"],
        "rows": [row],
    }
    tool.RESULTS.write_text(json.dumps(value), "utf-8")


def test_without_results_the_page_names_the_command(page: Path) -> None:
    assert tool.main([]) == 0 and tool.main(["--check"]) == 0
    assert f"Not measured yet: `{tool.COMMAND}`" in page.read_text("utf-8")


def test_a_row_has_both_versions_and_a_typed_in_figure_is_a_fault(page: Path) -> None:
    put(before={**RUN, "seconds": 368.7})
    assert tool.main([]) == 0
    row = next(line for line in page.read_text("utf-8").splitlines() if line.startswith("| 20 MB"))
    cells = [cell.strip() for cell in row.strip("| ").split("|")]
    assert cells == ["20 MB", "505", "0.3", "242", "417", "1,234", "369", "417", "1,234"]
    page.write_text(page.read_text("utf-8").replace("369", "999"), "utf-8")
    assert tool.main(["--check"]) == 1


def test_a_version_that_was_not_timed_is_left_open(page: Path) -> None:
    put()
    assert tool.main([]) == 0
    assert page.read_text("utf-8").count("–") == 3
