"""The server's tables are made by migrations, and row-level security keeps projects and authors apart."""

from __future__ import annotations

import threading

import pytest
from shared_archives import PROJECT, Machines, Team

from aider_gardener.archive.shared import schema, search, sharing, sync
from aider_gardener.archive.shared.server import ServerError, connected
from aider_gardener.archive.store import shares
from aider_gardener.errors import UsageError

TABLES = ("sessions", "entries", "occurrences", "tombstones", "vectors")


def test_the_tables_are_made_once_and_then_as_they_should_be(team: Team) -> None:
    with connected(team.environ("ana")) as ana:
        first = schema.prepare(ana)
        assert schema.prepare(ana) == schema.check(ana) == first
        assert schema.found(ana) == (schema.VERSION, first)


def test_a_migration_brings_older_tables_forward_and_keeps_what_they_hold(machines: Machines) -> None:
    one = machines("ana")
    one.say("from before")
    one.share()
    one.sync()
    more = (
        *schema.MIGRATIONS,
        ("ALTER TABLE gardener.projects ADD COLUMN note text NOT NULL DEFAULT 'new'",),
    )
    with connected(one.environ) as ana:
        before = schema.check(ana)
        with pytest.raises(ServerError, match="newer aider-gardener"):
            schema.prepare(ana, more)
        assert schema.found(ana) == (schema.VERSION + 1, before)
        assert ana.execute("SELECT note FROM gardener.projects").fetchall() == [("new",)]
        with pytest.raises(ServerError, match="newer aider-gardener"):
            schema.prepare(ana)
    assert "newer aider-gardener" in one.sync().problem


def test_a_migration_that_fails_leaves_the_tables_as_they_were(team: Team) -> None:
    with connected(team.environ("ana")) as ana:
        schema.prepare(ana)
    broken = (*schema.MIGRATIONS, ("CREATE TABLE gardener.half (x int)", "SELECT 1/0"))
    with pytest.raises(ServerError), connected(team.environ("ana")) as ana:
        schema.prepare(ana, broken)
    with connected(team.environ("ana")) as ana:
        assert schema.found(ana)[0] == schema.VERSION
    assert team.rows("SELECT to_regclass('gardener.half')") == [(None,)]


def test_older_tables_are_refused_until_their_owner_brings_them_forward(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machines("ana")
    one.share()
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    assert "let their owner run `gardener store share --prepare`" in one.sync().problem


@pytest.fixture
def first_version(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A client of the first version, until this is undone."""
    monkeypatch.setattr(schema, "MIGRATIONS", (schema.FIRST,))
    monkeypatch.setattr(schema, "VERSION", 1)
    monkeypatch.setattr(schema.prepare, "__defaults__", (schema.MIGRATIONS,))
    return monkeypatch


def test_a_database_of_the_first_version_is_brought_forward_with_all_its_rows(
    machines: Machines, team: Team, first_version: pytest.MonkeyPatch
) -> None:
    one, other = machines("ana"), machines("ana")
    (gone, *_) = one.say("forgotten since", "the gasket leaks", "x" * 300_000)
    one.share(owners=("bob",), readers=("cora",))
    one.sync()
    one.store.forget([gone])
    one.sync()
    tables = (*TABLES, "projects", "members")
    before = {each: team.rows(f"SELECT t::text FROM gardener.{each} t ORDER BY 1") for each in tables}
    assert team.rows("SELECT version FROM gardener.about") == [(1,)]
    assert all(before[each] for each in tables if each != "vectors")
    first_version.undo()

    assert one.sync().problem == other_problem(machines, "bob") == schema.TOO_OLD
    with pytest.raises(ServerError, match="bob may not make the gardener's tables"):
        sharing.prepare(team.environ("bob"))
    sharing.prepare(team.environ("ana"))

    assert team.rows("SELECT version FROM gardener.about") == [(schema.VERSION,)]
    after = {each: team.rows(f"SELECT t::text FROM gardener.{each} t ORDER BY 1") for each in tables}
    assert after == before
    one.say("said since")
    assert one.sync() == sync.SyncReport(sent=1)
    other.share()
    assert other.sync() == sync.SyncReport(fetched=3) and other.finds("gasket") == ["the gasket leaks"]
    assert sharing.remove(one.store, PROJECT, ["cora"], one.environ) == {"cora": []}


def other_problem(machines: Machines, role: str) -> str:
    """What a role is told that shares a project while the tables are old."""
    other = machines(role)
    with pytest.raises(ServerError) as caught, connected(other.environ) as connection:
        schema.check(connection)
    return str(caught.value)


def test_an_older_client_refuses_newer_tables_with_one_line_and_sends_nothing(
    machines: Machines, team: Team, first_version: pytest.MonkeyPatch
) -> None:
    one = machines("ana")
    one.share()
    first_version.undo()
    sharing.prepare(one.environ)
    newest = schema.VERSION
    first_version.setattr(schema, "VERSION", 1)
    first_version.setattr(schema.prepare, "__defaults__", ((schema.FIRST,),))
    one.say("what an older client says")
    told = one.sync().problem
    assert told == schema.TOO_NEW.format(found=newest) and "upgrade" in told
    with pytest.raises(ServerError, match="newer aider-gardener"):
        one.share()
    assert team.rows("SELECT count(*) FROM gardener.entries") == [(0,)]


def test_who_may_not_make_the_tables_is_told_whom_to_ask(team: Team) -> None:
    with connected(team.environ("bob")) as bob:
        with pytest.raises(ServerError, match="nothing is shared on this server yet"):
            schema.check(bob)
        with pytest.raises(ServerError, match="bob may not make the gardener's tables"):
            schema.prepare(bob)


def test_a_missing_pgvector_is_one_line_and_never_an_empty_result(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("the gasket leaks")
    one.share()
    one.sync()
    team.rows("DROP EXTENSION vector CASCADE")
    assert one.sync().problem == schema.NO_EXTENSION
    with pytest.raises(ServerError, match="no pgvector"), connected(one.environ) as ana:
        search.search(ana, "gasket")


def test_a_server_that_has_no_pgvector_to_install_is_one_line(team: Team) -> None:
    team.rows("DROP EXTENSION vector")
    with connected(team.environ("ana")) as ana:
        with pytest.raises(
            ServerError, match="let an administrator of the database run CREATE EXTENSION vector"
        ):
            schema.prepare(ana)
        ana.execute("CREATE TEMP VIEW pg_available_extensions AS SELECT 'none'::text AS name")
        with pytest.raises(ServerError, match="the server has no pgvector"):
            schema.prepare(ana)
        assert schema.found(ana) == (0, "")


def test_an_old_pgvector_is_refused(team: Team) -> None:
    team.rows("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    with pytest.raises(ServerError, match=r"pgvector is 0\.7\.4, 0\.8 is needed"), connected(
        team.environ("ana")
    ) as ana:  # fmt: skip
        schema.prepare(ana)


@pytest.fixture
def shared(machines: Machines, team: Team) -> Machines:
    """bob's project of bob's, which cora reads; a project of eve's own. The database is ana's."""
    with connected(team.environ("ana")) as ana:
        schema.prepare(ana)
    bob, eve = machines("bob"), machines("eve")
    bob.say("the gasket of bob's pump")
    bob.share(readers=("cora",))
    bob.sync()
    eve.share("eves")
    eve.say("the gasket of eve's pump")
    eve.sync()
    return machines


@pytest.mark.parametrize("table", [*TABLES, "projects", "members"])
def test_a_stranger_sees_no_row_of_anothers_project(shared: Machines, team: Team, table: str) -> None:
    key = "number" if table == "projects" else "project"
    with connected(team.environ("eve")) as eve:
        rows = eve.execute(f"SELECT DISTINCT {key} FROM gardener.{table}".encode()).fetchall()
        assert {row[0] for row in rows} <= {2}
    with connected(team.environ("bob")) as bob:
        rows = bob.execute(f"SELECT DISTINCT {key} FROM gardener.{table}".encode()).fetchall()
        assert {row[0] for row in rows} <= {1}
    assert table in ("tombstones", "vectors") or rows == [(1,)]


def test_a_stranger_finds_nothing_in_anothers_project(shared: Machines, team: Team) -> None:
    with connected(team.environ("eve")) as eve:
        assert [each.text for each in search.search(eve, "gasket")] == ["the gasket of eve's pump"]
        asked = "SELECT author FROM gardener.find_words('''gasket'''::tsquery, 100, 100)"
        assert eve.execute(asked.encode()).fetchall() == [("eve",)]
    with connected(team.environ("cora")) as cora:
        assert [each.text for each in search.search(cora, "gasket")] == ["the gasket of bob's pump"]


def test_a_stranger_can_neither_join_nor_be_told_of_a_project(shared: Machines, machines: Machines) -> None:
    with pytest.raises(UsageError, match="no project bob/pump that eve may see"):
        machines("eve").share("bob/pump")


def test_a_reader_cannot_write_delete_or_admit(shared: Machines, team: Team) -> None:
    for sql in (
        "INSERT INTO gardener.sessions VALUES (1, 'cora', 's', '{}')",
        "INSERT INTO gardener.entries VALUES (1, 'cora', 'h', '{}', 'prose', '')",
        "INSERT INTO gardener.occurrences VALUES (9, 1, 'cora', 'm', 's', 1, 'h', 1, '{}')",
        "INSERT INTO gardener.tombstones VALUES (9, 1, 'cora', 'entry', 'h', '', 1)",
        "SELECT gardener.admit(1, 'eve', true)",
        "UPDATE gardener.entries SET payload = 'x'",
        "INSERT INTO gardener.members VALUES (1, 'eve', true)",
        "INSERT INTO gardener.projects (name, creator) VALUES ('x', 'bob')",
        "UPDATE gardener.about SET version = 9",
        "DROP TABLE gardener.entries",
    ):
        with (
            pytest.raises(ServerError, match="refuses this to cora"),
            connected(team.environ("cora")) as cora,
        ):
            cora.execute(sql.encode())
    with connected(team.environ("cora")) as cora:
        assert cora.execute("DELETE FROM gardener.entries").rowcount == 0


def test_no_owner_writes_or_deletes_in_anothers_name(
    shared: Machines, team: Team, machines: Machines
) -> None:
    machines.made[0].share(owners=("eve",))
    with connected(team.environ("eve")) as eve:
        assert eve.execute("DELETE FROM gardener.entries WHERE project = 1").rowcount == 0
    with pytest.raises(ServerError, match="refuses this to eve"), connected(team.environ("eve")) as eve:
        eve.execute("INSERT INTO gardener.entries VALUES (1, 'bob', 'h', '{}', 'prose', '')")


def test_what_a_role_plants_under_the_names_of_the_system_is_not_looked_at(
    shared: Machines, team: Team
) -> None:
    with connected(team.environ("eve")) as eve:
        eve.execute("CREATE TEMP VIEW pg_roles AS SELECT 1::oid AS oid, 'bob'::name AS rolname")
        assert eve.execute("SELECT count(*) FROM gardener.entries WHERE project = 1").fetchall() == [(0,)]


def test_a_reader_syncs_without_sending(shared: Machines, machines: Machines) -> None:
    cora = machines("cora")
    cora.say("what cora says")
    assert not cora.share("bob/pump").may_write
    report = cora.sync()
    assert (report.sent, report.fetched, report.problem) == (0, 1, "")


def test_a_reader_that_is_made_an_owner_sends_with_the_next_sync(
    shared: Machines, machines: Machines
) -> None:
    cora = machines("cora")
    cora.say("what cora says")
    cora.share("bob/pump")
    cora.sync()
    machines.made[0].share(owners=("cora",))
    assert cora.sync().sent == 1


def test_a_member_that_was_dismissed_is_told(shared: Machines, machines: Machines, team: Team) -> None:
    cora = machines("cora")
    cora.share("bob/pump")
    team.rows("DELETE FROM gardener.members WHERE member = 'cora'")
    assert "cora is no member of bob/pump any more" in cora.sync().problem


REMOVE = "SELECT gardener.dismiss(1, %s)"


def removes(team: Team, role: str, whom: str) -> list[str]:
    """Remove a member of bob's project; the groups through which it still has access."""
    with connected(team.environ(role)) as connection:
        return [str(row[0]) for row in connection.execute(REMOVE, (whom,)).fetchall()]


def test_one_whose_access_was_taken_away_reads_and_writes_nothing_more(
    shared: Machines, machines: Machines, team: Team
) -> None:
    machines.made[0].share(owners=("eve",))
    eve = machines("eve", project="/projects/other")
    eve.say("what eve wrote")
    eve.share("bob/pump")
    eve.sync()
    assert removes(team, "bob", "eve") == []
    with connected(team.environ("eve")) as connection:
        assert connection.execute("SELECT * FROM gardener.entries WHERE project = 1").fetchall() == []
    with (
        pytest.raises(ServerError, match="refuses this to eve"),
        connected(team.environ("eve")) as connection,
    ):
        connection.execute("INSERT INTO gardener.entries VALUES (1, 'eve', 'h', '{}', 'prose', '')")
    assert "eve is no member of bob/pump any more" in eve.sync().problem
    assert eve.finds("gasket") == ["the gasket of bob's pump"], "what was fetched stays"
    assert team.rows("SELECT count(*) FROM gardener.entries WHERE project = 1 AND author = 'eve'") == [(1,)]
    machines.made[0].share(readers=("eve",))
    assert eve.sync().problem == ""


def test_only_an_owner_takes_access_away(shared: Machines, team: Team) -> None:
    for role in ("cora", "eve"):
        with pytest.raises(ServerError, match=f"refuses this to {role}: only an owner"):
            removes(team, role, "cora")
    with pytest.raises(ServerError, match="denied for function"), connected(team.environ("bob")) as bob:
        bob.execute("SELECT gardener.hold_members(1)")


def test_who_made_the_project_is_neither_removed_nor_made_a_reader_by_others(
    shared: Machines, machines: Machines, team: Team
) -> None:
    machines.made[0].share(owners=("eve",))
    with pytest.raises(ServerError, match="bob made the project, and stays its owner"):
        removes(team, "eve", "bob")
    with pytest.raises(ServerError, match="bob made the project"), connected(team.environ("eve")) as eve:
        eve.execute("SELECT gardener.admit(1, 'bob', false)")
    assert removes(team, "bob", "bob") == []
    assert team.rows("SELECT member FROM gardener.members WHERE project = 1 AND may_write") == [("eve",)]


def test_the_last_owner_stays_whoever_asks(shared: Machines, machines: Machines, team: Team) -> None:
    with pytest.raises(ServerError, match="the last owner of a project stays"):
        removes(team, "bob", "bob")
    with pytest.raises(ServerError, match="the last owner"), connected(team.environ("bob")) as bob:
        bob.execute("SELECT gardener.admit(1, 'bob', false)")
    team.rows("INSERT INTO gardener.members VALUES (1, 'a_role_that_is_gone', true)")
    with pytest.raises(ServerError, match="the last owner"):
        removes(team, "bob", "bob")
    assert removes(team, "bob", "a_role_that_is_gone") == []


def test_two_owners_cannot_remove_each_other_at_once(
    shared: Machines, machines: Machines, team: Team
) -> None:
    machines.made[0].share(owners=("eve", "cora"))
    refused: list[str] = []
    with connected(team.environ("eve")) as eve, eve.transaction():
        eve.execute(REMOVE, ("cora",))

        def other_way() -> None:
            try:
                removes(team, "cora", "eve")
            except ServerError as error:
                refused.append(str(error))

        thread = threading.Thread(target=other_way)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive(), "it waits for the first"
    thread.join()
    assert len(refused) == 1 and "only an owner" in refused[0]
    owners = team.rows("SELECT member FROM gardener.members WHERE project = 1 AND may_write ORDER BY 1")
    assert owners == [("bob",), ("eve",)]


def test_who_is_no_member_by_that_name_cannot_be_removed(shared: Machines, team: Team) -> None:
    with pytest.raises(ServerError, match="eve is no member of the project by that name"):
        removes(team, "bob", "eve")


def test_a_group_that_still_gives_access_is_told(shared: Machines, machines: Machines, team: Team) -> None:
    team.rows("DO $$ BEGIN CREATE ROLE crew; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    team.rows("GRANT crew TO cora")
    try:
        machines.made[0].share(readers=("crew",))
        assert removes(team, "bob", "cora") == ["crew"]
        with connected(team.environ("cora")) as cora:
            assert cora.execute("SELECT count(*) FROM gardener.entries").fetchone() == (1,)
        assert removes(team, "bob", "crew") == []
        with connected(team.environ("cora")) as cora:
            assert cora.execute("SELECT count(*) FROM gardener.entries").fetchone() == (0,)
    finally:
        team.rows("REVOKE crew FROM cora")


def test_a_member_may_be_a_group(shared: Machines, machines: Machines, team: Team) -> None:
    team.rows("DO $$ BEGIN CREATE ROLE crew; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    team.rows("GRANT crew TO eve")
    machines.made[0].share(readers=("crew",))
    assert not machines("eve").share("bob/pump").may_write
    team.rows("REVOKE crew FROM eve")


def test_the_share_of_a_role_that_does_not_exist_is_one_line(machines: Machines) -> None:
    with pytest.raises(ServerError, match="there is no role nobody_such"):
        machines("ana").share(readers=("nobody_such",))


def test_anothers_project_of_the_same_name_is_joined_only_by_its_creators_name(
    shared: Machines, machines: Machines
) -> None:
    eve = machines("eve")
    machines.made[0].share(owners=("eve",))
    assert eve.share("pump").name == "eve/pump"
    sharing.unshare(eve.store, PROJECT, now=1.0, environ=eve.environ)
    joined = eve.share("bob/pump")
    assert (joined.number, joined.may_write) == (1, True)
    held = eve.store.database.read(lambda db: shares.share_of(db, PROJECT))
    assert held is not None and held.name == "bob/pump"
