"""The server is reached safely or not at all, and what is said of it never holds a password."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from shared_archives import Team

from aider_gardener.archive.postgres import server
from aider_gardener.archive.postgres.server import VARIABLE, ServerError, connected
from aider_gardener.errors import UsageError
from bench.postgres_server import PASSWORD

pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")


def given(url: str, **more: str) -> dict[str, str]:
    return {VARIABLE: url, **more}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


def failure(environ: dict[str, str]) -> str:
    """What is said where a connection fails: one line, without the password, nor is it in the chain of
    causes."""
    with pytest.raises(ServerError) as caught, connected(environ):
        pass
    error = caught.value
    told = str(error)
    assert "\n" not in told and PASSWORD not in told and "hunter2" not in told
    assert error.__cause__ is None and error.__suppress_context__
    return told


def test_tls_is_verified_unless_the_server_is_on_this_machine() -> None:
    for here in (
        "postgresql://u@localhost/d",
        "postgresql://u@127.0.0.1/d",
        "postgresql://u@[::1]/d",
        "host=/run",
    ):
        assert "sslmode" not in server.parameters(given(here))
    for away in ("postgresql://u@db.example/d", "postgresql://u@10.0.0.7/d", "host=localhost,db.example",
                 "host=localhost hostaddr=10.0.0.7"):  # fmt: skip
        assert server.parameters(given(away))["sslmode"] == "verify-full"
    assert server.parameters({"PGHOST": "localhost", "PGHOSTADDR": "10.0.0.7"})["sslmode"] == "verify-full"
    assert server.parameters({"PGSERVICE": "cellar"})["sslmode"] == "verify-full"


def test_a_network_that_was_cut_is_noticed_unless_the_address_says_otherwise() -> None:
    usual = server.parameters(given("postgresql://u@db.example/d"))
    idle, interval, count = (int(usual[f"keepalives_{name}"]) for name in ("idle", "interval", "count"))
    assert idle + interval * count <= 60 and int(usual["tcp_user_timeout"]) <= 60_000
    own = server.parameters(given("postgresql://u@db.example/d?keepalives_idle=99&application_name=mine"))
    assert (own["keepalives_idle"], own["application_name"]) == ("99", "mine")


def test_a_weaker_mode_is_taken_only_if_it_is_written_out_and_one_line_says_so() -> None:
    weak = given("postgresql://u:hunter2@db.example/d?sslmode=require")
    assert server.parameters(weak)["sslmode"] == "require"
    assert server.warning(weak).startswith("the connection to db.example is not verified (sslmode=require)")
    assert "sslmode=prefer" in server.warning(given("host=db.example", PGSSLMODE="prefer"))
    assert server.warning(given("postgresql://u@db.example/d")) == ""
    assert server.warning(given("postgresql://u@localhost/d?sslmode=disable")) == ""


def test_without_an_address_or_with_none_that_is_one_the_user_is_told_what_to_write() -> None:
    with pytest.raises(UsageError, match=f"set {VARIABLE}="):
        server.parameters({"PGPASSWORD": "hunter2"})
    assert server.is_named({"PGHOST": "db.example"}) and not server.is_named({})
    with pytest.raises(UsageError) as caught:
        server.parameters(given("postgres//u:hunter2@db.example/d"))
    assert "hunter2" not in str(caught.value) and caught.value.__suppress_context__


def test_the_same_name_of_a_server_is_known_again_whatever_its_password() -> None:
    plain = given("postgresql://ana@db.example/d")
    assert server.named_as(given("postgresql://ana:hunter2@db.example/d")) == server.named_as(
        given("postgresql://ana:other@db.example/d")
    )
    assert server.named_as({**plain, "PGPASSWORD": "x", "PATH": "/bin"}) == server.named_as(plain)
    for more in (
        {VARIABLE: "postgresql://ana@thief.example/d"},
        {VARIABLE: "postgresql://ana@db.example/d?sslmode=disable"},
        {"PGHOSTADDR": "10.0.0.7"},
        {"PGSSLMODE": "disable"},
        {"SSL_CERT_FILE": "/thief.pem"},
        {"PGSERVICEFILE": "/thief"},
        {"PGSSLCRL": "/thief"},
    ):
        assert server.named_as({**plain, **more}) != server.named_as(plain)


def unknown(*_: Any, **__: Any) -> None:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def test_whatever_is_wrong_is_one_line_that_says_what_and_no_password(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = team.environ("ana")[VARIABLE]
    assert 'password authentication failed for user "ana"' in failure(team.environ("ana", "hunter2"))
    assert "no password supplied" in failure(given(url.replace(f":{PASSWORD}", "")))
    assert "elsewhere" in failure(given(url.replace(team.database, "elsewhere")))
    assert "Connection refused" in failure(given("postgresql://ana:hunter2@127.0.0.1:1/d"))
    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        told = failure(given("postgresql://ana:hunter2@db.example/d"))
        assert told.startswith("db.example cannot be used now (")
    told = failure(given(f"{url}?sslmode=verify-full&sslrootcert=system"))
    assert told.startswith("127.0.0.1 cannot be used now (") and "SSL" in told
    assert told.endswith("; nothing is lost, try again when it answers"), "no copy or search waits for a sync"


def test_passwords_are_taken_out_of_whatever_the_driver_says() -> None:
    for text in (
        'failed: "postgresql://ana:hunter2@db.example/d"',
        "failed with password=hunter2 host=db.example",
        "failed with password='hunter2' host=db.example",
        "the word hunter2 stands alone\nand in a second line: hunter2",
    ):
        assert "hunter2" not in server.scrubbed(text, "hunter2")
        assert "\n" not in server.scrubbed(text)
    assert "hunter2" not in server.scrubbed("postgresql://ana:hunter2@db.example/d")


def test_where_the_package_is_missing_one_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"uv tool install '\.\[postgres\]'"):
        server.parameters(given("postgresql://u@h/d"))
