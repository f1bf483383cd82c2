"""The server's tables, and how row-level security keeps projects and authors apart, whatever client is used."""

from __future__ import annotations

import threading

import pytest
from shared_archives import PROJECT, Machine, Machines, Team

from aider_gardener.archive.postgres import search, server, sync
from aider_gardener.archive.postgres.server import ServerError, connected
from aider_gardener.errors import UsageError

TABLES = ("lines", "passages", "archives", "members")
LINE = "INSERT INTO gardener.lines (archive, author, machine, kind, at, payload) VALUES (1, '{}', 'm', '{}', 1, '')"
SET = "SELECT gardener.set_member(1, %s, %s)"


def run(team: Team, role: str, sql: str, *given: object) -> list[tuple[object, ...]]:
    """What a role gets for a statement."""
    with connected(team.environ(role)) as connection:
        cursor = connection.execute(sql.encode(), given or None)
        return cursor.fetchall() if cursor.description else [(cursor.rowcount,)]


def test_the_tables_are_made_once_by_who_may_and_others_are_told_whom_to_ask(team: Team) -> None:
    with connected(team.environ("bob")) as bob:
        with pytest.raises(ServerError, match="nothing is shared on this server yet"):
            server.check(bob)
        with pytest.raises(ServerError, match="bob may not make the gardener's tables"):
            server.prepare(bob)
    with connected(team.environ("ana")) as ana:
        first = server.prepare(ana)
        assert server.prepare(ana) == server.check(ana) == first
    with connected(team.environ("bob")) as bob:
        assert server.prepare(bob) == first


def test_tables_of_another_version_are_one_line_and_nothing_is_sent(one: Machine, team: Team) -> None:
    one.share()
    one.say("for the version of before")
    team.rows("UPDATE gardener.about SET version = 2")
    assert one.sync().problem == server.OTHER_VERSION.format(found=2, own=1)
    with pytest.raises(ServerError, match="of another aider-gardener"):
        one.share()
    assert team.said() == []


def test_making_the_tables_is_all_or_nothing(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "TABLES_VERSION", 1 << 40)
    with pytest.raises(ServerError), connected(team.environ("ana")) as ana:
        server.prepare(ana)
    assert team.rows("SELECT to_regclass('gardener.about')") == [(None,)]


def test_a_pgvector_that_is_missing_or_old_is_one_line_and_never_an_empty_result(
    one: Machine, team: Team
) -> None:
    one.say("the gasket leaks")
    one.share_and_sync()
    for sql, found in (
        ("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'", r"0\.7\.4"),
        ("DROP EXTENSION vector CASCADE", "missing"),
    ):
        team.rows(sql)
        for ask in (one.share, lambda: texts_of(team, "gasket")):
            with pytest.raises(ServerError, match=rf"pgvector is {found}, 0\.8 is needed: .* administrator"):
                ask()
        assert "0.8 is needed" in one.sync().problem


def texts_of(team: Team, query: str) -> list[str]:
    with connected(team.environ("ana")) as ana:
        return [each.text for each in search.search(ana, query)]


@pytest.fixture
def shared(machines: Machines, team: Team) -> Machines:
    """bob's project 1 of bob's, which cora reads; a project 2 of eve's own. The database is ana's."""
    with connected(team.environ("ana")) as ana:
        server.prepare(ana)
    bob, eve = machines("bob"), machines("eve")
    bob.say("the gasket of bob's pump")
    bob.share_and_sync(readers=("cora",))
    eve.share("eves")
    eve.say("the gasket of eve's pump")
    eve.sync()
    return machines


@pytest.mark.parametrize("table", TABLES)
def test_a_stranger_sees_no_row_of_anothers_project(shared: Machines, team: Team, table: str) -> None:
    key = "number" if table == "archives" else "archive"
    for role, own in (("eve", 2), ("bob", 1)):
        rows = run(team, role, f"SELECT DISTINCT {key} FROM gardener.{table}")
        assert rows == ([] if table == "passages" else [(own,)])


def test_a_stranger_finds_nothing_in_anothers_project(shared: Machines, team: Team) -> None:
    for role, text in (("eve", "the gasket of eve's pump"), ("cora", "the gasket of bob's pump")):
        with connected(team.environ(role)) as connection:
            assert [each.text for each in search.search(connection, "gasket")] == [text]
    asked = "SELECT author FROM gardener.find_words('''gasket'''::tsquery, 100, 100)"
    assert run(team, "eve", asked) == [("eve",)]


def test_a_stranger_can_neither_join_nor_be_told_of_a_project(shared: Machines, machines: Machines) -> None:
    with pytest.raises(UsageError, match="no project bob/pump that eve may see"):
        machines("eve").share("bob/pump")


def test_a_reader_cannot_write_delete_or_admit(shared: Machines, team: Team) -> None:
    for sql in (
        LINE.format("cora", "said"),
        LINE.format("cora", "forget all"),
        "INSERT INTO gardener.passages VALUES (1, 'cora', 'h', 0, 1, 'e', 1, '[1]'::public.vector)",
        "SELECT gardener.set_member(1, 'eve', true)",
        "UPDATE gardener.lines SET payload = 'x'",
        "INSERT INTO gardener.members VALUES (1, 'eve', true)",
        "INSERT INTO gardener.archives (name, creator, whole) VALUES ('x', 'bob', false)",
        "UPDATE gardener.about SET version = 9",
        "DROP TABLE gardener.lines",
        "ALTER TABLE gardener.lines DISABLE TRIGGER come",
    ):
        with pytest.raises(ServerError, match=r"refuses this to cora|must be owner"):
            run(team, "cora", sql)
    for table in ("lines", "archives"):
        assert run(team, "cora", f"DELETE FROM gardener.{table}") == [(0,)]


def test_no_owner_writes_or_deletes_in_anothers_name(shared: Machines, team: Team) -> None:
    shared.made[0].share(owners=("eve",))
    assert run(team, "eve", "DELETE FROM gardener.lines WHERE archive = 1") == [(0,)]
    assert run(team, "eve", "DELETE FROM gardener.archives WHERE number = 1") == [(0,)]
    for kind in ("said", "forget all"):
        with pytest.raises(ServerError, match="refuses this to eve"):
            run(team, "eve", LINE.format("bob", kind))
    run(team, "eve", LINE.format("eve", "forget all"))
    assert team.said() == ["the gasket of bob's pump", "the gasket of eve's pump"]


def test_a_change_is_the_servers_to_give(shared: Machines, team: Team) -> None:
    run(
        team, "bob", LINE.format("bob", "x").replace("(archive", "(change, archive").replace("(1,", "(-5, 1,")
    )
    assert team.rows("SELECT count(*) FROM gardener.lines WHERE change < 1") == [(0,)]


def test_what_a_role_plants_under_the_names_of_the_system_is_not_looked_at(
    shared: Machines, team: Team
) -> None:
    with connected(team.environ("eve")) as eve:
        eve.execute("CREATE TEMP VIEW pg_roles AS SELECT 1::oid AS oid, 'bob'::name AS rolname")
        assert eve.execute("SELECT count(*) FROM gardener.lines WHERE archive = 1").fetchall() == [(0,)]


def test_a_reader_syncs_without_sending_until_it_is_made_an_owner(shared: Machines) -> None:
    cora = shared("cora")
    cora.say("what cora says")
    assert not cora.share("bob/pump").may_write
    assert cora.sync() == sync.SyncReport(fetched=1)
    shared.made[0].share(owners=("cora",))
    assert cora.sync().sent == 1


def test_one_whose_access_was_taken_away_reads_and_writes_nothing_more(shared: Machines, team: Team) -> None:
    shared.made[0].share(owners=("eve",))
    eve = shared("eve", project="/projects/other")
    eve.say("what eve wrote")
    eve.share_and_sync("bob/pump")
    run(team, "bob", SET, "eve", None)
    assert run(team, "eve", "SELECT * FROM gardener.lines WHERE archive = 1") == []
    with pytest.raises(ServerError, match="refuses this to eve"):
        run(team, "eve", LINE.format("eve", "said"))
    assert "eve is no member of bob/pump any more" in eve.sync().problem
    assert eve.finds("gasket") == ["the gasket of bob's pump"], "what was fetched stays"
    assert "what eve wrote" in team.said()
    shared.made[0].share(readers=("eve",))
    assert eve.sync().problem == ""


def test_only_an_owner_takes_access_away_and_only_a_members(shared: Machines, team: Team) -> None:
    for role in ("cora", "eve"):
        with pytest.raises(ServerError, match=f"refuses this to {role}: only an owner"):
            run(team, role, SET, "cora", None)
    with pytest.raises(ServerError, match="eve is no member of the project by that name"):
        run(team, "bob", SET, "eve", None)
    with pytest.raises(ServerError, match=r"there is no role nobody_such$"):
        shared.made[0].share(readers=("nobody_such",))


def test_who_made_the_project_is_neither_removed_nor_made_a_reader_by_others(
    shared: Machines, team: Team
) -> None:
    shared.made[0].share(owners=("eve",))
    for writes in (None, False):
        with pytest.raises(ServerError, match="bob made the project, and stays its owner"):
            run(team, "eve", SET, "bob", writes)
    run(team, "bob", SET, "bob", None)
    assert team.rows("SELECT member FROM gardener.members WHERE archive = 1 AND may_write") == [("eve",)]
    with pytest.raises(ServerError, match="failed: duplicate key"):
        shared("bob").share()


def test_the_last_owner_stays_whoever_asks(shared: Machines, team: Team) -> None:
    for writes in (None, False):
        with pytest.raises(ServerError, match="the last owner of a project stays"):
            run(team, "bob", SET, "bob", writes)
    team.rows("INSERT INTO gardener.members VALUES (1, 'a_role_that_is_gone', true)")
    with pytest.raises(ServerError, match="the last owner"):
        run(team, "bob", SET, "bob", None)
    run(team, "bob", SET, "a_role_that_is_gone", None)


def test_two_owners_cannot_remove_each_other_at_once(shared: Machines, team: Team) -> None:
    shared.made[0].share(owners=("eve", "cora"))
    refused: list[str] = []
    with connected(team.environ("eve")) as eve, eve.transaction():
        eve.execute(SET, ("cora", None))

        def other_way() -> None:
            try:
                run(team, "cora", SET, "eve", None)
            except ServerError as error:
                refused.append(str(error))

        thread = threading.Thread(target=other_way)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive(), "it waits for the first"
    thread.join()
    assert len(refused) == 1 and "only an owner" in refused[0]
    owners = team.rows("SELECT member FROM gardener.members WHERE archive = 1 AND may_write ORDER BY 1")
    assert owners == [("bob",), ("eve",)]


def test_a_member_may_be_a_group(shared: Machines, team: Team) -> None:
    team.rows("DO $$ BEGIN CREATE ROLE crew; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    team.rows("GRANT crew TO cora, eve")
    count = "SELECT count(*) FROM gardener.lines WHERE archive = 1"
    try:
        shared.made[0].share(readers=("crew",))
        assert not shared("eve").share("bob/pump").may_write
        for role, left in (("cora", 1), ("crew", 0)):
            run(team, "bob", SET, role, None)
            assert run(team, "cora", count) == [(left,)]
    finally:
        team.rows("REVOKE crew FROM cora, eve")


def test_anothers_project_of_the_same_name_is_joined_only_by_its_creators_name(shared: Machines) -> None:
    eve = shared("eve")
    shared.made[0].share(owners=("eve",))
    assert eve.share("pump").name == "eve/pump"
    sync.unshare(eve.store, PROJECT, now=1.0, environ=eve.environ)
    joined = eve.share("bob/pump")
    assert (joined.number, joined.may_write, eve.shared.name) == (1, True, "bob/pump")
