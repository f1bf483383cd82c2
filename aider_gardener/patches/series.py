"""The series: which patches for aider there are, in which order, and what each needs."""

from __future__ import annotations

import email
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aider_gardener import files
from aider_gardener.errors import PatchError

HERE = Path(__file__).resolve()
PLACES = (HERE.parent / "series", HERE.parents[2] / "patches")
"""Where the series is: in an installed package, in a checkout."""
INTERFACE = "aider/history_provider.py"
"""The file of aider that all patches about the interface change."""


@dataclass(frozen=True, eq=False)
class Patch:
    """A mail of `git format-patch`, named like 0001-what-it-does.patch."""

    name: str
    text: str

    @property
    def number(self) -> int:
        return int(self.name[:4])

    @property
    def slug(self) -> str:
        return self.name[5:].removesuffix(".patch")

    @cached_property
    def subject(self) -> str:
        lines = str(email.message_from_string(self.text)["Subject"]).split()
        return re.sub(r"^\[PATCH[^\]]*\] *", "", " ".join(lines))

    @property
    def is_alone(self) -> bool:
        """Whether it can be taken without any other: it is not about the interface."""
        return INTERFACE not in self.diffs

    @cached_property
    def diffs(self) -> dict[str, str]:
        """The diff of each file that it touches, by the file's path."""
        parts = re.split(r"^diff --git a/(.+) b/\1\n", self.text, flags=re.M)[1:]
        rows = zip(parts[::2], parts[1::2], strict=True)
        return {path: f"diff --git a/{path} b/{path}\n{rest}" for path, rest in rows}


@dataclass(frozen=True)
class Series:
    """The patches in order."""

    folder: Path
    patches: tuple[Patch, ...]

    def paths(self) -> list[str]:
        """Every file that some patch touches."""
        return sorted({path for patch in self.patches for path in patch.diffs})

    def needed(self, patch: Patch) -> list[Patch]:
        """The patch after those that it cannot do without: all before it that are about the interface too."""
        before = [other for other in self.patches if other.number < patch.number and not other.is_alone]
        return [patch] if patch.is_alone else [*before, patch]


def read_series(folder: Path | None = None) -> Series:
    """The series in a folder, else the one that came with this package. Raises PatchError where it is not."""
    places = (folder,) if folder else PLACES
    found = {place: sorted(place.glob("[0-9][0-9][0-9][0-9]-*.patch")) for place in places}
    folder = next((place for place in places if found[place]), places[0])
    try:
        texts = {path.name: files.read(path, files.PEOPLE_BYTES).decode() for path in found[folder]}
    except (OSError, ValueError) as error:
        raise PatchError(
            f"the series in {folder} cannot be read: {error}; install the package anew"
        ) from error
    if not texts:
        raise PatchError(f"there are no patches in {folder}; install the package anew")
    return Series(folder, tuple(Patch(name, text) for name, text in texts.items()))
