"""The progress of a report on standard error: in a terminal a bar with the time left, elsewhere a line now
and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

LINE_SECONDS = 10.0
"""How far lines are apart where there is no terminal."""


@contextmanager
def watching() -> Iterator[Bar | ProgressLines]:
    """What shows the progress while the block runs."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from aider_gardener.tables import Screen

    console = Screen(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
        yield Bar(progress)


class Bar:
    """A bar that lives at the end of a terminal: lines of histories that are read, then turns."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task = progress.add_task("reading", total=None)

    def reading(self, path: Path, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total)

    def begin(self, turns: int) -> None:
        self.progress.reset(self.task, description="turns replayed", total=turns)

    def turns(self, done: int) -> None:
        self.progress.update(self.task, completed=done)

    def finished(self, name: str, variant: str) -> None:
        """The bar says it already."""


class ProgressLines:
    """Lines in a file or pipe: one when all is read, then one every ten seconds at most, and one for
    each session and variant that is done."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.console, self.clock = console, clock
        self.began = self.last = clock()
        self.total = 0

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)

    def reading(self, path: Path, done: int, total: int) -> None:
        if self.due():
            self.say(f"reading {path}: line {done:,} of {total:,}")

    def begin(self, turns: int) -> None:
        self.say(f"replaying {turns:,} turns, those of all variants together")
        self.began = self.last = self.clock()
        self.total = turns

    def turns(self, done: int) -> None:
        if done == 1:  # the first process has begun, which takes as long as many turns
            self.began = self.last = self.clock()
        elif self.due():
            left = (self.clock() - self.began) * (self.total - done) / (done - 1)
            self.say(f"replayed {done:,} of {self.total:,} turns, about {time_text(left)} left")

    def due(self) -> bool:
        """Whether it is time for another line; then the time begins anew."""
        now = self.clock()
        if now - self.last < LINE_SECONDS:
            return False
        self.last = now
        return True

    def finished(self, name: str, variant: str) -> None:
        self.say(f"replayed {name} under {variant}")


def time_text(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
