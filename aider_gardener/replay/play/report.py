"""Replays sessions under several variants and puts the results together: what `gardener replay` does.

Long chat histories are replayed in parts, and without vectors.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from aider_gardener.errors import ReplayError, SessionError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, fell_back, make_report
from aider_gardener.replay.play.jobs import Job, replay_job
from aider_gardener.replay.play.parts import chars_of_turns, joined, parts
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session

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

LONG_CHARS = 1_000_000
"""From this size on the vectors of a history's passages take about as long as everything else together."""

BY_WORDS = (
    "{names}: a long history, so recall went by words alone; "
    "--variant stock,stock-fixed,gardener+embedder=use takes longer and recalls by meaning too."
)


class Watcher(Protocol):
    """Told how far a report is, from any thread."""

    def reading(self, path: Path, done: int, total: int) -> None:
        """Lines read of a history file."""

    def begin(self, turns: int) -> None:
        """All sessions were read; how many turns will be replayed under all variants."""

    def turns(self, done: int) -> None:
        """Turns replayed so far."""

    def finished(self, name: str, variant: str) -> None:
        """A session was replayed under a variant."""


@dataclass(frozen=True)
class Task:
    """A session, or a part of it, under a variant."""

    part: int
    job: Job

    @property
    def replay(self) -> tuple[str, str]:
        """The session and the variant."""
        return self.job.session.name, self.job.variant


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
    if not folder.is_dir():
        raise SessionError(f"{folder}: is no regular file and no folder; give a recording or a chat history")
    if (folder / HISTORY_NAME).is_file():
        return [folder / HISTORY_NAME]
    below = sorted(child for child in folder.iterdir() if (child / RECORDING_NAME).is_file())
    if not below:
        raise SessionError(
            f"{folder}: holds no {RECORDING_NAME} and no {HISTORY_NAME}; give the folder "
            "of a recorded session or a chat history file"
        )
    return below


def read_sessions(paths: Sequence[Path], watcher: Watcher) -> list[Session]:
    """Read all sessions before the first replay begins, so that a bad one costs no time; each has a name of
    its own."""
    sessions: list[Session] = []
    counts: dict[str, int] = {}
    for path in paths:
        session = load_session(path, partial(watcher.reading, path))
        count = counts[session.name] = counts.get(session.name, 0) + 1
        sessions.append(session if count == 1 else replace(session, name=f"{session.name} ({count})"))
    return sessions


def tasks_for(sessions: Sequence[Session], variants: Sequence[str], **options: Any) -> list[Task]:
    """A task for each session and variant, or for each part of a long history; `options` are fields of Job.

    A history stays whole where the gardener may bring back what an earlier chat said, and where it has probes
    or summaries.
    """
    tasks = []
    for session in sessions:
        pieces = [session] if session.probes or session.summaries else parts(session)
        for variant in variants:
            given = {**options, **without_embedder(session, variant)}
            for number, piece in enumerate([session] if reaches_back(variant) else pieces):
                tasks.append(Task(number, Job(piece, variant, **given)))
    return tasks


def reaches_back(variant: str) -> bool:
    """Whether a chat under this variant may hold what an earlier one said."""
    settings = variant_named(variant).settings or {}
    return bool(settings.get("recall_sessions") or settings.get("resume"))


def without_embedder(session: Session, variant: str) -> Mapping[str, Any]:
    """The settings that leave vectors out, for a long history; a variant that names an embedder keeps it."""
    settings = variant_named(variant).settings
    long = not session.recorded and sum(chars_of_turns(session)) >= LONG_CHARS
    return (
        {"settings": {"embedder": "none"}}
        if long and settings is not None and "embedder" not in settings
        else {}
    )


def run_tasks(tasks: Sequence[Task], watcher: Watcher) -> ReplayReport:
    """Replay all tasks, one per core at a time; the report has them in the order given, parts joined.

    The first failure ends it: tasks not begun are dropped, and its error is raised. After a KeyboardInterrupt
    the report has what was finished under every variant and says so (`stopped`); it is raised where that is
    nothing.
    """
    found: dict[int, ReplayResult] = {}
    turns = _Turns(watcher)
    watcher.begin(sum(turns_of(task.job.session) for task in tasks))
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        futures: dict[Future[ReplayResult], int] = {
            pool.submit(replay_job, tasks[number].job, turns.one_more): number for number in in_turn(tasks)
        }
        for future in as_completed(futures):
            number = futures[future]
            found[number] = future.result()
            if all(at in found for at, task in enumerate(tasks) if task.replay == tasks[number].replay):
                watcher.finished(*tasks[number].replay)
    except KeyboardInterrupt:
        turns.stopped = True
        found = done_under_all(tasks, found)
        if not found:
            raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return report_of(tasks, found, how_far(tasks, found) if turns.stopped else "")


def in_turn(tasks: Sequence[Task]) -> list[int]:
    """The numbers of the tasks as they are begun: session by session and part by part, of each first a
    gardener, which takes longest."""
    names = list(dict.fromkeys(task.replay[0] for task in tasks))

    def place(number: int) -> tuple[int, int, bool]:
        task = tasks[number]
        return names.index(task.replay[0]), task.part, variant_named(task.job.variant).settings is None

    return sorted(range(len(tasks)), key=place)


def turns_of(session: Session) -> int:
    return session.turn_count - session.first_turn + 1


class _Turns:
    """Counts the turns of all tasks; `stopped` ends the replays that are running."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.done = 0
        self.stopped = False
        self.lock = Lock()

    def one_more(self) -> None:
        if self.stopped:
            raise ReplayError("stopped")
        with self.lock:
            self.done += 1
            self.watcher.turns(self.done)


def done_under_all(tasks: Sequence[Task], found: Mapping[int, ReplayResult]) -> dict[int, ReplayResult]:
    """Of what was found the sessions, or parts of them, that were replayed under every variant."""
    variants = len({task.job.variant for task in tasks})
    times = Counter(_piece(tasks[number]) for number in found)
    return {number: one for number, one in found.items() if times[_piece(tasks[number])] == variants}


def _piece(task: Task) -> tuple[str, int, int]:
    session = task.job.session
    return session.name, session.first_turn, session.turn_count


def how_far(tasks: Sequence[Task], numbers: Iterable[int]) -> str:
    """How many turns of all sessions these tasks are, in words."""
    done, every = ({_piece(tasks[number]) for number in some} for some in (numbers, range(len(tasks))))
    turns, of = (sum(last - first + 1 for _, first, last in pieces) for pieces in (done, every))
    return f"stopped after {turns:,} of {of:,} turns"


def report_of(tasks: Sequence[Task], found: Mapping[int, ReplayResult], stopped: str) -> ReplayReport:
    """The report of the tasks that were found, the parts of a session joined, in the order of the
    variants."""
    pieces: dict[tuple[str, str], list[ReplayResult]] = {}
    for number in sorted(found):
        pieces.setdefault(tasks[number].replay, []).append(found[number])
    results = [joined(of) for of in pieces.values()]
    jobs = [tasks[number].job for number in sorted(found)]
    return make_report(results, notes(jobs, results), stopped)


def notes(jobs: Sequence[Job], results: Sequence[ReplayResult]) -> list[str]:
    """What a reader must know about these very sessions."""
    lines = []
    for text, told in (
        (FROM_HISTORY, [job for job in jobs if not job.session.recorded]),
        (BY_WORDS, [job for job in jobs if job.settings.get("embedder") == "none"]),
    ):
        if told:
            lines.append(text.format(names=", ".join(dict.fromkeys(job.session.name for job in told))))
    lines += [FELL_BACK.format(name=one.session, variant=one.variant) for one in results if fell_back(one)]
    for name in dict.fromkeys(result.session for result in results):
        own = [result for result in results if result.session == name and result.notices]
        if own:
            most = max(own, key=lambda result: len(result.notices))
            more = f" and {len(most.notices) - 1} more, in the JSON" if len(most.notices) > 1 else ""
            lines.append(f"{name} under {most.variant}: {most.notices[0]}{more}")
    return lines
