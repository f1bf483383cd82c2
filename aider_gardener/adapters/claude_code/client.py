"""A hook as a process: it asks the server that runs beside the host, or does the work itself.

Only the standard library is imported before it is known that no server answers: a host waits for this. It
never fails its host: whatever happens, it ends with 0 before the host's patience does, says nothing where it
has nothing to say, and writes one line without a word of the chat to the log beside the archive.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener import files

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

SERVER_NAME, SOCKET_NAME, LOG_NAME = "gardener.db.server", "gardener.db.socket", "gardener.db.hooks-log"
"""Beside the archive: how the server is reached and its token, its socket, and the log of faults."""
EVENTS: Mapping[str, int] = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PostToolUse": 5,
    "PreCompact": 60,
    "PostCompact": 60,
    "Stop": 10,
}
"""The events that are listened to, and after how many seconds Claude Code goes on without an answer."""
OWN_SHARE = 0.7
"""How much of that a hook takes at most. The rest is for what passes before its first line runs."""
CONNECT_SECONDS, ANSWER_SECONDS = 0.25, 2.0
"""How long a server is waited for, but before a compaction: then it takes in all that is left."""
PATIENT = ("PreCompact", "PostCompact")
LONGEST_SOCKET = 100
"""A longer path is none for a socket on some systems."""
LARGEST_BYTES = 16 << 20
"""What a host says of one event, or a server answers, is no longer."""
LOG_BYTES, SERVER_BYTES = 64 << 10, 4_096
PASSED_ON = ("AIDER_GARDENER", "ANTHROPIC_BASE_URL")
"""Beginnings of the environment's names that say how an event is to be answered."""


def main(event: str) -> int:
    """Answer one event: its JSON on standard input, one JSON object or nothing on standard output. Returns
    0, or ends the process with it."""
    place: list[Path] = []
    gc.disable()  # the process ends before there is anything to collect
    with ending(event, place):
        try:
            given = json.loads(sys.stdin.buffer.read(LARGEST_BYTES).decode("utf-8", "replace"))
            if not isinstance(given, dict):
                raise ValueError("no JSON object")
            project = project_of(given)
            place.append(archive_directory(project))
            answer = asked(place[0], event, given, project)
            if answer is None:
                answer = answered_here(place[0], event, given, project)
            if answer:
                sys.stdout.write(json.dumps(answer))
                sys.stdout.flush()
        except BaseException as error:  # reason: a hook must never fail its host, whatever it meets
            note_fault(place, event, error)
    return 0


@contextlib.contextmanager
def ending(event: str, place: list[Path]) -> Iterator[None]:
    """A context that ends the process with 0 where what is done in it takes too long for the host. `place`
    holds the archive's directory as soon as it is known."""

    def end() -> None:
        try:
            note_fault(place, event, TimeoutError())
        finally:
            os._exit(0)

    timer = threading.Timer(OWN_SHARE * EVENTS.get(event, min(EVENTS.values())), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def project_of(given: dict[str, Any]) -> Path:
    """The project that an event belongs to: the work tree around the folder in which the host was started."""
    named = os.environ.get("CLAUDE_PROJECT_DIR") or given.get("cwd")
    start = Path(named if isinstance(named, str) and named else os.getcwd()).resolve()
    return next((folder for folder in [start, *start.parents] if (folder / ".git").exists()), start)


def archive_directory(project: Path) -> Path:
    """Where the project's archive lies, as `aider-gardener` would find it there."""
    chosen = os.environ.get("AIDER_GARDENER_STORE", "").strip()
    if not chosen and (project / ".git").exists():
        return project / ".aider.gardener"
    from aider_gardener.archive.store.location import chosen_directory, store_directory

    return chosen_directory(Path(chosen).expanduser()) if chosen else store_directory(None, project=project)


def passed_on() -> dict[str, str]:
    """What of the host's environment says how an event is to be answered."""
    return {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}


def asked(directory: Path, event: str, given: dict[str, Any], project: Path) -> dict[str, Any] | None:
    """The answer of the server beside the archive; None where there is none, or none that answers in time."""
    try:
        reached = server_of(directory)
        if reached is None:
            return None
        connection, token = reached
        with connection:
            request = {"token": token, "event": event, "given": given, "project": str(project)}
            connection.settimeout(None if event in PATIENT else ANSWER_SECONDS)
            connection.sendall(json.dumps({**request, "environ": passed_on()}).encode() + b"\n")
            answer = json.loads(received(connection))
        return answer if isinstance(answer, dict) and "fault" not in answer else None
    except (OSError, ValueError):
        return None


def server_of(directory: Path) -> tuple[socket.socket, str] | None:
    """A connection to the archive's server, and its token. What names it must be a private file of this
    user's: a repository cannot bring one. Raises OSError or ValueError."""
    with files.open_plain(directory / SERVER_NAME, SERVER_BYTES) as file:
        found = os.fstat(file.fileno())
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
            return None
        told = json.loads(file.read(SERVER_BYTES))
    if not isinstance(told, dict) or not isinstance(told.get("token"), str):
        return None
    port = told.get("port")
    if isinstance(port, int):
        return socket.create_connection(("127.0.0.1", port), timeout=CONNECT_SECONDS), told["token"]
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(str(directory / SOCKET_NAME))
    except OSError:
        connection.close()
        raise
    return connection, told["token"]


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side ends, within bounds."""
    with connection.makefile("rb") as file:
        return file.read(LARGEST_BYTES)


def answered_here(directory: Path, event: str, given: dict[str, Any], project: Path) -> dict[str, Any]:
    """The answer made in this process: by words alone, for no model is loaded for one question."""
    import time

    from aider_gardener.adapters.claude_code.hooks import Hooks
    from aider_gardener.archive.store import open_store
    from aider_gardener.settings import Settings

    settings = Settings.from_env()
    if not settings.enabled:
        return {}
    store = open_store(directory, key_source=settings.store_key)
    try:
        if not store.persistent:  # what is taken in would end with this process, and may be another's project
            return {}
        hooks = Hooks(
            store,
            str(project),
            settings=settings,
            environ=os.environ,
            clock=time.time,
            sync=lambda: begin_sync(store, str(project)),
        )
        return hooks.answer(event, given)
    finally:
        store.close()


def begin_sync(store: Store, project: str) -> None:
    """Begin to sync the project in a process of its own, if it is shared and a sync is due."""
    from aider_gardener.archive import plugin

    if plugin.is_shared(store, project):
        plugin.part().BackgroundSync(store, project, os.environ).turn_over()


def note_fault(place: list[Path], event: str, error: BaseException) -> None:
    """One line in the log: when, which event, the kind of the fault. Never its message, which may quote."""
    try:
        import time

        path = place[0] / LOG_NAME
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | files.NO_LINK
        full = os.path.lexists(path) and files.check_plain(path).st_size > LOG_BYTES
        handle = os.open(path, flags | (os.O_TRUNC if full else 0), 0o600)
        files.give_to_owner(handle, path)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            name = "".join(char for char in event if char.isalnum())[:40]
            file.write(
                f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {name} {type(error).__name__}\n"
            )
    except (OSError, IndexError):
        return
