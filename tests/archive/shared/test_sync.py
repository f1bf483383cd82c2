"""What is shared goes from machine to machine, once, whole, and goes away everywhere when it is forgotten."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from shared_archives import PROJECT, Machines, Team
from shared_archives import chunks as chunks_of
from shared_archives import entry as entry_of

from aider_gardener.archive.retention import RetentionPolicy, prune
from aider_gardener.archive.shared import incoming, outbox, share_in, sharing, sync
from aider_gardener.archive.shared.server import VARIABLE, connected
from aider_gardener.archive.store import shares
from aider_gardener.errors import UsageError

ODD = "a NUL \0, a lone surrogate \ud800, ünïcödé and 日本語"


def test_what_one_machine_said_is_found_on_the_other_byte_for_byte(machines: Machines) -> None:
    one, other = machines("ana"), machines("ana")
    texts = ["the gasket of the pump leaks", ODD, "x" * 300_000]
    ids = one.say(*texts)
    one.share()
    other.share()

    assert one.sync() == sync.SyncReport(sent=3)
    assert other.sync() == sync.SyncReport(fetched=3)
    assert [other.store.original(each) for each in ids] == texts
    assert other.finds("gasket") == texts[:1]
    assert other.store.verify() == []


def test_unasked_nothing_goes_to_a_server_that_is_named_otherwise(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machines("ana")
    one.say("private")
    one.share()
    thief = {VARIABLE: "postgresql://ana:hunter2@127.0.0.1:1/thief"}
    called: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(sync, "connected", lambda *given: called.append(given))
        report = sync.sync(one.store, PROJECT, thief, unasked=True)
    assert (report.sent, report.problem, called) == (0, sync.OTHERWISE, [])
    assert sharing.status(one.store, PROJECT, one.environ)["problem"] == sync.OTHERWISE
    assert sync.sync(one.store, PROJECT, one.environ, unasked=True) == sync.SyncReport(sent=1)


def test_sharing_again_agrees_to_another_name_of_the_server(machines: Machines) -> None:
    one = machines("ana")
    one.share()
    environ = {VARIABLE: one.environ[VARIABLE] + "?application_name=elsewhere"}
    assert sync.sync(one.store, PROJECT, environ, unasked=True).problem == sync.OTHERWISE
    sharing.share(one.store, PROJECT, "pump", environ=environ)
    assert sync.sync(one.store, PROJECT, environ, unasked=True).problem == ""


def test_a_sync_notes_that_it_goes_on(machines: Machines) -> None:
    one = machines("ana")
    one.say("one")
    one.share()
    sync.sync(one.store, PROJECT, one.environ, clock=lambda: 1_234.0)
    share = share_in(one.store, PROJECT)
    assert share is not None and share.active_at == share.synced_at == 1_234.0


def test_both_ways_and_again_nothing_is_sent_twice_or_doubled(machines: Machines, team: Team) -> None:
    one, other = machines("ana"), machines("ana")
    one.say("first of one", "said by both")
    other.say("first of the other", "said by both")
    for machine in (one, other):
        machine.share()
    for machine in (one, other, one):
        assert machine.sync().problem == ""

    before = [machine.store.stats().occurrences for machine in (one, other)]
    for machine in (one, other, one, other):
        report = machine.sync()
        assert (report.sent, report.fetched) == (0, 0)
    assert [machine.store.stats().occurrences for machine in (one, other)] == before
    assert one.finds("first") == other.finds("first") == ["first of one", "first of the other"]
    assert team.rows("SELECT count(*) FROM gardener.entries") == [(3,)]


def test_forgetting_reaches_the_server_and_the_other_machine(machines: Machines, team: Team) -> None:
    one, other = machines("ana"), machines("ana")
    said, left = one.say("a password nobody should have seen", "what stays")
    for machine in (one, other):
        machine.share()
        machine.sync()
    assert other.store.original(said) is not None

    assert one.store.forget([said]) == 1
    assert one.sync().told == 1
    assert other.sync().heard == 1

    assert one.store.original(said) is None and other.store.original(said) is None
    assert other.store.original(left) == "what stays"
    held = team.rows("SELECT string_agg(e::text, '') FROM gardener.entries e")
    assert "nobody should" not in str(held)
    assert other.sync() == sync.SyncReport() and one.sync() == sync.SyncReport()


def test_forgetting_on_the_machine_that_fetched_reaches_the_one_that_said_it(machines: Machines) -> None:
    one, other = machines("ana"), machines("ana")
    (said,) = one.say("a password nobody should have seen")
    for machine in (one, other):
        machine.share()
        machine.sync()
    other.store.forget([said])
    other.sync()
    assert one.sync().heard == 1
    assert one.store.original(said) is None


def test_what_is_said_again_after_it_was_forgotten_is_shared_again(machines: Machines) -> None:
    one, other = machines("ana"), machines("ana")
    (said,) = one.say("said and said again")
    for machine in (one, other):
        machine.share()
        machine.sync()
    one.store.forget([said])
    one.sync()
    other.sync()
    one.say("said and said again", at=9e9)
    one.sync()
    assert other.sync().fetched == 1
    assert other.store.original(said) == "said and said again"


def test_a_forgotten_text_does_not_come_back_from_a_machine_that_was_away(machines: Machines) -> None:
    one, away = machines("ana"), machines("ana")
    (said,) = one.say("both said this")
    away.say("both said this")
    one.share()
    one.sync()
    one.store.forget([said])
    one.sync()

    away.share()
    away.sync()
    assert away.store.original(said) is None
    assert one.sync().fetched == 0 and one.store.original(said) is None


def test_a_batch_that_was_read_before_a_text_was_forgotten_does_not_bring_it_back(
    machines: Machines, team: Team
) -> None:
    one, late = machines("ana"), machines("ana")
    (said,) = one.say("both said this")
    late.say("both said this", "and this")
    share = late.share()
    batch = late.store.database.read(lambda db: outbox.batch(db, share, rows=500))
    one.share()
    one.sync()
    one.store.forget([said])
    one.sync()
    with connected(late.environ) as connection, connection.transaction():
        sync.send_said(connection, share, batch.said)
    texts = team.rows("SELECT payload FROM gardener.entries")
    assert [json.loads(str(row[0]))["content"] for row in texts] == ["and this"]
    assert team.rows("SELECT count(*) FROM gardener.occurrences") == [(1,)]


def test_a_session_that_is_forgotten_goes_everywhere(machines: Machines, team: Team) -> None:
    one, other = machines("ana"), machines("ana")
    one.say("in both sessions", "in the first alone", session="first")
    one.say("in both sessions", session="second")
    for machine in (one, other):
        machine.share()
        machine.sync()
    one.store.forget_session("first")
    one.sync()
    other.sync()
    assert other.finds("sessions alone") == ["in both sessions"]
    assert [row[0] for row in team.rows("SELECT id FROM gardener.sessions")] == ["second"]


def test_retention_reaches_the_copies_of_what_was_said_here_but_not_what_was_fetched(
    machines: Machines,
) -> None:
    one, other = machines("ana"), machines("ana")
    (said,) = one.say("old and never used")
    (fetched,) = other.say("said on the other machine")
    for machine in (one, other, one):
        machine.share()
        machine.sync()
    everything = RetentionPolicy(older_than_days=0)
    assert prune(one.store, everything, clock=lambda: 9e9).entries == 2
    assert one.sync().told == 1
    other.sync()
    assert other.store.original(said) is None
    assert other.store.original(fetched) == "said on the other machine"


def test_what_was_said_to_a_local_model_never_leaves(machines: Machines, team: Team) -> None:
    one = machines("ana")
    (local,) = one.say("told to llama alone", provider="ollama")
    one.say("never sent to any model", provider="")
    one.say("to a server in the cellar", provider="openai@here", session="cellar")
    (both,) = one.say("told to both", provider="ollama")
    one.say("told to both", provider="openai", session="remote")
    one.share()
    assert one.sync().sent == 1
    texts = team.rows("SELECT payload FROM gardener.entries")
    assert [json.loads(str(row[0]))["content"] for row in texts] == ["told to both"]
    assert [row[0] for row in team.rows("SELECT session FROM gardener.occurrences")] == ["remote"]
    one.store.forget([local])
    assert one.sync().told == 0, "not even its hash"
    one.store.forget([both])
    assert one.sync().told == 1


def test_nothing_but_what_the_archive_holds_redacted_is_sent(machines: Machines, team: Team) -> None:
    one = machines("ana", project="/projects/secret-customer/pump")
    key = "sk-proj-" + "A1b2C3d4E5f6G7h8" * 3
    one.say(f"export OPENAI_API_KEY={key}")
    one.store.set_state(one.session, "note", "state of the chat")
    one.store.record_event(one.session, 1, "plan", {"why": "an event"}, 1.0)
    one.share()
    assert one.sync().sent == 1
    tables = ("sessions", "entries", "occurrences", "tombstones", "vectors", "projects", "members", "about")
    held = "".join(str(team.rows(f"SELECT t::text FROM gardener.{name} t")) for name in tables)
    assert "[redacted:" in held
    for private in (key, key[8:24], "secret-customer", "state of the chat", "an event"):
        assert private not in held


def test_a_machine_that_was_away_for_a_week_catches_up(machines: Machines) -> None:
    one, away = machines("ana"), machines("ana")
    for machine in (one, away):
        machine.share()
    at_home, there = dict(away.environ), {VARIABLE: "postgresql://ana@127.0.0.1:1/nowhere"}
    away.environ = there
    for day in range(7):
        one.say(*(f"day {day} at home {n}" for n in range(10)))
        away.say(*(f"day {day} abroad {n}" for n in range(10)))
        assert one.sync().problem == ""
        assert "does not answer" in away.sync().problem
    status = sharing.status(away.store, PROJECT, there)
    assert status["waiting"] == 70 and "does not answer" in status["problem"]

    away.environ = at_home
    assert away.sync() == sync.SyncReport(sent=70, fetched=70)
    assert one.sync() == sync.SyncReport(fetched=70)
    assert away.store.stats().entries == one.store.stats().entries == 140
    assert sharing.status(away.store, PROJECT, at_home)["waiting"] == 0


def test_rows_that_get_a_deleted_ones_number_are_sent_too(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("first")
    (last,) = one.say("last, and soon forgotten")
    one.share()
    one.sync()
    one.store.forget([last])
    one.say("in the place of the last")
    assert one.sync().sent == 1
    assert "in the place" in str(team.rows("SELECT payload FROM gardener.entries"))


def test_a_batch_whose_rows_are_cut_off_while_it_is_sent_is_not_marked_as_sent(machines: Machines) -> None:
    one = machines("ana")
    ids = one.say("first", "second", "third")
    share = one.share()
    batch = one.store.database.read(lambda db: outbox.batch(db, share, rows=500))
    one.store.forget(ids[1:])
    one.say("in the place of the second")
    moved = one.store.database.write(lambda db: outbox.moved(db, share, batch.upto))
    assert moved.sent == 0
    assert one.sync().sent == 2


def test_an_archive_that_was_lost_is_fetched_back(machines: Machines) -> None:
    lost = machines("ana")
    ids = lost.say("before the disk died")
    lost.share()
    lost.sync()
    new = machines("ana")
    new.share()
    new.sync()
    assert new.store.original(ids[0]) == "before the disk died"


def test_a_server_put_back_from_an_older_copy_gets_everything_again(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.share()
    one.say("first", "second")
    one.sync()
    share = one.store.database.read(lambda db: shares.share_of(db, PROJECT))
    assert share is not None
    one.store.database.write(lambda db: shares.keep(db, replace(share, seen=10_000)))
    team.rows("DELETE FROM gardener.occurrences")
    assert one.sync().sent == 2


def test_another_server_under_the_same_address_gets_nothing(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("for the first server")
    one.share()
    team.rows("UPDATE gardener.about SET server = 'another'")
    assert "another server" in one.sync().problem
    assert team.rows("SELECT count(*) FROM gardener.entries") == [(0,)]


def test_what_goes_at_once_is_bounded_by_its_size(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machines("ana")
    one.say(*(f"{n} " + "x" * 400 for n in range(5)))
    share = one.share()
    monkeypatch.setattr(outbox, "BYTES", 1_000)
    batch = one.store.database.read(lambda db: outbox.batch(db, share, rows=500))
    assert len(batch.said) == 2 and batch.more
    assert one.sync().sent == 5


def test_many_batches_are_as_good_as_one(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = machines("ana"), machines("ana")
    monkeypatch.setattr(sync, "SENT", 3)
    monkeypatch.setattr(incoming, "FETCHED", 2)
    ids = one.say(*(f"message {n}" for n in range(10)))
    one.share()
    other.share()
    assert one.sync().sent == 10
    one.store.forget(ids[3:8])
    one.sync()
    one.say("after it")
    one.sync()
    assert other.sync().fetched == 6
    assert other.finds("message") == [f"message {n}" for n in (0, 1, 2, 8, 9)]
    assert other.sync().fetched == 0


def test_a_project_elsewhere_in_the_same_archive_is_not_sent(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.store.open_session("t", project="/projects/other", started_at=1.0)
    one.store.add(
        entry_of("of another project", "t", 0, "openai", 1.0), chunks=chunks_of("of another project")
    )
    one.say("of this one")
    one.share()
    assert one.sync().sent == 1


def test_an_encrypted_archive_is_sent_only_if_the_user_agrees(machines: Machines) -> None:
    one = machines("ana")
    one.store.database.key = "as if it were encrypted"
    with pytest.raises(UsageError, match="--readable"):
        one.share()
    shared = sharing.share(one.store, PROJECT, "pump", readable=True, environ=one.environ)
    assert shared.name == "ana/pump"


def test_nothing_stays_connected(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.share()
    one.sync()
    with connected(one.environ) as connection:
        connection.execute("SELECT 1")
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'aider-gardener'"
    assert team.rows(open_ones) == [(0,)]
