"""How much a diff changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aider_gardener.errors import PatchError
from aider_gardener.patches.tree import git_apply


@dataclass(frozen=True)
class Change:
    """How many lines a diff adds to a file and removes from it."""

    path: str
    added: int
    removed: int


def changes(diff: str) -> list[Change]:
    """The files of a diff or mail, in its order. Raises PatchError when git cannot read it."""
    done = git_apply(Path(__file__).parent, diff, "--numstat", "-z")
    if done.returncode:
        raise PatchError(f"not a diff: {done.stderr.decode('utf-8', 'replace').strip()}")
    rows = (row.split("\t") for row in done.stdout.decode().split("\0") if row)
    return [Change(path, int(added), int(removed)) for added, removed, path in rows]
