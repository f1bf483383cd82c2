"""Files for people are put in place in one go; the user's own only if nobody changed them meanwhile."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aider_gardener import files
from aider_gardener.errors import StoreError
from aider_gardener.files import read_bytes, remove_if_unchanged, write_if_unchanged, write_private

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def mode(path: Path) -> int:
    return os.stat(path).st_mode & 0o777


def test_what_is_made_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.md"
    write_private(path, "one\n")
    write_private(path, "two \ud800\n")
    assert path.read_bytes() == b"two ?\n" and os.listdir(path.parent) == ["page.md"]
    assert os.name != "posix" or mode(path) == 0o600


@POSIX
def test_a_users_file_keeps_its_mode_and_a_new_one_is_private(tmp_path: Path) -> None:
    path = tmp_path / "TODO.md"
    path.write_bytes(b"- [x] a\r\n")
    path.chmod(0o664)
    write_if_unchanged(path, b"- [x] a\r\n", b"")
    assert path.read_bytes() == b"" and mode(path) == 0o664
    write_if_unchanged(tmp_path / "other.md", None, b"x")
    assert mode(tmp_path / "other.md") == 0o600


def test_a_file_that_was_changed_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "TODO.md"
    path.write_bytes(b"mine")
    with pytest.raises(StoreError, match=r"TODO\.md was changed meanwhile"):
        write_if_unchanged(path, b"older", b"new")
    with pytest.raises(StoreError, match="changed meanwhile"):
        write_if_unchanged(path, None, b"new")
    assert path.read_bytes() == b"mine" and os.listdir(tmp_path) == ["TODO.md"]


def test_it_is_looked_at_again_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "TODO.md"
    path.write_bytes(b"before")
    real = os.fsync

    def edited_meanwhile(handle: int) -> None:
        real(handle)
        path.write_bytes(b"the user's")

    monkeypatch.setattr(files.os, "fsync", edited_meanwhile)
    with pytest.raises(StoreError, match="changed meanwhile"):
        write_if_unchanged(path, b"before", b"after")
    assert path.read_bytes() == b"the user's" and os.listdir(tmp_path) == ["TODO.md"]


def test_only_what_is_unchanged_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    with pytest.raises(StoreError, match="changed meanwhile"):
        remove_if_unchanged(path, b"two")
    remove_if_unchanged(path, b"one")
    assert os.listdir(tmp_path) == []


@POSIX
def test_links_are_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "rc", tmp_path / "TODO.md"
    target.write_bytes(b"secret")
    link.symlink_to(target)
    for write in (lambda: write_private(link, "x"), lambda: write_if_unchanged(link, b"secret", b"x")):
        with pytest.raises(StoreError, match="symbolic link"):
            write()
    with pytest.raises(StoreError, match="symbolic link"):
        read_bytes(link)
    assert target.read_bytes() == b"secret"


def test_what_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be written"):
        write_private(tmp_path / "file" / "page.md", "x")
    with pytest.raises(StoreError, match="not a regular file"):
        write_private(tmp_path, "x")
    assert read_bytes(tmp_path / "nothing") is None


def test_threads_of_one_process_put_whole_files_in_place(tmp_path: Path) -> None:
    path, wrong = tmp_path / "page.md", list[bytes]()
    texts = [letter * 200_000 for letter in "ab"]

    def write(text: str) -> None:
        for _ in range(40):
            write_private(path, text)
            held = path.read_bytes()
            if held.decode() not in texts:
                wrong.append(held)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, texts))
    assert wrong == [] and os.listdir(tmp_path) == ["page.md"]
