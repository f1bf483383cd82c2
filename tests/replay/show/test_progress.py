"""Progress on standard error: a line for each replay where there is no terminal."""

from __future__ import annotations

import pytest
from made_replays import made_result

from aider_gardener.replay.show.progress import progress


def test_a_pipe_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(3_000) as (on_turn, on_result):
        on_turn()
        on_result(made_result())
    lines = ["replaying 3,000 turns, those of all variants together", "replayed shop under stock"]
    assert capsys.readouterr().err.splitlines() == lines
