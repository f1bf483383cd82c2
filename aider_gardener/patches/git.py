"""git applies patches and takes them out again, in a copy of the files that they touch.

In a copy, because `git apply` checks all before it writes but, killed in between, leaves half of the files
changed: `swap` puts them into the tree. The copy is in no repository and git has no settings, because in a
folder of another repository it changes nothing and says nothing, and with `core.autocrlf` every line.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from aider_gardener.errors import PatchError
from aider_gardener.patches.tree import Tree

Files = Mapping[str, str | None]
"""Texts by path; None is a file that is not there."""
NOWHERE = "no-such-folder"


@contextmanager
def copied(tree: Tree, files: Files) -> Iterator[Tree]:
    """A tree with only these files, for as long as it is used."""
    with TemporaryDirectory(prefix="gardener-patches-") as name:
        root = Path(name)
        for path, text in files.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, "utf-8", newline="")
        yield replace(tree, root=root)


def apply(copy: Tree, diff: str, *options: str) -> str:
    """Apply a diff to a copy: wholly, else not at all. Lines may have moved, but none may differ.

    Returns what git says against it, in one line; "" when it is done. Raises PatchError when there is no git.
    """
    done = run(copy.root, diff, *options)
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").splitlines()
    faults = [line for line in said if not line.startswith("warning: ")]
    return faults[0].partition(": ")[2] if faults else f"git ended with {done.returncode}"


def run(folder: Path, diff: str, *options: str) -> subprocess.CompletedProcess[bytes]:
    """`git apply` with a diff in a folder, as if the folder were in no repository and git had no settings.

    Raises PatchError when there is no git.
    """
    nowhere = str(folder / NOWHERE)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_DIR": nowhere, "HOME": nowhere, "XDG_CONFIG_HOME": nowhere, "LC_ALL": "C"}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
    command = ["git", "apply", *options, "-"]
    try:
        return subprocess.run(
            command, cwd=folder, env=environ, input=diff.encode(), capture_output=True, check=False
        )
    except OSError as error:
        raise PatchError(f"patches are applied by git, which cannot be run: {error.strerror}") from error
