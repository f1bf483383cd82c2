"""The grid: what its cells are, when a result is stale, what is kept, and that it goes on where it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.replay.session.history import load_session
from bench.grid import cells as grid_cells
from bench.grid import plots, run
from bench.grid.cells import BUDGETS, CHAINED_VARIANTS, Cell, cells, chained_cells, checked_budgets
from bench.grid.means import complete, mean_share
from bench.grid.rows import written

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


@pytest.fixture
def mini() -> list[Any]:
    return [(MINI, load_session(MINI))]


def cell_of(variant: str = "gardener", budget: int | None = None, sha: str = "s") -> Cell:
    return Cell(MINI, "mini", sha, 8, variant, budget)


def test_the_full_grid_has_every_budget_for_those_that_have_one(mini: list[Any]) -> None:
    found = list(cells(mini, with_filter=False))
    budgets = {
        name: {cell.budget for cell in found if cell.variant == name}
        for name in ("stock-fixed", "tail", "gardener")
    }
    assert budgets == {"stock-fixed": {None}, "tail": {None, *BUDGETS}, "gardener": {None, *BUDGETS}}
    assert "filter" not in {cell.variant for cell in found}
    assert "filter" in {cell.variant for cell in cells(mini, with_filter=True)}
    assert len({cell.name for cell in found}) == len(found)


def test_all_sessions_in_one_chat_are_cells_of_their_own(mini: list[Any]) -> None:
    assert chained_cells(mini) == []
    found = chained_cells([*mini, *mini])
    assert [cell.variant for cell in found] == list(CHAINED_VARIANTS)
    assert (found[0].turns, found[0].then, found[0].name) == (16, (MINI,), "chained/none@default")
    assert found[0].key != replace(found[0], session_sha256=mini[0][1].sha256).key
    assert [cell.variant for cell in chained_cells([*mini, *mini], ["tail", "bag"])] == ["tail"]


def test_a_chained_cell_is_replayed_as_one_chat(mini: list[Any], sandbox: Path) -> None:
    cell = chained_cells([*mini, *mini], ["none"])[0]
    run.run_cell(cell, lambda: None)
    kept = run.kept(cell)
    assert kept is not None and kept["row"]["turns"] == 16
    assert kept["row"]["recall"][0] == 8


def test_a_part_of_the_grid_and_other_settings_can_be_asked_for(mini: list[Any]) -> None:
    found = cells(
        mini, with_filter=False, only_variants=["mask10", "gardener+recall_tokens=0"], only_budgets=[500]
    )
    assert [(cell.variant, cell.budget) for cell in found] == [
        ("mask10", None),
        ("gardener+recall_tokens=0", 500),
    ]
    with pytest.raises(UsageError, match="unknown variant 'best'"):
        list(cells(mini, with_filter=False, only_variants=["best"]))
    assert checked_budgets(["8000", "default"]) == [8_000, None]
    with pytest.raises(UsageError, match="--budget"):
        checked_budgets(["8k"])


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
    import shutil

    shutil.copytree(MINI, tmp_path / "recorded_sessions" / "mini")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "KEPT", tmp_path / "build" / "cells")
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results" / "grid.json")
    monkeypatch.setattr(run, "PEER_PYTHON", tmp_path / "nothing")
    return tmp_path


def test_finished_cells_are_kept_and_not_run_again(
    sandbox: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--variant", "bag,gardener", "--budget", "300", "--parallel", "2"]
    assert run.main([*asked, "--list"]) == 0
    listed = capsys.readouterr().out
    assert "2 cells, 0 of them done; 2 to run, about" in listed and "mini/bag@300" in listed
    # 300 is no budget of the full grid: give it one that is
    monkeypatch.setattr(grid_cells, "BUDGETS", (300,))
    assert run.main(asked) == 0
    value = json.loads((sandbox / "results" / "grid.json").read_text("utf-8"))
    rows = {row["variant"]: row for row in value["rows"]}
    assert set(rows) == {"bag", "gardener"}
    assert rows["gardener"]["history_tokens"] == 300
    assert rows["gardener"]["plans"] > 0 and rows["gardener"]["tokens_billed"] > 0
    assert "mini/stock@default" in value["missing"]
    assert value["provenance"]["tokenizer"] == "o200k_base"
    svg = (sandbox / "docs" / "images" / "pareto-tokens.svg").read_text("utf-8")
    assert "<svg" in svg and "bag" in svg
    monkeypatch.setattr(run, "run_cell", lambda *_: pytest.fail("a finished cell was run again"))
    assert run.main(asked) == 0
    assert "2 of them done; nothing to do" in capsys.readouterr().out


def test_a_failed_cell_is_named_and_the_others_are_kept(
    sandbox: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aider_gardener.errors import ReplayError

    def fail(cell: Cell, advance: Any) -> float:
        raise ReplayError(f"{cell.variant} broke")

    monkeypatch.setattr(run, "run_cell", fail)
    assert run.main(["--variant", "none"]) == 1
    assert "mini/none@default, failed: none broke" in capsys.readouterr().err


def row(session: str, variant: str, budget: int | None, supported: int) -> dict[str, Any]:
    return {"session": session, "variant": variant, "budget": budget, "recall": [10, 10, supported],
            "distance": {"≤ 10": [0, 0, 0]}}  # fmt: skip


def test_means_weigh_sessions_alike_and_need_all_of_them() -> None:
    rows = [row("a", "tail", 1, 2), row("b", "tail", 1, 6), row("a", "bag", 1, 9)]
    found = complete(rows)
    assert list(found) == [("tail", 1)]
    assert mean_share(found["tail", 1]) == 40.0
    assert mean_share(found["tail", 1], at=1) == 100.0
    assert mean_share(found["tail", 1], "distance", "≤ 10") is None


def test_a_row_stands_on_a_line_of_its_own() -> None:
    value = {"format": 1, "kind": "grid", "missing": ["x"], "rows": [{"a": 1}, {"a": 2}]}
    text = written(value)
    assert json.loads(text) == value
    assert '\n  {"a": 1},\n  {"a": 2}\n' in text


def test_a_name_in_a_plot_covers_no_point_and_no_other_name() -> None:
    spots = [(100.0, 100.0), (104.0, 101.0), (108.0, 99.0), (112.0, 100.0)]
    taken = [(across - 4, up - 4, across + 4, up + 4) for across, up in spots]
    for spot in spots:
        offset, box = plots.free_place("headroom-ai", spot, taken)
        assert not any(plots.overlap(box, other) for other in taken)
        assert box[:2] == (spot[0] + offset[0], spot[1] + offset[1])
        taken.append(box)
