"""Where the archive lies, and on what kind of file system."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path

import pytest

from aider_gardener.archive.store import open_store, store_directory
from aider_gardener.archive.store.location import (
    file_system,
    is_network_file_system,
    is_network_path,
    linux_mounts,
    mac_mounts,
    prepare_directory,
)
from aider_gardener.errors import StoreError

MOUNTINFO = """\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:25 / /mnt/team\\040files rw,nosuid - nfs4 server:/x rw
31 22 0:26 / /mnt/c rw - 9p drvfs rw
"""
MOUNT = """\
/dev/disk3s1 on / (apfs, sealed, local, read-only, journaled)
//user@server/share on /Volumes/share (smbfs, nodev, nosuid)
"""


def test_in_a_work_tree_its_own_directory(tmp_path: Path) -> None:
    assert store_directory(tmp_path) == tmp_path / ".aider.gardener"
    assert not (tmp_path / ".aider.gardener").exists()


def test_without_one_a_directory_of_the_user(tmp_path: Path) -> None:
    one, two = store_directory(None, project=tmp_path / "a"), store_directory(None, project=tmp_path / "b")
    assert one != two and one.parent == two.parent
    assert one == store_directory(None, project=tmp_path / "x" / ".." / "a")
    assert str(tmp_path) not in str(one)


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="needs symbolic links")
@pytest.mark.parametrize("name", ["", "gardener.db", ".gitignore", "gardener.db-wal"])
def test_links_out_of_the_tree_are_refused(tmp_path: Path, name: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    if name:
        inside.mkdir()
        (inside / name).symlink_to(outside / "target")
    else:
        inside.symlink_to(outside)
    with pytest.raises(StoreError, match="symbolic link"):
        prepare_directory(inside)
    store = open_store(inside)
    assert not store.persistent and "symbolic link" in store.notice and "\n" not in store.notice
    assert list(outside.iterdir()) == []
    store.close()


def test_a_linked_parent_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    try:
        (tmp_path / "link").symlink_to(tmp_path / "real")
    except OSError:
        pytest.skip("no symbolic links here")
    store = open_store(store_directory(tmp_path / "link"))
    assert store.persistent and (tmp_path / "real" / ".aider.gardener" / "gardener.db").exists()
    store.close()


@pytest.mark.parametrize(
    "kind",
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.unheard-of",
        "NFS",
        "virtiofs",
    ],
)
def test_networks_are_told(kind: str) -> None:
    assert is_network_file_system(kind)


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "apfs", "tmpfs", "overlay", "zfs", "fuseblk", "fuse.gocryptfs", ""]
)
def test_local_ones_are_not_called_networks(kind: str) -> None:
    assert not is_network_file_system(kind)


def test_windows_shares_are_told_by_their_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.location.sys.platform", "win32")
    monkeypatch.setattr("os.path.realpath", lambda path: "\\\\server\\share\\project")
    monkeypatch.setattr("os.path.splitdrive", ntpath.splitdrive)
    assert is_network_path(Path("x"))


def test_file_systems_are_told_by_the_nearest_mount() -> None:
    mounts = linux_mounts(MOUNTINFO)
    assert mounts == {"/": "ext4", "/mnt/team files": "nfs4", "/mnt/c": "9p"}
    if os.name == "posix":
        assert file_system(Path("/mnt/team files/project/x"), mounts) == "nfs4"
        assert file_system(Path("/mnt/cd"), mounts) == "ext4"
    assert mac_mounts(MOUNT) == {"/": "apfs", "/Volumes/share": "smbfs"}
