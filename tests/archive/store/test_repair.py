"""What a disk alters, and what is removed under an open chat: never shown as if it were right, put back from
the copy of the last session's end, and said in one line."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner
from made_lines import bytes_of, crash, files_of
from made_search import found

from aider_gardener.archive.store import (
    Chunk,
    Store,
    check,
    copies,
    open_store,
    open_to_read,
    repair,
    schema,
    sums,
)
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.cli.root import main as cli
from aider_gardener.errors import StoreError
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Rendition,
    Source,
    SourceKind,
    content_hash,
    entry_id,
)
from bench.attacks import flips


def put(store: Store, text: str, seq: int = 0, session: str = "s") -> Entry:
    new = Entry(
        id=entry_id("user", text), session=session, turn=seq, seq=seq, role="user", content=text,
        source=Source(SourceKind.TYPED), cls=ContentClass.PROSE, segments=(), tokens=1,
    )  # fmt: skip
    made = [Rendition(Fidelity.COMPRESSED, f"short {seq}", 1)]
    return store.add(new, chunks=[Chunk(new.id, 0, len(text))], renditions=made)


def filled(place: Path, count: int = 8) -> list[Entry]:
    """An archive with a copy, closed."""
    store = open_store(place)
    store.open_session("s", project="p", started_at=1.0)
    found = [put(store, f"entry {number} about the fox", number) for number in range(count)]
    store.set_state("s", "frame", "{}")
    store.record_event("s", 1, "plan", {"entry_ids": [found[0].id]}, 2.0)
    store.close()
    return found


def altered(place: Path, sql: str) -> None:
    """Change a row as a disk might: without its sum."""
    db = apsw.Connection(str(place / "gardener.db"))
    db.execute(sql)
    db.close()


BODY = "UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'fox', 'cow') AS BLOB) WHERE original = 3"
ALTERED = [
    BODY,
    "UPDATE bodies SET body = x'ff00fe' WHERE original = 3",
    "DELETE FROM bodies WHERE original = 3",
    "UPDATE originals SET tokens = 77 WHERE number = 3",
    "UPDATE originals SET role = CAST(role AS BLOB) WHERE number = 3",
    "UPDATE originals SET segments = '[[0,' WHERE number = 3",
    "UPDATE occurrences SET turn = 9, source = 'reply' WHERE number = 3",
    "UPDATE renditions SET text = 'another' WHERE original = 3",
    "UPDATE state SET value = 'x' WHERE key = 'frame'",
    "UPDATE events SET data = '{' ",
    "UPDATE sessions SET project = 'q'",
]


@pytest.mark.parametrize("sql", ALTERED)
def test_what_was_altered_is_put_back_from_the_copy(tmp_path: Path, sql: str) -> None:
    stored = filled(tmp_path)
    altered(tmp_path, sql)
    store = open_store(tmp_path)
    found = store.verify()
    assert found and all("put back from the copy" in line for line in found)
    assert store.verify() == []
    assert [entry.content for entry in store.session_entries("s")] == [entry.content for entry in stored]
    assert [entry.turn for entry in store.session_entries("s")] == list(range(8))
    assert store.renditions(stored[2].id)[Fidelity.COMPRESSED].text == "short 2"
    assert store.get_state("s", "frame") == "{}" and len(store.events("s")) == 1
    assert [info.id for info in store.sessions("p")] == ["s"]
    store.close()


@pytest.mark.parametrize("sql", ALTERED[:7])
def test_an_entry_is_mended_as_it_is_read(tmp_path: Path, sql: str) -> None:
    stored = filled(tmp_path)
    altered(tmp_path, sql)
    store = open_store(tmp_path)
    if sql is not ALTERED[2]:  # a text that is gone is no row that could be read
        assert store.get_many([entry.id for entry in stored]).keys() == {entry.id for entry in stored}
        got = store.get(stored[2].id)
        assert got is not None and (got.content, got.turn) == (stored[2].content, 2)
        assert stored[2].id in store.notice and "put back from the copy" in store.notice
    store.close()


def test_without_a_copy_it_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    copies.copy_of(tmp_path / "gardener.db").unlink()
    altered(tmp_path, BODY)
    store = open_store(tmp_path)
    for read in (store.get, store.original):
        with pytest.raises(StoreError, match=f"{stored[2].id} is damaged"):
            read(stored[2].id)
    rest = [entry.content for number, entry in enumerate(stored) if number != 2]
    assert [entry.content for entry in store.session_entries("s")] == rest
    assert stored[2].id in store.notice and "\n" not in store.notice
    assert len(store.get_many([entry.id for entry in stored])) == 7
    assert [repair.NOT_MENDED in line for line in store.verify()] == [True]
    put(store, "the chat goes on", 100)
    store.close()


@pytest.mark.parametrize("size", [1, 100, repair.MENDED_BYTES])
def test_one_turned_bit_is_found_by_the_hash(size: int) -> None:
    text = "é" + "x" * (size - 1)
    body, stored = bytearray(text.encode()), bytes.fromhex(content_hash("user", text))
    body[-1] ^= 4
    is_short = len(body) <= repair.MENDED_BYTES
    found = repair.with_bit_turned_back("user", stored, bytes(body))
    assert found == (text.encode() if is_short else None)
    body[0] ^= 1
    assert repair.with_bit_turned_back("user", stored, bytes(body[:200])) is None


def test_restore_prints_no_altered_text(tmp_path: Path) -> None:
    stored = filled(tmp_path / ".aider.gardener")
    copies.copy_of(tmp_path / ".aider.gardener" / "gardener.db").unlink()
    altered(tmp_path / ".aider.gardener", BODY)
    place = ["--store", str(tmp_path / ".aider.gardener")]
    done = CliRunner().invoke(cli, ["restore", stored[2].id, *place])
    assert done.exit_code != 0 and "cow" not in done.output and stored[2].id in done.output
    done = CliRunner().invoke(cli, ["restore", stored[1].id, *place])
    assert (done.exit_code, done.stdout.strip()) == (0, stored[1].content)


def test_a_short_form_that_was_altered_is_made_anew(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    copies.copy_of(tmp_path / "gardener.db").unlink()
    altered(tmp_path, "UPDATE renditions SET text = 'another' WHERE original = 3")
    store = open_store(tmp_path)
    assert store.renditions(stored[2].id) == {}
    assert repair.ANEW in store.notice and store.verify() == []
    store.close()


@pytest.mark.parametrize("at", [0, 3, 16, 18, 19, 20, 28, 40, 52, 60, 68, 100, 103, 105, 108, 700, 3_000])
@pytest.mark.parametrize("has_copy", [True, False])
def test_no_flipped_bit_of_the_first_page_loses_anything(tmp_path: Path, at: int, has_copy: bool) -> None:
    whole = tmp_path / "whole"
    ids = flips.fill(whole)
    found = flips.tried(whole, at * 8 + 3, ids, with_copy=has_copy)
    assert set(found) - {"unmended"} == set()


def test_an_entry_that_the_index_of_ids_lacks_is_found(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    path, wanted = tmp_path / "gardener.db", stored[2].id.encode()
    data = path.read_bytes()
    db = apsw.Connection(str(path))
    page = db.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_originals_1'").get
    db.close()
    at = data.index(wanted, (page - 1) * 4_096)
    path.write_bytes(data[:at] + wanted[:-1] + b"z" + data[at + len(wanted) :])
    store = open_store(tmp_path)
    assert store.original(stored[2].id) == stored[2].content and "was damaged" in store.notice
    assert store.original("g000000000") is None and store.verify() == []
    store.close()


INDEX_OF_IDS, INDEX_OF_PLACES = "sqlite_autoindex_originals_1", "sqlite_autoindex_occurrences_1"


@pytest.mark.parametrize(
    ("page", "before", "mask"),
    [
        ("sqlite_schema", b"CREATE TABLE originals (", 0x80),
        ("sqlite_schema", b"CREATE TABLE events (", 0x80),
        ("sqlite_schema", b"accessed_at REAL N", 0x80),
        (INDEX_OF_IDS, b"{id}", 0x08),
        (INDEX_OF_PLACES, b"\x01\x02/1\x07", 0x01),
        ("sqlite_autoindex_sessions_1", b"on", 0x01),
        ("originals", b"{id}"[:-1], 0x80),
    ],
)
@pytest.mark.parametrize("has_copy", [True, False])
def test_no_flipped_bit_that_leads_elsewhere_loses_anything(
    tmp_path: Path, page: str, before: bytes, mask: int, has_copy: bool
) -> None:
    """Of a table's statement, of what an index says, of an id."""
    whole = tmp_path / "whole"
    ids = flips.fill(whole)
    path = whole / "gardener.db"
    data = path.read_bytes()
    db = apsw.Connection(str(path))
    pages = [number for (number,) in db.execute("SELECT pageno FROM dbstat WHERE name = ?", (page,))]
    db.close()
    wanted = before.replace(b"{id}", ids[11].encode()).replace(b"{id", ids[11][:5].encode())
    starts = (data.find(wanted, (number - 1) * 4_096, number * 4_096) for number in pages)
    at = next(start for start in starts if start >= 0) + len(wanted)
    found = flips.tried(whole, at * 8 + mask.bit_length() - 1, ids, with_copy=has_copy)
    assert set(found) - {"unmended"} == set()


def test_flipped_bits_anywhere(tmp_path: Path) -> None:
    run = flips.attack(25, seed=int.from_bytes(os.urandom(4), "big"), with_copy=True)
    assert run["counts"] == {"held": 25}, run


def test_every_row_has_its_sum(tmp_path: Path) -> None:
    filled(tmp_path)
    store = open_store(tmp_path)
    exported = tmp_path / "out.jsonl"
    store.export(exported)
    other = open_store(None)
    other.import_(exported)
    for each in (store, other):
        assert isinstance(each, SqliteStore)
        for table in sums.SUMMED:
            rows = each._db.live.execute(f"SELECT count(*), count(sum) FROM {table}").fetchall()
            assert rows[0][0] == rows[0][1] > 0, table
        assert list(check.faults(each._db.live)) == []
    store.close()


def test_an_archive_from_before_gets_its_sums(tmp_path: Path) -> None:
    db = apsw.Connection(":memory:")
    schema.migrate(db, schema.MIGRATIONS[:4])
    db.execute("INSERT INTO sessions VALUES (1, 's', 'p', 1, '', '')")
    for number, kind in ((1, "private-key"), (2, "token")):
        db.execute(
            "INSERT INTO originals (number, id, hash, role, cls, segments, redactions, tokens, accessed_at)"
            " VALUES (?1, 'g' || ?1, ?2, 'user', 'prose', '[]', ?3, 1, 1)",
            (number, bytes.fromhex(content_hash("user", "a text")), f'[[0, 1, "{kind}"]]'),
        )
        db.execute("INSERT INTO bodies VALUES (?, ?)", (number, b"a text"))
        db.execute("INSERT INTO renditions VALUES (?, 'compressed', ?, 1)", (number, b"MIIEabcdef"))
        db.execute(
            'INSERT INTO chunks (original, start, "end", fidelity) VALUES (?, 0, 6, ?)',
            (number, "compressed"),
        )
    db.execute("INSERT INTO state VALUES ('s', 'k', x'41')")
    schema.migrate(db)
    assert list(check.faults(db)) == []
    assert db.execute("SELECT original FROM renditions").fetchall() == [(2,)], "a line of the key stood there"
    assert db.execute("SELECT count(*) FROM chunks").get == 0, "only originals have chunks"
    db.execute("UPDATE state SET value = x'42'")
    assert [fault.table for fault in check.faults(db)] == ["state"]


def test_a_sum_tells_types_and_borders() -> None:
    made = [
        sums.row_sum(*row) for row in [("ab", "c"), ("a", "bc"), (b"ab", "c"), (1,), ("1",), (1.0,), (None,)]
    ]
    assert len(set(made)) == len(made) and {len(each) for each in made} == {sums.SUM_BYTES}


def test_the_copy_is_private_whole_and_without_what_was_forgotten(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    copy = copies.copy_of(tmp_path / "gardener.db")
    assert copy.stat().st_mode & 0o777 == 0o600 or os.name != "posix"
    db = copies.opened(copy, "")
    assert db is not None and db.execute("SELECT count(*) FROM originals").get == 8
    db.close()
    store = open_store(tmp_path)
    store.forget([stored[2].id])
    assert not copy.exists()
    store.close()
    assert not copy.exists(), "nothing was said since"
    store = open_store(tmp_path)
    put(store, "a new session", 200)
    store.open_session("t", project="p", started_at=1.0)
    store.close()
    assert stored[2].content.encode() not in copy.read_bytes()
    assert sorted(each.name for each in tmp_path.glob("gardener.db.*")) == ["gardener.db.copy"]


def test_a_copy_takes_over_nothing_altered(tmp_path: Path) -> None:
    stored = filled(tmp_path)
    altered(tmp_path, BODY)
    store = open_store(tmp_path)
    store.open_session("t", project="p", started_at=1.0)
    store.close()
    db = copies.opened(copies.copy_of(tmp_path / "gardener.db"), "")
    assert db is not None and list(check.faults(db)) == []
    assert db.execute("SELECT body FROM bodies WHERE original = 3").get == stored[2].content.encode()
    db.close()


def test_a_large_archive_makes_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    copy = copies.copy_of(tmp_path / "gardener.db")
    before = copy.read_bytes()
    monkeypatch.setattr(copies, "LARGEST_COPIED_BYTES", 10)
    store = open_store(tmp_path)
    store.open_session("t", project="p", started_at=1.0)
    store.close()
    assert copy.read_bytes() == before


def test_a_damaged_archive_is_begun_anew_with_the_copy(tmp_path: Path) -> None:
    stored = filled(tmp_path, 300)
    with open(tmp_path / "gardener.db", "r+b") as file:
        file.truncate(10_000)
    store = open_store(tmp_path)
    assert "300 of its entries were saved" in store.notice
    assert [entry.content for entry in store.session_entries("s")] == [entry.content for entry in stored]
    assert store.verify() == [] and found(store, "entry 17")
    store.close()


class Talk:
    """A chat over an archive in a directory."""

    def __init__(self, directory: Path) -> None:
        from made_entries import words

        from aider_gardener.archive.archive import Archive
        from aider_gardener.gardener.gardener import Gardener
        from aider_gardener.settings import Settings

        self.store = open_store(directory)
        archive = Archive(self.store, session="s", project="p", count=words, clock=lambda: 1_000.0)
        self.gardener = Gardener(Settings(), archive)
        self.archive, self.messages = archive, list[dict[str, str]]()

    def say(self, text: str) -> str:
        """One message; the notice that the user sees after it."""
        self.messages.append({"role": "user", "content": text})
        self.gardener.sync(self.messages, [])
        return self.archive.take_notice()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(20_000)


def remove(path: Path) -> None:
    for each in path.parent.glob("gardener.db*"):
        each.unlink()


def remove_folder(path: Path) -> None:
    import shutil

    shutil.rmtree(path.parent)


@pytest.mark.skipif(os.name == "nt", reason="an open file can be neither removed nor cut off there")
@pytest.mark.parametrize("harm", [empty, cut, remove, remove_folder, Path.unlink])
def test_an_archive_that_goes_in_mid_chat_is_noticed_and_written_again(tmp_path: Path, harm: object) -> None:
    place = tmp_path / ".aider.gardener"
    talk = Talk(place)
    for number in range(30):
        assert talk.say(f"message {number} of this chat, with words") == ""
    assert callable(harm) and isinstance(talk.store, SqliteStore)
    talk.store._db.live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    harm(place / "gardener.db")
    notice = talk.say("after the harm")
    assert str(place / "gardener.db") in notice and "\n" not in notice
    assert talk.say("and on") == ""
    talk.store.close()
    store = open_store(place)
    assert [entry.content for entry in store.session_entries("s")] == [m["content"] for m in talk.messages]
    assert store.verify() == []
    store.close()


def test_a_file_system_that_fails_or_numbers_files_anew_is_not_taken_for_a_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aider_gardener.archive.store import database, location

    numbers = iter(range(10_000))
    monkeypatch.setattr(location, "identity", lambda path: (1, next(numbers)))
    store = open_store(tmp_path)
    put(store, "one", 0)
    assert store.notice == ""

    def failing(path: Path) -> os.stat_result:
        raise OSError(5, "input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(database.os, "stat", failing)
        put(store, "two", 1)
    assert store.notice == "" and len(store.session_entries("s")) == 2
    store.close()


def test_an_archive_that_breaks_and_cannot_be_set_aside_goes_on_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Path:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(repair, "set_aside", refused)
    store = open_store(tmp_path)
    assert isinstance(store, SqliteStore)
    put(store, "before")
    store._mending.repair(apsw.CorruptError("damaged pages"))
    assert "lines of JSON" in store.notice and store.persistent
    put(store, "after", seq=1)
    crash(store)
    assert b"after" in b"".join(path.read_bytes() for path in files_of(tmp_path))


def test_a_reader_looks_again_when_a_chat_begins_to_write_meanwhile(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    reader = open_to_read(tmp_path)
    assert isinstance(reader, SqliteStore)
    chat = open_store(tmp_path)
    put(chat, "said since")
    assert reader._mending.look_again(apsw.CorruptError())
    assert reader.stats().entries == 1
    reader.close()
    chat.close()
    assert not reader._mending.look_again(apsw.CorruptError())


def test_a_reader_says_what_was_altered_and_leaves_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    stored = [put(store, text, seq=seq) for seq, text in enumerate(("one thing", "another thing"))]
    store.close()
    db = apsw.Connection(str(tmp_path / "gardener.db"))
    db.execute("UPDATE bodies SET body = CAST('bad' AS BLOB) WHERE original = 1")
    db.close()
    before = bytes_of(tmp_path)
    reader = open_to_read(tmp_path)
    assert [each.content for each in reader.session_entries("s")] == ["another thing"]
    assert stored[0].id in reader.notice
    with pytest.raises(StoreError, match=stored[0].id):
        reader.get(stored[0].id)
    assert reader.verify() == [f"{stored[0].id}: its text is not the one that was stored"]
    reader.close()
    assert bytes_of(tmp_path) == before
