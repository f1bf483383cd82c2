"""On what a benchmark's figures depend: the code and the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version as version_of
from pathlib import Path

from aider_gardener import __version__
from aider_gardener.errors import ReplayError
from aider_gardener.replay.play.sandbox import git

CPU_FILE = Path("/proc/cpuinfo")


def made_on() -> dict[str, str | int]:
    """Commit and versions, Python, system, processor and cores; `code` is a hash of the package's code."""
    return {
        "gardener": __version__,
        "commit": source_commit(),
        "code": code(),
        "aider": version_of("aider-chat"),
        "python": platform.python_version(),
        "system": platform.system(),
        "cpu": processor(),
        "cores": os.cpu_count() or 1,
    }


def source_commit() -> str:
    """The commit of this checkout, with "+" if the package was changed since; "" where there is none."""
    root = Path(__file__).resolve().parents[1]
    try:
        commit = git(root, "rev-parse", "--short=12", "HEAD").strip()
        changed = git(root, "status", "--porcelain", "--", "aider_gardener").strip()
    except ReplayError:
        return ""
    return commit + ("+" if changed else "")


def code() -> str:
    """A hash of the code that figures may depend on, comments and docstrings aside."""
    from bench.grid.cells import code_hash

    return code_hash(gardened=True)[:12]


def processor() -> str:
    """The processor's model name, as far as the system tells."""
    if CPU_FILE.is_file():
        for line in CPU_FILE.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
