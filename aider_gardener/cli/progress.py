"""Progress of a replay on standard error, drawn with rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.replay.play.jobs import Watcher

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


@contextmanager
def watching() -> Iterator[Watcher]:
    """Progress on standard error: a bar with the time left in a terminal, else a line a job."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("turns"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield Shown(bar, console)


class Shown(Watcher):
    """Shows progress with rich."""

    def __init__(self, bar: RichProgress, console: Console) -> None:
        self.bar = bar
        self.console = console
        self.task: TaskID | None = None

    def update(self, description: str, done: int, total: int) -> None:
        if self.task is None:
            self.task = self.bar.add_task(description, total=total)
        self.bar.update(self.task, description=description, completed=done, total=total)

    def reading(self, path: Path, done: int, total: int) -> None:
        if done == total or done % 50 == 0:
            self.update(f"reading {path.name}", done, total)

    def turns(self, done: int, total: int) -> None:
        self.update("replaying", done, total)

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        if not self.console.is_terminal:
            self.console.print(f"replayed {name} under {variant} ({done} of {total})", highlight=False)
