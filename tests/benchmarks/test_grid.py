"""The grid: what its cells are, when a result is stale, what is kept, and that it goes on where it was."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.replay.session.history import load_session
from bench.grid import cells as grid_cells
from bench.grid import run
from bench.grid.cells import (
    BUDGETS,
    CHAINED_VARIANTS,
    SMALL_WINDOWS,
    Cell,
    cells,
    chained_cells,
    small_window_cells,
)
from bench.grid.means import complete
from bench.grid.plots import drawn

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


@pytest.fixture
def mini() -> list[Any]:
    return [(MINI, load_session(MINI))]


def cell_of(variant: str = "gardener", budget: int | None = None, sha: str = "s") -> Cell:
    return Cell(MINI, "mini", sha, 8, variant, budget)


def test_the_full_grid_has_every_budget_for_those_that_have_one(mini: list[Any]) -> None:
    found = list(cells(mini))
    budgets = {
        name: {cell.budget for cell in found if cell.variant == name}
        for name in ("stock-fixed", "tail", "gardener", "gardener-oldest-first")
    }
    assert budgets == {
        "stock-fixed": {None}, "tail": {*BUDGETS}, "gardener": {None, *BUDGETS}, "gardener-oldest-first": {None},
    }  # fmt: skip
    assert len({cell.name for cell in found}) == len(found)


def test_all_sessions_in_one_chat_are_cells_of_their_own(mini: list[Any]) -> None:
    assert chained_cells(mini) == []
    found = chained_cells([*mini, *mini])
    assert [cell.variant for cell in found] == list(CHAINED_VARIANTS)
    assert (found[0].turns, found[0].then, found[0].name) == (16, (MINI,), "chained/stock@default")
    assert found[0].key != replace(found[0], session_sha256=mini[0][1].sha256).key
    assert [cell.variant for cell in chained_cells([*mini, *mini], ["tail-search", "bag"])] == ["tail-search"]


def test_long_sessions_are_replayed_with_small_windows_too(mini: list[Any]) -> None:
    assert small_window_cells(mini) == [], "eight turns are no long session"
    path = Path(__file__).resolve().parents[2] / "recorded_sessions" / "queue-incident"
    found = small_window_cells([(path, load_session(path))], ["gardener"])
    assert [cell.name for cell in found] == [
        f"queue-incident/gardener@default with {model}" for model in SMALL_WINDOWS
    ]
    assert len({cell.key for cell in found}) == len(SMALL_WINDOWS)


def test_a_key_changes_with_all_that_a_result_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        cell_of().key, cell_of(budget=500).key, cell_of(sha="other").key, cell_of("gardener+recall_tokens=0").key,
        cell_of("tail").key,
    }  # fmt: skip
    assert len(keys) == 5
    assert cell_of().key == cell_of().key
    tail, gardener = cell_of("tail").key, cell_of().key
    monkeypatch.setattr(
        grid_cells, "code_hash", lambda *, gardened: "changed" if gardened else original(gardened=False)
    )
    assert cell_of().key != gardener
    assert cell_of("tail").key == tail, "a baseline does not depend on the gardener's code"


original = grid_cells.code_hash


def test_code_that_cannot_change_a_figure_is_not_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("replay/play/jobs.py", "replay/show/table.py", "plan/planner.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a = 1\n", "utf-8")
    monkeypatch.setattr(grid_cells, "PACKAGE", tmp_path)

    def hashes() -> tuple[str, str]:
        original.cache_clear()
        return original(gardened=True), original(gardened=False)

    before = hashes()
    (tmp_path / "replay/show/table.py").write_text("a = 2\n", "utf-8")
    assert hashes() == before
    (tmp_path / "plan/planner.py").write_text("a = 2\n", "utf-8")
    changed = hashes()
    assert changed[0] != before[0] and changed[1] == before[1]
    (tmp_path / "replay/play/jobs.py").write_text("a = 2\n", "utf-8")
    assert hashes()[1] != before[1]
    original.cache_clear()


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the small session only, whose results and pages are elsewhere."""
    shutil.copytree(MINI, tmp_path / "recorded_sessions" / "mini")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "KEPT", tmp_path / "build" / "cells")
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results" / "grid.json")
    monkeypatch.setattr(run, "small_window_cells", lambda *_: [])
    monkeypatch.setenv(run.VECTORS, str(tmp_path / "vectors"))
    return tmp_path


def test_finished_cells_are_kept_and_not_run_again(
    sandbox: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--variant", "tail,gardener", "--parallel", "2"]
    monkeypatch.setattr(grid_cells, "BUDGETS", (300,))
    assert run.main([*asked, "--list"]) == 0
    listed = capsys.readouterr().out
    assert "3 cells, 0 of them done, 3 to run" in listed and "mini/tail@300" in listed
    assert run.main(asked) == 0
    value = json.loads((sandbox / "results" / "grid.json").read_text("utf-8"))
    rows = {cell["row"]["variant"]: cell["row"] for cell in value["cells"] if cell["row"]["budget"]}
    assert set(rows) == {"tail", "gardener"} and len(value["cells"]) == 3
    assert rows["gardener"]["history_tokens"] == 300
    assert rows["gardener"]["plans"] > 0 and rows["gardener"]["tokens_billed"] > 0
    assert "mini/stock@default" in value["missing"]
    assert value["provenance"]["tokenizer"] == "o200k_base"
    svg = (sandbox / "docs" / "images" / "pareto-tokens.svg").read_text("utf-8")
    assert "<svg" in svg and "tail" in svg
    monkeypatch.setattr(run, "run_cell", lambda *_: pytest.fail("a finished cell was run again"))
    assert run.main(asked) == 0
    assert "3 of them done, 0 to run" in capsys.readouterr().out
    shutil.rmtree(sandbox / "build")
    assert run.main([*asked, "--list"]) == 0
    assert "3 of them done, 0 to run" in capsys.readouterr().out, "the committed cells tell as much"


def row(session: str, variant: str, budget: int | None, own: str, **more: Any) -> dict[str, Any]:
    value = {
        "session": session, "variant": variant, "budget": budget, "model": "gpt-4o",
        "marks": {"own": own, "paraphrased": "02", "late": ""}, "carried": {"facts": "110", "lines": ""},
        "main": [2, 2_000],
    }  # fmt: skip
    return {**value, **more}


def test_what_is_compared_has_every_session() -> None:
    rows = [row("b", "tail", 1, "222"), row("a", "tail", 1, "01"), row("a", "bag", 1, "2")]
    found = complete(rows)
    assert list(found) == [("tail", 1)]
    assert [one["session"] for one in found["tail", 1]] == ["a", "b"], "in one order, so that pairs meet"


def test_what_was_run_at_several_budgets_is_a_curve_and_the_rest_are_points() -> None:
    keys = [("stock", None), ("tail", 500), ("tail", 300), ("gardener", None), ("gardener-no-recall", None)]
    assert drawn({key: [] for key in keys}) == [
        ("tail", [300, 500]),
        ("gardener", [None]),
        ("stock", [None]),
    ], "parts left out have a table"
