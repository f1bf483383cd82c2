"""The progress of a report on standard error: in a terminal a bar, elsewhere a line for each replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aider_gardener.replay.measure.result import ReplayResult


@contextmanager
def progress(turns: int) -> Iterator[tuple[Callable[[], None], Callable[[ReplayResult], None]]]:
    """What is to be called after each of so many turns, those of all replays together, and after each replay.

    How long it will take is not said: the first turns of a chat are much shorter than the last.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from aider_gardener.tables import Screen

    console = Screen(stderr=True)

    def say(text: str) -> None:
        if not console.is_terminal:
            console.print(text, highlight=False, soft_wrap=True)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("turns replayed", total=turns)
        say(f"replaying {turns:,} turns, those of all variants together")
        yield (
            lambda: bar.advance(task),
            lambda result: say(f"replayed {result.session} under {result.variant}"),
        )
