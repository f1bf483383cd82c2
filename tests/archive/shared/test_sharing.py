"""A project is shared because its user said so, and how it stands is told without asking the server."""

from __future__ import annotations

import pytest
from shared_archives import PROJECT, Machines, Team

from aider_gardener.archive.shared import server, share_in, sharing
from aider_gardener.archive.store import open_store
from aider_gardener.errors import UsageError


def test_nothing_is_shared_unless_the_user_says_so(machines: Machines) -> None:
    one = machines("ana")
    one.say("private")
    assert sharing.status(one.store, PROJECT, one.environ) == {"shared": False}
    with pytest.raises(UsageError, match="`gardener store share` shares it"):
        one.sync()


def test_a_share_is_found_by_its_store_where_that_is_a_file(machines: Machines) -> None:
    one = machines("ana")
    assert share_in(one.store, PROJECT) is None
    share = one.share()
    assert share_in(one.store, PROJECT) == share
    assert share_in(one.store, "/projects/other") is None
    assert share_in(open_store(None), PROJECT) is None


def test_the_status_says_what_waits_and_what_went_wrong(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("one", "two")
    one.share()
    found = sharing.status(one.store, PROJECT, one.environ)
    assert found == {
        "shared": True, "name": "ana/pump", "server": "127.0.0.1", "role": "owner", "author": "ana",
        "waiting": 2, "to_forget": 0, "synced_at": None, "problem": "",
    }  # fmt: skip
    one.sync()
    found = sharing.status(one.store, PROJECT, {})
    assert (found["waiting"], found["server"]) == (0, "") and found["synced_at"] > 0


def test_sharing_again_admits_others_and_sends_nothing_anew(machines: Machines) -> None:
    one = machines("ana")
    one.say("one")
    first = one.share()
    one.sync()
    again = one.share(readers=("bob",))
    assert (again.machine, again.number) == (first.machine, first.number)
    assert one.sync().sent == 0


def test_under_another_name_it_is_unshared_first(machines: Machines) -> None:
    one = machines("ana")
    one.share("pump")
    with pytest.raises(UsageError, match="is shared as ana/pump already"):
        one.share("other")


def test_a_reader_admits_nobody(machines: Machines) -> None:
    ana, bob = machines("ana"), machines("bob")
    ana.share(readers=("bob",))
    with pytest.raises(UsageError, match="bob only reads ana/pump"):
        sharing.share(bob.store, PROJECT, "ana/pump", owners=("eve",), environ=bob.environ)


def test_an_archive_in_memory_is_not_shared(machines: Machines, team: Team) -> None:
    with pytest.raises(UsageError, match="no archive on disk"):
        sharing.share(open_store(None), PROJECT, "pump", environ=team.environ("ana"))  # type: ignore[arg-type]


def test_unsharing_keeps_what_was_sent_unless_it_is_to_go(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.say("one")
    one.share()
    one.sync()
    sharing.unshare(one.store, PROJECT, now=1.0, environ={})
    assert team.rows("SELECT count(*) FROM gardener.entries") == [(1,)]
    one.share()
    sharing.unshare(one.store, PROJECT, delete=True, now=2.0, environ=one.environ)
    assert team.rows("SELECT count(*) FROM gardener.entries") == [(0,)]
    with pytest.raises(UsageError, match="is not shared"):
        sharing.unshare(one.store, PROJECT, now=3.0, environ={})


def test_the_members_are_told_by_the_server(machines: Machines, team: Team) -> None:
    one = machines("ana")
    with pytest.raises(UsageError, match="is not shared"):
        sharing.members(one.store, PROJECT, one.environ)
    one.share(readers=("cora", "bob"), owners=("eve",))
    assert sharing.members(one.store, PROJECT, one.environ) == [
        {"member": "ana", "role": "owner", "creator": True},
        {"member": "eve", "role": "owner", "creator": False},
        {"member": "bob", "role": "reader", "creator": False},
        {"member": "cora", "role": "reader", "creator": False},
    ]


def test_removing_is_all_or_none(machines: Machines) -> None:
    one = machines("ana")
    one.share(readers=("bob", "cora"))
    with pytest.raises(server.ServerError, match="eve is no member"):
        sharing.remove(one.store, PROJECT, ["bob", "eve"], one.environ)
    assert len(sharing.members(one.store, PROJECT, one.environ)) == 3
    assert sharing.remove(one.store, PROJECT, ["bob", "cora"], one.environ) == {"bob": [], "cora": []}
    assert [each["member"] for each in sharing.members(one.store, PROJECT, one.environ)] == ["ana"]


def test_an_owner_that_removes_itself_shares_the_project_no_more(machines: Machines) -> None:
    ana, bob = machines("ana"), machines("bob")
    ana.share(owners=("bob",))
    bob.share("ana/pump")
    assert sharing.remove(bob.store, PROJECT, ["bob"], bob.environ) == {"bob": []}
    assert sharing.status(bob.store, PROJECT, bob.environ) == {"shared": False}
    with pytest.raises(server.ServerError, match="the last owner of a project stays"):
        sharing.remove(ana.store, PROJECT, ["ana"], ana.environ)
    assert sharing.status(ana.store, PROJECT, ana.environ)["shared"]


def test_on_another_server_than_the_shared_one_nobody_is_removed(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.share(readers=("bob",))
    team.rows("UPDATE gardener.about SET server = 'another'")
    with pytest.raises(server.ServerError, match="is shared with another server"):
        sharing.remove(one.store, PROJECT, ["bob"], one.environ)


def test_a_server_is_prepared_before_anybody_shares(machines: Machines, team: Team) -> None:
    bob = machines("bob")
    with pytest.raises(server.ServerError, match="`gardener store share --prepare`"):
        bob.share()
    sharing.prepare(team.environ("ana"))
    assert bob.share().name == "bob/pump"
