"""Writes a recorded session: a folder that only its owner can read, an event a line, no secrets in it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from aider_gardener.archive.store.redact import redact
from aider_gardener.errors import SessionError
from aider_gardener.replay.session.session import FORMAT, load_folder

FILE_BYTES = 200_000
"""Larger files are not stored, nor are files that are no text."""

TREE_NAME = ".tree.json"
"""Hashes of the repository's files, for going on with a recording; not needed once it is complete."""


@dataclass
class SessionFolder:
    """A session that is being recorded to `folder`. With `keep_files` the repository's files are stored.

    A folder that holds a session already is gone on with: what is recorded follows a restart.
    """

    folder: Path
    keep_files: bool
    turn: int = 0
    is_open: bool = False
    redacted: int = 0
    lock: RLock = field(default_factory=RLock)

    @property
    def events_file(self) -> Path:
        return self.folder / "session.jsonl"

    def begin(self, root: Path, meta: Mapping[str, Any]) -> bool:
        """Write the head of the recording and the tree as it is; or a restart, if there is one already.

        Says whether the recording is a new one.
        """
        self.is_open = True
        if self.events_file.exists():
            self.turn = load_folder(self.folder).turn_count
            again = ("files", "read_only", "edit_format")
            self.add("restart", **{name: meta[name] for name in again if name in meta})
            return False
        make_private(self.folder)
        head = {"kind": "meta", "format": FORMAT, "name": self.folder.name, **meta}
        self.write(self.folder / "meta.json", json.dumps(head, indent=1, ensure_ascii=False) + "\n")
        self.write(self.events_file, json.dumps(head, ensure_ascii=False) + "\n")
        if self.keep_files:
            for name, text in texts_of(root).items():
                self.write(self.folder / "repo0" / name, self.clean(text))
        return True

    def known_tree(self) -> dict[str, str]:
        """The hashes of the files as the recording has left them, by path."""
        try:
            tree: dict[str, str] = json.loads((self.folder / TREE_NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return tree

    def keep_tree(self, tree: Mapping[str, str]) -> None:
        """Keep those hashes, so that a further recording into the folder can go on from there."""
        self.write(self.folder / TREE_NAME, json.dumps(tree, ensure_ascii=False, indent=0) + "\n")

    def add(self, kind: str, **fields: Any) -> None:
        """Append an event of the current turn; it is on disk when this returns."""
        row = {"turn": self.turn, "kind": kind, **{name: self.clean(value) for name, value in fields.items()}}
        line = json.dumps(row, ensure_ascii=False, default=str) + "\n"
        with self.lock, open(self.events_file, "a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(line)

    def clean(self, value: Any) -> Any:
        """The value without secrets."""
        if not isinstance(value, str):
            return value
        found = redact(value)
        self.redacted += len(found.spans)
        return found.text

    def write(self, path: Path, text: str) -> None:
        make_private(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)


def digest(text: str) -> str:
    """The SHA-256 of a text in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter; SessionError if that can't be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise SessionError(f"{folder}: cannot be made ({problem.strerror}); give another --to") from problem


def texts_of(root: Path) -> dict[str, str]:
    """The text files of a work tree that git doesn't ignore, by their path with forward slashes."""
    found = {}
    for name in listed(root):
        text = text_of_file(root / name)
        if text is not None:
            found[name] = text
    return found


def listed(root: Path) -> list[str]:
    """Tracked and new files of a work tree but aider's own; [] where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except OSError:
        return []
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0") if not done.returncode else []
    return sorted({name for name in names if name and not name.startswith(".aider")})


def text_of_file(path: Path) -> str | None:
    """The text of a file, None if it is none, is gone, a link, or too large."""
    try:
        if path.is_symlink() or path.stat().st_size > FILE_BYTES:
            return None
        data = path.read_bytes()
        return None if b"\0" in data else data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
