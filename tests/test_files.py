"""Only plain files of a bounded size are read; all else is refused at once."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from aider_gardener import files
from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.encryption import MARKER_NAME, VARIABLE, encrypt

posix = pytest.mark.skipif(os.name != "posix", reason="needs FIFOs, devices and links")
NAMES = (
    "gardener.db",
    "gardener.db-wal",
    "gardener.db-shm",
    "gardener.db-journal",
    MARKER_NAME,
    ".gitignore",
)
SHAPES = ("fifo", "device", "link to a device", "directory", "socket", "link out")


def put(shape: str, path: Path) -> None:
    """Something at a path that is no plain file."""
    if shape == "fifo":
        os.mkfifo(path)
    elif shape == "device":
        try:
            os.mknod(path, 0o020666, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("devices need root")
    elif shape == "link to a device":
        path.symlink_to("/dev/zero")
    elif shape == "link out":
        path.parent.parent.joinpath("outside").write_text("{}")
        path.symlink_to(path.parent.parent / "outside")
    elif shape == "directory":
        path.mkdir()
    else:
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket may only be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
        os.chdir(here)


@posix
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_no_plain_file_is_refused(tmp_path: Path, shape: str) -> None:
    (tmp_path / "a").mkdir()
    put(shape, tmp_path / "a" / "x")
    with pytest.raises(OSError, match=r"regular|link"):
        files.read(tmp_path / "a" / "x")


def test_what_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert files.read(path, 5) == b"12345" and files.read_text(path) == "12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        files.read(path, 4)
    os.truncate(path, 1 << 40)
    with pytest.raises(OSError, match="larger"):
        files.read(path)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs a file without a size")
def test_a_file_that_does_not_say_its_size_is_not_waited_for() -> None:
    assert files.read(Path("/proc/self/maps")) == b""


def test_a_file_that_grows_while_it_is_read_ends_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one\ntwo\nand a long one\nlast")
    with files.open_plain(path, 100) as file, path.open("ab") as more:
        found = []
        for line in files.lines(file, 8):
            found.append(line)
            more.write(b"more\n")
            more.flush()
    assert found == [b"one\n", b"two\n", b"and a lo", b"ng one\n", b"last"]


@posix
def test_a_link_that_the_user_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("text")
    (tmp_path / "y").symlink_to("x")
    assert files.read(tmp_path / "y", follow=True) == b"text"
    (tmp_path / "z").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="regular"):
        files.read(tmp_path / "z", follow=True)


@posix
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_an_archive_beside_such_files_goes_on_in_memory(tmp_path: Path, name: str, shape: str) -> None:
    directory = tmp_path / ".aider.gardener"
    directory.mkdir()
    put(shape, directory / name)
    opened = threading.Event()

    def attempt() -> None:
        store = open_store(directory)
        assert not store.persistent and name in store.notice and "\n" not in store.notice
        store.close()
        opened.set()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(120)
    assert opened.is_set(), "it hung or failed"


@posix
@pytest.mark.parametrize("place", ["/dev/zero", "/dev/tty", "fifo", ".", "huge", "/proc/self/mem"])
def test_the_source_of_a_key_is_a_plain_file(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "fifo", 0o600)
    (tmp_path / "huge").touch(0o600)
    os.truncate(tmp_path / "huge", 1 << 40)
    locked = open_store(tmp_path / "a", key_source=f"file:{place}")
    assert not locked.persistent and f"from file:{place}: " in locked.notice and "\n" not in locked.notice
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    open_store(tmp_path / "b").close()
    encrypt(tmp_path / "b", "env")
    marker = tmp_path / "b" / MARKER_NAME
    marker.write_text(marker.read_text().replace('"env"', f'"file:{place}"'))
    assert f"from file:{place}: " in open_store(tmp_path / "b").notice


@pytest.mark.parametrize("text", ["[" * 60_000, "{}", '{"source": "env"}', "\x00", "[]"])
def test_a_marker_that_is_none_is_no_marker(tmp_path: Path, text: str) -> None:
    directory = tmp_path / ".aider.gardener"
    directory.mkdir()
    (directory / MARKER_NAME).write_text(text)
    store = open_store(directory)
    assert store.persistent and store.notice == ""
    store.close()


def test_a_marker_with_an_unheard_of_source_is_told(tmp_path: Path) -> None:
    (tmp_path / ".aider.gardener").mkdir()
    (tmp_path / ".aider.gardener" / MARKER_NAME).write_text('{"source": "vault:x", "check": "\\u00e9"}')
    assert "none of keyring, env and file:PATH" in open_store(tmp_path / ".aider.gardener").notice
