"""Verified TLS as it is met: who has no certificate of the right authority for the right name gets nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from shared_archives import Team
from tls_in_front import Authority, Front, authority

from aider_gardener.archive.postgres import server
from aider_gardener.archive.postgres.server import VARIABLE, ServerError, connected
from bench.postgres_server import PASSWORD

HOST = "db.example"
Fronts = Callable[[Path], Front]


@pytest.fixture(autouse=True)
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network in which two names lead to this machine, and a home without certificates."""
    real = socket.getaddrinfo

    def looked_up(host: Any, *rest: Any, **more: Any) -> Any:
        return real("127.0.0.1" if host in (HOST, "other.example") else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def trusted(tmp_path: Path) -> Authority:
    return authority(tmp_path, "trusted")


@pytest.fixture
def fronts(team: Team) -> Iterator[Fronts]:
    made: list[Front] = []

    def front(certificate: Path) -> Front:
        made.append(Front(certificate, team.server.port))
        return made[-1]

    yield front
    for each in made:
        each.stop()


def environ(team: Team, front: Front, options: str = "", host: str = HOST) -> dict[str, str]:
    """The server as a user names it: no mode of TLS, so that all is verified."""
    return {VARIABLE: f"postgresql://ana:{PASSWORD}@{host}:{front.port}/{team.database}{options}"}


def refusal(given: dict[str, str], front: Front) -> str:
    with pytest.raises(ServerError) as caught, connected(given):
        pass
    told = str(caught.value)
    assert "\n" not in told and PASSWORD not in told and front.passed == 0
    return told


def test_a_server_of_the_right_authority_and_name_is_spoken_to_under_tls(
    team: Team, fronts: Fronts, trusted: Authority, tmp_path: Path
) -> None:
    front = fronts(trusted.issue(tmp_path, HOST))
    given = environ(team, front, f"?sslrootcert={trusted.file}")
    with connected(given) as found:
        assert found.execute("SELECT session_user::text").fetchone() == ("ana",)
        assert found.pgconn.ssl_in_use
        assert found.info.get_parameters()["sslmode"] == "verify-full"
    assert front.versions == ["TLSv1.3"] and server.warning(given) == ""


@pytest.mark.parametrize("how", ["the system's file", "SSL_CERT_FILE", "PGSSLROOTCERT", "root.crt"])
def test_the_authority_may_be_one_of_the_systems_or_the_users(
    how: str, team: Team, fronts: Fronts, trusted: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = fronts(trusted.issue(tmp_path, HOST))
    given = environ(team, front)
    if how == "the system's file":
        monkeypatch.setattr(server, "AUTHORITIES", (str(trusted.file),))
    elif how == "root.crt":
        (tmp_path / ".postgresql").mkdir()
        (tmp_path / ".postgresql" / "root.crt").write_bytes(trusted.file.read_bytes())
    else:
        monkeypatch.setenv(how, str(trusted.file))
        given[how] = str(trusted.file)
    with connected(given) as found:
        assert found.pgconn.ssl_in_use
    assert len(front.versions) == 1


def test_who_has_no_good_certificate_gets_nothing(
    team: Team, fronts: Fronts, trusted: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, sound = f"?sslrootcert={trusted.file}", trusted.issue(tmp_path, HOST)
    another = fronts(authority(tmp_path, "another").issue(tmp_path, HOST))
    assert "certificate verify failed" in refusal(environ(team, another, root), another)
    front = fronts(sound)
    assert "certificate verify failed" in refusal(environ(team, front), front), "none is trusted"
    monkeypatch.setattr(server, "AUTHORITIES", ())
    assert "certificate verify failed" in refusal(environ(team, front), front)
    assert "does not exist" in refusal(environ(team, front, f"?sslrootcert={tmp_path}/none.pem"), front)
    late = fronts(trusted.issue(tmp_path, HOST, days=-1))
    assert "certificate verify failed" in refusal(environ(team, late, root), late)
    named = fronts(trusted.issue(tmp_path, "other.example"))
    assert "does not match host name" in refusal(environ(team, named, root), named)
    with connected(environ(team, named, root, "other.example")) as found:
        assert found.pgconn.ssl_in_use


def test_a_server_without_tls_gets_nothing_unless_it_is_on_this_machine(
    team: Team, trusted: Authority
) -> None:
    address = f"postgresql://ana:{PASSWORD}@{HOST}:{team.server.port}/{team.database}"
    with pytest.raises(ServerError, match="does not support SSL"), connected(
        {VARIABLE: f"{address}?sslrootcert={trusted.file}"}
    ):  # fmt: skip
        pass
    with connected(team.environ("ana")) as found:
        assert not found.pgconn.ssl_in_use
