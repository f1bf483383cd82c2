"""When the prompts of all sides count as the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import patches_replay
import pytest
from patches_replay import SIDES, Side

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
