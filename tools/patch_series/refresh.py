"""Making the generated patches anew from the package as it is, with everything that is derived from them.

A generated patch is: its mail and the files written by hand for it (patches/chain/NAME), the library modules
it brings, and the hooks in aider's modules. The other patches are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from aider_gardener.errors import PatchError
from aider_gardener.patches.mail import FILE_NAME, PatchMail, needed_numbers, parse_mail
from aider_gardener.patches.series import Upstream, digest, read_upstream
from patch_series import library
from patch_series.chain import CHAIN, Part, defaults_text, hooks_of, library_of
from patch_series.diff import changes, diffstat, edit, new_file
from patch_series.figures import filled
from patch_series.hostedits import definition_of, hooked
from patch_series.readme import with_tables

CHECKOUT = library.PACKAGE.parent
SOURCES = "chain"
DEFAULTS_PATH = "aider/gardener/host/defaults.py"
INIT_PATH = "aider/gardener/__init__.py"
INIT_TEXT = '"""The gardener: classifies, compresses, archives, evicts and recalls messages of the chat."""\n'
MODES = {"aider/coders/base_coder.py": "100755"}
"""Modes of aider's files that are not 100644."""


@dataclass(frozen=True)
class Refreshed:
    """The texts of the folder as they ought to be, by file name; None is a file that has to go."""

    texts: dict[str, str | None]

    def stale(self, folder: Path) -> list[str]:
        """The names of the files that differ from what they ought to be."""
        return [name for name, text in sorted(self.texts.items()) if read(folder / name) != text]

    def write(self, folder: Path) -> list[str]:
        """Bring the folder up to date; returns the names of the files that changed."""
        stale = self.stale(folder)
        for name in stale:
            text = self.texts[name]
            if text is None:
                (folder / name).unlink()
            else:
                (folder / name).write_text(text, "utf-8", newline="")
        return stale


def read(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as stream:
        return stream.read()


def refreshed(folder: Path, released: Callable[[str], str | None]) -> Refreshed:
    """What the folder of the series ought to hold. `released` gives the text of a file of aider as released.

    Raises PatchError when the table of the chain or of the seams does not fit the package or aider.
    """
    texts: dict[str, str | None] = {}
    made: dict[int, dict[str, str]] = {}
    for part in CHAIN:
        name = f"{part.name}.patch"
        texts[name] = patch_text(folder, part, made, released) if part.wanted else None
    known = {path.name for path in folder.glob("*.patch") if FILE_NAME.fullmatch(path.name)}
    names = sorted((known | texts.keys()) - {name for name, text in texts.items() if text is None})
    texts["series"] = "".join(f"{name}\n" for name in names)
    mails = [parse_mail(name, texts.get(name) or str(read(folder / name))) for name in names]
    texts["UPSTREAM"] = upstream_text(folder, mails, released)
    texts["README.md"] = with_tables(str(read(folder / "README.md")), mails, CHECKOUT)
    return Refreshed(texts)


def patch_text(
    folder: Path, part: Part, made: dict[int, dict[str, str]], released: Callable[[str], str | None]
) -> str:
    """One patch. `made` has by number the files as each part before has left them, and gets this part's.

    It is made on top of the parts that it needs, so that it applies without the others.
    """
    sources = folder / SOURCES / part.name
    mail = read(sources / "mail.txt")
    if mail is None:
        raise PatchError(f"{sources / 'mail.txt'} is missing: the mail of the patch")
    base: dict[str, str] = {}
    for number in needed_numbers(mail):
        base |= made.get(number, {})
    after = dict(hand_written(sources))
    after |= {library.place_of(name): library.text_of(name) for name in library_of(part)}
    if part is CHAIN[0]:
        after[INIT_PATH] = INIT_TEXT
    if part.defaults is not None:
        template = (library.PACKAGE / "adapters" / "aider" / "defaults.py").read_text("utf-8")
        template = re.sub(rf"\b{library.NAME}\b", library.THERE, template)
        after[DEFAULTS_PATH] = defaults_text(part, template)
    after |= host_files(part, base, released)
    diffs = [one_diff(path, base.get(path), text, released) for path, text in sorted(after.items())]
    made[part.number] = after
    diff = "".join([*diffs, read(sources / "more.diff") or ""])
    mail = filled(mail, CHECKOUT).rstrip()
    return f"{mail}\n\n{diffstat(changes(diff))}\n{diff}"


def one_diff(path: str, before: str | None, after: str, released: Callable[[str], str | None]) -> str:
    before = before if before is not None else (released(path) if is_aiders(path) else None)
    if before is None:
        return new_file(path, after)
    return edit(path, before, after, MODES.get(path, "100644"))


def is_aiders(path: str) -> bool:
    return path.startswith("aider/") and not path.startswith("aider/gardener/")


def hand_written(sources: Path) -> Iterable[tuple[str, str]]:
    """The files of a part that are written by hand, such as its tests."""
    for path in sorted((sources / "files").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(sources / "files").as_posix(), str(read(path))


def host_files(part: Part, base: dict[str, str], released: Callable[[str], str | None]) -> dict[str, str]:
    """aider's own modules with the hooks of a part, on top of those of the parts before."""
    files: dict[str, str] = {}
    by_file: dict[str, list[str]] = {}
    for seam in hooks_of(part):
        by_file.setdefault(definition_of(seam)[0], []).append(seam.name)
    for path, names in by_file.items():
        before = base.get(path) or released(path)
        if before is None:
            raise PatchError(f"{path} is not in this aider: the table of seams is for another one")
        files[path] = hooked(before, [seam for seam in hooks_of(part) if seam.name in names], path)
    return files


def upstream_text(folder: Path, mails: Iterable[PatchMail], released: Callable[[str], str | None]) -> str:
    """UPSTREAM with the hash of each released file that some patch edits.

    Raises PatchError when a released file is not what UPSTREAM says, or is needed and not at hand.
    """
    upstream = read_upstream(str(read(folder / "UPSTREAM")))
    files: dict[str, str] = {}
    new = set()
    for path, diff in (pair for mail in mails for pair in mail.diffs.items()):
        if diff.splitlines()[1].startswith("new file mode "):
            new.add(path)
        elif path not in new:
            text, known = released(path), upstream.files.get(path)
            if text is None and known is None:
                raise PatchError(f"{path} is edited by a patch: give aider's source with --to DIR")
            if text is not None and known is not None and digest(text) != known:
                raise PatchError(f"{path} is not as aider {upstream.version} released it")
            files[path] = known or digest(str(text))
    return write_upstream(Upstream(upstream.version, upstream.source, upstream.sha256, files))


def write_upstream(upstream: Upstream) -> str:
    """The text of UPSTREAM."""
    head = f"version: {upstream.version}\nsource: {upstream.source}\nsha256: {upstream.sha256}\n\n"
    rows = (f"{digest}  {path}\n" for path, digest in sorted(upstream.files.items()))
    return head + "".join(rows)
