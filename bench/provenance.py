"""On what a benchmark's figures depend: the code and the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from aider_gardener import __version__
from aider_gardener.replay.play.provenance import source_commit, version_of

CPU_FILE = Path("/proc/cpuinfo")


def made_on() -> dict[str, str | int]:
    """Commit and versions, Python, system, processor and cores."""
    return {
        "gardener": __version__,
        "commit": source_commit(),
        "aider": version_of("aider-chat"),
        "python": platform.python_version(),
        "system": platform.system(),
        "cpu": processor(),
        "cores": os.cpu_count() or 1,
    }


def processor() -> str:
    """The processor's model name, as far as the system tells."""
    if CPU_FILE.is_file():
        for line in CPU_FILE.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
