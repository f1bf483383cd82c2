"""Answers hooks for the processes that the host starts: with the archive open and, once it is loaded, a
model, so that a hook takes as long as its process needs to start."""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import os
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener import files
from aider_gardener.adapters.claude_code.client import (
    ANSWER_SECONDS,
    LARGEST_BYTES,
    LONGEST_SOCKET,
    SERVER_NAME,
    SOCKET_NAME,
    server_of,
)
from aider_gardener.adapters.claude_code.hooks import Hooks
from aider_gardener.archive.archive import EmbeddingBacklog
from aider_gardener.settings import Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

log = logging.getLogger("aider_gardener")

AGAIN_SECONDS = 20.0
"""So often it is looked whether the server of another process has gone."""
OTHER_PROJECT = "of another project"


class HookServer:
    """Serves the hooks of one project's archive on a socket beside it, or where sockets have no names in the
    file system on a port of this machine. Only who can read the token, a private file, is answered. While
    another process serves the same archive this one waits to take its place. `sync` begins to sync the
    project if it is shared and a sync is due."""

    def __init__(
        self,
        store: Store,
        project: str,
        *,
        backlog: EmbeddingBacklog | None = None,
        clock: Callable[[], float] = time.time,
        sync: Callable[[], object] = lambda: None,
    ) -> None:
        self.store, self.project, self.backlog, self.clock, self.sync = store, project, backlog, clock, sync
        self._token = secrets.token_hex(32)
        self._server: socketserver.BaseServer | None = None
        self._stopped = threading.Event()
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def serves(self) -> bool:
        """Whether hooks are answered here now."""
        return self._server is not None

    def start(self) -> None:
        """Serve from now on, or as soon as no other process does; without an archive on disk never."""
        if self.store.directory is None or self._thread is not None:
            return
        threading.Thread(target=warm_up, args=[self.backlog], name="gardener-warm-up", daemon=True).start()
        self._try()
        self._thread = threading.Thread(target=self._keep_trying, name="gardener-hooks", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve no more; what names this server goes."""
        self._stopped.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
            if self._is_named():
                self._remove()

    def _keep_trying(self) -> None:
        while not self._stopped.wait(AGAIN_SECONDS):
            if not self.serves:
                self._try()

    def _try(self) -> None:
        """Take the place of the server, unless one is there."""
        directory = self.store.directory
        if directory is None:
            return
        with contextlib.suppress(OSError, ValueError):
            found = server_of(directory)
            if found is not None:
                found[0].close()
                return
        try:
            self._remove()
            self._server = self._bound(directory)
        except OSError as error:
            log.warning("hooks are not served: %s", type(error).__name__)
            return
        threading.Thread(target=self._server.serve_forever, name="gardener-hook-server", daemon=True).start()

    def _bound(self, directory: Path) -> socketserver.BaseServer:
        """A server that listens, told of in its file. Raises OSError."""
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = ANSWER_SECONDS

            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    self.wfile.write(json.dumps(outer.respond(self.rfile.readline(LARGEST_BYTES))).encode())

        path = directory / SOCKET_NAME
        told: dict[str, Any] = {"token": self._token}
        server: socketserver.BaseServer
        if hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= LONGEST_SOCKET:
            server = unix_server(path, Handler)
        else:
            tcp = ThreadingTCPServer(("127.0.0.1", 0), Handler)
            told["port"], server = tcp.server_address[1], tcp
        with files.open_private(directory / SERVER_NAME) as file:
            file.write(json.dumps(told).encode())
        return server

    def _is_named(self) -> bool:
        """Whether the file beside the archive names this server, and not one that came after it."""
        directory = self.store.directory
        try:
            return directory is not None and self._token.encode() in files.read(directory / SERVER_NAME)
        except OSError:
            return False

    def _remove(self) -> None:
        """Delete what a server left behind."""
        directory = self.store.directory
        if directory is not None:
            for name in (SERVER_NAME, SOCKET_NAME):
                with contextlib.suppress(FileNotFoundError):
                    (directory / name).unlink()

    def respond(self, raw: bytes) -> dict[str, Any]:
        """The answer to one request, `fault` in it where it is to be answered elsewhere."""
        try:
            asked = json.loads(raw)
            token, given = str(asked["token"]), asked["given"]
            if not hmac.compare_digest(token.encode(), self._token.encode()):
                return {"fault": "token"}
            if asked["project"] != self.project or not isinstance(given, dict):
                return {"fault": OTHER_PROJECT}
            with self._lock(str(given.get("session_id"))), resting(self.backlog):
                return self._hooks(asked["environ"]).answer(str(asked["event"]), given)
        except Exception as error:  # reason: the process that asked does the work itself then
            log.warning("a hook failed: %s", type(error).__name__)
            return {"fault": type(error).__name__}

    def _hooks(self, environ: Mapping[str, str]) -> Hooks:
        settings = Settings.from_env(environ)
        return Hooks(
            self.store,
            self.project,
            settings=settings,
            environ=environ,
            clock=self.clock,
            backlog=self.backlog,
            sync=self.sync,
        )

    def _lock(self, session: str) -> threading.Lock:
        """One event of a session at a time."""
        with self._guard:
            return self._locks.setdefault(session, threading.Lock())


def warm_up(backlog: EmbeddingBacklog | None) -> None:
    """Import what hooks need, and have the model loaded, before the first of them asks."""
    import aider_gardener.compress.message
    import aider_gardener.gardener.memory
    import aider_gardener.recall.recall  # noqa: F401  # reason: imported for their time
    from aider_gardener.compress.registry import BY_CLASS

    for compressor in BY_CLASS.values():
        compressor()
    if backlog is not None:
        backlog.want()


@contextlib.contextmanager
def resting(backlog: EmbeddingBacklog | None) -> Iterator[None]:
    """Nothing is embedded while a hook is answered."""
    if backlog is not None:
        backlog.pause()
    try:
        yield
    finally:
        if backlog is not None:
            backlog.resume()


class ThreadingTCPServer(socketserver.ThreadingTCPServer):
    daemon_threads = True


def unix_server(path: Path, handler: type[socketserver.BaseRequestHandler]) -> socketserver.BaseServer:
    """A server on a socket that only this user may open. Raises OSError."""

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True
        request_queue_size = 64

    server = Server(str(path), handler)
    path.chmod(0o600)
    return server
