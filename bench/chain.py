"""Several recorded sessions as one chat. A job that replays one imports this module."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

from aider_gardener.errors import SessionError
from aider_gardener.replay.play.runner import Runner
from aider_gardener.replay.play.sandbox import copy_tree, git
from aider_gardener.replay.session.session import Session


@dataclass(frozen=True)
class Stage:
    """Where in a chain another session begins: its tree, chat files and options, while the chat goes on."""

    first_turn: int
    repo0: Path | None
    files: tuple[str, ...]
    edit_format: str
    auto_lint: bool
    test_cmd: str


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
        meta={**first.meta, "stages": stages},
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


def enter_stage(coder: Any, stage: Stage, root: Path) -> Any:
    """The coder of the next session: another tree and other files, the same chat."""
    from aider.coders.base_coder import Coder

    swap_tree(root, stage.repo0)
    return Coder.create(
        io=coder.io,
        from_coder=coder,
        edit_format=stage.edit_format,
        summarize_from_coder=False,
        fnames=[str(root / name) for name in stage.files if (root / name).is_file()],
        read_only_fnames=[],
        ignore_mentions=set(),
        auto_lint=stage.auto_lint,
        test_cmd=stage.test_cmd or None,
    )


def swap_tree(root: Path, repo0: Path | None) -> None:
    """Replace all tracked files of the repository by another tree, in one commit."""
    if git(root, "ls-files").strip():
        git(root, "rm", "-r", "--quiet", "--force", ".")
    root.mkdir(exist_ok=True)
    if repo0 is not None:
        copy_tree(repo0, root)
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "the next session's tree")


def entering(begin_turn: Any) -> Any:
    """A runner's `begin_turn` that goes over to the next session where the turn begins one."""

    @wraps(begin_turn)
    def begin(runner: Runner, turn: int) -> None:
        begin_turn(runner, turn)
        for stage in runner.session.meta.get("stages", ()):
            if stage.first_turn == turn > 1:
                runner.coder = enter_stage(runner.coder, stage, runner.root)

    return begin


Runner.begin_turn = entering(Runner.begin_turn)  # type: ignore[method-assign]  # reason: only chains need it
