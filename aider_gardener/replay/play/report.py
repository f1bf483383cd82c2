"""Which sessions `gardener replay` is to play, and what a reader must know about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aider_gardener.errors import UsageError
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

    UsageError for what holds none.
    """
    found: list[Path] = []
    for path in given:
        if path.is_file() or (path / RECORDING_NAME).exists():
            sessions = [path]
        elif (path / HISTORY_NAME).is_file():
            sessions = [path / HISTORY_NAME]
        else:
            sessions = [recording.parent for recording in sorted(path.glob(f"*/{RECORDING_NAME}"))]
        if not sessions:
            why = "holds no session" if path.exists() else "no such file or folder"
            what = f"the folder of a recorded session, with its {RECORDING_NAME}, an {HISTORY_NAME}"
            raise UsageError(f"{path}: {why}; give {what} or a .jsonl of Claude Code")
        found += sessions
    return list(dict.fromkeys(path.resolve() for path in found))


def read_sessions(paths: Sequence[Path]) -> list[Session]:
    """Read all sessions before the first replay begins, so that a bad one costs no time; each has a name of
    its own."""
    sessions: list[Session] = []
    counts: Counter[str] = Counter()
    for path in paths:
        session = load_session(path)
        counts[session.name] += 1
        if (count := counts[session.name]) > 1:
            session = replace(session, name=f"{session.name} ({count})")
        sessions.append(session)
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
