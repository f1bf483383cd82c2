"""What a disk alters, and what is removed under an open chat: never shown as if it were right, saved into a new
file with what the copy of the last session's end holds, and said in one line."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import apsw
import made_lines
import pytest
from made_lines import bytes_of, crash, files_of, written
from made_search import found

from aider_gardener.archive.store import (
    Store,
    database,
    entries,
    location,
    open_store,
    open_to_read,
    repair,
    schema,
)
from aider_gardener.archive.store.database import Database
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.errors import StoreError
from aider_gardener.messages import Entry, Level, Rendition
from bench.attacks import cuts, flips
from bench.attacks.chat import Played, stored


def put(store: Store, text: str, seq: int = 0, session: str = "s") -> Entry:
    made = (Rendition(Level.COMPRESSED, f"short {seq}", 1),)
    return made_lines.put(store, text, seq=seq, turn=seq, session=session, renditions=made)


def filled(
    place: Path, count: int = 8, words: str = "about the fox", *, has_copy: bool = True
) -> list[Entry]:
    """An archive, closed, with its copy or without."""
    store = open_store(place)
    store.open_session("s", project="p", started_at=1.0)
    found = [put(store, f"entry {number} {words}", number) for number in range(count)]
    store.set_state("s", "frame", "{}")
    store.record_event("s", 1, "plan", {"entry_ids": [found[0].id]}, 2.0)
    store.close()
    if not has_copy:
        repair.copy_of(place / "gardener.db").unlink()
    return found


def another_session(place: Path) -> None:
    """One in which nothing is said; as it ends, the archive is copied."""
    store = open_store(place)
    store.open_session("t", project="p", started_at=1.0)
    store.close()


def flipped(path: Path, table: str) -> None:
    """Turn over one bit in the last page of a table, as a disk might."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    page = db.execute("SELECT max(pageno) FROM dbstat WHERE name = ?", (table,)).get
    db.close()
    data = bytearray(path.read_bytes())
    data[page * 4_096 - 20] ^= 4
    path.write_bytes(data)


def test_an_id_that_is_no_text_any_more_does_not_end_the_repair(tmp_path: Path) -> None:
    filled(tmp_path, has_copy=False)
    db = schema.opened(tmp_path / "gardener.db", apsw.SQLITE_OPEN_READWRITE, "")
    db.execute("UPDATE originals SET id = x'07' WHERE number = 1")
    db.close()
    flipped(tmp_path / "gardener.db", "bodies")
    store = open_store(tmp_path)
    told = [*store.verify(), store.notice]
    assert any("was damaged" in line for line in told), told


TABLES = [
    "originals", "bodies", "occurrences", "chunks", "sessions", "events", "renditions", "state",
    "word_index_data", "sqlite_autoindex_originals_1", "originals_by_hash", "sqlite_schema",
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_with_a_copy_a_flipped_bit_of_any_table_loses_nothing(tmp_path: Path, table: str) -> None:
    stored = filled(tmp_path)
    flipped(tmp_path / "gardener.db", table)
    store = open_store(tmp_path)
    told = [*store.verify(), store.notice]
    assert any("8 of its entries were saved" in line for line in told) and "\n" not in store.notice
    assert store.verify() == [] and found(store, "entry 3")[0] == stored[3].id
    assert [entry.content for entry in store.session_entries("s")] == [entry.content for entry in stored]
    assert [entry.turn for entry in store.session_entries("s")] == list(range(8))
    assert store.renditions(stored[2].id)[Level.COMPRESSED].text == "short 2"
    assert store.get_state("s", "frame") == "{}" and len(store.events("s")) == 1
    assert [info.id for info in store.sessions("p")] == ["s"]


def test_without_a_copy_what_was_lost_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    stored = filled(tmp_path, 120, "says the fox" * 30, has_copy=False)
    flipped(tmp_path / "gardener.db", "bodies")
    damaged = (tmp_path / "gardener.db").read_bytes()
    store = open_store(tmp_path)
    got = store.get_many([entry.id for entry in stored])
    lost = [entry.id for entry in stored if entry.id not in got]
    assert 0 < len(lost) < 20 and f"{len(lost)} could not be: {min(lost)}" in store.notice
    assert all(got[entry.id].content == entry.content for entry in stored if entry.id in got)
    assert "\n" not in store.notice and store.verify() == []
    assert [path.read_bytes() for path in tmp_path.glob("gardener.db.damaged-*")] == [damaged]
    put(store, "the chat goes on", 1_000)


@pytest.mark.parametrize("has_copy", [True, False])
def test_a_text_that_is_not_the_one_that_was_stored_is_not_saved(tmp_path: Path, has_copy: bool) -> None:
    """Its page is sound, so reading does not find it; `verify` does."""
    stored = filled(tmp_path, has_copy=has_copy)
    written(tmp_path / "gardener.db", "UPDATE bodies SET body = CAST('cow' AS BLOB) WHERE original = 3")
    store = open_store(tmp_path)
    assert store.export(tmp_path / "out") and '"cow"' not in (tmp_path / "out").read_text()
    said = store.verify()
    assert f"{stored[2].id}: its text is not the one that was stored" in said
    assert store.original(stored[2].id) == (stored[2].content if has_copy else None)
    assert has_copy or f"1 could not be: {stored[2].id}" in said[-1]
    assert store.verify() == []


HEADER = (0, 3, 16, 19, 20, 100, 103)
"""Where a bit tells SQLite that this is no database, or no table: without a copy no row is read then."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """An archive of which copies are hurt, and the ids in it."""
    place = tmp_path_factory.mktemp("whole") / "archive"
    return place, flips.fill(place)


@pytest.mark.parametrize(
    ("at", "has_copy"),
    [*((at, False) for at in (0, 16, 28, 60, 100, 105, 3_000)), *((at, True) for at in (0, 28, 105))],
)
def test_no_flipped_bit_of_the_first_page_loses_anything(
    whole: tuple[Path, list[str]], at: int, has_copy: bool
) -> None:
    place, ids = whole
    outcome = flips.tried(place, partial(flips.flip, bit=at * 8 + 3), ids, with_copy=has_copy)
    assert outcome == (["lost"] if at in HEADER and not has_copy else [])


@pytest.mark.parametrize("key_source", ["", "env"])
def test_flipped_bits_anywhere(key_source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    seed = int.from_bytes(os.urandom(4), "big")
    run = flips.attack(3, seed=seed, with_copy=True, key_source=key_source)
    assert run["counts"] == {"held": 3}, run


def test_the_copy_is_private_whole_and_without_what_was_forgotten(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    copy = repair.copy_of(tmp_path / "gardener.db")
    assert copy.stat().st_mode & 0o777 == 0o600 or os.name != "posix"
    db = schema.opened(copy, apsw.SQLITE_OPEN_READONLY, "", query="mode=ro&immutable=1")
    assert db.execute("SELECT count(*) FROM originals").get == 8 and schema.is_exact(db)
    db.close()
    store = open_store(tmp_path)
    store.forget([stored[2].id])
    assert not copy.exists()
    store.close()
    assert not copy.exists(), "nothing was said since"
    another_session(tmp_path)
    assert stored[2].content.encode() not in copy.read_bytes()
    assert sorted(each.name for each in tmp_path.glob("gardener.db.*")) == ["gardener.db.copy"]


def test_a_copy_takes_over_nothing_altered(tmp_path: Path) -> None:
    filled(tmp_path)
    copy = repair.copy_of(tmp_path / "gardener.db")
    before = copy.read_bytes()
    store = open_store(tmp_path)
    store.open_session("t", project="p", started_at=1.0)
    crash(store)  # by now the page is not in the memory of anybody
    flipped(tmp_path / "gardener.db", "bodies")
    another_session(tmp_path)
    assert copy.read_bytes() == before


def test_a_copy_takes_over_no_page_of_another_moment(tmp_path: Path) -> None:
    """Its check sum is right, so that nothing but a look at how the pages hang together finds it."""
    filled(tmp_path)
    path = tmp_path / "gardener.db"
    former = path.read_bytes()
    filled(tmp_path, 120, "says the fox" * 30)
    before = repair.copy_of(path).read_bytes()
    with schema.opened(path, apsw.SQLITE_OPEN_READONLY, "") as db:
        at = 4_096 * (db.execute("SELECT rootpage - 1 FROM sqlite_schema WHERE name = 'bodies'").get)
    db.close()
    now = path.read_bytes()
    path.write_bytes(now[:at] + former[at : at + 4_096] + now[at + 4_096 :])
    another_session(tmp_path)
    assert repair.copy_of(path).read_bytes() == before


def test_of_a_copy_that_is_damaged_itself_what_stands_before_that_is_taken(tmp_path: Path) -> None:
    filled(tmp_path, 120, "says the fox" * 30)
    for name, table in (("gardener.db", "occurrences"), ("gardener.db.copy", "bodies")):
        flipped(tmp_path / name, table)
    store = open_store(tmp_path)
    assert len(store.session_entries("s")) > 90 and store.stats().entries == 120
    assert "120 of its entries were saved" in store.notice and store.verify() == []


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_a_flipped_bit_or_a_cut_in_the_log_of_a_killed_chat_is_told_a_torn_end_is_not(
    tmp_path: Path, at: float
) -> None:
    chat = open_store(tmp_path / "chat")
    for seq in range(20):
        put(chat, f"said {seq}", seq)
    names = ("whole", "torn", "flipped", "cut", "removed", "cut_without_index", "written_over")
    for name in names:
        shutil.copytree(tmp_path / "chat", tmp_path / name)
    log, index = tmp_path / "chat" / "gardener.db-wal", "gardener.db-shm"
    size = int(log.stat().st_size * at)
    data = bytearray(log.read_bytes())
    (tmp_path / "torn" / log.name).write_bytes(data + data[32:3_000])
    for name in ("cut", "cut_without_index", "written_over"):
        os.truncate(tmp_path / name / log.name, size)
    (tmp_path / "removed" / log.name).unlink()
    (tmp_path / "cut_without_index" / index).unlink()
    listed = (tmp_path / "written_over" / index).read_bytes()  # all of the log stands in the file already
    (tmp_path / "written_over" / index).write_bytes(listed[:96] + listed[16:20] + listed[100:])
    data[size] ^= 4
    (tmp_path / "flipped" / log.name).write_bytes(bytes(data))
    told = {}
    for name in names:
        store = open_store(tmp_path / name)
        told[name] = "is lost" in store.notice
        store.close()
    assert {name for name in names if told[name]} == {"flipped", "cut", "removed"}


def test_what_a_killed_chat_had_not_said_to_its_end_and_another_wrote_over_is_not_told_as_lost(
    tmp_path: Path,
) -> None:
    """A kill between the writing of a transaction and its entry in the log's index: SQLite goes on at its place,
    and its last frames stand behind the end of what counts."""
    chat = open_store(tmp_path / "chat")
    put(chat, "said", 1)
    shutil.copytree(tmp_path / "chat", tmp_path / "next")
    put(chat, "never said to its end " * 2_000, 2)
    killed = (tmp_path / "chat" / "gardener.db-wal").read_bytes()
    other = open_store(tmp_path / "next")  # as a chat that has the archive open writes there now
    put(other, "said by another", 2)
    shutil.copytree(tmp_path / "next", tmp_path / "left")
    log = tmp_path / "left" / "gardener.db-wal"
    assert len(log.read_bytes()) < len(killed)
    log.write_bytes(log.read_bytes() + killed[len(log.read_bytes()) :])
    store = open_store(tmp_path / "left")
    assert [each.content for each in store.session_entries("s")] == ["said", "said by another"]
    assert store.notice == ""


@pytest.mark.parametrize("size", [0, 1, 511])
@pytest.mark.parametrize("has_copy", [True, False])
def test_a_file_of_which_less_than_a_page_is_left_was_damaged(
    tmp_path: Path, size: int, has_copy: bool
) -> None:
    stored = filled(tmp_path, has_copy=has_copy)
    os.truncate(tmp_path / "gardener.db", size)
    store = open_store(tmp_path)
    assert "was damaged" in store.notice
    assert {store.original(each.id) for each in stored} == {
        each.content if has_copy else None for each in stored
    }


def test_a_file_that_another_process_is_making_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "LOOKS", 10_000)  # the other is slow where the machine is busy
    place = location.prepare_directory(tmp_path / location.DIRECTORY_NAME)
    (place / location.FILE_NAME).touch()
    writing = threading.Timer(0.2, lambda: shutil.copy(made / "gardener.db", place / "gardener.db"))
    made = tmp_path / "made"
    filled(made)
    writing.start()
    store = open_store(place)
    writing.join()
    assert store.notice == "" and store.stats().entries == 8


@pytest.mark.parametrize("has_copy", [True, False])
def test_a_page_that_a_cut_took_is_no_page_of_zeros_though_there_is_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_copy: bool
) -> None:
    """SQLite reads zeros there, and texts would have them in their middle. What stands behind such a page in
    its table is found."""
    ids = cuts.killed(flips.fill(tmp_path / "ended"), tmp_path)
    monkeypatch.setattr(flips, "ENTRIES", len(ids))
    whole = tmp_path / "left"
    size = (whole / "gardener.db").stat().st_size * 9 // 10
    hurt = partial(cuts.cut, name="gardener.db", size=size)
    assert flips.tried(whole, hurt, ids, with_copy=has_copy) == ([] if has_copy else ["lost"])


def test_an_archive_larger_than_a_cache_is_copied_with_its_check_sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.database.CACHE_KIB", 100)
    stored = filled(tmp_path, 4, "the quick brown fox " * 20_000)
    assert (tmp_path / "gardener.db.copy").stat().st_size > 1_000_000
    os.truncate(tmp_path / "gardener.db", 0)
    store = open_store(tmp_path)
    assert [store.original(each.id) for each in stored] == [each.content for each in stored]


def test_a_large_archive_makes_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    copy = repair.copy_of(tmp_path / "gardener.db")
    before = copy.read_bytes()
    monkeypatch.setattr(repair, "LARGEST_COPIED_BYTES", 10)
    another_session(tmp_path)
    assert copy.read_bytes() == before


@pytest.mark.parametrize("is_open_kept", [False, True], ids=["", "where no open file can be removed"])
def test_a_copy_that_is_made_while_something_is_forgotten_does_not_keep_it(
    tmp_path: Path, is_open_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = filled(tmp_path)
    if is_open_kept:
        monkeypatch.setattr(repair, "clear_parts", lambda path, older_than: None)
    ends, other = open_store(tmp_path), open_store(tmp_path)
    ends.open_session("t", project="p", started_at=1.0)
    replace = os.replace

    def late(part: Path, copy: Path) -> None:
        assert other.forget([stored[2].id]) == 1
        replace(part, copy)

    monkeypatch.setattr(repair.os, "replace", late)
    ends.close()
    monkeypatch.undo()
    other.close()
    assert stored[2].content.encode() not in bytes_of(tmp_path)


def test_the_copy_of_another_archive_is_not_mixed_in(tmp_path: Path) -> None:
    """A file that was put back from a backup, beside the copy of the one that lay there before."""
    others = filled(tmp_path / "other", 120, "of another archive" * 20)
    stored = filled(tmp_path / "own", 120, "says the fox" * 30)
    shutil.copy(tmp_path / "other" / "gardener.db.copy", tmp_path / "own" / "gardener.db.copy")
    flipped(tmp_path / "own" / "gardener.db", "bodies")
    store = open_store(tmp_path / "own")
    known = {entry.id: entry.content for entry in stored}
    got = store.session_entries("s")
    assert len(got) > 90 and all(known.get(entry.id) == entry.content for entry in got)
    assert store.get(others[0].id) is None and "could not be" in store.notice and store.verify() == []


def test_a_plain_archive_that_breaks_where_new_ones_are_encrypted_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    filled(tmp_path)
    flipped(tmp_path / "gardener.db", "sqlite_schema")
    store = open_store(tmp_path, key_source="env")
    assert len(store.session_entries("s")) == 8 and "8 of its entries were saved" in store.notice


STEPS = ["location.open_private", "schema.create", "search.add_chunks", "files.synced", "os.replace"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("times", [1, 2])
def test_a_repair_killed_at_any_step_is_done_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, times: int
) -> None:
    filled(tmp_path, 50, has_copy=False)
    flipped(tmp_path / "gardener.db", "word_index_data")
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from aider_gardener import files\n"
        "from aider_gardener.archive.store import location, open_store, schema, search\n"
        "where, _, name = sys.argv[2].rpartition('.')\n"
        "module, left = eval(where), [int(sys.argv[3])]\n"
        "real = getattr(module, name)\n"
        "def killing(*given, **named):\n"
        "    left[0] -= 1\n"
        "    if not left[0]:\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return real(*given, **named)\n"
        "setattr(module, name, killing)\n"
        "open_store(Path(sys.argv[1])).verify()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path), step, str(times)], check=False)
    monkeypatch.setattr(repair, "PART_SECONDS", 0.0)
    store = open_store(tmp_path)
    store.verify()
    assert len(store.session_entries("s")) == 50 and store.verify() == [], store.notice
    store.close()
    assert sorted(each.name for each in tmp_path.glob("gardener.db*part*")) == []


def test_the_log_that_a_killed_repair_left_is_not_played_into_the_new_archive(tmp_path: Path) -> None:
    new, place = tmp_path / "new" / "gardener.db", tmp_path / "old"
    filled(new.parent, 120)
    store = open_store(place)
    put(store, "of the one that was set aside", 99)
    log = (place / "gardener.db-wal").read_bytes()
    store.close()
    (place / "gardener.db").unlink()
    (place / "gardener.db-wal").write_bytes(log)
    shutil.copy(new, place / location.MENDED_NAME)
    store = open_store(place)
    assert len(store.session_entries("s")) == 120 and store.verify() == []


def test_a_repair_that_fails_half_way_is_done_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say by a full disk."""
    filled(tmp_path, 50, has_copy=False)
    flipped(tmp_path / "gardener.db", "sqlite_schema")
    with monkeypatch.context() as patch:
        patch.setattr(entries, "share_again", Mock(side_effect=apsw.FullError("database or disk is full")))
        store = open_store(tmp_path)
        put(store, "goes on", 99)
        assert "damaged" in store.notice and "\n" not in store.notice and store.persistent
        store.close()
    store = open_store(tmp_path)
    assert len(store.session_entries("s")) == 51 and store.verify() == []


def test_processes_that_find_the_damage_at_once_lose_nothing(tmp_path: Path) -> None:
    filled(tmp_path, 80, has_copy=False)
    flipped(tmp_path / "gardener.db", "sqlite_schema")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "sys.path[:0] = sys.argv[3:]\n"
        "from test_repair import open_store, put\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "store = open_store(Path(sys.argv[1]))\n"
        "for number in range(20):\n"
        "    put(store, f'{sys.argv[2]} says {number}', number, sys.argv[2])\n"
        "store.close()\n"
    )
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), f"w{n}", *paths],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for n in range(3)
    ]  # fmt: skip
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    for child in children:
        child.communicate("go\n", timeout=120)
    assert [child.returncode for child in children] == [0, 0, 0]
    store = open_store(tmp_path)
    assert len(store.session_entries("s")) == 80 and store.verify() == []
    kept = {name: len(store.session_entries(name)) for name in ("w0", "w1", "w2")}
    assert kept == {"w0": 20, "w1": 20, "w2": 20}


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(20_000)


def remove(path: Path) -> None:
    for each in path.parent.glob("gardener.db*"):
        each.unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def bare(path: Path) -> None:
    """What it was before its tables were made, copied over it."""
    other = path.with_name("bare")
    other.touch()
    with contextlib.closing(schema.opened(other, apsw.SQLITE_OPEN_READWRITE, "")) as db:
        db.pragma("user_version", schema.VERSION)
    shutil.copyfile(other, path)


@pytest.mark.skipif(os.name == "nt", reason="an open file can be neither removed nor cut off there")
@pytest.mark.parametrize("harm", [empty, cut, bare, remove, remove_folder, Path.unlink])
def test_an_archive_that_goes_in_mid_chat_is_noticed_and_written_again(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    place = tmp_path / ".aider.gardener"
    chat = Played(place)
    chat.play(6)
    assert chat.notices == []
    chat.store.database.live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    harm(place / "gardener.db")
    if harm is not empty:  # that is seen though its pages are still in memory
        chat.store.database.live.release_memory()
    chat.play(2)
    (notice,) = chat.notices
    assert str(place / "gardener.db") in notice and "\n" not in notice
    chat.close()
    assert stored(place) == chat.said() and len(chat.said()) == 16


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
@pytest.mark.parametrize("endings", [["-wal"], ["-shm"], ["-wal", "-shm"]])
@pytest.mark.parametrize("is_second_one_new", [False, True])
def test_a_log_that_another_program_removes_takes_nothing_along(
    tmp_path: Path, endings: list[str], is_second_one_new: bool
) -> None:
    first, second = open_store(tmp_path), None if is_second_one_new else open_store(tmp_path)
    put(first, "said before", 0)
    for ending in endings:
        (tmp_path / f"gardener.db{ending}").unlink()
    put(first, "said after", 1)
    second = second or open_store(tmp_path)
    put(second, "said by another chat", 0, "t")
    put(first, "and on", 2)
    assert (first.notice, second.notice) == ("", "")
    left = tmp_path / "left"  # as two kills would leave it
    shutil.copytree(tmp_path, left, ignore=shutil.ignore_patterns("*-shm", "left"))
    found = open_store(left)
    assert [entry.content for entry in found.session_entries("s")] == ["said before", "said after", "and on"]
    assert len(found.session_entries("t")) == 1 and found.notice == "" and found.verify() == []


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")
@pytest.mark.parametrize("is_opened_anew", [False, True])
def test_a_log_that_is_replaced_while_the_file_is_opened_takes_nothing_along(
    tmp_path: Path, is_opened_anew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As rsync replaces one file after the other: one is opened with the log of before."""
    first, configure = open_store(tmp_path), database._configure
    put(first, "said before", 0)
    if is_opened_anew:
        replace_by_a_copy(tmp_path / "gardener.db")

    def replacing(*given: Any) -> None:
        configure(*given)
        monkeypatch.undo()
        for ending in ("-wal", "-shm"):
            replace_by_a_copy(tmp_path / f"gardener.db{ending}")

    monkeypatch.setattr(database, "_configure", replacing)
    second = first if is_opened_anew else open_store(tmp_path)
    put(second, "said in the meantime", 1)
    put(second, "said after", 2)
    found = open_store(tmp_path)
    assert [entry.content for entry in found.session_entries("s")][-2:] == [
        "said in the meantime",
        "said after",
    ]


def replace_by_a_copy(path: Path) -> None:
    os.replace(shutil.copy(path, path.with_name("x")), path)


def goes_on_without_its_log(store: Store, place: Path, of_another: str = "") -> Store:
    """A chat says something, its log is removed, another chat does something in a new one, and it goes on; the
    archive then."""
    put(store, "said before", 0)
    for ending in ("-wal", "-shm"):
        (place / f"gardener.db{ending}").unlink()
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "sys.path[:0] = sys.argv[2:]\n"
        "from made_lines import open_store, put\n"
        "store = open_store(Path(sys.argv[1]))\n"
        "put(store, 'said by another chat', session='t')\n"
    )  # in this process SQLite would have one index for both logs
    tests = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", code + of_another, str(place), tests], check=True)
    put(store, "said after", 1)
    store.close()
    return open_store(place)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
@pytest.mark.parametrize("is_young", [False, True])
def test_a_log_that_is_removed_before_another_chat_begins_takes_nothing_along(
    tmp_path: Path, is_young: bool
) -> None:
    if not is_young:
        open_store(tmp_path).close()  # what was written in it stands in the file
    first = open_store(tmp_path)
    put(first, "of a chat that has ended", 0, "e")
    gone = put(first, "forgotten", 1, "e")
    first.forget([gone.id])
    found = goes_on_without_its_log(first, tmp_path)
    said = {name: [one.content for one in found.session_entries(name)] for name in "est"}
    assert said["e"] == ["of a chat that has ended"] and said["s"] == ["said before", "said after"]
    assert said["t"] == ["said by another chat"] and found.verify() == []


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_what_another_chat_has_forgotten_does_not_come_back_from_a_log_that_was_removed(
    tmp_path: Path,
) -> None:
    first = open_store(tmp_path)
    named = put(first, "to be forgotten", 0, "e").id
    first.forget([put(first, "forgotten", 1, "e").id])  # this moves the log into the file
    found = goes_on_without_its_log(first, tmp_path, f"assert store.forget(['{named}'])")
    assert found.original(named) is None and [one.content for one in found.session_entries("s")] == [
        "said after"
    ]


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_where_a_removed_log_cannot_be_read_the_chat_goes_on_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(tmp_path).close()
    monkeypatch.setattr(repair.records, "export_of_other", Mock(side_effect=StoreError("damaged")))
    first = open_store(tmp_path)
    found = goes_on_without_its_log(first, tmp_path)
    assert first.lines is None and [one.content for one in found.session_entries("s")] == ["said after"]


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be moved there")
def test_a_chat_says_that_its_archive_is_another_one_now(tmp_path: Path) -> None:
    chat = Played(tmp_path / "a")
    chat.turn()
    os.rename(tmp_path / "a", tmp_path / "kept")
    open_store(tmp_path / "a").close()
    chat.turn()
    assert "is another archive than before, or an older one: what this chat holds" in chat.notices[0]
    chat.close()
    assert stored(tmp_path / "a") == chat.said() and len(chat.said()) == 4


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be overwritten there")
@pytest.mark.parametrize("endings", [("", "-wal", "-shm"), ("-shm", "-wal", "")])
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_an_older_archive_that_is_copied_over_an_open_one_is_told_and_written_again(
    tmp_path: Path, endings: Sequence[str], is_forgotten: bool
) -> None:
    place, older = tmp_path / "a", tmp_path / "older"
    first, second = Played(place), Played(place, name="t")
    first.play(2)
    second.play(2)
    shutil.copytree(place, older)
    first.play(2)
    second.play(1)
    gone = next(iter(first.gardener.state.chat.entries.values()))
    if is_forgotten:
        first.forget(gone.id)
    for ending in endings:
        shutil.copyfile(older / f"gardener.db{ending}", place / f"gardener.db{ending}")
    for chat in (second, first):
        chat.turn()
        (notice,) = chat.notices
        assert "is another archive than before, or an older one" in notice and "\n" not in notice
        assert "what was forgotten be there again" in notice  # the older one has it
    for chat in (first, second):
        chat.close()
    said = [text or gone.content for text in first.said()]
    assert stored(place) == said and len(said) == 10
    assert stored(place, "t") == second.said() and len(second.said()) == 8


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be cut off there")
def test_a_chat_goes_on_beside_an_archive_that_is_damaged_again_as_soon_as_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, path, begin = open_store(tmp_path), tmp_path / "gardener.db", repair.begin_anew

    def emptied_again(*given: Any) -> str:
        line = begin(*given)
        empty(path)
        return line

    put(store, "said before", 0)
    empty(path)
    with monkeypatch.context() as patch:
        patch.setattr(repair, "begin_anew", emptied_again)
        assert store.get_state("s", "x") is None
    assert "until then messages wait in lines of JSON beside it" in store.notice
    put(store, "said after", 1)
    store.close()
    assert "said after" in stored(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be overwritten there")
def test_an_older_log_that_a_killed_chat_did_not_notice_is_told_at_the_next_start(tmp_path: Path) -> None:
    place, left = tmp_path / "a", tmp_path / "left"
    store = open_store(place)
    gone = put(store, "said before", 0)
    shutil.copyfile(place / "gardener.db-wal", tmp_path / "older")
    store.forget([gone.id])  # a new log is begun
    put(store, "said last", 1)
    shutil.copyfile(tmp_path / "older", place / "gardener.db-wal")
    shutil.copytree(place, left)  # as a kill leaves it
    assert "some of what was said last before a chat ended is lost" in open_store(left).notice


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_what_was_forgotten_does_not_come_back_as_nothing_when_an_archive_is_begun_anew(
    tmp_path: Path,
) -> None:
    chat = Played(tmp_path / "a")
    chat.play(3)
    chat.forget(next(iter(chat.gardener.state.chat.entries.values())).id)
    shutil.rmtree(tmp_path / "a")
    chat.play(2)
    assert all(entry.content for entry in chat.store.session_entries("s"))
    assert len(chat.store.session_entries("s")) == 9
    chat.close()


def test_a_file_system_that_fails_or_numbers_files_anew_is_not_taken_for_a_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aider_gardener.archive.store import database

    numbers = iter(range(10_000))
    monkeypatch.setattr(location, "identity", lambda path: (1, next(numbers)))
    store = open_store(tmp_path)
    put(store, "one", 0)
    assert store.notice == ""
    with monkeypatch.context() as patch:
        patch.setattr(database.os, "stat", Mock(side_effect=OSError(5, "input/output error")))
        put(store, "two", 1)
    assert store.notice == "" and len(store.session_entries("s")) == 2


@pytest.mark.parametrize("met", ["by a check", "as it is read", "as it is written"])
def test_an_archive_that_breaks_and_cannot_be_set_aside_goes_on_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, met: str
) -> None:
    monkeypatch.setattr(repair, "set_aside", Mock(side_effect=OSError(1, "Operation not permitted")))
    filled(tmp_path)
    flipped(tmp_path / "gardener.db", "bodies")
    store = open_store(tmp_path)
    if met == "by a check":
        assert "no new one can be put in its place" in store.verify()[0]
    elif met == "as it is read":
        assert store.session_entries("s") == []
    put(store, "the chat goes on", 99)
    if met != "as it is written":
        assert "lines of JSON" in store.notice and "\n" not in store.notice
        assert [entry.content for entry in store.session_entries("s")] == ["the chat goes on"]
        assert b"goes on" in b"".join(path.read_bytes() for path in files_of(tmp_path))
    crash(store)
    monkeypatch.undo()
    store = open_store(tmp_path)
    assert len(store.session_entries("s")) == 9


def test_a_reader_looks_again_when_a_chat_begins_to_write_meanwhile(tmp_path: Path) -> None:
    filled(tmp_path)
    reader = open_to_read(tmp_path)
    assert reader.stats().entries == 8
    chat = open_store(tmp_path)
    put(chat, "said since", 9)
    reader.database.live.release_memory()
    flipped(tmp_path / "gardener.db", "originals")  # of which the log has a newer page
    assert reader.stats().entries == 9
    (tmp_path / "gardener.db").write_bytes(b"")
    reader.database.live.release_memory()
    with pytest.raises(StoreError, match="verify"):
        reader.get_many([f"g{n:09x}" for n in range(9)])


def test_a_reader_says_what_is_damaged_and_leaves_it(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    flipped(tmp_path / "gardener.db", "bodies")
    before = bytes_of(tmp_path)
    reader = open_to_read(tmp_path)
    assert reader.stats().entries == 8
    with pytest.raises(StoreError, match="left as it is"):
        reader.get(stored[0].id)
    assert any("left as it is" in line for line in reader.verify())
    reader.close()
    assert bytes_of(tmp_path) == before


def test_what_the_archive_lost_though_nothing_was_forgotten_comes_back_from_the_copy(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    older = tmp_path / "older"
    older.mkdir()
    store = open_store(tmp_path)
    for number in (8, 9):
        put(store, f"entry {number}", number)
    store.open_session("s", project="p", started_at=1.0)
    shutil.copy(tmp_path / "gardener.db.copy", older / "gardener.db")
    store.close()
    shutil.copy(older / "gardener.db", tmp_path / "gardener.db")
    again = open_store(tmp_path)
    assert len(again.session_entries("s")) == len(stored)
    assert again.verify() == ["missing, and put back from the copy: 2 entries"]
    assert len(again.session_entries("s")) == len(stored) + 2 and again.verify() == []


def test_a_file_without_check_sums_counts_as_damaged_and_is_carried_over(tmp_path: Path) -> None:
    """As another SQLite leaves it that gives the room at the end of each page back."""
    stored = filled(tmp_path, has_copy=False)
    path = tmp_path / "gardener.db"
    db = schema.opened(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI, "")
    db.execute("VACUUM INTO ?", (f"file:{tmp_path / 'plain'}?reserve=0",))
    db.close()
    os.replace(tmp_path / "plain", path)
    store = open_store(tmp_path)
    assert "damaged" in store.notice and len(store.session_entries("s")) == len(stored)
    store.close()
    assert path.read_bytes()[schema.CHECKSUM_PLACE] == schema.CHECKSUM_BYTES


@pytest.mark.parametrize("has_copy", [True, False])
def test_what_another_sqlite_moved_into_the_file_is_carried_over(tmp_path: Path, has_copy: bool) -> None:
    """As a program does in which somebody looks at the archive of a chat that runs: its pages then have no
    check sums."""
    before = filled(tmp_path, has_copy=has_copy)
    store = open_store(tmp_path)
    for number in range(40):
        put(store, f"said last {number}", 100 + number)
    with contextlib.closing(apsw.Connection(str(tmp_path / "gardener.db"))) as other:
        assert other.execute("SELECT count(*) FROM occurrences").get == len(before) + 40
        other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    store.close()
    store = open_store(tmp_path)
    told = [*store.verify(), store.notice]
    assert any("damaged" in line for line in told) and not any("could not be" in line for line in told)
    assert [entry.content for entry in store.session_entries("s")] == [
        *(entry.content for entry in before),
        *(f"said last {number}" for number in range(40)),
    ]
    assert [entry.turn for entry in store.session_entries("s")] == [*range(8), *range(100, 140)]
    assert found(store, "said last 7") and store.verify() == []


def test_a_value_that_no_row_of_ours_has_does_not_end_the_repair(tmp_path: Path) -> None:
    """As where an older archive was copied over one that is open: a page holds rows of another table."""
    before = filled(tmp_path, has_copy=False)
    ours, laxer = "data TEXT NOT NULL, at", "data TEXT, at"
    for old, new, table, change in (
        (ours, laxer, "events", "data = NULL"), (laxer, ours, "occurrences", "turn = turn + 1"),
    ):  # fmt: skip
        with contextlib.closing(apsw.Connection(str(tmp_path / "gardener.db"))) as other:
            other.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
            other.pragma("writable_schema", True)
            other.execute(
                "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'events'", (old, new)
            )
            other.pragma("schema_version", 1 + other.pragma("schema_version"))
        with contextlib.closing(apsw.Connection(str(tmp_path / "gardener.db"))) as other:
            other.execute(f"UPDATE {table} SET {change}")
    store = open_store(tmp_path)
    assert "damaged" in "; ".join([store.notice, *store.verify()])
    assert [entry.content for entry in store.session_entries("s")] == [entry.content for entry in before]


def test_an_archive_whose_index_fits_no_more_is_not_gone_on_with_in_memory(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, "said", 0)
    db = store.database.live
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    db.pragma("writable_schema", True)
    other = "replace(sql, 'indexed = 0', 'indexed = 1')"
    db.execute(f"UPDATE sqlite_schema SET sql = {other} WHERE name = 'chunks_waiting'")
    with pytest.raises(StoreError, match="damaged"):
        Database(None).load(store.database)


def test_rows_whose_numbers_go_back_have_an_end() -> None:
    class Going:
        """Pages that name each other."""

        def execute(self, sql: str, values: tuple[int]) -> list[tuple[int, str]]:
            return [(3, "three"), (2, "two")] if values[0] < 3 else [(1, "one")]

    rows = repair._rows_by_number(Going(), "bodies", "body")  # type: ignore[arg-type]  # reason: reads as one does
    assert list(rows) == [("three",)]


@pytest.mark.parametrize(("seconds", "is_left"), [(5, True), (100, False)])
def test_what_a_killed_repair_left_goes_with_forgetting(tmp_path: Path, seconds: int, is_left: bool) -> None:
    """Unless another process may be about to put it in its place."""
    stored = filled(tmp_path)
    mended = tmp_path / location.MENDED_NAME
    shutil.copy(tmp_path / "gardener.db", mended)
    os.utime(mended, (time.time() - seconds,) * 2)
    store = open_store(tmp_path)
    store.forget([stored[2].id])
    assert mended.exists() == is_left


def test_where_the_copy_cannot_be_deleted_nothing_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = filled(tmp_path)
    store = open_store(tmp_path)
    monkeypatch.setattr(Path, "unlink", Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(
        StoreError, match=r"gardener.db.copy cannot be deleted \(Permission denied\): delete it"
    ):
        store.forget([stored[2].id])
    assert store.original(stored[2].id) is not None
