"""Which sessions `gardener replay` is to play, and what a reader must know about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aider_gardener.errors import SessionError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session

HISTORY_NAME = ".aider.chat.history.md"
RECORDING_NAME = "session.jsonl"

FROM_HISTORY = (
    "{names}: read from a chat history file, which holds neither the files of the chat nor the outputs of "
    "commands; what was really sent was larger."
)


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


def notes(jobs: Sequence[Job], results: Sequence[ReplayResult]) -> list[str]:
    """What a reader must know about these very sessions."""
    histories = dict.fromkeys(job.session.name for job in jobs if not job.session.recorded)
    lines = [FROM_HISTORY.format(names=", ".join(histories))] if histories else []
    for name in dict.fromkeys(result.session for result in results):
        own = [result for result in results if result.session == name and result.notices]
        if own:
            most = max(own, key=lambda result: len(result.notices))
            more = f" and {len(most.notices) - 1} more, in the JSON" if len(most.notices) > 1 else ""
            lines.append(f"{name} under {most.variant}: {most.notices[0]}{more}")
    return lines
