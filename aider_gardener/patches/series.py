"""The series: which patches there are, in which order, against which release of aider."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aider_gardener import files
from aider_gardener.errors import PatchError, UsageError
from aider_gardener.patches.mail import PatchMail, read_mail

HERE = Path(__file__).resolve()
PLACES = (HERE.parent / "series", HERE.parents[2] / "patches")
"""Where the series is: in an installed package, in a checkout."""


@dataclass(frozen=True)
class Upstream:
    """The release that the series is made for. `files` has the SHA-256 of each touched file as released."""

    version: str
    source: str
    sha256: str
    files: dict[str, str]


@dataclass(frozen=True)
class Series:
    """The patches in order."""

    folder: Path
    upstream: Upstream
    patches: tuple[PatchMail, ...]

    def paths(self) -> list[str]:
        """Every file that some patch touches."""
        return sorted({path for patch in self.patches for path in patch.diffs})

    def chosen(self, only: Sequence[str] = (), upto: str | None = None) -> list[PatchMail]:
        """The patches named by number, file name or its middle part; all of them when none is named.

        Raises UsageError on a name that no patch has.
        """
        if upto is not None:
            last = self.find(upto)
            return [patch for patch in self.patches if patch.number <= last.number]
        if not only:
            return list(self.patches)
        names = [name.strip() for text in only for name in text.split(",") if name.strip()]
        wanted = {self.find(name).name for name in names}
        return [patch for patch in self.patches if patch.name in wanted]

    def find(self, name: str) -> PatchMail:
        for patch in self.patches:
            if name in (patch.name, patch.name.removesuffix(".patch"), patch.slug):
                return patch
            if name.isdigit() and int(name) == patch.number:
                return patch
        raise UsageError(f"there is no patch {name!r}; `gardener patches check` lists them")

    def lacking(self, patches: Iterable[PatchMail]) -> dict[PatchMail, list[int]]:
        """Those of the patches that need others which are not among them, with the numbers of these."""
        given = list(patches)
        numbers = {patch.number for patch in given}
        rows = {patch: [n for n in patch.needs if n not in numbers] for patch in given}
        return {patch: missing for patch, missing in rows.items() if missing}


def series_folder() -> Path:
    """Where the series that came with this package is. Raises PatchError when it did not come with it."""
    for place in PLACES:
        if (place / "series").is_file():
            return place
    raise PatchError("the patches are not with this installation; give their folder with --patches")


def read_series(folder: Path | None = None) -> Series:
    """Read UPSTREAM, series and all patches. Raises PatchError on the first thing that is wrong."""
    folder = folder or series_folder()
    try:
        names = files.read_text(folder / "series", follow=True).split()
        upstream = read_upstream(files.read_text(folder / "UPSTREAM", follow=True))
        patches = tuple(read_mail(folder / name) for name in names)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PatchError(f"the series in {folder} cannot be read: {reason}") from error
    numbers = [patch.number for patch in patches]
    if numbers != sorted(set(numbers)):
        raise PatchError(f"{folder / 'series'} does not list its patches in the order of their numbers")
    for patch in patches:
        if any(number >= patch.number for number in patch.needs):
            raise PatchError(f"{patch.name} needs a patch that comes after it")
    return Series(folder, upstream, patches)


def read_upstream(text: str) -> Upstream:
    """Lines of `key: value`, then one line per file: its hash and its path."""
    fields: dict[str, str] = {}
    files: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.partition(": ")
        if separator:
            fields[key] = value.strip()
        elif len(line.split()) == 2:
            digest, path = line.split()
            files[path] = digest
    missing = {"version", "source", "sha256"} - fields.keys()
    if missing:
        raise PatchError(f"UPSTREAM lacks {', '.join(sorted(missing))}")
    return Upstream(fields["version"], fields["source"], fields["sha256"], files)


def digest(text: str) -> str:
    """SHA-256 of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()
