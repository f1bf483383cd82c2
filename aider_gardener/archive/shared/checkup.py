"""What `gardener doctor` says of the server, within a few seconds: whether one is named, answers, is fit."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from aider_gardener.archive.shared import schema, server, sync
from aider_gardener.archive.store.shares import Share
from aider_gardener.errors import GardenerError

SECONDS = 3
"""How long connecting to an address of the server, and each question, may take."""
DEADLINE_SECONDS = 6.0
"""How long all of it may, whatever resolves names or stands in the way."""
SHARED = "as {name}"
FAILED = "as {name}; the last sync failed: {problem}"
NONE = "none named, the archive stays on this machine"
NOT_ASKED = "not asked: PG* variables name one, but this project is not shared"
LOST = "{name} is shared, but no server is named here: set {variable}, or PGHOST and the like"
ANSWERS = "{host} answers"
SILENT = "{host} says nothing: check the address, and whether the server runs"
FIT = "version {version}"


@dataclass(frozen=True)
class ServerFinding:
    """One thing looked at: what it is, whether it is in order, what was found or what to do."""

    name: str
    ok: bool
    found: str


def look(
    share: Share | None, environ: Mapping[str, str], *, deadline_seconds: float = DEADLINE_SECONDS
) -> list[ServerFinding]:
    """How a project is shared, if it is; the server that the environment names, its tables and its pgvector.

    A server that only the PG* variables name is not asked unless the project is shared: it may be meant for
    something else. Changes nothing and never raises; no password is in it.
    """
    if share is None:
        return _server(share, environ, deadline_seconds)
    text = FAILED if share.problem else SHARED
    told = ServerFinding("sharing", not share.problem, text.format(name=share.name, problem=share.problem))
    return [told, *_server(share, environ, deadline_seconds)]


def _server(share: Share | None, environ: Mapping[str, str], deadline_seconds: float) -> list[ServerFinding]:
    if not server.is_named(environ):
        text = LOST.format(name=share.name, variable=server.VARIABLE) if share else NONE
        return [ServerFinding("server", share is None, text)]
    if share is None and not environ.get(server.VARIABLE, "").strip():
        return [ServerFinding("server", True, NOT_ASKED)]
    found: list[ServerFinding] = []
    thread = threading.Thread(target=lambda: found.extend(_asked(share, environ)), daemon=True)
    thread.start()
    thread.join(deadline_seconds)
    return list(found) or [ServerFinding("server", False, SILENT.format(host=server.host_of(environ)))]


def _asked(share: Share | None, environ: Mapping[str, str]) -> list[ServerFinding]:
    try:
        warning = server.warning(environ)
        with server.connected(environ, seconds=SECONDS) as connection:
            told = warning or ANSWERS.format(host=server.host_of(environ))
            return [ServerFinding("server", True, told), _tables(share, connection), _pgvector(connection)]
    except GardenerError as error:
        return [ServerFinding("server", False, str(error))]


def _tables(share: Share | None, connection: server.Connection) -> ServerFinding:
    version, which = schema.found(connection)
    name = "server's tables"
    if not version:
        return ServerFinding(name, share is None, schema.NOT_PREPARED)
    if version > schema.VERSION:
        return ServerFinding(name, False, schema.TOO_NEW.format(found=version))
    if version < schema.VERSION:
        return ServerFinding(name, False, schema.TOO_OLD)
    if share is not None and share.server != which:
        return ServerFinding(name, False, sync.OTHER_SERVER)
    return ServerFinding(name, True, FIT.format(version=version))


def _pgvector(connection: server.Connection) -> ServerFinding:
    try:
        return ServerFinding("pgvector", True, FIT.format(version=schema.pgvector(connection)))
    except server.ServerError as error:
        return ServerFinding("pgvector", False, str(error))
