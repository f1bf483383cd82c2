"""Progress on standard error: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from aider_gardener.replay.show.progress import Bar, ProgressLines, time_text


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_pipe_gets_a_line_at_once_and_then_one_every_ten_seconds_at_most() -> None:
    out, clock = StringIO(), Clock()
    lines = ProgressLines(Console(file=out, width=80), clock)
    lines.reading(Path("h.md"), 1, 10)
    lines.begin(3_000)
    clock.now = 100  # so long the first process takes to begin
    lines.turns(1)
    for second in range(1, 26):
        clock.now = 100 + second
        lines.turns(second * 10)
    lines.finished("shop", "stock")
    assert out.getvalue().splitlines() == [
        "replaying 3,000 turns, those of all variants together",
        "replayed 100 of 3,000 turns, about 5 min left",
        "replayed 200 of 3,000 turns, about 5 min left",
        "replayed shop under stock",
    ]


def test_a_long_reading_is_told_of_too() -> None:
    out, clock = StringIO(), Clock()
    lines = ProgressLines(Console(file=out), clock)
    clock.now = 11
    lines.reading(Path("h.md"), 1_000, 3_000)
    assert out.getvalue() == "reading h.md: line 1,000 of 3,000\n"


def test_a_terminal_shows_lines_read_and_then_turns() -> None:
    progress = Progress(console=Console(file=StringIO()))
    bar = Bar(progress)
    (task,) = progress.tasks
    bar.reading(Path("project/.aider.chat.history.md"), 4, 10)
    assert (task.description, task.completed, task.total) == ("reading", 4, 10)
    bar.begin(3_000)
    bar.turns(60)
    assert (task.description, task.completed, task.total) == ("turns replayed", 60, 3_000)


def test_times_are_said_in_seconds_or_minutes() -> None:
    assert (time_text(89), time_text(90), time_text(400)) == ("89 s", "2 min", "7 min")
