"""Several recorded sessions as one chat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from aider_gardener.errors import SessionError
from aider_gardener.replay.session.session import Session, Stage


def chained(sessions: Sequence[Session]) -> Session:
    """One session of all turns, numbered through; between two of them tree and chat files are swapped,
    while the chat goes on. A probe stays with its own session's turns.

    Recorded summaries follow one another, though a real model would have summarised otherwise.
    """
    if not sessions:
        raise SessionError("a chain needs at least one session")
    if len(sessions) > 1 and any(session.repo0 is None for session in sessions):
        raise SessionError("only recorded session folders with a repo0 can be chained")
    first = sessions[0]
    if len(sessions) == 1:
        return first
    events, probes, stages, offset = [], [], [], 0
    for session in sessions:
        events += [replace(event, turn=event.turn + offset) for event in session.events]
        probes += [
            replace(probe, about_turn=probe.about_turn + offset, ask_at_turn=probe.ask_at_turn + offset)
            for probe in session.probes
        ]
        stages.append(stage_of(session, offset + 1))
        offset += session.turn_count
    return replace(
        first,
        name="+".join(session.name for session in sessions),
        events=tuple(events),
        sha256=hashlib.sha256("".join(session.sha256 for session in sessions).encode()).hexdigest(),
        probes=tuple(probes),
        summaries=tuple(text for session in sessions for text in session.summaries),
        stages=tuple(stages),
    )


def stage_of(session: Session, first_turn: int) -> Stage:
    """Where a session begins within a chain."""
    return Stage(
        first_turn=first_turn,
        repo0=session.repo0,
        files=session.files,
        edit_format=session.edit_format,
        auto_lint=session.auto_lint,
        test_cmd=session.test_cmd,
    )
