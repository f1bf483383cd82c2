"""When the prompts of all sides count as the same."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import patches_replay
import pytest
from patches_replay import SIDES, Side, with_entry_points

ONE, OTHER = {"1-1.json": "[1]"}, {"1-1.json": "[2]"}


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 0),
        ({"interface": OTHER}, 1),
        ({"fewer": OTHER}, 1),
        ({"provider": {**ONE, "2-1.json": "[1]"}}, 1),
        ({"provider": {}}, 1),
        ({side.name: {} for side in SIDES}, 1),
    ],
    ids=["the same", "aider's own differ", "another text", "one more", "one is missing", "nothing replayed"],
)
def test_prompts_are_compared_byte_by_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], status: int
) -> None:
    recorded: dict[str, Any] = {}

    def run(side: Side, _tree: Path, dump: Path, session: str) -> int:
        for name, text in changed.get(side.name, ONE).items():
            (dump / session).mkdir(parents=True, exist_ok=True)
            (dump / session / name).write_text(text, "utf-8")
        return 7

    monkeypatch.setattr(patches_replay, "run", run)
    monkeypatch.setattr(patches_replay, "make_tree", lambda _series, folder, _side: folder)
    monkeypatch.setattr(patches_replay, "record", recorded.__setitem__)
    assert patches_replay.compare(tmp_path, ["a-session"]) == status
    rows = recorded["replay"]["sides"]
    assert any(row["different"] for row in rows.values()) == (0 < len(changed) < len(SIDES))
    assert {row["seams"] for row in rows.values()} == {7}


def test_each_side_is_compared_with_one_before_it() -> None:
    names = [side.name for side in SIDES]
    assert all(not side.as_in or names.index(side.as_in) < at for at, side in enumerate(SIDES))


def test_the_entry_point_is_found_as_it_is_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import entry_points

    monkeypatch.syspath_prepend(str(with_entry_points(tmp_path)))
    from aider_gardener.adapters.aider.history import make

    assert entry_points(group="aider.history_providers")["gardener"].load() is make


def test_a_side_says_how_many_seams_were_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def finished(command: list[str], **options: Any) -> Any:
        commands.append(command)
        (Path(command[-1]).parent / "seams").write_text("12", "utf-8")
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(patches_replay.subprocess, "run", finished)
    tree = tmp_path / "fewer" / "aider"
    assert patches_replay.run(SIDES[3], tree, tmp_path / "dump", patches_replay.SESSIONS[0]) == 12
    assert pickle.loads(Path(commands[0][-1]).read_bytes()).variant == "gardener"
