"""The progress of a report on standard error: in a terminal a bar, elsewhere a line for each replay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def watching() -> Iterator[Bar]:
    """What shows the progress while the block runs. How long it will take is not said: the first turns of a
    chat are much shorter than the last."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from aider_gardener.tables import Screen

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Screen(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bar(progress)


class Bar:
    """The turns of all replays together, on a rich Progress; without a terminal lines instead."""

    def __init__(self, progress: Any) -> None:
        self.progress = progress

    def begin(self, turns: int) -> None:
        self.say(f"replaying {turns:,} turns, those of all variants together")
        self.task = self.progress.add_task("turns replayed", total=turns)

    def turn(self) -> None:
        self.progress.advance(self.task)

    def finished(self, name: str, variant: str) -> None:
        self.say(f"replayed {name} under {variant}")

    def say(self, text: str) -> None:
        if not self.progress.console.is_terminal:
            self.progress.console.print(text, highlight=False, soft_wrap=True)
