"""An archive kept whole on a server: there and back, nobody else's, and nothing of a local model's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from shared_archives import PROJECT, Machine, Machines, Team

from aider_gardener.archive.shared import copies, schema, server
from aider_gardener.archive.shared.copies import Address, open_on_server
from aider_gardener.archive.shared.server import VARIABLE, ServerError, connected
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.encryption import VARIABLE as KEY_VARIABLE
from aider_gardener.archive.store.tiers import Copied
from aider_gardener.errors import StoreError, UsageError
from bench.postgres_server import PASSWORD


def address(team: Team, role: str = "ana", name: str = "pump") -> Address:
    return Address(team.environ(role)[VARIABLE], name)


def copied(machine: Machine, to: Address) -> Copied:
    """Close the archive of a machine and copy it."""
    machine.store.close()
    assert machine.store.directory is not None
    return copies.copy_to(machine.store.directory, to, user=machine.store.directory.parent / "user")


def exported(store: Store, path: Path) -> bytes:
    store.export(path)
    store.close()
    return path.read_bytes()


def chat(machine: Machine) -> None:
    one, two = machine.say("the gasket leaks \0 \ud800", "seal it with PTFE")
    machine.store.set_state(machine.session, "view", '{"level": 2}')
    machine.store.record_event(machine.session, 1, "plan", {"entry_ids": [one, two]}, 5.0)
    machine.store.pin(two, True)


def test_an_archive_goes_to_a_server_and_comes_back_with_the_same_bytes(
    machines: Machines, team: Team, tmp_path: Path
) -> None:
    one = machines("ana")
    chat(one)
    before = exported(one.store, tmp_path / "before")
    for _ in range(2):
        done = copied(one, address(team))
        assert (done.tier, done.lines, done.told) == ("PostgreSQL", before.count(b"\n"), ())
    assert done.place == "postgresql://127.0.0.1#pump"
    back = tmp_path / "back"
    assert copies.copy_from(address(team), back).tier == "SQLite"
    assert exported(open_store(back), tmp_path / "after") == before
    assert exported(open_on_server(address(team), read_only=True), tmp_path / "there") == before


def test_a_second_copy_adds_what_is_new_and_leaves_nothing_twice(machines: Machines, team: Team) -> None:
    one, two = machines("ana"), machines("ana")
    one.say("from the desk")
    two.say("from the train")
    for machine in (one, two, one):
        copied(machine, address(team))
    assert team.rows("SELECT count(*) FROM gardener.lines") == [(1,)]
    held = open_on_server(address(team))
    assert sorted(e.content for s in ("s0", "s1") for e in held.session_entries(s)) == [
        "from the desk", "from the train",
    ]  # fmt: skip


def test_what_two_machines_write_at_once_stays(team: Team) -> None:
    one, two = (open_on_server(address(team), made=True) for _ in range(2))
    desk, train = Machine(one, {}, session="desk"), Machine(two, {}, session="train")
    (pinned,) = desk.say("said at the desk")
    train.say("said on the train")
    one.pin(pinned, True)
    again = open_on_server(address(team))
    entry = again.get(pinned)
    assert entry is not None and entry.pinned and len(again.session_entries("train")) == 1


def test_what_was_said_to_a_local_model_or_to_none_stays_here(
    machines: Machines, team: Team, tmp_path: Path
) -> None:
    one = machines("ana")
    one.say("to a remote one", session="away")
    one.say("never sent", session="away", provider="")
    one.say("to llama", session="home", provider="ollama")
    one.say("in the same chat", session="home")
    one.store.set_state("home", "view", "of the chat at home")
    one.store.open_session("shared:bob:x", project=PROJECT, started_at=1.0, hold=False)
    one.say("fetched from bob", session="shared:bob:x")
    done = copied(one, address(team))
    assert done.told == ("1 of the chats were held with a local model: they stay on this machine",)
    (raw,) = (bytes(data) for (data,) in connected_rows(team, "SELECT data FROM gardener.lines"))
    assert b"to a remote one" in raw
    for text in (b"never sent", b"llama", b"in the same chat", b"home", b"fetched from bob"):
        assert text not in raw


def test_an_export_with_a_local_chat_leaves_that_here_too(
    machines: Machines, team: Team, tmp_path: Path
) -> None:
    one = machines("ana")
    one.say("to a remote one", session="away")
    one.say("to llama", session="home", provider="ollama")
    one.store.open_session("begun", project=PROJECT, started_at=1.0, provider="ollama", model="secret-model")
    one.store.export(tmp_path / "all.jsonl")
    store = open_on_server(address(team), made=True)
    store.import_(tmp_path / "all.jsonl")
    assert store.notice.startswith("2 of the chats were held with a local model")
    assert [info.id for info in store.sessions(PROJECT)] == ["away"]
    raw = b"".join(data for (data,) in connected_rows(team, "SELECT data FROM gardener.lines"))
    assert b"to a remote one" in raw
    for text in (b"llama", b"home", b"secret-model"):
        assert text not in raw


@pytest.mark.parametrize("provider", ["ollama", ""])
def test_nothing_is_said_there_that_may_not_leave(team: Team, provider: str) -> None:
    store = open_on_server(address(team), made=True)
    with pytest.raises(StoreError, match="goes to no server"):
        Machine(store, {}).say("to llama", provider=provider)
    assert store.stats().entries == 0


def connected_rows(team: Team, sql: str) -> list[tuple[bytes]]:
    with connected(team.environ("ana")) as ana:
        return [(bytes(row[0]),) for row in ana.execute(sql.encode())]


def test_nobody_else_sees_or_alters_it(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("private")
    copied(one, address(team))
    with pytest.raises(UsageError, match=r"holds no archive: `gardener store copy --to` makes one"):
        open_on_server(address(team, "bob"))
    with connected(team.environ("bob")) as bob:
        for table in ("copies", "lines"):
            assert bob.execute(f"SELECT count(*) FROM gardener.{table}".encode()).fetchone() == (0,)
            bob.execute(f"DELETE FROM gardener.{table}".encode())
    with pytest.raises(ServerError, match="refuses this to bob"), connected(team.environ("bob")) as bob:
        bob.execute("INSERT INTO gardener.lines SELECT 1, 'x', 1, 0, ''")
    with pytest.raises(ServerError, match="refuses this to bob"), connected(team.environ("bob")) as bob:
        bob.execute("INSERT INTO gardener.copies (owner, name) VALUES ('ana', 'other')")
    assert len(open_on_server(address(team)).session_entries("s0")) == 1


def test_forgetting_takes_it_out_of_the_rows(machines: Machines, team: Team) -> None:
    one = machines("ana")
    (gone, _) = one.say("the aardvark", "the badger")
    copied(one, address(team))
    held = open_on_server(address(team))
    assert held.forget([gone]) == 1
    rows = b"".join(data for (data,) in connected_rows(team, "SELECT data FROM gardener.lines"))
    assert b"aardvark" not in rows and b"badger" in rows
    assert held.forget_session("s0") == 1
    rows = b"".join(data for (data,) in connected_rows(team, "SELECT data FROM gardener.lines"))
    assert b"badger" not in rows
    assert open_on_server(address(team)).stats().entries == 0


def test_a_server_that_dies_in_the_middle_has_nothing_of_it(
    machines: Machines, team: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one = machines("ana")
    one.say("before")
    copied(one, address(team))
    there = exported(open_on_server(address(team)), tmp_path / "there")
    again = machines("ana", "ana0")
    again.say("after", session="later")
    insert = copies._insert

    def dying(connection: object, *rest: object) -> None:
        insert(connection, *rest)  # type: ignore[arg-type]
        team.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'ana' AND datname = current_database()"
        )

    monkeypatch.setattr(copies, "_insert", dying)
    with pytest.raises(ServerError, match=r"127\.0\.0\.1") as error:
        copied(again, address(team))
    assert PASSWORD not in str(error.value) and "\n" not in str(error.value)
    monkeypatch.undo()
    assert exported(open_on_server(address(team)), tmp_path / "still") == there
    copied(again, address(team))
    assert open_on_server(address(team)).stats().entries == 2


def test_a_write_that_the_server_does_not_take_is_not_made(
    machines: Machines, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_on_server(address(team), made=True)
    machine = Machine(store, {})
    machine.say("taken")
    monkeypatch.setenv(VARIABLE, "postgresql://ana@127.0.0.1:1/db")
    gone = Address("postgresql://ana@127.0.0.1:1/db", "pump")
    monkeypatch.setattr(store.fallback.lines, "address", gone)
    with pytest.raises(ServerError, match="does not answer"):
        machine.say("not taken")
    assert [e.content for e in store.session_entries("s")] == ["taken"]


def test_a_long_line_goes_in_parts(
    machines: Machines, team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "PART_BYTES", 50)
    one = machines("ana")
    chat(one)
    before = exported(one.store, tmp_path / "before")
    copied(one, address(team))
    assert int(str(team.rows("SELECT max(part) FROM gardener.lines")[0][0])) > 10
    assert exported(open_on_server(address(team)), tmp_path / "after") == before


def test_a_way_that_is_not_verified_is_told(
    machines: Machines, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machines("ana")
    one.say("x")
    monkeypatch.setattr(server, "warning", lambda environ: f"weak, to {environ[VARIABLE]}")
    assert copied(one, address(team)).told == (f"weak, to {address(team).url}",)


def test_an_altered_row_is_told_and_left_out(machines: Machines, team: Team) -> None:
    store = open_on_server(address(team), made=True)
    Machine(store, {}).say("one", "two")
    team.rows(
        "UPDATE gardener.lines SET data = overlay(data placing '!' from 90)"
        " WHERE number = (SELECT max(number) FROM gardener.lines) RETURNING 1"
    )
    again = open_on_server(address(team))
    assert again.notice == "postgresql://127.0.0.1#pump: 1 lines are not what was written and are left out"
    assert [e.content for e in again.session_entries("s")] == ["one"]
    assert again.verify() != []


def test_an_encrypted_archive_is_copied_only_if_its_user_agrees(
    tmp_path: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "ab" * 32)
    store = open_store(tmp_path / "from", key_source="env")
    Machine(store, {}).say("a secret plan")  # type: ignore[arg-type]
    store.close()
    with pytest.raises(UsageError, match="agree with --readable"):
        copies.copy_to(tmp_path / "from", address(team), "env")
    assert team.rows("SELECT to_regclass('gardener.copies')") == [(None,)]
    assert copies.copy_to(tmp_path / "from", address(team), "env", readable=True).lines > 0


def test_it_is_removed_and_then_there_is_none(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("x")
    copied(one, address(team))
    copies.remove(address(team))
    assert team.rows("SELECT count(*) FROM gardener.lines") == [(0,)]
    with pytest.raises(UsageError, match="holds no archive"):
        copies.remove(address(team))


def test_what_is_only_read_does_not_change(machines: Machines, team: Team) -> None:
    one = machines("ana")
    (kept,) = one.say("x")
    copied(one, address(team))
    rows = connected_rows(team, "SELECT data FROM gardener.lines")
    held = open_on_server(address(team), read_only=True)
    held.touch([kept], 9.0)
    with pytest.raises(StoreError):
        held.forget([kept])
    assert connected_rows(team, "SELECT data FROM gardener.lines") == rows


def test_a_server_without_the_tables_says_what_to_do(team: Team) -> None:
    with pytest.raises(ServerError, match="nothing is shared on this server yet"):
        open_on_server(address(team))
    with connected(team.environ("ana")) as ana:
        schema.prepare(ana)
    with pytest.raises(UsageError, match="holds no archive"):
        open_on_server(address(team))


@pytest.mark.parametrize("text", ["https://host/x", "postgresql:/host", "ftp://a#b", "postgresql://h/d#a\nb"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="postgresql://ROLE@HOST/DATABASE#NAME"):
        Address.of(text)


def test_an_address_is_shown_without_its_password() -> None:
    found = Address.of("postgres://ana:tiger@db.example/g#pump")
    assert (found.url, found.name) == ("postgres://ana:tiger@db.example/g", "pump")
    assert "tiger" not in f"{found} {found!r}"
    assert str(found) == "postgresql://db.example#pump" and found.environ[VARIABLE] == found.url
    assert found.environ.keys() >= os.environ.keys()
    assert Address.of("postgresql://db.example/g").name == copies.NAME
