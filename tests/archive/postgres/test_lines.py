"""An archive kept whole on a server: there and back, nobody else's, and nothing of a local model's."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_search import rows_in
from shared_archives import PROJECT, Machine, Machines, Team

from aider_gardener.archive.postgres import lines
from aider_gardener.archive.postgres.lines import ServerLines, open_on_server
from aider_gardener.archive.postgres.server import VARIABLE, Address, ServerError, connected
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.encryption import VARIABLE as KEY_VARIABLE
from aider_gardener.cli.root import main
from aider_gardener.errors import StoreError, UsageError
from bench.postgres_server import PASSWORD


def address(team: Team, role: str = "ana", name: str = "pump") -> Address:
    return Address(team.environ(role)[VARIABLE], name)


def copied(machine: Machine, to: Address) -> tuple[int, str]:
    """Close the archive of a machine and copy it."""
    machine.store.close()
    return between(open_store(machine.store.directory), open_on_server(to, create=True))


def between(source: Store, target: Store) -> tuple[int, str]:
    with closing(source), closing(target):
        return target.copy_from(source), target.notice


def exported(store: Store, path: Path) -> bytes:
    store.export(path)
    store.close()
    return path.read_bytes()


def held(team: Team) -> str:
    """All that stands in lines, as the superuser sees it."""
    rows = team.rows("SELECT payload FROM gardener.lines ORDER BY change")
    return "".join(str(bytes(row[0]), "utf-8", "replace") for row in rows)  # type: ignore[call-overload]


def texts(store: Store, *sessions: str) -> list[str]:
    return sorted(each.content for session in sessions for each in store.session_entries(session))


def test_records_come_back_in_order_and_are_replaced_by_whom_they_were_read(team: Team) -> None:
    one = ServerLines(address(team), create=True, clock=lambda: 5.0)
    other = ServerLines(address(team))
    first, second = ({"kind": "touch", "ids": [name], "at": 1.0} for name in ("a", "b"))
    one.append(first)
    other.append(second)
    assert list(one.read()) == [first, second]
    other.append(first)
    one.replace([second])
    assert list(other.read()) == [first, second], "what was appended since stays"


def test_what_another_wrote_meanwhile_is_not_there_twice_and_goes_with_the_next(team: Team) -> None:
    one, other = ServerLines(address(team), create=True), ServerLines(address(team))
    events = [
        {"kind": "event", "session": "s", "turn": turn, "event": "plan", "data": {}, "at": 1.0}
        for turn in range(3)
    ]
    other.replace(events[:2])
    one.replace(events)
    assert list(other.read()) == events
    one.replace([events[0], events[2]])
    assert list(other.read()) == [events[0], events[2]]


def test_copies_of_two_archives_are_one_and_what_was_said_there_meanwhile_stays(
    machines: Machines, team: Team
) -> None:
    one, two = machines("ana"), machines("ana")
    (pinned,) = one.say("from the desk")
    two.say("from the train")
    copied(one, address(team))
    there, elsewhere = open_on_server(address(team)), open_on_server(address(team))
    Machine(there, {}, session="there").say("said there")
    elsewhere.pin(pinned, True)
    for machine in (two, one):
        copied(machine, address(team))
    store = open_on_server(address(team))
    assert texts(store, "s0", "s1", "there") == ["from the desk", "from the train", "said there"]
    entry = store.get(pinned)
    assert entry is not None and entry.pinned and rows_in(store, "occurrences") == 3


@pytest.mark.parametrize("way", ["copy", "import"])
def test_what_was_said_to_a_local_model_or_to_none_stays_here(
    one: Machine, team: Team, tmp_path: Path, way: str
) -> None:
    one.say("to a remote one", session="away")
    one.say("never sent", session="away", provider="")
    one.say("to llama", session="home", provider="ollama")
    one.say("in the same chat", session="home")
    one.store.set_state("home", "view", "of the chat at home")
    one.store.open_session("shared:bob:x", project=PROJECT, started_at=1.0, live=False)
    one.say("fetched from bob", session="shared:bob:x")
    told = "1 of the chats were held with a local model: they stay on this machine"
    if way == "copy":
        assert copied(one, address(team))[1] == told
    else:
        one.store.export(tmp_path / "all.jsonl")
        store = open_on_server(address(team), create=True)
        store.import_(tmp_path / "all.jsonl")
        assert store.notice == told and [info.id for info in store.sessions(PROJECT)] == ["away"]
    assert "to a remote one" in held(team)
    for text in ("never sent", "llama", "in the same chat", "home", "fetched from bob"):
        assert text not in held(team)


def test_no_record_carries_what_may_not_leave(team: Team) -> None:
    store = open_on_server(address(team), create=True)
    for provider in ("ollama", ""):
        with pytest.raises(StoreError, match="goes to no server"):
            Machine(store, {}).say("to llama", provider=provider)
    said = {"kind": "said", "session": "s", "id": "g1", "provider": "ollama", "at": 1.0, "seq": 0}
    ServerLines(address(team)).replace([{**said, "role": "user", "content": "to llama"}])
    assert store.stats().entries == 0 and "llama" not in held(team)


def test_nobody_else_sees_or_alters_it_nor_is_admitted_to_it(one: Machine, team: Team) -> None:
    one.say("private")
    copied(one, address(team))
    with pytest.raises(UsageError, match=r"holds no archive: `gardener store copy --to` makes one"):
        open_on_server(address(team, "bob"))
    with connected(team.environ("bob")) as bob:
        for table in ("archives", "members", "lines"):
            assert bob.execute(f"SELECT count(*) FROM gardener.{table}".encode()).fetchone() == (0,)
        for table in ("archives", "lines"):
            bob.execute(f"DELETE FROM gardener.{table}".encode())
    with connected(team.environ("ana")) as ana:
        number = ana.execute("SELECT number FROM gardener.archives").fetchone()
    for role, sql in (
        (
            "bob",
            "INSERT INTO gardener.lines (archive, machine, kind, at, payload) VALUES (%s, '', 'x', 1, '')",
        ),
        ("bob", "SELECT gardener.set_member(%s, 'bob', true)"),
        ("ana", "SELECT gardener.set_member(%s, 'bob', false)"),
    ):
        with pytest.raises(ServerError, match=f"refuses this to {role}"), connected(team.environ(role)) as db:
            db.execute(sql.encode(), number)
    assert texts(open_on_server(address(team)), "s0") == ["private"]


def test_a_copy_and_a_shared_project_of_one_name_do_not_meet(machines: Machines, team: Team) -> None:
    one, bob = machines("ana"), machines("bob")
    (said,) = one.say("said")
    one.store.set_state(one.session, "view", "private state")
    one.share_and_sync(readers=("bob",))
    copied(one, address(team))
    bob.share("ana/pump")
    assert bob.sync().fetched == 1
    with connected(bob.environ) as connection:
        assert connection.execute("SELECT count(*) FROM gardener.lines").fetchone() == (1,)
    open_on_server(address(team)).forget([said])
    assert bob.sync().heard == 0 and team.said() == ["said"]


def test_what_another_wrote_meanwhile_of_what_is_forgotten_goes_too(one: Machine, team: Team) -> None:
    (said,) = one.say("the aardvark")
    copied(one, address(team))
    store, elsewhere = open_on_server(address(team)), open_on_server(address(team))
    assert Machine(elsewhere, {}, session="there").say("the aardvark") == [said]
    assert store.forget([said]) == 1
    assert "aardvark" not in held(team) and open_on_server(address(team)).stats().entries == 0


def test_forgetting_takes_it_out_of_the_rows(one: Machine, team: Team) -> None:
    gone, kept = one.say("the aardvark", "the badger")
    one.store.record_event(one.session, 1, "plan", {"entry_ids": [gone, kept]}, 5.0)
    copied(one, address(team))
    store = open_on_server(address(team))
    store.touch([gone, kept], 9.0)
    assert store.forget([gone]) == 1
    assert "aardvark" not in held(team) and "badger" in held(team) and held(team).count(gone) == 1
    assert rows_in(open_on_server(address(team)), "events") == 1
    assert store.forget_session("s0") == 1 and "badger" not in held(team)
    assert open_on_server(address(team)).stats().entries == 0


def test_a_server_that_dies_in_the_middle_has_nothing_of_it(
    machines: Machines, team: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one: Machine
) -> None:
    one.say("before")
    copied(one, address(team))
    there = exported(open_on_server(address(team)), tmp_path / "there")
    again = machines("ana", "ana0")
    again.say("after", session="later")
    add = lines.add

    def dying(*given: object) -> list[int]:
        changes = add(*given)  # type: ignore[arg-type]
        team.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'ana' AND datname = current_database()"
        )
        return changes

    monkeypatch.setattr(lines, "add", dying)
    with pytest.raises(ServerError, match=r"127\.0\.0\.1") as error:
        copied(again, address(team))
    assert PASSWORD not in str(error.value) and "\n" not in str(error.value)
    monkeypatch.undo()
    assert exported(open_on_server(address(team)), tmp_path / "still") == there
    copied(again, address(team))
    assert open_on_server(address(team)).stats().entries == 2


def test_a_write_that_the_server_does_not_take_is_not_made(team: Team) -> None:
    store = open_on_server(address(team), create=True)
    machine = Machine(store, {})
    machine.say("taken")
    assert isinstance(store.lines, ServerLines)
    store.lines.address = Address("postgresql://ana@127.0.0.1:1/db", "pump")
    with pytest.raises(ServerError, match="cannot be used now"):
        machine.say("not taken")
    assert texts(store, "s") == ["taken"]


def test_an_altered_text_is_told_and_left_out(team: Team) -> None:
    Machine(open_on_server(address(team), create=True), {}).say("one", "two", "three")
    team.alter("replace(payload, 'two', 'a lie')", of="two")
    team.alter("'{'", of="three")
    again = open_on_server(address(team))
    assert again.notice == "postgresql://127.0.0.1#pump: left out, for not being what was written: 2 lines"
    assert texts(again, "s") == ["one"] and again.verify() != []


def test_an_encrypted_archive_is_copied_only_if_its_user_agrees(
    tmp_path: Path, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "ab" * 32)
    store = open_store(tmp_path / "from", key_source="env")
    Machine(store, {}).say("a secret plan")  # type: ignore[arg-type]
    store.close()
    command = ["store", "copy", "--store", str(tmp_path / "from"), "--to", address(team).url]
    refused = CliRunner().invoke(main, command, env={"AIDER_GARDENER_STORE_KEY": "env"})
    assert "agree with --readable" in refused.output + str(refused.exception), refused.output
    assert team.rows("SELECT to_regclass('gardener.archives')") == [(None,)]
    done = CliRunner().invoke(main, [*command, "--readable"], env={"AIDER_GARDENER_STORE_KEY": "env"})
    assert done.exit_code == 0 and "lines copied" in done.output


def test_what_is_only_read_does_not_change(one: Machine, team: Team) -> None:
    (kept,) = one.say("x")
    copied(one, address(team))
    before, store = held(team), open_on_server(address(team), read_only=True)
    store.touch([kept], 9.0)
    with pytest.raises(StoreError):
        store.forget([kept])
    assert held(team) == before


def test_an_address_is_one_or_refused_and_is_shown_without_its_password() -> None:
    for text in ("https://host/x", "postgresql:/host", "ftp://a#b", "postgresql://h/d#a\nb"):
        with pytest.raises(UsageError, match="postgresql://ROLE@HOST/DATABASE#NAME"):
            Address.of(text)
    found = Address.of("postgres://ana:tiger@db.example/g#pump")
    assert (found.url, found.name) == ("postgres://ana:tiger@db.example/g", "pump")
    assert "tiger" not in f"{found} {found!r}"
    assert str(found) == "postgresql://db.example#pump" and found.environ[VARIABLE] == found.url
    assert found.environ.keys() >= os.environ.keys()
    assert Address.of("postgresql://db.example/g").name == "archive"
