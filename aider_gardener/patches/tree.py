"""A tree of aider: its source, or what is installed in an environment."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aider_gardener import files
from aider_gardener.errors import PatchError, UsageError

NOT_INSTALLED = ("tests/", "aider/website/")
"""What only a source tree has."""


@dataclass(frozen=True)
class Tree:
    """Where aider is. `is_source` says whether its tests and documents are there too."""

    root: Path
    version: str
    is_source: bool

    def holds(self, path: str) -> bool:
        """Whether a file of aider's repository belongs into this tree."""
        return self.is_source or (path.startswith("aider/") and not path.startswith(NOT_INSTALLED))

    def read(self, path: str) -> str | None:
        """A file's text with its line ends as they are, or None. Raises PatchError when it is no text."""
        try:
            return files.read(self.root / path, files.PEOPLE_BYTES, follow=True).decode("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise PatchError(f"{self.root / path} cannot be read: {error}") from error

    def read_all(self, paths: Iterable[str]) -> dict[str, str | None]:
        """The files that belong into this tree, by path."""
        return {path: self.read(path) for path in paths if self.holds(path)}


def find_tree(given: Path | None) -> Tree:
    """The tree at `given` (source, environment or its site-packages), else the aider of this Python.

    Raises UsageError when there is no aider.
    """
    if given is None:
        found = importlib.util.find_spec("aider")
        if found is None or not found.origin:
            raise UsageError("no aider is installed beside this command; name a tree with --to DIR")
        return tree_at(Path(found.origin).parent.parent)
    places = (given, *given.glob("lib/python3*/site-packages"), given / "Lib" / "site-packages")
    for place in places:
        if (place / "aider" / "__init__.py").is_file():
            return tree_at(place.resolve())
    raise UsageError(f"there is no aider in {given}: give its source tree or an environment that has it")


def tree_at(root: Path) -> Tree:
    installed = sorted(root.glob("aider_chat-*.dist-info"))
    if installed:
        return Tree(root, installed[-1].name.split("-")[1].removesuffix(".dist"), is_source=False)
    for name, pattern in (
        ("PKG-INFO", r"^Version: (\S+)"),
        ("aider/_version.py", r"^(?:__version__ = )?version = '([^']+)'"),
        ("aider/__init__.py", r'^__version__ = "([^"]+)"'),
    ):
        place = root / name
        text = files.read_text(place, files.PEOPLE_BYTES, follow=True) if place.is_file() else ""
        if found := re.search(pattern, text, re.M):
            return Tree(root, found[1], is_source=True)
    return Tree(root, "unknown", is_source=True)
