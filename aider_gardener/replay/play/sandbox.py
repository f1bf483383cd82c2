"""Where a replay runs: a temporary git repository, a home of its own, no network, no keys."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.errors import ReplayError

REPOSITORY_NAME = "repo"
"""The only part of the temporary path that anything in a prompt could show."""

CONFIGURATION = """\
[user]
\tname = Replay
\temail = replay@example.invalid
[core]
\tautocrlf = false
\tfileMode = false
[commit]
\tgpgSign = false
[gc]
\tauto = 0
"""

SECRET_SUFFIXES = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
DROPPED_PREFIXES = ("AIDER_", "GIT_", "LITELLM_", "OPENAI_", "ANTHROPIC_", "AZURE_", "AWS_", "LC_")


def environment(home: Path, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a replay's process: `base` without the user's settings and keys, pinned."""
    variables = {
        name: value
        for name, value in base.items()
        if not name.upper().startswith(DROPPED_PREFIXES) and not name.upper().endswith(SECRET_SUFFIXES)
    }
    variables.update(
        HOME=str(home),
        USERPROFILE=str(home),
        XDG_CONFIG_HOME=str(home / "config"),
        XDG_CACHE_HOME=str(home / "cache"),
        XDG_DATA_HOME=str(home / "data"),
        APPDATA=str(home / "data"),
        LOCALAPPDATA=str(home / "data"),
        LANG="en_US.UTF-8",
        SHELL="/bin/bash",
        TERM="dumb",
        NO_COLOR="1",
        PYTHONHASHSEED="0",
        PYTHONUTF8="1",
        PYTHONIOENCODING="utf-8",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        OPENAI_API_KEY="replayed",
        AIDER_ANALYTICS="false",
        AIDER_CHECK_UPDATE="false",
        GIT_CONFIG_GLOBAL=os.devnull,
        GIT_CONFIG_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
    )
    if "COMSPEC" in variables:
        variables["COMSPEC"] = "cmd.exe"
    return variables


def copy_tree(source: Path, target: Path) -> None:
    """Copy files and folders by content only, each file read within bounds; links and `.git` stay behind."""

    def excluded(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == ".git" or Path(folder, name).is_symlink()]

    def copied(path: str, place: str) -> None:
        Path(place).write_bytes(files.read(Path(path), files.RECORDING_BYTES))

    shutil.copytree(source, target, ignore=excluded, copy_function=copied, dirs_exist_ok=True)


def make_repository(folder: Path, repo0: Path | None, seconds: float) -> Path:
    """A git repository named `repo` in `folder` whose only commit is the tree `repo0`, or empty."""
    root = folder / REPOSITORY_NAME
    root.mkdir(parents=True)
    git(root, "init", "--quiet")
    git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    with (root / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(CONFIGURATION)
    exclude = root / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text(".aider*\n", encoding="utf-8")
    if repo0 is not None:
        copy_tree(repo0, root)
    set_commit_time(seconds)
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "the tree at the start")
    return root


def set_commit_time(seconds: float) -> None:
    """Commits made from now on, in this process, carry this time."""
    stamp = f"{int(seconds)} +0000"
    os.environ["GIT_AUTHOR_DATE"] = os.environ["GIT_COMMITTER_DATE"] = stamp


def git(root: Path, *arguments: str) -> str:
    """Run git in `root` and give its output; ReplayError with git's own first line on failure."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=root,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except FileNotFoundError as problem:
        raise ReplayError("a replay needs git; install it and put it on the PATH") from problem
    if done.returncode:
        first = (done.stderr.strip() or done.stdout.strip()).split("\n")[0]
        raise ReplayError(f"git {arguments[0]} failed: {first}")
    return done.stdout


LOOPBACK = ("127.", "::1", "localhost")


def forbid_network() -> None:
    """Refuse every connection of this process that leaves the machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(host).startswith(LOOPBACK):
            raise OSError("a replay uses no network")
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign,assignment]  # reason: a sandbox
