"""The benchmark of a replay's times: it runs, and the committed figures keep what the page says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("memory is read as Linux tells it", allow_module_level=True)

from bench import replay_times
from bench.replay_times import HISTORIES, RESULTS, held_by, main


def test_it_times_a_small_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_times, "HISTORIES", {"small": (15_000, False)})
    monkeypatch.setattr(replay_times, "VARIANTS", ("no-history",))
    target = tmp_path / "times.json"
    assert main(["--json", str(target), "--only", "small"]) == 0
    (row,) = json.loads(target.read_text(encoding="utf-8"))["rows"]
    assert row["bytes"] >= 15_000 and row["chats"] >= 1 and "before" not in row
    assert 0 < row["now"]["sign"] < row["now"]["seconds"]
    assert row["now"]["cpu"] > 0 and row["now"]["megabytes"] > 100


def test_memory_is_that_of_a_session_s_processes() -> None:
    assert held_by(-5) == 0


def test_the_committed_figures_keep_what_is_promised() -> None:
    value = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert [row["name"] for row in value["rows"]] == list(HISTORIES) and value["provenance"]["commit"]
    for row in value["rows"]:
        assert row["now"]["sign"] <= 2
        assert row["now"]["seconds"] <= 900
