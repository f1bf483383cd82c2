"""A project is shared because its user said so, and how it stands is told without asking the server."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from shared_archives import PROJECT, Machine, Machines, Team

from aider_gardener.archive.postgres import server, sync
from aider_gardener.archive.postgres.server import VARIABLE
from aider_gardener.archive.store import open_store
from aider_gardener.errors import UsageError
from bench.postgres_server import PASSWORD


def test_nothing_is_shared_unless_the_user_says_so(one: Machine, team: Team) -> None:
    one.say("private")
    assert sync.status(one.store, PROJECT, one.environ) == {"shared": False}
    for ask in (one.sync, lambda: sync.members(one.store, PROJECT), lambda: one.shared):
        with pytest.raises(UsageError, match="`gardener store share` shares it"):
            ask()
    with pytest.raises(UsageError, match="no archive on disk"):
        sync.share(open_store(None), PROJECT, "pump", environ=team.environ("ana"))  # type: ignore[arg-type]


def test_the_status_says_what_waits_and_what_went_wrong(one: Machine) -> None:
    (said, *_) = one.say("one", "two")
    one.say("to llama", provider="ollama")
    one.share()
    one.store.forget([said])
    assert sync.status(one.store, PROJECT, one.environ) == {
        "shared": True, "name": "ana/pump", "server": "127.0.0.1", "role": "owner", "author": "ana",
        "waiting": 1, "staying": 1, "to_forget": 1, "synced_at": None, "problem": "",
    }  # fmt: skip
    one.sync()
    found = sync.status(one.store, PROJECT, {})
    assert (found["waiting"], found["to_forget"], found["server"]) == (0, 0, "") and found["synced_at"] > 0


def test_sharing_again_admits_others_and_sends_nothing_anew(machines: Machines, one: Machine) -> None:
    one.say("one")
    first = one.share()
    one.sync()
    again = one.share(readers=("bob",))
    assert (again.machine, again.number) == (first.machine, first.number) and one.sync().sent == 0
    with pytest.raises(UsageError, match="is shared as ana/pump already"):
        one.share("other")
    bob = machines("bob")
    with pytest.raises(server.ServerError, match="refuses this to bob: only an owner"):
        bob.share("ana/pump", owners=("eve",))


def test_an_encrypted_archive_is_shared_only_if_the_user_agrees(one: Machine) -> None:
    one.store.database.key = "as if it were encrypted"
    with pytest.raises(UsageError, match="--readable"):
        one.share()
    assert sync.share(one.store, PROJECT, "pump", readable=True, environ=one.environ).name == "ana/pump"


def test_unsharing_keeps_what_was_sent_unless_it_is_to_go(one: Machine, team: Team) -> None:
    one.say("one")
    one.share_and_sync()
    sync.unshare(one.store, PROJECT, now=1.0, environ={})
    assert team.said() == ["one"]
    one.share()
    sync.unshare(one.store, PROJECT, delete=True, now=2.0, environ=one.environ)
    assert team.said() == [] and sync.status(one.store, PROJECT, {}) == {"shared": False}


def test_members_are_told_and_removed_all_or_none(one: Machine, team: Team) -> None:
    one.share(readers=("cora", "bob"), owners=("eve",))
    assert sync.members(one.store, PROJECT, one.environ)["members"] == [
        {"member": "ana", "role": "owner", "creator": True},
        {"member": "eve", "role": "owner", "creator": False},
        {"member": "bob", "role": "reader", "creator": False},
        {"member": "cora", "role": "reader", "creator": False},
    ]
    with pytest.raises(server.ServerError, match="nobody is no member"):
        sync.remove(one.store, PROJECT, ["bob", "nobody"], one.environ)
    assert len(sync.members(one.store, PROJECT, one.environ)["members"]) == 4
    sync.remove(one.store, PROJECT, ["bob", "cora"], one.environ)
    left = sync.members(one.store, PROJECT, one.environ)["members"]
    assert [each["member"] for each in left] == ["ana", "eve"]
    team.rows("UPDATE gardener.about SET server = 'another'")
    assert "is shared with another server" in sync.members(one.store, PROJECT, one.environ)["members_problem"]
    with pytest.raises(server.ServerError, match="is shared with another server"):
        sync.remove(one.store, PROJECT, ["eve"], one.environ)


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of one who takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


def test_asking_for_members_is_one_line_and_ends_though_the_server_is_silent(
    one: Machine, team: Team, silent: int
) -> None:
    one.share()
    for environ in (
        team.environ("ana", "hunter2"),
        {},
        {VARIABLE: f"postgresql://a:{PASSWORD}@127.0.0.1:{silent}/d"},
    ):
        told = sync.members(one.store, PROJECT, environ)["members_problem"]
        assert told and "\n" not in told and PASSWORD not in told and "hunter2" not in told


def test_of_a_project_that_was_moved_all_is_shared_as_before(machines: Machines, team: Team) -> None:
    before = machines("ana", "pump", project=str(machines.folder / "pump"))
    (secret, _) = before.say("secret", "sent")
    before.share_and_sync()
    before.say("waits")
    before.store.forget([secret])
    before.store.close()
    (machines.folder / "pump").rename(machines.folder / "moved")
    moved = machines("ana", "moved", project=str(machines.folder / "moved"))
    moved.say("said since")
    moved.share_and_sync()
    assert team.said() == ["sent", "waits", "said since"]
    other = machines("ana")
    assert other.share_and_sync().fetched == 3


def test_a_project_whose_path_is_no_text_is_shared_as_any(machines: Machines, team: Team) -> None:
    one = machines("ana", project="/caf\udce9")
    (said,) = one.say("first")
    assert one.share_and_sync() == sync.SyncReport(sent=1) and team.said() == ["first"]
    one.store.forget([said])
    assert sync.status(one.store, one.project, one.environ)["to_forget"] == 1
    assert one.sync().told == 1 and team.said() == []
    other = machines("ana", project="/caf\udce9")
    other.share()
    sync.unshare(one.store, one.project, now=1.0, environ=one.environ)
    assert sync.status(one.store, one.project, one.environ) == {"shared": False}
