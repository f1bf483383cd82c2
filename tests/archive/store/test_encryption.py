"""Encryption at rest: no plaintext anywhere, keys from three places, a wrong key is no damage, safe conversion."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import os
import sys
import types
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import apsw
import made_lines
import pytest
from click.testing import CliRunner
from made_lines import bytes_of, written
from made_search import found, rows_in
from made_vectors import LetterCounts

from aider_gardener.archive.store import Store, encryption, location, open_store
from aider_gardener.archive.store.encryption import (
    MARKER_NAME,
    PART_NAME,
    VARIABLE,
    encrypt,
    is_encrypted,
    write_marker,
)
from aider_gardener.archive.store.search import packed
from aider_gardener.cli.root import main
from aider_gardener.errors import StoreError
from aider_gardener.messages import Entry, Level, Rendition

MARK = "Quokkamarker"
KEY, OTHER, PHRASE = "ab" * 32, "cd" * 32, "a pass phrase of words"


@pytest.fixture(autouse=True)
def given_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.fixture(params=[KEY, PHRASE], ids=["raw", "phrase"])
def key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, request.param)
    return str(request.param)


def put(store: Store, content: str, *, seq: int) -> Entry:
    short = Rendition(Level.LINE, f"{MARK} line {seq}", 2)
    return made_lines.put(
        store, content, seq=seq, detail=f"grep {MARK}", chunk_chars=300, renditions=(short,)
    )


def fill(store: Store, count: int = 30) -> bytes:
    """Write the mark into every table; returns the bytes of one vector."""
    store.open_session("s1", project=f"/{MARK}", started_at=1.0)
    for n in range(count):
        put(store, f"entry {n} {MARK} " + f"and words {n} " * 200, seq=n)
    store.record_event("s1", 1, "why", {"reason": MARK}, 1.0)
    store.set_state("s1", "k", MARK)
    embedder = LetterCounts()
    passages = store.vectors_pending(9_999, "letters")
    vectors = embedder.embed([passage.text for passage in passages])
    store.put_vectors(list(zip(passages, vectors, strict=True)), "letters")
    return bytes(packed(vectors[0]).tobytes())


def filled(place: Path, count: int = 30, key_source: str = "") -> bytes:
    """An archive with all that, closed; the bytes of one vector."""
    store = open_store(place, key_source=key_source)
    vector = fill(store, count)
    store.close()
    return vector


def holds_everything(store: Store, count: int = 30) -> bool:
    return (
        store.persistent
        and len(store.session_entries("s1")) == count
        and len(found(store, MARK)) >= count
        and store.get_state("s1", "k") == MARK
        and rows_in(store, "vectors") > count
        and store.verify() == []
    )


@pytest.mark.parametrize("network", [False, True])
def test_no_plaintext_anywhere_in_the_directory(
    tmp_path: Path, key: str, network: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.location.is_network_path", lambda path: network)
    store = open_store(tmp_path, key_source="env")
    assert store.persistent and store.notice == ""
    vector = fill(store)
    put(store, f"{MARK} at length " * 5_000, seq=99)
    seen = bytes_of(tmp_path)
    store.close()
    for data in (seen, bytes_of(tmp_path)):
        assert MARK.lower().encode() not in data.lower() and vector not in data and key.encode() not in data
    assert is_encrypted(tmp_path / "gardener.db")
    again = open_store(tmp_path)  # the marker says where the key is
    assert again.notice == "" and holds_everything(again, 31)


@pytest.mark.parametrize(
    ("key", "given"),
    [(KEY, OTHER), (KEY, None), (PHRASE, "another phrase"), (PHRASE, "")],
    indirect=["key"],
)
@pytest.mark.parametrize("marked", [True, False], ids=["marked", "marker lost"])
def test_a_wrong_or_missing_key_is_no_damage(
    tmp_path: Path, key: str, given: str | None, marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, 5, key_source="env")
    if not marked:
        (tmp_path / MARKER_NAME).unlink()
    before = (tmp_path / "gardener.db").read_bytes()
    monkeypatch.setenv(VARIABLE, given or "")
    locked = open_store(tmp_path, key_source="" if given is None else "env")
    put(locked, "the chat goes on", seq=0)
    assert not locked.persistent and len(locked.session_entries("s1")) == 1
    assert "encrypted" in locked.notice and "\n" not in locked.notice and "memory" in locked.notice
    locked.close()
    assert (tmp_path / "gardener.db").read_bytes() == before and list(tmp_path.glob("*damaged*")) == []
    monkeypatch.setenv(VARIABLE, key)
    again = open_store(tmp_path, key_source="env")
    assert holds_everything(again, 5)


@pytest.mark.parametrize("damage", ["header", "page", "cut"])
def test_damage_of_an_encrypted_archive_is_repaired_encrypted(tmp_path: Path, damage: str) -> None:
    filled(tmp_path, key_source="env")
    path = tmp_path / "gardener.db"
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    else:
        at = 0 if damage == "header" else len(data) // 8192 * 4096
        data[at : at + 4_096] = b"\xa5" * 4_096
    path.write_bytes(data)
    again = open_store(tmp_path)
    new = put(again, f"{MARK} goes on", seq=1_000)
    found(again, "words")
    again.session_entries("s1")
    assert again.persistent and again.original(new.id) == f"{MARK} goes on" and again.verify() == []
    assert again.notice and "\n" not in again.notice
    again.close()
    assert MARK.lower().encode() not in bytes_of(tmp_path).lower() and is_encrypted(path)


def test_an_archive_that_exists_stays_plain_and_says_so(tmp_path: Path) -> None:
    filled(tmp_path)
    again = open_store(tmp_path, key_source="env")
    assert holds_everything(again) and "gardener store encrypt" in again.notice and "\n" not in again.notice
    again.close()
    assert not (tmp_path / MARKER_NAME).exists()


def test_a_key_that_is_soon_guessed_encrypts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "old")
    monkeypatch.setenv(VARIABLE, "abcde")
    done = CliRunner().invoke(main, ["store", "encrypt", "--key", "env", "--store", str(tmp_path / "old")])
    assert (
        done.exit_code == 1 and "at least 8" in done.stderr and not is_encrypted(tmp_path / "old/gardener.db")
    )
    new = open_store(tmp_path / "new", key_source="env")
    assert not new.persistent and "at least 8" in new.notice
    assert not list(tmp_path.rglob(MARKER_NAME))


def test_encrypting_by_the_command_and_a_readable_copy(tmp_path: Path, key: str) -> None:
    vector = filled(tmp_path)
    (tmp_path / "gardener.db.damaged-19700101-000000").write_text("not encrypted")

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, ["store", *words, "--store", str(tmp_path)])
        return f"{done.exit_code} {done.output}"

    assert run("encrypt").startswith("2 ")
    out = run("encrypt", "--key", "env")
    assert out.startswith("0 ") and "gardener.db.damaged-19700101-000000" in out
    found = bytes_of(tmp_path)
    assert MARK.lower().encode() not in found.lower() and vector not in found
    assert run("encrypt", "--key", "env").endswith("gardener.db is encrypted already\n")
    assert run("verify").startswith("0 ") and not (tmp_path / PART_NAME).exists()
    again = open_store(tmp_path)
    assert holds_everything(again)
    held = again.stats().entries
    again.close()
    assert run("copy", "--to", str(tmp_path / "plain")).startswith("0 ")
    plain = open_store(tmp_path / "plain")
    assert plain.notice == "" and MARK.encode() in bytes_of(tmp_path / "plain")
    assert plain.stats().entries == held


@pytest.mark.parametrize(
    "step",
    ["os.replace", "aider_gardener.files.synced", "aider_gardener.archive.store.encryption.write_marker"],
)
def test_a_conversion_that_breaks_leaves_an_archive_that_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    filled(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(step, Mock(side_effect=OSError("the power went")))
        patch.setattr(location, "remove", lambda path, file=True: None)  # as where it was killed
        with contextlib.suppress(OSError, StoreError):
            encrypt(tmp_path, "env")
    (tmp_path / PART_NAME).touch()
    os.utime(tmp_path / PART_NAME, (1.0, 1.0))
    again = open_store(tmp_path)
    assert again.notice == "" and holds_everything(again) and not (tmp_path / PART_NAME).exists()


@pytest.mark.parametrize("network", [False, True])
def test_nobody_else_writes_while_an_archive_is_rewritten(
    tmp_path: Path, network: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.location.is_network_path", lambda path: network)
    filled(tmp_path, 3)
    refused = []

    def meanwhile(*given: Any) -> None:
        db = apsw.Connection(str(tmp_path / "gardener.db"))
        with pytest.raises(apsw.BusyError):
            db.execute("BEGIN IMMEDIATE")
        db.close()
        refused.append(write_marker(*given))

    monkeypatch.setattr("aider_gardener.archive.store.encryption.write_marker", meanwhile)
    with (tmp_path / "gardener.db").open("rb") as old:
        encrypt(tmp_path, "env")
        assert refused and is_encrypted(tmp_path / "gardener.db")
        assert os.name == "nt" or MARK.encode() not in old.read(), "the old bytes were overwritten"


def test_tables_that_are_no_text_are_told(tmp_path: Path, key: str) -> None:
    open_store(tmp_path).close()
    bad = "UPDATE sqlite_schema SET sql = CAST(CAST(sql AS BLOB) || x'202d2dff' AS TEXT) WHERE name = 'state'"
    written(tmp_path / "gardener.db", f"PRAGMA writable_schema = 1; {bad}")
    with pytest.raises(StoreError, match="could not be rewritten"):
        encrypt(tmp_path, "env")


def test_what_is_no_archive_is_not_encrypted(tmp_path: Path, key: str) -> None:
    with pytest.raises(StoreError, match="no archive"):
        encrypt(tmp_path, "env")
    other = apsw.Connection(str(tmp_path / "gardener.db"))
    other.execute("CREATE TABLE mine (a)")
    other.close()
    before = (tmp_path / "gardener.db").read_bytes()
    with pytest.raises(StoreError, match="no archive"):
        encrypt(tmp_path, "env")
    assert (tmp_path / "gardener.db").read_bytes() == before and not (tmp_path / MARKER_NAME).exists()
    damaged = bytearray(before)
    damaged[3] ^= 1
    (tmp_path / "gardener.db").write_bytes(damaged)
    assert not is_encrypted(tmp_path / "gardener.db"), "a flipped bit is no cipher"


def test_who_opens_an_archive_as_it_is_rewritten_gets_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process chose its key before the file was replaced: no damage."""
    filled(tmp_path)
    real, left = encryption.key_for, [True]

    def late(*given: Any) -> str:
        found = real(*given)
        if left and given[0] == tmp_path / "gardener.db":
            left.clear()
            encrypt(tmp_path, "env")
        return found

    monkeypatch.setattr(encryption, "key_for", late)
    again = open_store(tmp_path)
    assert again.notice == "" and holds_everything(again) and not left
    put(again, f"{MARK} said afterwards", seq=900)
    again.close()
    third = open_store(tmp_path)
    assert holds_everything(third, 31) and third.notice == "", "what was said is not in the file that is gone"
    third.close()
    assert list(tmp_path.glob("*damaged*")) == [] and is_encrypted(tmp_path / "gardener.db")


def test_a_key_file_is_made_private_and_must_stay_so(tmp_path: Path) -> None:
    place, archive = tmp_path / "key", tmp_path / "a"
    filled(archive, 3)
    encrypt(archive, f"file:{place}")
    assert len(place.read_text().strip()) == 64
    again = open_store(archive)
    assert holds_everything(again, 3)
    again.close()
    if os.name == "posix":
        assert place.stat().st_mode & 0o777 == 0o600
        place.chmod(0o644)
        assert "chmod 600" in open_store(archive).notice
        place.chmod(0o600)
    for content in (None, "", "\udc80"):
        place.unlink(missing_ok=True)
        if content is not None:
            place.write_bytes(content.encode("utf-8", "surrogateescape"))
            place.chmod(0o600)
        locked = open_store(archive)
        assert not locked.persistent and "key" in locked.notice and "\n" not in locked.notice


def test_a_key_file_is_named_as_every_later_start_finds_it_and_no_folder_is_made_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "a", 3)
    monkeypatch.chdir(tmp_path)
    for place, told in (
        ("key", "from the root or from ~ on"),
        (tmp_path / "keys" / "key", "make the folder"),
    ):
        with pytest.raises(StoreError, match=told):
            encrypt(tmp_path / "a", f"file:{place}")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    again = open_store(tmp_path / "a")
    assert holds_everything(again, 3)
    again.close()


def test_a_key_in_the_systems_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[tuple[str, str], str] = {}
    library = types.ModuleType("keyring")
    library.__spec__ = importlib.machinery.ModuleSpec("keyring", None)
    library.get_password = lambda *name: held.get(name)  # type: ignore[attr-defined]  # reason: a stand-in
    library.set_password = lambda service, name, key: held.update({(service, name): key})  # type: ignore[attr-defined]  # reason: the same
    monkeypatch.setitem(sys.modules, "keyring", library)
    filled(tmp_path, 3)
    encrypt(tmp_path, "keyring")
    assert len(held) == 1 and MARK.encode() not in bytes_of(tmp_path)
    again = open_store(tmp_path)
    assert holds_everything(again, 3)
    again.close()
    held.clear()
    locked = open_store(tmp_path)
    assert not locked.persistent and "keyring" in locked.notice
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "install '.[keyring]'" in open_store(tmp_path).notice
