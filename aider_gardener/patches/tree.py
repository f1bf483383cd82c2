"""An aider and the patches in it: git applies them and takes them out in a copy of the files that they touch,
and what came of it takes the files' places at the end, all of it or nothing. (A kill in that
moment leaves some of them; `check` says so then, and how to get aider's own back.)

In a copy, because `git apply`, killed in between, leaves half of the files changed; as if in no repository
and without settings, because in a folder of another it changes nothing, and with `core.autocrlf` every line.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from aider_gardener import files
from aider_gardener.errors import PatchError, UsageError
from aider_gardener.patches.series import Patch, Series

Files = Mapping[str, str | None]
"""Texts by path; None is a file that is not there."""
RESTORE = (
    "`pip install --force-reinstall --no-deps aider-chat==VERSION` or `git checkout` brings aider's own back"
)


def find_tree(given: Path | None) -> Path:
    """The folder that holds aider: of a source tree, an environment, or of this Python. Raises UsageError."""
    if given is None:
        found = importlib.util.find_spec("aider")
        if found is None or not found.origin:
            raise UsageError("no aider is installed beside this command; name a tree with --to DIR")
        return Path(found.origin).parent.parent
    for place in (given, *given.glob("lib/python3*/site-packages"), given / "Lib" / "site-packages"):
        if (place / "aider" / "__init__.py").is_file():
            return place.resolve()
    raise UsageError(f"there is no aider in {given}: give its source tree or an environment that has it")


def read_files(root: Path, paths: Iterable[str]) -> dict[str, str | None]:
    """Those of the files that belong into this tree: an installed or copied aider has no tests and documents.

    Raises PatchError when one is no text.
    """
    is_installed = any(root.glob("aider_chat-*.dist-info")) or not (root / "tests").is_dir()
    found: dict[str, str | None] = {}
    for path in paths:
        if is_installed and (not path.startswith("aider/") or path.startswith("aider/website/")):
            continue
        try:
            found[path] = files.read(root / path, files.PEOPLE_BYTES, follow=True).decode()
        except FileNotFoundError:
            found[path] = None
        except (OSError, ValueError) as error:
            raise PatchError(f"{root / path} cannot be read: {error}; {RESTORE}") from error
    return found


def patched(before: Files, patches: Iterable[Patch], *options: str) -> dict[str, str | None]:
    """The files with the patches applied in the order given, as far as they touch these files. Lines may have
    moved, but none may differ. Raises PatchError when one does not apply, or there is no git."""
    patches = list(patches)
    touched = {path for patch in patches for path in patch.diffs if path in before}
    with TemporaryDirectory(prefix="gardener-patches-") as name:
        copy = Path(name)
        for path in touched:
            if (text := before[path]) is not None:
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                (copy / path).write_bytes(text.encode())
        for patch in patches:
            diff = "".join(diff for path, diff in patch.diffs.items() if path in before)
            done = git_apply(copy, diff, *options)
            if done.returncode:
                error_line = re.search(r"^error: (.*)", done.stderr.decode("utf-8", "replace"), re.M)
                raise PatchError(
                    f"{patch.name} does not apply: {error_line[1] if error_line else 'git failed'}; {RESTORE}"
                )
        return {**before, **read_files(copy, touched)}


def git_apply(folder: Path, diff: str, *options: str) -> subprocess.CompletedProcess[bytes]:
    """`git apply` in a folder, as if it were in no repository and git had no settings. Raises PatchError."""
    nowhere = str(folder / "no-such-folder")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_DIR": nowhere, "HOME": nowhere, "XDG_CONFIG_HOME": nowhere, "LC_ALL": "C"}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
    command = ["git", "apply", *options, "-"]
    try:
        return subprocess.run(command, cwd=folder, env=environ, input=diff.encode(), capture_output=True)
    except OSError as error:
        raise PatchError(f"patches are applied by git, which cannot be run: {error.strerror}") from error


@dataclass(frozen=True)
class State:
    """The patches that come out of a tree whole, and its files with and without them."""

    applied: tuple[Patch, ...]
    now: Files
    without: Files


def state_of(series: Series, root: Path) -> State:
    """Take the patches out, the last one first. Raises PatchError when the files cannot be read."""
    now = without = read_files(root, series.paths())
    applied: list[Patch] = []
    for patch in reversed(series.patches):
        with contextlib.suppress(PatchError):
            without = patched(without, [patch], "--reverse")
            applied.insert(0, patch)
    return State(tuple(applied), now, without)


def fault(series: Series, state: State, patch: Patch) -> str:
    """Why the patch, with what it needs, is neither in the tree nor applies; "" where it is or does."""
    wanted = {*state.applied, *series.needed(patch)}
    try:
        patched(state.without, [other for other in series.patches if other in wanted])
    except PatchError as error:
        return str(error)
    return ""


def turn_into(root: Path, state: State, wanted: Iterable[Patch]) -> list[str]:
    """Have the tree hold these patches and no others, whole or not at all; returns the files changed.

    Raises PatchError when one does not apply, or a file cannot be written.
    """
    after = patched(state.without, wanted)
    changed = sorted(path for path, text in after.items() if text != state.now[path])
    try:
        for path in sorted(changed, key=lambda path: state.now[path] is not None):  # new files first
            put(root / path, after[path])
    except BaseException as error:  # an interrupt from the keyboard too
        for path in changed:
            if read_files(root, [path])[path] != state.now[path]:
                put(root / path, state.now[path])
        if isinstance(error, OSError):
            raise PatchError(f"{error.filename} cannot be written: {error.strerror}") from error
        raise
    return changed


def put(path: Path, text: str | None) -> None:
    """Put a text in a file's place in one step, with the file's mode; None removes the file."""
    if text is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o644
    files.put(path, [text.encode()], mode=mode)
