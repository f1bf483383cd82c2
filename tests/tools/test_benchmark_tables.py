"""docs/benchmark.md quotes the tables that are made from bench/results, or says how to make them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import benchmark_tables
import pytest

PAGE = "# Title\n\n" + "\n".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in benchmark_tables.SECTIONS)
PROVENANCE = {"commit": "abc", "python": "3.11.7", "cpu": "A fast one", "cores": 2}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(benchmark_tables, "PAGE", tmp_path / "benchmark.md")
    monkeypatch.setattr(benchmark_tables, "RESULTS", tmp_path)
    benchmark_tables.PAGE.write_text(PAGE, "utf-8")
    return tmp_path


def peers(**changed: Any) -> dict[str, Any]:
    rows = {
        "gardener": {"tokens": 100, "kept": 8, "ms": 1.25},
        "headroom-ai": {"tokens": 330, "kept": 4, "ms": 40.0},
        "head and tail": {"tokens": 99, "kept": 2},
    }
    text = {"name": "a run", "class": "log", "tokens": 1000, "facts": 8, "results": {**rows, **changed}}
    at = {**PROVENANCE, "tokenizer": "cl100k_base", "peers": {"headroom-ai": "0.42.0"}}
    return {"kind": "peers", "format": 1, "provenance": at, "rounds": 7, "texts": [text]}


def put(project: Path, name: str, value: Any) -> None:
    (project / f"{name}.json").write_text(json.dumps(value), "utf-8")


def test_without_results_each_section_names_its_command(project: Path) -> None:
    assert list(benchmark_tables.faults()), "the page says nothing yet"
    assert benchmark_tables.main([]) == 0
    text = benchmark_tables.PAGE.read_text("utf-8")
    assert "Not measured yet: `make bench-peers`." in text
    assert benchmark_tables.main(["--check"]) == 0


def test_the_table_of_the_peers(project: Path) -> None:
    put(project, "peers", peers())
    assert benchmark_tables.main([]) == 0
    text = benchmark_tables.PAGE.read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| a run"))
    assert [cell.strip() for cell in row.strip("| ").split("|")] == [
        "a run", "1,000", "8", "10.0 %", "100 %", "1.2", "33.0 %", "50 %", "40.0", "9.9 %", "25 %",
    ]  # fmt: skip
    assert "headroom-ai 0.42.0" in text


def test_a_peer_that_failed_is_said_to_have(project: Path) -> None:
    put(project, "peers", peers(**{"headroom-ai": {"error": "x"}}))
    benchmark_tables.main([])
    row = next(line for line in benchmark_tables.PAGE.read_text("utf-8").splitlines() if "a run" in line)
    assert [cell.strip() for cell in row.split("|")][7:9] == ["failed", "–"]


def test_a_typed_in_figure_is_a_fault(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "peers", peers())
    benchmark_tables.main([])
    text = benchmark_tables.PAGE.read_text("utf-8")
    benchmark_tables.PAGE.write_text(text.replace("10.0 %", " 9.0 %"), "utf-8")
    assert benchmark_tables.main(["--check"]) == 1
    assert "section peers" in capsys.readouterr().err


def test_other_files_and_missing_markers_are_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(project, "peers", {"kind": "replay"})
    assert benchmark_tables.main([]) == 1
    assert "make it again" in capsys.readouterr().err
    benchmark_tables.PAGE.write_text("# nothing\n", "utf-8")
    assert benchmark_tables.main(["--check"]) == 1
    assert "are missing" in capsys.readouterr().err


def test_the_page_of_the_project_is_true(root: Path) -> None:
    assert list(benchmark_tables.faults()) == []
