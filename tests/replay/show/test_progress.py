"""Progress on standard error: a bar in a terminal, a line for each replay elsewhere, no guess of the time."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from aider_gardener.replay.show.progress import Bar


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_bar_and_a_pipe_lines(terminal: bool) -> None:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=80)
    with Progress(MofNCompleteColumn(), console=console, disable=not terminal) as progress:
        bar = Bar(progress)
        bar.begin(3_000)
        bar.turn()
        bar.finished("shop", "stock")
    lines = ["replaying 3,000 turns, those of all variants together", "replayed shop under stock"]
    assert ("1/3000" in out.getvalue()) is terminal
    assert (out.getvalue().splitlines() == lines) is not terminal
