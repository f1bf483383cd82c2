"""An archive for several machines and people: a PostgreSQL server that carries lines between archives.

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
"""Between the last sign of one sync of a project and the beginning of the next, by whichever process."""


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


def sync_if_due(
    store: Store,
    project: str,
    environ: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.time,
    start: Callable[[Sequence[str], Mapping[str, str]], object] = begin,
) -> bool:
    """Begin to sync a project in a process of its own if none does and the last is a minute ago; whether one
    was begun. A sync that goes on says so with each batch. A project that is not shared costs one look, and
    nothing that goes wrong here is the host's. `clock` gives seconds since the epoch."""
    if not is_named(environ) or not store.is_file:
        return False
    now = clock()
    try:
        share = store.database.read(lambda db: local.share_of(db, project))
        if share is None or 0 <= now - share.active_at < SECONDS:
            return False
        local.note(store, project, active_at=now)
        silent = ["--store", str(store.directory or ""), "--project", project, "--unasked"]
        start([sys.executable, "-m", "aider_gardener.cli", "store", "sync", *silent], environ)
    except (OSError, StoreError):
        return False
    return True
