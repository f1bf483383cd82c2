"""Syncing beside a chat: a process of its own after a turn, which no turn waits for.

It gets the environment as it was before the host read any file of the repository, so that no `.env` there
says where the server is. What a host itself puts into the environment of its hooks and servers cannot be told
from what the user did: `--unasked` sends nothing to a server that is named otherwise than when its user
shared the project.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from aider_gardener.archive.shared import share_in
from aider_gardener.archive.shared.server import is_named
from aider_gardener.archive.store import shares
from aider_gardener.archive.store.base import Store
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.errors import StoreError

SECONDS = 60.0
"""Between the beginnings of two syncs."""


class BackgroundSync:
    """Syncs one project, at most once a minute by whichever process. `start` begins a process; `clock` gives
    seconds since the epoch."""

    def __init__(
        self,
        store: Store,
        project: str,
        environ: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.time,
        start: Callable[[Sequence[str], Mapping[str, str]], subprocess.Popen[bytes]] | None = None,
    ) -> None:
        self.store = store
        self.project = project
        self.environ = dict(environ)
        self._clock = clock
        self._start = start or begin
        self._began: float | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def turn_over(self) -> bool:
        """Begin a sync if one is due; whether one was begun. A project that is not shared costs one look, and
        nothing that goes wrong here is the host's."""
        now = self._clock()
        if not is_named(self.environ) or (self._began is not None and 0 <= now - self._began < SECONDS):
            return False
        if self._process is not None and self._process.poll() is None:
            return False
        self._began = now
        try:
            if not self._is_due(now):
                return False
            self._process = self._start(command(self.store, self.project), self.environ)
        except (OSError, StoreError):
            return False
        return True

    def _is_due(self, now: float) -> bool:
        """Whether the project is shared and no process began to sync it within the minute: this one does."""
        share = share_in(self.store, self.project)
        if share is None or not shares.is_due(share, now, SECONDS) or not isinstance(self.store, SqliteStore):
            return False
        return self.store.database.write(lambda db: shares.may_begin(db, self.project, now, SECONDS))


def command(store: Store, project: str) -> list[str]:
    """What syncs a project of an archive without a word."""
    place = str(store.directory or "")
    options = ["--store", place, "--project", project, "--quiet", "--unasked"]
    return [sys.executable, "-m", "aider_gardener.cli", "store", "sync", *options]


def begin(given: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Begin a process away from the repository, where nothing of it can be imported, and from the
    terminal."""
    return subprocess.Popen(
        list(given),
        env=dict(environ),
        cwd=Path(sys.executable).parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
