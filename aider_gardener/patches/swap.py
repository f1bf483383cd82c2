"""Changing many files of a tree at once: all of them or none, also when the process is killed in between.

New contents are written beside the tree's files first, then a journal, then the files are swapped. While
the journal stands the swap is not finished, and whoever comes next puts the old files back. `git apply`,
killed in between, would leave a tree that is half changed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from aider_gardener import files

FOLDER = ".gardener-patches"
JOURNAL = "journal.json"


class SwapRow(TypedDict):
    """One file of a swap as the journal names it: `old`, it stood there before; `gone`, it is removed."""

    path: str
    old: bool
    number: int
    gone: bool


def swap(root: Path, changes: Mapping[str, str | None]) -> None:
    """Put the new texts in place (None removes a file). On any error the tree is as it was."""
    folder = root / FOLDER
    prepare(folder)
    rows: list[SwapRow] = []
    for number, (path, text) in enumerate(sorted(changes.items(), key=lambda row: row[1] is None)):
        target = root / path
        exists = target.exists()
        rows.append(SwapRow(path=path, old=exists, number=number, gone=text is None))
        if exists:
            shutil.copy2(target, folder / f"old-{number}")
        if text is not None:
            write_through(folder / f"new-{number}", text)
            if exists:
                shutil.copymode(target, folder / f"new-{number}")
    write_through(folder / "journal.new", json.dumps(rows))
    os.replace(folder / "journal.new", folder / JOURNAL)
    try:
        for row in sorted(rows, key=lambda row: row["old"]):  # new files first: nothing uses them yet
            put(root, row, f"new-{row['number']}" if not row["gone"] else None)
    except BaseException:  # an interrupt from the keyboard too: put everything back, then go on up
        recover(root)
        raise
    (folder / JOURNAL).unlink()
    clean(folder)


def put(root: Path, row: SwapRow, kept: str | None) -> None:
    """Move what is kept under that name to its place in the tree; None: remove what stands there."""
    target = root / row["path"]
    if kept is None:
        target.unlink(missing_ok=True)
        remove_empty(target.parent, root)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(root / FOLDER / kept, target)


def is_interrupted(root: Path) -> bool:
    """Whether a swap was begun and not finished."""
    return (root / FOLDER / JOURNAL).exists()


def recover(root: Path) -> bool:
    """Put back what an unfinished swap has changed; returns whether there was one. Harmless to repeat."""
    folder = root / FOLDER
    if not is_interrupted(root):
        return False
    for row in json.loads(files.read(folder / JOURNAL, files.PEOPLE_BYTES)):
        kept = folder / f"old-{row['number']}"
        if row["old"]:
            shutil.copy2(kept, folder / "back")
            put(root, row, "back")
        else:
            put(root, row, None)
    (folder / JOURNAL).unlink()
    clean(folder)
    return True


def prepare(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    clean(folder)
    (folder / ".gitignore").write_text("*\n", "utf-8")


def clean(folder: Path) -> None:
    """Remove what a swap leaves beside its result."""
    for pattern in ("old-*", "new-*", "journal.new", "back"):
        for path in folder.glob(pattern):
            path.unlink()


def write_through(path: Path, text: str) -> None:
    """Write and wait until it is on disk."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder that a patch made, and those above it, once only compiled files are left."""
    while folder != root and folder.is_dir():
        if any(path.name != "__pycache__" for path in folder.iterdir()):
            return
        shutil.rmtree(folder)
        folder = folder.parent
