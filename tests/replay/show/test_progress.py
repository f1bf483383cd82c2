"""Progress on standard error: a bar and an estimate in a terminal, a line now and then elsewhere."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from rich.console import Console

from aider_gardener.replay.measure.estimate import Guess
from aider_gardener.replay.show.progress import Bar, ProgressLines, estimate_text, time_text

GUESSES = [Guess("stock", 128_200_000, 187.2), Guess("gardener", 55_220_000, 0.5)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_pipe_gets_a_line_at_once_and_then_one_every_ten_seconds_at_most() -> None:
    out, clock = StringIO(), Clock()
    lines = ProgressLines(Console(file=out, width=80), clock)
    lines.reading(Path("h.md"), 1, 10)
    lines.read(1_000)
    lines.turns(0, 3_000, ())
    for second in range(1, 26):
        clock.now = second
        lines.turns(second * 10, 3_000, GUESSES)
    lines.finished("shop", "stock", 1, 2)
    said = out.getvalue().splitlines()
    assert said[0] == "read 1,000 turns; preparing their replay"
    assert [line for line in said if line.startswith("replayed ")] == [
        "replayed 100 of 3,000 turns under all variants, about 5 min left",
        "replayed 200 of 3,000 turns under all variants, about 5 min left",
        "replayed shop under stock (1 of 2)",
    ]
    assert sum("estimate" in line for line in said) == 2


def test_a_long_reading_is_told_of_too() -> None:
    out, clock = StringIO(), Clock()
    lines = ProgressLines(Console(file=out), clock)
    clock.now = 11
    lines.reading(Path("h.md"), 1_000, 3_000)
    assert out.getvalue() == "reading h.md: line 1,000 of 3,000\n"


def test_a_terminal_shows_the_count_and_below_it_the_estimate() -> None:
    console = Console(file=StringIO(), width=120, force_terminal=True, color_system=None)
    bar = Bar(console)

    def shown() -> str:
        with console.capture() as captured:
            console.print(bar.shown())
        return captured.get()

    assert "reading" in shown()
    bar.reading(Path("project/.aider.chat.history.md"), 10, 10)
    assert "reading project" in shown() and "10/10" in shown()
    bar.read(1_000)
    assert "preparing" in shown()
    bar.turns(0, 3_000, ())
    bar.turns(60, 3_000, GUESSES)
    first, second = shown().splitlines()[:2]
    assert "replaying" in first and "60/3000" in first and "turns" in first
    assert second.startswith("estimate for the whole, from 2 % of the turns: stock 128.2M tokens, $187.20")


def test_words() -> None:
    assert estimate_text(0.5, ()) == ""
    assert estimate_text(0.5, GUESSES[1:]).endswith(": gardener 55.2M tokens, $0.500")
    assert (time_text(89), time_text(90), time_text(400)) == ("89 s", "2 min", "7 min")
