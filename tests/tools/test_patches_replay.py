"""When the prompts of both sides count as the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import patches_replay
import pytest


@pytest.mark.parametrize(
    ("installed", "patched", "status"),
    [
        ({"1-1.json": "[1]"}, {"1-1.json": "[1]"}, 0),
        ({"1-1.json": "[1]"}, {"1-1.json": "[2]"}, 1),
        ({"1-1.json": "[1]", "2-1.json": "[1]"}, {"1-1.json": "[1]"}, 1),
        ({}, {}, 1),
    ],
    ids=["the same", "another text", "one is missing", "nothing was replayed"],
)
def test_prompts_are_compared_byte_by_byte(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    installed: dict[str, str],
    patched: dict[str, str],
    status: int,
) -> None:
    made = {"installed": installed, "patched": patched}
    recorded: dict[str, Any] = {}

    def run(side: str, _tree: Path, dump: Path, session: str) -> None:
        for name, text in made[side].items():
            (dump / session).mkdir(parents=True, exist_ok=True)
            (dump / session / name).write_text(text, "utf-8")

    monkeypatch.setattr(patches_replay, "run", run)
    monkeypatch.setattr(patches_replay, "make_tree", lambda _series, folder, _side: folder)
    monkeypatch.setattr(patches_replay, "record", recorded.__setitem__)
    assert patches_replay.compare(tmp_path, ["a-session"]) == status
    assert (recorded["replay"]["different"] == 0) == (installed == patched)
