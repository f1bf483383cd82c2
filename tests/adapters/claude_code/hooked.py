"""Hooks as processes, and what they archived."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from aider_gardener.archive.store import open_store
from aider_gardener.messages import Entry

FACT = "Never use the port 8080, our queue listens on 9317."
QUESTION = "Which port does the queue listen on?"
LOG = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO worker {n} took {n * 7} ms" for n in range(900))


def run(
    event: str, given: Mapping[str, object] | bytes, project: Path, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """One hook as its host calls it, `event` being the words behind `gardener hook`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AIDER_GARDENER")}
    return subprocess.run(
        [sys.executable, "-m", "aider_gardener.cli", "hook", *event.split()],
        input=given if isinstance(given, bytes) else json.dumps(given).encode(),
        capture_output=True,
        cwd=project,
        env={**kept, **environ},
        timeout=120,
    )


def until(met: Callable[[], bool], seconds: float = 120.0) -> bool:
    """Whether something comes true: what is archived behind an answer takes its time."""
    end = time.monotonic() + seconds
    while not (found := met()) and time.monotonic() < end:
        time.sleep(0.03)
    return found


def entries(project: Path, session: str = "simulated") -> list[Entry]:
    store = open_store(project / ".aider.gardener")
    found = store.session_entries(session)
    store.close()
    return found


def told(project: Path, session: str = "simulated") -> list[str]:
    return [entry.content for entry in entries(project, session)]
