"""The benchmark of a search at size: it runs on a small archive, and its committed figures keep the promise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.search_at_size import ENTRIES, RESULTS, main, recall_at_10


def test_it_runs_on_a_small_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "results.json"
    options = ["--entries", "300", "--rounds", "3", "--folder", str(tmp_path), "--json", str(target)]
    assert main(options) == 0
    results = json.loads(target.read_text(encoding="utf-8"))
    assert results["entries"] == 300 and results["recall_at_10"] > 0.95 and results["nearness"] > 0.999
    assert results["megabytes"] >= results["megabytes_before"] > 10
    for times in results["times"].values():
        assert times["rounds"] == 3 and 0 < times["least"] <= times["median"] <= times["p95"]
    assert '"entries": 300' in capsys.readouterr().out


def test_of_equally_near_passages_any_counts() -> None:
    assert recall_at_10([[0.9, 0.7, 0.5]], [[0.9, 0.7, 0.7]]) == pytest.approx(2 / 3, abs=0.001)
    assert recall_at_10([[0.9, 0.7], [0.5, 0.4]], [[0.9, 0.7], [0.5, 0.4]]) == 1.0


def test_the_committed_figures_keep_what_is_promised() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert results["entries"] == ENTRIES and results["provenance"]["commit"]
    assert results["times"]["recall"]["p95"] <= 150 and results["megabytes"] <= 250
