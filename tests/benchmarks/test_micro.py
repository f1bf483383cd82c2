"""The suites of bench/micro run, and their results are kept small and compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import micro_results

ROOT = Path(__file__).resolve().parents[2]


def test_every_suite_runs_once_on_small_sizes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "bench/micro", "--quick", "--benchmark-disable", "-q", "-p", "no:cacheprovider",
         "-n", "0"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout and "skipped" not in done.stdout


def report(**seconds: list[float]) -> dict[str, Any]:
    """What pytest-benchmark writes, as far as it is read."""
    rows = [{"name": f"test_{name}", "stats": {"data": data}} for name, data in seconds.items()]
    return {"benchmarks": rows, "gardener": {"quick": False, "entries": [10], "load": 0.5}}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(micro_results, "RESULTS", tmp_path / "kept" / "micro.json")
    return tmp_path / "kept" / "micro.json"


def run_of(tmp_path: Path, value: dict[str, Any]) -> str:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(value), "utf-8")
    return str(path)


def test_taken_results_are_medians_and_percentiles_in_ms(kept: Path, tmp_path: Path) -> None:
    data = [0.001 * n for n in range(1, 101)]
    assert micro_results.main([run_of(tmp_path, report(work=data))]) == 0
    value = json.loads(kept.read_text("utf-8"))
    assert value["times"] == {"work": {"least": 1.0, "median": 50.0, "p95": 95.0, "rounds": 100}}
    assert value["provenance"]["python"] == sys.version.split()[0]
