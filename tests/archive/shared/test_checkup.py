"""The check-up of the server is a few plain lines within seconds, whatever stands at the other end."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping

import pytest
from shared_archives import Machines, Team

from aider_gardener.archive.shared import checkup, schema, sync
from aider_gardener.archive.shared.checkup import ServerFinding, look
from aider_gardener.archive.shared.server import VARIABLE, connected
from aider_gardener.archive.store.shares import Share
from bench.postgres_server import PASSWORD

SHARE = Share("/projects/pump", "ana/pump", 1, "server", "ana", True, "machine")


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of one who takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


def rows(share: Share | None, environ: Mapping[str, str]) -> dict[str, tuple[bool, str]]:
    found = look(share, environ)
    assert all("\n" not in each.found and PASSWORD not in each.found for each in found)
    return {each.name: (each.ok, each.found) for each in found}


def test_where_none_is_named_that_is_in_order_unless_the_project_is_shared() -> None:
    assert look(None, {}) == [ServerFinding("server", True, checkup.NONE)]
    sharing, server = look(SHARE, {})
    assert sharing == ServerFinding("sharing", True, "as ana/pump")
    assert not server.ok and server.found.startswith("ana/pump is shared, but no server is named here: set ")


def test_a_server_for_something_else_is_not_asked() -> None:
    assert look(None, {"PGHOST": "127.0.0.1", "PGPORT": "1"}) == [
        ServerFinding("server", True, checkup.NOT_ASKED)
    ]
    assert not look(SHARE, {"PGHOST": "127.0.0.1", "PGPORT": "1"})[1].ok


def test_a_server_that_is_fit_says_its_versions(machines: Machines, team: Team) -> None:
    one = machines("ana")
    assert rows(None, one.environ)["server's tables"] == (True, schema.NOT_PREPARED)
    found = rows(one.share(), one.environ)
    assert list(found) == ["sharing", "server", "server's tables", "pgvector"]
    assert all(ok for ok, _ in found.values())
    assert found["server"] == (True, "127.0.0.1 answers")
    assert found["server's tables"] == (True, f"version {schema.VERSION}")
    assert found["pgvector"][1].startswith("version 0.")


def test_tables_and_pgvector_that_do_not_fit_are_said_to_be_so(machines: Machines, team: Team) -> None:
    share = machines("ana").share()
    environ = team.environ("ana")
    team.rows(f"UPDATE gardener.about SET version = {schema.VERSION + 1}")
    assert rows(share, environ)["server's tables"][1].startswith("the server's tables are of a newer")
    team.rows(f"UPDATE gardener.about SET version = {schema.VERSION - 1}")
    assert rows(share, environ)["server's tables"] == (False, schema.TOO_OLD)
    team.rows(f"UPDATE gardener.about SET version = {schema.VERSION}, server = 'another'")
    assert rows(share, environ)["server's tables"] == (False, sync.OTHER_SERVER)
    team.rows("DROP EXTENSION vector CASCADE")
    assert rows(share, environ)["pgvector"] == (False, schema.NO_EXTENSION)


def test_a_wrong_password_is_said_without_it(machines: Machines, team: Team) -> None:
    share = machines("ana").share()
    found = rows(share, team.environ("ana", "hunter2"))
    assert found["server"][1].startswith("127.0.0.1 refused the password") and "hunter2" not in str(found)


def test_the_last_sync_that_failed_is_told(team: Team) -> None:
    failed = Share("/projects/pump", "ana/pump", 1, "server", "ana", True, "machine", problem="it rained")
    assert look(failed, {})[0] == ServerFinding(
        "sharing", False, "as ana/pump; the last sync failed: it rained"
    )


def test_one_who_says_nothing_is_waited_for_only_seconds(silent: int) -> None:
    began = time.monotonic()
    found = rows(None, {VARIABLE: f"postgresql://ana:{PASSWORD}@127.0.0.1:{silent}/d"})
    assert not found["server"][0] and time.monotonic() - began < checkup.DEADLINE_SECONDS + 2


def test_whatever_stands_in_the_way_ends_at_the_deadline(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "_asked", lambda *_: time.sleep(1) or [])
    began = time.monotonic()
    (found,) = look(None, team.environ("ana"), deadline_seconds=0.1)
    assert found == ServerFinding("server", False, checkup.SILENT.format(host="127.0.0.1"))
    assert time.monotonic() - began < 0.9


def test_the_check_up_changes_nothing(team: Team) -> None:
    look(None, team.environ("ana"))
    with connected(team.environ("ana")) as ana:
        assert schema.found(ana) == (0, "")
