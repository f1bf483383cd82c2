"""Several machines and people around one real server: the fixtures of all tests of what is shared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from made_search import found

from aider_gardener.archive.postgres import sync
from aider_gardener.archive.postgres.local import Share
from aider_gardener.archive.postgres.server import VARIABLE
from aider_gardener.archive.postgres.sync import SyncReport
from aider_gardener.archive.store import Store, open_store
from aider_gardener.messages import ContentClass, Entry, Segment, Source, SourceKind, entry_id
from bench.postgres_server import PASSWORD, Server, Unusable, started

PROJECT = "/projects/pump"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A running server, one for all tests."""
    try:
        server = started()
    except Unusable as reason:
        pytest.skip(f"no PostgreSQL here: {reason}")
    yield server
    server.stop()


@dataclass
class Team:
    """A database of its own on the server, and who may log in: ana owns it, bob, cora and eve do not."""

    server: Server
    database: str
    roles: tuple[str, ...] = ("ana", "bob", "cora", "eve")

    def environ(self, role: str, password: str = PASSWORD) -> dict[str, str]:
        """The environment of one of them."""
        return {VARIABLE: self.server.url(role, self.database, password)}

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What the superuser sees."""
        return self.server.execute(sql, self.database)

    def alter(self, to: str, *, of: str) -> None:
        """Alter the payloads that hold a text, by an expression in SQL of the payload as text."""
        text = "encode(payload, 'escape')"
        to = to.replace("payload", text)
        self.rows(
            f"UPDATE gardener.lines SET payload = decode({to}, 'escape')"
            f" WHERE {text} LIKE '%\"{of}\"%' RETURNING 1"
        )

    def said(self) -> list[str]:
        """The texts of all messages on the server, in the order of its changes."""
        rows = self.rows("SELECT payload FROM gardener.lines WHERE kind = 'said' ORDER BY change")
        return [json.loads(bytes(payload))["content"] for (payload,) in rows]  # type: ignore[call-overload]


@pytest.fixture
def team(postgres: Server) -> Team:
    return Team(postgres, postgres.database("ana", "bob", "cora", "eve"))


@dataclass
class Machine:
    """An archive of one person on one machine, with the person's environment."""

    store: Store
    environ: Mapping[str, str]
    project: str = PROJECT
    session: str = "s"
    now: float = 1_000.0
    said: dict[str, str] = field(default_factory=dict)

    def say(self, *texts: str, session: str = "", provider: str = "openai", at: float = 0.0) -> list[str]:
        """Add messages to a session; returns their ids."""
        session = session or self.session
        self.store.open_session(session, project=self.project, started_at=1.0, live=False)
        ids = []
        for text in texts:
            self.now += 1
            seq = len(self.store.session_entries(session))
            kept = self.store.add(entry(text, session, seq, provider, at or self.now), chunks=chunks(text))
            self.said[kept.id] = text
            ids.append(kept.id)
        return ids

    def share(
        self, name: str = "pump", *, owners: tuple[str, ...] = (), readers: tuple[str, ...] = ()
    ) -> Share:
        return sync.share(
            self.store, self.project, name, owners=owners, readers=readers, environ=self.environ
        )

    def share_and_sync(self, name: str = "pump", **admitted: tuple[str, ...]) -> SyncReport:
        self.share(name, **admitted)
        return self.sync()

    def sync(self) -> SyncReport:
        return sync.sync(self.store, self.project, self.environ)

    @property
    def shared(self) -> Share:
        """How the project is shared now."""
        return sync.share_of(self.store, self.project)

    def finds(self, query: str) -> list[str]:
        """The texts of this project that full text finds."""
        sessions = [info.id for info in self.store.sessions(self.project)]
        return sorted(str(self.store.original(each)) for each in found(self.store, query, sessions=sessions))


def entry(text: str, session: str, seq: int, provider: str, at: float) -> Entry:
    segments = (Segment(0, len(text), ContentClass.PROSE),)
    return Entry(
        entry_id("user", text), session, 1, seq, "user", text, Source(SourceKind.COMMAND, "make test"),
        ContentClass.PROSE, segments, len(text) // 4, created_at=at, accessed_at=at, provider=provider,
    )  # fmt: skip


def chunks(text: str) -> list[tuple[int, int]]:
    return [(at, min(at + 400, len(text))) for at in range(0, len(text), 400)]


@dataclass
class Machines:
    """Makes machines, each with a folder and a user's folder of its own."""

    folder: Path
    team: Team
    made: list[Machine] = field(default_factory=list)

    def __call__(self, role: str, name: str = "", *, project: str = PROJECT) -> Machine:
        place = self.folder / (name or f"{role}{len(self.made)}")
        store = open_store(place / "archive")
        assert store.persistent, store.notice
        machine = Machine(store, self.team.environ(role), project, session=f"s{len(self.made)}")
        self.made.append(machine)
        return machine


@pytest.fixture
def machines(tmp_path: Path, team: Team) -> Iterator[Machines]:
    found = Machines(tmp_path, team)
    yield found
    for machine in found.made:
        machine.store.close()
