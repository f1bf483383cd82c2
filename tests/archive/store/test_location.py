"""Where the archive lies, and on what kind of file system."""

from __future__ import annotations

import ntpath
import os
import posixpath
from collections import namedtuple
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType
from unittest.mock import Mock

import psutil
import pytest

from aider_gardener.archive.store import location, open_store
from aider_gardener.archive.store.location import is_network_path, prepare_directory, store_directory
from aider_gardener.errors import StoreError

Mount = namedtuple("Mount", "mountpoint fstype opts")
MOUNTS = [
    Mount("/", "ext4", "rw,relatime"),
    Mount("/mnt/team files", "nfs4", "rw,nosuid"),
    Mount("/mnt/c", "9p", "rw"),
    Mount("/mnt/twice", "nfs", "rw"),
    Mount("/mnt/twice", "ext4", "rw"),
]


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
    with pytest.raises(StoreError, match="symbolic link" if name else "symbolic link: put the folder in"):
        prepare_directory(inside)
    store = open_store(inside)
    assert not store.persistent and "symbolic link" in store.notice and "\n" not in store.notice
    assert list(outside.iterdir()) == []


def test_a_linked_parent_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    try:
        (tmp_path / "link").symlink_to(tmp_path / "real")
    except OSError:
        pytest.skip("no symbolic links here")
    store = open_store(store_directory(tmp_path / "link"))
    assert store.persistent and (tmp_path / "real" / ".aider.gardener" / "gardener.db").exists()


@pytest.mark.parametrize("is_seen_empty", [True, False])
def test_a_directory_that_another_process_is_filling_right_now_is_taken(
    is_seen_empty: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.listdir
    if is_seen_empty:  # the ignore file comes just after this process looked
        monkeypatch.setattr("os.listdir", lambda path: (listed(path), (tmp_path / ".gitignore").touch())[0])
    else:
        (tmp_path / ".gitignore").touch()
    assert prepare_directory(tmp_path) == Path(os.path.realpath(tmp_path))


@pytest.mark.parametrize(
    ("kinds", "is_network"),
    [
        ("nfs nfs4 cifs smb3 smbfs 9p fuse.sshfs fuse.rclone fuse.unheard-of NFS virtiofs", True),
        ("ext4 xfs btrfs apfs tmpfs overlay zfs fuseblk fuse.gocryptfs", False),
    ],
)
def test_networks_are_told(
    kinds: str, is_network: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for kind in kinds.split():
        mounts = [Mount(str(tmp_path), kind, "rw")]
        monkeypatch.setattr(location, "mounts", lambda mounts=mounts: mounts)
        assert is_network_path(tmp_path) is is_network, kind


def on(monkeypatch: pytest.MonkeyPatch, mounts: list[Mount], system: ModuleType = posixpath) -> None:
    """A machine with these mounts, whose paths are all real."""
    monkeypatch.setattr(location, "mounts", lambda: mounts)
    monkeypatch.setattr("os.path.realpath", str)
    monkeypatch.setattr("os.path.normcase", system.normcase)
    pure = PureWindowsPath if system is ntpath else PurePosixPath
    monkeypatch.setattr("aider_gardener.archive.store.location.Path", pure)


def test_windows_shares_are_told_by_their_name_or_their_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, [Mount("C:\\", "NTFS", "rw,fixed"), Mount("Z:\\", "NTFS", "rw,remote")], ntpath)
    assert is_network_path(PureWindowsPath(r"\\server\share\project"))  # type: ignore[arg-type]  # reason: no Windows
    assert is_network_path(PureWindowsPath(r"z:\project"))  # type: ignore[arg-type]  # reason: no Windows
    assert not is_network_path(PureWindowsPath(r"c:\project"))  # type: ignore[arg-type]  # reason: no Windows


@pytest.mark.parametrize(
    ("path", "is_network"),
    [
        ("/mnt/team files/project/x", True),
        ("/mnt/c", True),
        ("/mnt/cd", False),
        ("/mnt/twice/x", False),
        ("/", False),
    ],
)
def test_file_systems_are_told_by_the_nearest_mount(
    monkeypatch: pytest.MonkeyPatch, path: str, is_network: bool
) -> None:
    on(monkeypatch, MOUNTS)
    assert is_network_path(PurePosixPath(path)) is is_network  # type: ignore[arg-type]  # reason: any system's


def test_mounts_are_those_that_psutil_tells() -> None:
    told = psutil.disk_partitions(all=True)
    assert sorted(location.mounts()) == sorted((each.mountpoint, each.fstype, each.opts) for each in told)
    assert location.ESCAPED.sub(lambda code: chr(int(code[1], 8)), r"/mnt/team\040files") == "/mnt/team files"


def test_what_is_not_known_is_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not is_network_path(tmp_path)
    on(monkeypatch, [])
    assert not is_network_path(tmp_path)
    monkeypatch.setattr(location, "mounts", Mock(side_effect=OSError))
    assert not is_network_path(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_a_directory_that_was_there_before_stays_as_it_is(tmp_path: Path) -> None:
    """Whatever is in it: a work tree, a home, other files, nothing."""
    for name, content in (("full", "notes.txt"), ("tree", ".git"), ("ignored", ".gitignore")):
        place = tmp_path / name
        place.mkdir(mode=0o755)
        (place / content).write_text("theirs")
        store = open_store(place)
        assert not store.persistent and "other files" in store.notice and "\n" not in store.notice
        store.close()
        assert [path.name for path in place.iterdir()] == [content]
        assert place.stat().st_mode & 0o777 == 0o755
        store = open_store(store_directory(None, place))
        assert (
            store.persistent and store.notice == "" and (place / ".aider.gardener" / "gardener.db").exists()
        )
        store.close()
        assert place.stat().st_mode & 0o777 == 0o755
    (tmp_path / "empty").mkdir(mode=0o755)
    open_store(store_directory(None, tmp_path / "empty")).close()
    assert [path.name for path in (tmp_path / "empty").iterdir()] == [".aider.gardener"]
    assert (tmp_path / "empty").stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.name != "posix", reason="needs hard links and modes")
@pytest.mark.parametrize("name", ["gardener.db", "gardener.db-wal", "gardener.db-journal"])
def test_a_file_with_a_second_name_is_left_alone(tmp_path: Path, name: str) -> None:
    victim, place = tmp_path / "victim", tmp_path / ".aider.gardener"
    place.mkdir()
    victim.write_text("precious")
    victim.chmod(0o644)
    os.link(victim, place / name)
    store = open_store(place)
    assert not store.persistent and "hard link" in store.notice and "\n" not in store.notice
    store.close()
    assert victim.read_text() == "precious" and victim.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["gardener.db", "gardener.db.mended", "gardener.db.lines-1.jsonl", ""])
def test_a_named_place_with_anything_of_an_archive_stays_its_place(tmp_path: Path, name: str) -> None:
    """Also where a repair was cut off, and where another process has just begun one."""
    (tmp_path / (name or ".gitignore")).touch()
    assert store_directory(None, tmp_path) == tmp_path
    (tmp_path / "notes.md").write_text("x")
    assert store_directory(None, tmp_path) == (tmp_path if name else tmp_path / ".aider.gardener")
