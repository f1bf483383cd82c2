"""What comes from the server is taken in once, under its author's name, and no further trusted than it must be."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from shared_archives import PROJECT, Machines, Team

from aider_gardener.archive.sessions import HOST_KEY, host_of
from aider_gardener.archive.shared import outbox, sharing, sync
from aider_gardener.archive.shared.server import connected
from aider_gardener.archive.store import shares
from aider_gardener.errors import UsageError


def test_what_an_archive_sent_itself_is_not_looked_through_again(machines: Machines) -> None:
    one = machines("ana")
    share = one.share()
    one.say(*(f"message {n}" for n in range(5)))
    one.sync()
    one.sync()
    held = one.store.database.read(lambda db: shares.share_of(db, PROJECT))
    assert share.seen == 0 and held is not None and held.seen > 4


def test_a_text_said_on_both_machines_stays_each_ones_own(machines: Machines) -> None:
    one, other = machines("ana"), machines("ana")
    (said,) = one.say("said by both")
    other.say("said by both")
    for machine in (one, other, one):
        machine.share()
        machine.sync()
    found = one.store.get(said)
    assert found is not None and found.session == one.session and found.active


def test_the_agent_that_a_chat_was_held_with_comes_along(machines: Machines) -> None:
    ana, bob = machines("ana"), machines("bob")
    ana.say("said to an agent")
    ana.store.set_state(ana.session, HOST_KEY, "claude-code")
    ana.share(readers=("bob",))
    ana.sync()
    bob.share("ana/pump")
    bob.sync()
    assert host_of(bob.store, "shared:ana:s0") == "claude-code"


def test_what_a_colleague_said_names_its_author_and_never_comes_unasked(machines: Machines) -> None:
    ana, bob = machines("ana"), machines("bob")
    (said,) = ana.say("the gasket of the pump leaks")
    ana.share(readers=("bob",))
    ana.sync()
    bob.share("ana/pump")
    bob.sync()
    found = bob.store.get(said)
    assert found is not None
    assert found.session == "shared:ana:s0" and not found.active and not found.pinned


def test_what_is_committed_late_is_not_overlooked(machines: Machines) -> None:
    slow, quick, reader = machines("ana"), machines("ana"), machines("ana")
    slow.say("of the slow one")
    quick.say("of the quick one")
    share = slow.share()
    for machine in (quick, reader):
        machine.share()
    batch = slow.store.database.read(lambda db: outbox.batch(db, share, rows=500))
    with connected(slow.environ) as connection:
        with connection.transaction():
            connection.execute("SELECT gardener.begin_write(%s)", (share.number,))
            sync.send_said(connection, share, batch.said)
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
    ana.share(readers=("bob",))
    ana.sync()
    bob.share("ana/pump")
    bob.sync()
    bob.store.forget([said])
    assert bob.sync() == sync.SyncReport()
    assert ana.sync().heard == 0 and ana.store.original(said) == "of ana's"
    share = bob.store.database.read(lambda db: shares.share_of(db, PROJECT))
    assert share is not None
    bob.store.database.write(lambda db: shares.keep(db, replace(share, seen=0)))
    assert bob.sync().fetched == 0 and bob.store.original(said) is None


def test_a_text_that_is_not_that_of_its_hash_is_refused_and_the_rest_goes_on(
    machines: Machines, team: Team
) -> None:
    ana, bob = machines("ana"), machines("bob")
    ana.say("one", "two", "three", "four")
    ana.share(readers=("bob",))
    ana.sync()
    team.rows("UPDATE gardener.entries SET payload = replace(payload, '\"two\"', '\"a lie\"')")
    team.rows("UPDATE gardener.entries SET payload = '[]' WHERE payload LIKE '%\"three\"%'")
    team.rows("UPDATE gardener.entries SET payload = regexp_replace(payload, '\"g[0-9a-f]+\"', '\"../x\"')"
              " WHERE payload LIKE '%\"four\"%'")  # fmt: skip
    bob.share("ana/pump")
    assert bob.sync() == sync.SyncReport(fetched=1, refused=3)
    assert bob.store.stats().entries == 1 and bob.store.verify() == []


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

    sharing.unshare(one.store, PROJECT, delete=True, now=5_000.0, environ=one.environ)
    assert bob.sync().problem == "" and bob.finds("ana") == []
    assert "took ana/pump back" in other.sync().problem
    assert other.finds("ana") == ["of ana's", "of ana's too"], "what is the author's own stays"
    with pytest.raises(UsageError, match="is not shared"):
        other.sync()
    assert team.rows("SELECT count(*) FROM gardener.entries") == [(0,)]

    one.share()
    assert one.sync().sent == 1 and bob.sync().fetched == 1
