"""The progress of a report on standard error, and what the whole will come to as far as can be told: in a
terminal a bar with the time left, elsewhere a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.replay.measure.estimate import Guess
from aider_gardener.replay.show.table import short, usd

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

LINE_SECONDS = 10.0
"""How far lines are apart where there is no terminal."""

READ_LINES = 5_000
"""After so many lines read a terminal is told."""


@contextmanager
def watching() -> Iterator[Bar | ProgressLines]:
    """What shows the progress while the block runs."""
    from aider_gardener.tables import Screen

    console = Screen(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(console)
        return
    bar = Bar(console)
    bar.live.start(refresh=True)
    try:
        yield bar
    finally:
        bar.live.stop()


class Bar:
    """A bar that lives at the end of a terminal, and below it the estimate."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text

        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeRemainingColumn(),
        )
        self.task = self.progress.add_task("reading", total=None, unit="")
        self.estimate = Text()
        self.live = Live(console=console, transient=True, refresh_per_second=4, get_renderable=self.shown)

    def shown(self) -> RenderableType:
        from rich.console import Group

        return Group(self.progress, self.estimate) if self.estimate else self.progress

    def reading(self, path: Path, done: int, total: int) -> None:
        if done == total or done // READ_LINES != (done - 1) // READ_LINES:
            name = path.parent.name if path.name.startswith(".") else path.name
            self.progress.update(
                self.task, description=f"reading {name}", completed=done, total=total, unit="lines"
            )

    def read(self, turns: int) -> None:
        self.progress.reset(self.task, description="preparing", total=None, unit="turns")

    def turns(self, done: int, total: int, guesses: Sequence[Guess]) -> None:
        if not done:
            self.progress.reset(self.task, total=total)
            return
        self.progress.update(self.task, description="replaying", completed=done)
        self.estimate.plain = estimate_text(done / total, guesses)

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        """The bar says it already."""


class ProgressLines:
    """Lines in a file or pipe: one when all is read, then one every ten seconds at most, and one for
    each session and variant that is done."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.console, self.clock = console, clock
        self.began = self.last = clock()

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)

    def reading(self, path: Path, done: int, total: int) -> None:
        if self.due():
            self.say(f"reading {path}: line {done:,} of {total:,}")

    def read(self, turns: int) -> None:
        self.say(f"read {turns:,} turns; preparing their replay")
        self.last = self.clock()

    def turns(self, done: int, total: int, guesses: Sequence[Guess]) -> None:
        if not done:
            self.began = self.clock()
        elif self.due():
            left = (self.clock() - self.began) * (total - done) / done
            self.say(f"replayed {done:,} of {total:,} turns under all variants, about {time_text(left)} left")
            if guesses:
                self.say(estimate_text(done / total, guesses))

    def due(self) -> bool:
        """Whether it is time for another line; then the time begins anew."""
        now = self.clock()
        if now - self.last < LINE_SECONDS:
            return False
        self.last = now
        return True

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        self.say(f"replayed {name} under {variant} ({done} of {total})")


def estimate_text(share: float, guesses: Sequence[Guess]) -> str:
    """What all variants will come to, and of how much of it that is a guess; "" without a guess."""
    found = "; ".join(f"{guess.variant} {short(guess.tokens)} tokens, {usd(guess.usd)}" for guess in guesses)
    return f"estimate for the whole, from {100 * share:.0f} % of the turns: {found}" if found else ""


def time_text(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
