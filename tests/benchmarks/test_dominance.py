"""The gardener beside the host: halves, goals, sums, and a run that goes on where it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import dominance_table
import pytest

from bench import dominance, plain
from bench.goals import CHOSEN_ON, HELD_OUT, PRICES, VARIANTS, misses
from bench.grid import run
from bench.grid.cells import Cell

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


def of(
    supported: int = 10, facts: int = 5, lines: int = 5, usd: float = 1.0, **prices: list[float]
) -> dict[str, Any]:
    own = {name: [usd, usd] for name in PRICES} | {
        name.replace("_", " "): pair for name, pair in prices.items()
    }
    return {
        "supported": [supported, 40], "facts": [facts, 9], "lines": [lines, 9], "tokens_billed": 1000, "usd": own,
    }  # fmt: skip


def row(name: str = "a", half: str = "", kind: str = "session", **gardener: Any) -> dict[str, Any]:
    variants = {"gardener": of(**gardener), "stock-fixed": of(), "stock": of()}
    return {"kind": kind, "session": name, "half": half, "model": "gpt-4o", "variants": variants}


def test_as_good_as_the_host_misses_nothing() -> None:
    assert misses(row()["variants"]) == set()
    assert misses(row(usd=0.5, facts=6)["variants"]) == set()


@pytest.mark.parametrize(
    ("worse", "missed"),
    [
        ({"facts": 4}, {"facts"}),
        ({"lines": 4}, {"lines"}),
        ({"supported": 9}, {"supported"}),
        ({"OpenAI": [1.0, 1.001]}, {"OpenAI uncached"}),
        ({"DeepSeek": [1.001, 1.0]}, {"DeepSeek cached"}),
        ({"usd": 1.1}, {f"{name} {kept}" for name in PRICES for kept in ("cached", "uncached")}),
    ],
)
def test_each_figure_that_is_worse_is_a_miss(worse: dict[str, Any], missed: set[str]) -> None:
    assert misses(row(**worse)["variants"]) == missed


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two recorded sessions, one of them of a model with a small window, whose results are elsewhere."""
    recorded = tmp_path / "recorded_sessions"
    shutil.copytree(MINI, recorded / "mini")
    shutil.copytree(MINI, recorded / "small")
    log = recorded / "small" / "session.jsonl"
    meta, rest = log.read_text("utf-8").split("\n", 1)
    small = {**json.loads(meta), "name": "small", "model_limits": "deepinfra/microsoft/phi-4"}
    log.write_text(f"{json.dumps(small)}\n{rest}", "utf-8")
    monkeypatch.setattr(dominance, "RECORDED", recorded)
    monkeypatch.setattr(dominance, "RESULTS", tmp_path / "results" / "dominance.json")
    monkeypatch.setattr(dominance, "CHATS", tmp_path / "plain")
    monkeypatch.setattr(run, "KEPT", tmp_path / "cells")
    return tmp_path


def replayed(cell: Cell, advance: Any) -> float:
    """Keeps a cell as a replay would, with figures that are made up."""
    figures = {
        "recall": [4, 4, 3], "carry_over": [2, 3], "carry_lines": [0, 1], "tokens_billed": cell.turns,
        "usd": {name: [1.0, 2.0] for name in PRICES},
    }  # fmt: skip
    notices = ["a placeholder stood in for what was not recorded: 2 summary answers", "another"]
    place = run.place(cell)
    place.parent.mkdir(parents=True, exist_ok=True)
    value = {
        "key": cell.key,
        "seconds": 1.0,
        "provenance": {"aider": "0.86.2", "model": "x"},
        "notices": notices,
        "row": figures,
    }
    place.write_text(json.dumps(value), "utf-8")
    return 1.0


def test_all_kinds_of_rows_are_measured_kept_and_printed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "run_cell", replayed)
    monkeypatch.setattr(plain, "plain_summaries", lambda *_: [])
    assert dominance.main(["--parallel", "2"]) == 0
    value = json.loads((project / "results" / "dominance.json").read_text("utf-8"))
    found = [(row["kind"], row["session"], row["half"], row["model"]) for row in value["rows"]]
    phi = "deepinfra/microsoft/phi-4"
    assert found == [
        ("session", "mini", CHOSEN_ON, "gpt-4o"), ("session", "small", HELD_OUT, phi),
        ("chain", "2 sessions", "", "gpt-4o"),
        ("plain", "mini", CHOSEN_ON, "gpt-4o"), ("plain", "small", HELD_OUT, phi),
    ]  # fmt: skip
    assert all(set(row["variants"]) == set(VARIANTS) for row in value["rows"])
    assert value["missing"] == [] and value["provenance"] == {"aider": "0.86.2"}
    notes = [note for row in value["rows"] for note in row["notes"]]
    assert len(notes) == 5 and notes[-1].startswith("small as a plain chat, stock-fixed: a placeholder")
    assert (project / "cells" / "small" / "gardener@deepinfra-microsoft-phi-4@default.json").is_file()
    shown = "\n".join(dominance_table.dominance(value))
    recorded, _, plain_chats = shown.partition("### Sessions as plain chats")
    assert (
        "mini" in recorded and "mini" not in plain_chats.partition("|\n\n")[0] and "1 together" in plain_chats
    )
    assert "marks a cell that misses its goal" in shown
    monkeypatch.setattr(run, "run_cell", lambda *_: pytest.fail("a finished replay was run again"))
    assert dominance.main(["--parallel", "2"]) == 0
    assert "0 of 15 replays to run" in capsys.readouterr().err
    shutil.rmtree(project / "cells")
    assert dominance.main(["--list"]) == 0
    assert "up to date" in capsys.readouterr().out, "the results know on what each row depends"
    before = json.loads(dominance.RESULTS.read_text("utf-8"))
    for one in before["rows"]:
        one["keys"]["gardener"] = "of other code"
    dominance.RESULTS.write_text(json.dumps(before), "utf-8")
    assert dominance.main(["--list"]) == 0
    out, err = capsys.readouterr()
    assert "15 of 15 replays to run" in err and "mini/gardener@default" in out
