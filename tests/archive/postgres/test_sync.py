"""What is shared goes from machine to machine, once, whole, and goes away everywhere when it is forgotten."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_search import rows_in
from shared_archives import PROJECT, Machine, Machines, Team, chunks, entry

from aider_gardener.archive.postgres import lines, local, sync
from aider_gardener.archive.postgres.server import VARIABLE, connected
from aider_gardener.archive.postgres.sync import SyncReport
from aider_gardener.archive.retention import prune
from aider_gardener.archive.sessions import HOST_KEY, host_of
from aider_gardener.archive.store import entries

ODD = "a NUL \0, a lone surrogate \ud800, a pair that is none \ud83d\ude00, ünïcödé and 日本語"


def test_what_one_machine_said_is_found_on_the_other_byte_for_byte(one: Machine, other: Machine) -> None:
    texts = ["the gasket of the pump leaks", ODD, "x" * 300_000]
    ids = one.say(*texts)
    one.share()
    other.share()
    assert one.sync() == SyncReport(sent=3)
    assert other.sync() == SyncReport(fetched=3)
    assert [other.store.original(each) for each in ids] == texts
    assert other.finds("gasket") == texts[:1] and other.store.verify() == []


def test_unasked_nothing_goes_to_a_server_that_is_named_otherwise_until_the_user_agrees(
    one: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.say("private")
    one.share()
    thief = {VARIABLE: "postgresql://ana:hunter2@127.0.0.1:1/thief"}
    called: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(sync, "connected", lambda *given: called.append(given))
        report = sync.sync(one.store, PROJECT, thief, unasked=True)
    assert (report.sent, report.problem, called) == (0, sync.OTHERWISE, [])
    assert one.shared.problem == sync.OTHERWISE
    assert sync.sync(one.store, PROJECT, one.environ, unasked=True) == SyncReport(sent=1)
    assert one.shared.problem == "", "the last sync went well"
    one.environ = {VARIABLE: one.environ[VARIABLE] + "?application_name=elsewhere"}
    assert sync.sync(one.store, PROJECT, one.environ, unasked=True).problem == sync.OTHERWISE
    one.share()
    assert sync.sync(one.store, PROJECT, one.environ, unasked=True).problem == ""


def test_an_archive_that_only_says_that_it_is_shared_is_not_synced_unasked(
    one: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One that was unpacked with a project, of which its maker is told what is said there."""
    one.say("private")
    one.share()
    with monkeypatch.context() as patch:
        patch.setattr(local, "user_directory", lambda: tmp_path / "another home")
        assert sync.sync(one.store, PROJECT, one.environ, unasked=True).problem == sync.OTHERWISE
        share = local.share_of(one.store.database.live, PROJECT)
        for bent in ("../../home", "/etc"):  # an archive may say what it likes
            assert local.agreement(replace(share, machine=bent)).parent == local.agreement(share).parent
        one.share()
        assert sync.sync(one.store, PROJECT, one.environ, unasked=True).problem == ""
    sync.unshare(one.store, PROJECT, now=1.0)
    assert not local.agreement(share).exists(), "nothing is left of it"


def test_both_ways_and_again_nothing_is_sent_twice_or_doubled(machines: Machines, team: Team) -> None:
    one, other = machines("ana"), machines("ana")
    (both,) = one.say("said by both")
    one.say("first of one")
    other.say("first of the other", "said by both")
    for machine in (one, other):
        machine.share()
    for machine in (one, other, one):
        assert machine.sync().problem == ""
    before = [rows_in(machine.store, "occurrences") for machine in (one, other)]
    for machine in (one, other, one, other):
        assert machine.sync() == SyncReport()
    assert [rows_in(machine.store, "occurrences") for machine in (one, other)] == before
    assert one.finds("first") == other.finds("first") == ["first of one", "first of the other"]
    assert len(team.said()) == 4
    found = one.store.get(both)
    assert found is not None and found.session == one.session, "one's own stays one's own"


def test_two_syncs_of_an_archive_at_once_double_nothing(
    machines: Machines, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "ROWS", 10)
    monkeypatch.setattr(sync, "PULLED", 20)
    one, other = machines("ana", "here"), machines("ana", "there")
    texts = [f"message {n}" for n in range(40)]
    one.say(*texts)
    for machine in (one, other):
        machine.share()
    for twins in ((one, machines("ana", "here")), (other, machines("ana", "there"))):
        running = [threading.Thread(target=each.sync) for each in twins]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        assert [each.sync() for each in twins] == [SyncReport(), SyncReport()]
    assert sorted(team.said()) == sorted(texts)
    assert rows_in(other.store, "occurrences") == 40 and other.store.verify() == []


@pytest.mark.parametrize("on", ["the one that said it", "the one that fetched it"])
def test_forgetting_reaches_the_server_and_the_other_machine(machines: Machines, team: Team, on: str) -> None:
    one, other = machines("ana"), machines("ana")
    said, left = one.say("a password nobody should have seen", "what stays")
    for machine in (one, other):
        machine.share_and_sync()
    first, second = (one, other) if on == "the one that said it" else (other, one)
    assert first.store.forget([said]) == 1
    assert first.sync().told == 1 and second.sync().heard == 1
    assert one.store.original(said) is None and other.store.original(said) is None
    assert other.store.original(left) == "what stays"
    assert team.said() == ["what stays"]
    assert other.sync() == SyncReport() and one.sync() == SyncReport()


def test_a_chat_of_which_all_was_forgotten_elsewhere_stays_one_of_its_project(
    one: Machine, other: Machine
) -> None:
    (said,) = one.say("said once")
    for machine in (one, other):
        machine.share_and_sync()
    other.store.forget([said])
    other.sync()
    assert one.sync().heard == 1 and one.store.session_entries(one.session) == []
    assert [info.id for info in one.store.sessions(PROJECT)] == [one.session]
    again = one.say("said to be fetched", at=time.time())
    assert (one.sync().sent, other.sync().fetched) == (1, 1)
    one.store.forget(again)
    assert (one.sync().told, other.sync().heard) == (1, 1)
    assert other.store.sessions(PROJECT) == [], "of what was fetched nothing is left"


@pytest.mark.parametrize("between", [True, False])
def test_what_is_said_again_after_it_was_forgotten_is_shared_again(machines: Machines, between: bool) -> None:
    one, other = machines("ana"), machines("ana")
    (said,) = one.say("said and said again")
    for machine in (one, other):
        machine.share_and_sync()
    one.store.forget([said])
    for machine in (one, other) if between else ():
        machine.sync()
    one.say("said and said again", at=9e9)
    one.sync()
    assert other.sync().fetched == int(between) or other.store.original(said)
    assert other.store.original(said) == "said and said again"


def test_a_forgotten_text_does_not_come_back_from_a_machine_that_was_away(
    machines: Machines, team: Team
) -> None:
    one, away = machines("ana"), machines("ana")
    (said,) = one.say("both said this")
    away.say("both said this", "and this")
    share = away.share()
    rows, *_ = away.store.database.read(lambda db: local.unsent(db, share))
    one.share_and_sync()
    one.store.forget([said])
    one.sync()
    with connected(away.environ) as connection, connection.transaction():  # read before it was forgotten
        assert len(lines.add(connection, share.number, share.machine, rows)) == 1
    assert team.said() == ["and this"]
    away.sync()
    assert away.store.original(said) is None and one.sync().fetched == 1
    assert one.store.original(said) is None


def test_a_session_that_is_forgotten_goes_everywhere(one: Machine, other: Machine, team: Team) -> None:
    one.say("in both sessions", "in the first alone", session="first")
    one.say("in both sessions", session="second")
    for machine in (one, other):
        machine.share_and_sync()
    one.store.forget_session("first")
    one.sync()
    other.sync()
    assert other.finds("sessions alone") == team.said() == ["in both sessions"]


def test_retention_reaches_the_copies_of_what_was_said_here_but_not_what_was_fetched(
    one: Machine, other: Machine
) -> None:
    (said,) = one.say("old and never used")
    (fetched,) = other.say("said on the other machine")
    for machine in (one, other, one):
        machine.share_and_sync()
    assert prune(one.store, clock=lambda: 9e9) == 2
    assert one.sync().told == 1
    other.sync()
    assert other.store.original(said) is None
    assert other.store.original(fetched) == "said on the other machine"


def test_what_was_said_to_a_local_model_never_leaves(one: Machine, team: Team) -> None:
    (alone,) = one.say("told to llama alone", provider="ollama")
    one.say("never sent to any model", provider="")
    one.say("to a server in the cellar", provider="openai@here", session="cellar")
    (both,) = one.say("told to both", provider="ollama")
    one.say("told to both", provider="openai", session="remote")
    one.share()
    assert one.sync().sent == 1 and team.said() == ["told to both"]
    assert team.rows("SELECT session FROM gardener.lines") == [("remote",)]
    one.store.forget([alone])
    assert one.sync().told == 0, "not even its hash"
    one.store.forget([both])
    assert one.sync().told == 1


def test_nothing_but_what_the_archive_holds_redacted_is_sent(machines: Machines, team: Team) -> None:
    one = machines("ana", project="/projects/secret-customer/pump")
    key = "sk-proj-" + "A1b2C3d4E5f6G7h8" * 3
    (said, altered) = one.say(f"export OPENAI_API_KEY={key}", "altered by a disk")
    one.store.pin(said, True)
    one.store.set_state(one.session, "note", "state of the chat")
    one.store.record_event(one.session, 1, "plan", {"why": "an event"}, 1.0)
    one.store.open_session("t", project="/projects/other", started_at=1.0)
    other = "of another project"
    one.store.add(entry(other, "t", 0, "openai", 1.0), chunks=chunks(other))
    one.store.open_session("shared:bob:s", project=one.project, started_at=1.0)
    one.store.add(entry("of bob's", "shared:bob:s", 0, "openai", 1.0), chunks=chunks("of bob's"))
    one.store.database.write(lambda db: db.execute("UPDATE bodies SET body = x'00' WHERE original = 2"))
    one.share()
    assert one.sync().sent == 1 and altered
    rows = [team.rows(f"SELECT t::text FROM gardener.{name} t") for name in ("archives", "members", "about")]
    ((payload, words),) = team.rows("SELECT convert_from(payload, 'UTF8'), l::text FROM gardener.lines l")
    held = f"{rows} {payload} {words}"
    assert "[redacted:" in held
    for private in (key, key[8:24], "secret-customer", "state of the chat", "an event", other, "of bob's"):
        assert private not in held
    line = json.loads(str(payload))
    assert (line["pinned"], line["access_count"], line["accessed_at"], line["renditions"]) == (0, 0, 0.0, [])


def test_rows_that_get_a_deleted_ones_number_are_sent_too(one: Machine, team: Team) -> None:
    one.say("first")
    (last,) = one.say("last, and soon forgotten")
    one.share_and_sync()
    one.store.forget([last])
    one.say("in the place of the last")
    assert one.sync() == SyncReport(sent=1, told=1)
    assert team.said() == ["first", "in the place of the last"]
    assert one.sync() == SyncReport()


def test_an_archive_that_was_lost_or_mended_is_fetched_back(machines: Machines) -> None:
    lost, new = machines("ana"), machines("ana")
    (said,) = lost.say("before the disk died")
    lost.share_and_sync()
    new.share()
    assert new.sync().fetched == 1 and new.store.original(said) == "before the disk died"
    new.store.database.write(lambda db: db.execute("DELETE FROM occurrences"))
    new.store.database.write(entries.share_again)
    assert new.sync().fetched == 1


def test_a_server_put_back_from_an_older_copy_gets_everything_again(one: Machine, team: Team) -> None:
    one.share()
    one.say("first", "second")
    one.sync()
    local.note(one.store, PROJECT, seen=10_000)
    team.rows("DELETE FROM gardener.lines")
    assert one.sync().sent == 2


def test_another_server_under_the_same_address_gets_nothing(one: Machine, team: Team) -> None:
    one.say("for the first server")
    one.share()
    team.rows("UPDATE gardener.about SET server = 'another'")
    assert one.sync().problem == sync.OTHER_SERVER and team.said() == []


def test_many_batches_are_as_good_as_one(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = machines("ana"), machines("ana")
    monkeypatch.setattr(local, "ROWS", 3)
    monkeypatch.setattr(sync, "PULLED", 2)
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


def test_what_a_colleague_said_names_its_author_and_agent_and_never_comes_unasked(machines: Machines) -> None:
    ana, bob = machines("ana"), machines("bob")
    (said,) = ana.say("the gasket of the pump leaks")
    ana.store.set_state(ana.session, HOST_KEY, "claude-code")
    ana.share_and_sync(readers=("bob",))
    bob.share_and_sync("ana/pump")
    found = bob.store.get(said)
    assert found is not None and found.session == "shared:ana:s0" and not found.active and not found.pinned
    assert host_of(bob.store, "shared:ana:s0") == "claude-code"


def test_what_is_committed_late_is_not_overlooked(machines: Machines) -> None:
    slow, quick, reader = machines("ana"), machines("ana"), machines("ana")
    slow.say("of the slow one")
    quick.say("of the quick one")
    share = slow.share()
    for machine in (quick, reader):
        machine.share()
    rows, *_ = slow.store.database.read(lambda db: local.unsent(db, share))
    with connected(slow.environ) as connection:
        with connection.transaction():
            lines.add(connection, share.number, share.machine, rows)
            meanwhile = threading.Thread(target=quick.sync)
            meanwhile.start()
            meanwhile.join(0.5)
            reader.sync()
        meanwhile.join()
    reader.sync()
    assert reader.finds("slow quick") == ["of the quick one", "of the slow one"]


def test_what_a_reader_deletes_is_gone_there_alone_and_stays_gone(machines: Machines) -> None:
    ana, bob = machines("ana"), machines("bob")
    said, _ = ana.say("of ana's", "more of ana's")
    ana.share_and_sync(readers=("bob",))
    bob.share_and_sync("ana/pump")
    bob.store.forget([said])
    assert bob.sync() == SyncReport()
    assert ana.sync().heard == 0 and ana.store.original(said) == "of ana's"
    local.note(bob.store, PROJECT, seen=0)
    assert bob.sync().fetched == 0 and bob.store.original(said) is None


LIES = {
    "a text of another hash": "replace(payload, '\"two\"', '\"a lie\"')",
    "no record": "'[]'",
    "no JSON": "'}'",
    "an id that is a path": "regexp_replace(payload, '\"g[0-9a-f]+\"', '\"../x\"')",
    "a passage outside": "replace(payload, '[[0,3]]', '[[0,999]]')",
    "a turn beyond all numbers": "replace(payload, '\"turn\":1', '\"turn\":99999999999999999999')",
    "half a turn": "replace(payload, '\"turn\":1', '\"turn\":1.5')",
    "no time": "replace(payload, '\"started_at\":1.0', '\"started_at\":NaN')",
    "a time of no calendar": "replace(payload, '\"started_at\":1.0', '\"started_at\":1e308')",
    "deep nesting": "repeat('[', 100000)",
    "another kind": "replace(payload, '\"import\"', '\"state\"')",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_line_that_is_not_what_it_says_is_refused_and_the_rest_goes_on(
    machines: Machines, team: Team, lie: str
) -> None:
    ana, bob = machines("ana"), machines("bob")
    ana.say("one", "two", "three")
    ana.share_and_sync(readers=("bob",))
    team.alter(LIES[lie], of="two")
    bob.share("ana/pump")
    told = SyncReport(fetched=3) if lie == "another kind" else SyncReport(fetched=2, refused=1)
    assert bob.sync() == told, "of a known message only its lines are looked at"
    assert bob.store.verify() == [] and bob.store.stats().entries == told.fetched


def test_no_line_of_a_colleagues_forgets_or_alters_what_is_not_the_colleagues(
    machines: Machines, team: Team
) -> None:
    ana, eve = machines("ana"), machines("eve")
    (said,) = ana.say("of ana's")
    ana.share_and_sync(owners=("eve",))
    share = eve.share("ana/pump")
    eve.sync()
    key = str(team.rows("SELECT hash FROM gardener.lines")[0][0])
    rows = [
        lines.Row(local.FORGET_ALL, b"{}", 9e9),
        lines.Row("forget", b"{}", 9e9, hash=key),
        lines.Row("forget session", b"{}", 9e9, session="s0"),
        lines.Row("state", b'{"kind":"state","session":"s0","key":"view","value":"evil"}', 1.0, session="s0"),
        lines.Row("said", b"{}", 1.0, session="s0", hash=key),
    ]
    with connected(eve.environ) as connection, connection.transaction():
        lines.add(connection, share.number, "evil", rows)
    assert ana.sync() == SyncReport()
    assert ana.store.original(said) == "of ana's" and ana.store.get_state("s0", "view") is None
    assert team.said() == ["of ana's"]


def test_a_withdrawn_project_leaves_the_others_archives_and_is_shared_from_no_machine(
    machines: Machines, team: Team
) -> None:
    one, other, bob = machines("ana"), machines("ana"), machines("bob")
    (said,) = one.say("of ana's")
    other.say("of ana's too")
    one.share(readers=("bob",))
    other.share()
    bob.share("ana/pump")
    for machine in (one, other, bob):
        machine.sync()
    assert bob.store.original(said)
    sync.unshare(one.store, PROJECT, delete=True, now=5_000.0, environ=one.environ)
    assert bob.sync().problem == "" and bob.finds("ana") == [] == team.said()
    assert "ana/pump is no longer shared from here" in other.sync().problem
    assert other.finds("ana") == ["of ana's", "of ana's too"], "what is the author's own stays"
    with pytest.raises(sync.UsageError, match="is not shared"):
        other.sync()
    one.share()
    assert one.sync().sent == 1 and bob.sync().fetched == 1


def test_words_are_those_of_the_archive_within_bounds() -> None:
    assert set(local.indexed("getUserName(\0) Größe")) >= {"user", "name", "getusername", "grosse"}
    assert all(len(word) <= local.WORD_BYTES for word in local.indexed("w" * 100_000))
    many = local.indexed(" ".join(f"word{n}x" for n in range(300_000)))
    assert sum(map(len, many)) <= local.WORDS_BYTES


def test_vectors_wait_for_their_text_and_never_leave_without_it(one: Machine, team: Team) -> None:
    one.share()
    for text, provider in (("sent before", "openai"), ("to llama", "ollama"), ("not sent yet", "openai")):
        one.say(text, provider=provider)
    pending = sorted(one.store.vectors_pending(10, "e"), key=lambda each: each.number)
    one.store.put_vectors([(each, np.array([0.6, 0.8], dtype=np.float32)) for each in pending], "e")
    share = local.note(one.store, PROJECT, sent=2)
    found, last = one.store.database.read(lambda db: local.vectors(db, share))
    assert [(row[1], row[2], row[3]) for row in found] == [(0, len("sent before"), "e")] and last == 2
    assert found[0][5] == pytest.approx((0.6, 0.8), abs=2e-3)
    one.sync()
    assert team.rows('SELECT "end" FROM gardener.passages ORDER BY 1') == [(11,), (12,)]
