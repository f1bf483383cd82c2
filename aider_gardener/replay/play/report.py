"""Replays sessions under several variants and puts the results together: what `gardener replay` does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from aider_gardener.errors import SessionError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, fell_back, make_report
from aider_gardener.replay.play.jobs import Job, as_replayed
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

    def begin(self, turns: int) -> None:
        """All sessions were read; how many turns will be replayed under all variants."""

    def turn(self) -> None:
        """A turn was replayed."""

    def finished(self, name: str, variant: str) -> None:
        """A session was replayed under a variant."""


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


def read_sessions(paths: Sequence[Path]) -> list[Session]:
    """Read all sessions before the first replay begins, so that a bad one costs no time; each has a name of
    its own."""
    sessions: list[Session] = []
    counts: Counter[str] = Counter()
    for path in paths:
        session = load_session(path)
        counts[session.name] += 1
        count = counts[session.name]
        sessions.append(session if count == 1 else replace(session, name=f"{session.name} ({count})"))
    return sessions


def jobs_for(session: Session, variants: Sequence[str], **options: Any) -> list[Job]:
    """A job of a session for each variant; `options` are fields of Job."""
    return [
        Job(session, variant, settings=without_embedder(session, variant), **options) for variant in variants
    ]


def without_embedder(session: Session, variant: str) -> Mapping[str, Any]:
    """The settings that leave vectors out, for a long history; a variant that names an embedder keeps it."""
    settings = variant_named(variant).settings
    if session.recorded or settings is None or "embedder" in settings:
        return {}
    chars = sum(len(event.text) + len(event.output) for event in session.events)
    return {"embedder": "none"} if chars >= LONG_CHARS else {}


def run_jobs(jobs: Sequence[Job], watcher: Watcher) -> ReplayReport:
    """Replay all jobs; the report has them in the order given.

    The first failure ends it. After a KeyboardInterrupt the report has the sessions that were finished under
    every variant and says so (`stopped`); it is raised where there is none.
    """
    found: dict[int, ReplayResult] = {}
    stopped = ""
    watcher.begin(sum(job.session.turn_count for job in jobs))
    try:
        for number, result in as_replayed(jobs, watcher.turn):
            found[number] = result
            watcher.finished(result.session, result.variant)
    except KeyboardInterrupt:
        times, done = (Counter(jobs[at].session.name for at in some) for some in (range(len(jobs)), found))
        whole = {name for name in times if times[name] == done[name]}
        found = {at: result for at, result in found.items() if result.session in whole}
        if not found:
            raise
        stopped = f"stopped after {len(whole)} of {len(times)} chats"
    results = [found[number] for number in sorted(found)]
    return make_report(results, notes([jobs[number] for number in sorted(found)], results), stopped)


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
