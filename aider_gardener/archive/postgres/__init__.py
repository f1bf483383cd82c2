"""The plug-in for several machines and people: a PostgreSQL server that carries lines between archives.

Local first: a chat writes its own file and never waits for the server. It syncs in a process of its own,
which gets the environment as it was before the host read any file of the repository: no `.env` there says
where the server is. What a host itself puts into the environment of its hooks cannot be told from what the
user did: `--unasked` sends nothing to a server that is named otherwise than when its user shared the project.
Importing this loads no library of the server's.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from aider_gardener.archive.postgres import local
from aider_gardener.archive.postgres.server import is_named
from aider_gardener.archive.store import Store
from aider_gardener.errors import StoreError

SECONDS = 60.0
"""Between the beginnings of two syncs of a project, by whichever process."""


class BackgroundSync:
    """Syncs one project, about once a minute by whichever process: two at a time do no harm. `start` begins a
    process; `clock` gives seconds since the epoch."""

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
        self._process: subprocess.Popen[bytes] | None = None

    def turn_over(self) -> bool:
        """Begin a sync if one is due; whether one was begun. A project that is not shared costs one look, and
        nothing that goes wrong here is the host's."""
        if not is_named(self.environ) or not self.store.is_file:
            return False
        if self._process is not None and self._process.poll() is None:
            return False
        now = self._clock()
        try:
            share = self.store.database.read(lambda db: local.share_of(db, self.project))
            if share is None or 0 <= now - share.active_at < SECONDS:
                return False
            local.note(self.store, self.project, active_at=now)
            self._process = self._start(command(self.store, self.project), self.environ)
        except (OSError, StoreError):
            return False
        return True


def command(store: Store, project: str) -> list[str]:
    """What syncs a project of an archive without a word."""
    options = ["--store", str(store.directory or ""), "--project", project, "--unasked"]
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
