"""Makes a report: finds the sessions, replays each under each variant, puts the figures together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from aider_gardener.errors import SessionError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import Report, Summary, fell_back, make_report, summarize
from aider_gardener.replay.play.jobs import Job, replay_job
from aider_gardener.replay.session.grammar import Progress
from aider_gardener.replay.session.history import load_history
from aider_gardener.replay.session.session import Session, load_session

HISTORY_NAME = ".aider.chat.history.md"
RECORDING_NAME = "session.jsonl"

FROM_HISTORY = (
    "{names}: read from a chat history file, which holds neither the files of the chat nor, since aider "
    "0.64, the outputs of commands; what was really sent was larger."
)

FELL_BACK = (
    "{name} under {variant}: the gardener took no part in it, so this row shows the host's own fallback; "
    "run it again, and look into the gardener's log if it stays so."
)


@dataclass(frozen=True)
class Source:
    """A session and where it was read from; `name` is unlike that of every other source."""

    path: Path
    session: Session
    name: str


Look = Callable[[Source, ReplayResult], None]
"""Called with a session and a result of its, texts and swaps included; from any thread."""


class Watcher:
    """Told how far a report is; does nothing by itself. Called from any thread."""

    def reading(self, path: Path, done: int, total: int) -> None:
        """Lines read of a history file."""

    def turns(self, done: int, total: int) -> None:
        """Turns replayed of those of all jobs."""

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        """A job has ended; jobs done of all jobs."""


def find_paths(given: Sequence[Path]) -> list[Path]:
    """The sessions that were meant, each once: a folder may hold a chat history or several recordings.

    UsageError for what doesn't exist or holds no session.
    """
    found: list[Path] = []
    for path in given:
        if not path.exists():
            raise UsageError(
                f"{path}: no such file or folder; give a recorded session folder or an {HISTORY_NAME}"
            )
        found.extend([path] if path.is_file() or (path / RECORDING_NAME).exists() else sessions_in(path))
    return list(dict.fromkeys(path.resolve() for path in found))


def sessions_in(folder: Path) -> list[Path]:
    """The chat history in a folder, else the recordings one level below it."""
    if (folder / HISTORY_NAME).is_file():
        return [folder / HISTORY_NAME]
    below = sorted(child for child in folder.iterdir() if (child / RECORDING_NAME).is_file())
    if not below:
        raise SessionError(
            f"{folder}: holds no {RECORDING_NAME} and no {HISTORY_NAME}; give the folder "
            "of a recorded session or a chat history file"
        )
    return below


def read_sources(paths: Sequence[Path], watcher: Watcher) -> list[Source]:
    """Read all sessions before the first replay begins, so that a bad one costs no time."""
    sources: list[Source] = []
    for path in paths:
        session = read_session(path, partial(watcher.reading, path))
        same = sum(source.session.name == session.name for source in sources)
        sources.append(Source(path, session, f"{session.name} ({same + 1})" if same else session.name))
    return sources


def read_session(path: Path, progress: Progress) -> Session:
    if path.is_file() and path.name != RECORDING_NAME:
        return load_history(path, progress)
    return load_session(path)


def jobs_for(
    sources: Sequence[Source], variants: Sequence[str], **options: Any
) -> Iterator[tuple[Source, Job]]:
    """One job for each session and variant; `options` are fields of Job."""
    for source in sources:
        for variant in variants:
            yield source, Job(path=source.path, variant=variant, **options)


def run_jobs(
    jobs: Sequence[tuple[Source, Job]],
    watcher: Watcher,
    *,
    parallel: int | None = None,
    look: Look | None = None,
) -> Report:
    """Replay all jobs, one per core at a time; the report has them in the order given.

    `look` is shown each result while it still has its texts. The first failure ends it: jobs not begun
    are dropped, and its error is raised.
    """
    turns = TurnCount([source.session.turn_count for source, _ in jobs], watcher)
    pool = ThreadPoolExecutor(parallel or os.cpu_count() or 1)
    try:
        futures: dict[Future[tuple[ReplayResult, Summary]], int] = {}
        for number, (source, job) in enumerate(jobs):
            futures[pool.submit(one_job, source, job, turns.counter(number), look)] = number
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            source, job = jobs[futures[future]]
            watcher.finished(source.name, job.variant, done, len(jobs))
        found = [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return make_report(found, notes([source for source, _ in jobs], [result for result, _ in found]))


def one_job(
    source: Source, job: Job, progress: Progress, look: Look | None = None
) -> tuple[ReplayResult, Summary]:
    """Replay and sum up; the texts of the prompts are let go afterwards."""
    result = replay_job(job, lambda _path, _variant, done, total: progress(done, total))
    result = replace(result, session=source.name)
    summary = summarize(result, source.session)
    if look is not None:
        look(source, result)
    return replace(result, texts={}, swaps=()), summary


class TurnCount:
    """Adds up the turns that several jobs have done."""

    def __init__(self, turns: Sequence[int], watcher: Watcher) -> None:
        self.total = sum(turns)
        self.done = [0] * len(turns)
        self.watcher = watcher

    def counter(self, number: int) -> Progress:
        def count(done: int, _total: int) -> None:
            self.done[number] = done
            self.watcher.turns(sum(self.done), self.total)

        return count


def notes(sources: Sequence[Source], results: Sequence[ReplayResult]) -> list[str]:
    """What a reader must know about these very sessions."""
    lines = []
    histories = list(dict.fromkeys(source.name for source in sources if not source.session.recorded))
    if histories:
        lines.append(FROM_HISTORY.format(names=", ".join(histories)))
    lines += [FELL_BACK.format(name=one.session, variant=one.variant) for one in results if fell_back(one)]
    for name in dict.fromkeys(source.name for source in sources):
        own = [result for result in results if result.session == name and result.notices]
        if own:
            most = max(own, key=lambda result: len(result.notices))
            more = f" and {len(most.notices) - 1} more, in the JSON" if len(most.notices) > 1 else ""
            lines.append(f"{name} under {most.variant}: {most.notices[0]}{more}")
    return lines
