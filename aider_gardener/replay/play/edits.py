"""Asks a real model for the edits of a recorded session, and counts those that aider could apply.

The session itself goes on with the recorded replies: each question stands on the same files and the same
chat, whatever was answered to the one before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aider_gardener.replay.measure.result import AskedEdit


class EditsAsked:
    """Asks before each recorded edit is applied. `answer` sends the last prompt to the model, `turn` is the
    turn. `found` are the answers' edits so far."""

    def __init__(self, answer: Callable[[], str], turn: Callable[[], int]) -> None:
        self.answer = answer
        self.turn = turn
        self.found: list[AskedEdit] = []

    def install(self) -> None:
        from aider.coders.base_coder import Coder

        apply_updates = Coder.apply_updates

        def asked_first(coder: Any) -> Any:
            recorded = edits_of(coder, coder.partial_response_content)
            if recorded:
                edits = edits_of(coder, self.answer())
                self.found.append(AskedEdit(self.turn(), len(recorded), len(edits), applied(coder, edits)))
            return apply_updates(coder)

        Coder.apply_updates = asked_first


def edits_of(coder: Any, reply: str | None) -> list[Any]:
    """The edits that aider reads in a reply; none where it reads it as malformed."""
    said, commands = coder.partial_response_content, list(coder.shell_commands)
    coder.partial_response_content = reply or ""
    try:
        return list(coder.get_edits())
    except Exception:  # reason: aider's parsers raise what they like at a reply that they cannot read
        return []
    finally:
        coder.partial_response_content, coder.shell_commands = said, commands


def applied(coder: Any, edits: Sequence[Any]) -> int:
    """How many of the edits aider can apply to the files as they are, one after the other. The files are
    as before afterwards, and an edit to a file outside the repository is none."""
    root = Path(coder.root)
    count = 0
    with files_kept(root):
        for edit in edits:
            name = getattr(edit, "path", None) or edit[0]
            path = Path(coder.abs_root_path(name)) if name else root
            if path == root or not is_inside(root, path):
                continue
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()  # as aider does once its user has said yes to a new file
                coder.apply_edits([edit])
            except Exception:  # reason: as above
                continue
            count += 1
    return count


def is_inside(root: Path, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


@contextmanager
def files_kept(root: Path) -> Iterator[None]:
    """Whatever happens to the repository's files inside, they are as before at the end."""
    before = {path: path.read_bytes() for path in files_in(root)}
    try:
        yield
    finally:
        for path in files_in(root):
            if path not in before:
                path.unlink()
        for path, content in before.items():
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def files_in(root: Path) -> list[Path]:
    """The regular files of a repository, without git's own."""
    return [
        path for path in root.rglob("*")
        if ".git" not in path.relative_to(root).parts and path.is_file() and not path.is_symlink()
    ]  # fmt: skip
