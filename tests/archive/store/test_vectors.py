"""Vectors on disk: half precision, shared between processes, gone when forgotten, safe in trials."""

from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_vectors import LetterCounts

from aider_gardener.archive.store import Chunk, Store, open_store, schema
from aider_gardener.archive.store.base import PendingPassage
from aider_gardener.archive.store.database import Database
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.messages import ContentClass, Entry, Source, SourceKind, content_hash, entry_id

CLASSES = (ContentClass.LOG, ContentClass.PROSE)


def put(
    store: Store, content: str, *, seq: int, session: str = "s1", cls: ContentClass = ContentClass.PROSE
) -> Entry:
    new = Entry(
        id=entry_id("user", content), session=session, turn=1, seq=seq, role="user", content=content,
        source=Source(SourceKind.COMMAND, ""), cls=cls, segments=(), tokens=1,
    )  # fmt: skip
    spans = [(at, min(at + 40, len(content))) for at in range(0, len(content), 40)]
    return store.add(new, chunks=[Chunk(new.id, *span) for span in spans])


def embed_all(store: Store, embedder: LetterCounts) -> int:
    passages = store.vectors_pending(10_000, embedder.name)
    vectors = embedder.embed([passage.text for passage in passages])
    return store.put_vectors(list(zip(passages, vectors, strict=True)), embedder.name)


def nearest(store: Store, embedder: LetterCounts, text: str, limit: int = 1) -> list[str]:
    hits = store.search_vectors(embedder.embed([text])[0], embedder=embedder.name, limit=limit)
    return [(store.original(hit.entry_id) or "")[hit.start : hit.end] for hit in hits]


def likeness(store: Store, embedder: LetterCounts, text: str) -> float:
    """The similarity of the best hit for a text: 1 where the text itself is stored."""
    return store.search_vectors(embedder.embed([text])[0], embedder=embedder.name, limit=1)[0].similarity


def bytes_of(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def test_vectors_outlive_the_process(tmp_path: Path) -> None:
    embedder = LetterCounts()
    store = open_store(tmp_path)
    for n, text in enumerate(["aaaa bbb", "cccc ddd", "eeee fff"]):
        put(store, text, seq=n)
    assert embed_all(store, embedder) == 3
    store.close()
    again = open_store(tmp_path)
    assert again.vectors_pending(10, embedder.name) == []
    assert nearest(again, embedder, "dcdc") == ["cccc ddd"]
    assert again.warm_vectors(embedder.name) == 3 and again.stats().vectors == 3
    again.close()


def test_another_process_adds_and_forgets(tmp_path: Path) -> None:
    embedder = LetterCounts()
    one, two = open_store(tmp_path), open_store(tmp_path)
    first = put(one, "aaaa bbb", seq=0)
    embed_all(one, embedder)
    assert nearest(two, embedder, "cccc") == ["aaaa bbb"]
    put(one, "cccc ddd", seq=1)
    embed_all(one, embedder)
    assert nearest(two, embedder, "cccc", limit=5) == ["cccc ddd", "aaaa bbb"]
    assert one.warm_vectors(embedder.name) == 2
    one.forget([first.id])
    assert nearest(two, embedder, "aaaa", limit=5) == ["cccc ddd"]
    two.forget([entry_id("user", "cccc ddd")])
    put(two, "eeee fff", seq=2)  # takes the rows of what was forgotten
    embed_all(two, embedder)
    assert nearest(one, embedder, "cccc", limit=5) == ["eeee fff"]
    assert likeness(one, embedder, "eeee fff") == pytest.approx(1.0, abs=1e-3)
    one.close()
    two.close()


def test_forgotten_vectors_leave_no_bytes(tmp_path: Path) -> None:
    embedder = LetterCounts()
    store = open_store(tmp_path)
    for n in range(40):
        put(store, f"neighbour {n} " * 9, seq=n)
    marked = put(store, "Quokka zebra xylophone", seq=99)
    embed_all(store, embedder)
    mark = embedder.embed(["Quokka zebra xylophone"])[0].astype("<f2").tobytes()
    before = store.stats().vectors
    assert mark in bytes_of(tmp_path)
    store.forget([marked.id])
    assert mark not in bytes_of(tmp_path)
    assert store.stats().vectors == before - 1 and store.verify() == []
    store.close()


def test_a_trial_leaves_no_vector_behind(tmp_path: Path) -> None:
    embedder = LetterCounts()
    store = open_store(tmp_path)
    put(store, "aaaa bbb", seq=0)
    embed_all(store, embedder)
    assert nearest(store, embedder, "a", 9) == ["aaaa bbb"]
    for text in ("cccc ddd", "eeee fff"):
        with store.trial():
            put(store, text, seq=1)
            assert embed_all(store, embedder) == 1
            assert set(nearest(store, embedder, "c", 9)) == {text, "aaaa bbb"}
        assert nearest(store, embedder, "c", 9) == ["aaaa bbb"] and store.stats().vectors == 1
    put(store, "gggg hhh", seq=1)
    embed_all(store, embedder)
    assert nearest(store, embedder, "g", 9) == ["gggg hhh", "aaaa bbb"]
    assert likeness(store, embedder, "gggg hhh") == pytest.approx(1.0, abs=1e-3)
    store.close()


def test_a_vector_that_comes_too_late_is_dropped(tmp_path: Path) -> None:
    """Between fetching a passage and storing its vector it may be forgotten, and its row taken by another."""
    embedder = LetterCounts()
    store = open_store(tmp_path)
    first = put(store, "aaaa bbb", seq=0)
    late = store.vectors_pending(10, embedder.name)
    store.forget([first.id])
    put(store, "cccc ddd", seq=1)
    assert [p.number for p in store.vectors_pending(10, embedder.name)] == [late[0].number]
    assert store.put_vectors([(late[0], embedder.embed(["aaaa bbb"])[0])], embedder.name) == 0
    assert [p.text for p in store.vectors_pending(10, embedder.name)] == ["cccc ddd"]
    store.close()


def test_an_archive_of_the_version_before_gets_its_table(tmp_path: Path) -> None:
    embedder = LetterCounts()
    db = apsw.Connection(str(tmp_path / "gardener.db"))
    schema.migrate(db, schema.MIGRATIONS[:2])
    old_hash = bytes.fromhex(content_hash("user", "aaaa bbb"))
    for statement, values in (
        ("INSERT INTO sessions VALUES (1, 's1', 'p', 1.0, 'openai', 'm')", ()),
        (
            "INSERT INTO originals VALUES (1, 'gold', ?, 'user', 'prose', '[]', '[]', 2, 0, 1, 1.0, 0)",
            (old_hash,),
        ),
        ("INSERT INTO bodies VALUES (1, ?)", (b"aaaa bbb",)),
        ("INSERT INTO occurrences VALUES (1, 1, 0, 1, 1, 'typed', '', 'openai', 1.0)", ()),
        ("INSERT INTO chunks VALUES (1, 1, 0, 8, '', 1, 1)", ()),
        ("INSERT INTO embedders VALUES (1, 'letters', 32, 0)", ()),
        (
            "INSERT INTO vectors VALUES (1, 1, 1, ?)",
            (embedder.embed(["aaaa bbb"])[0].astype("<f2").tobytes(),),
        ),
    ):
        db.execute(statement, values)
    db.close()
    again = open_store(tmp_path, user=tmp_path / "user")
    assert again.persistent and again.notice == "" and again.stats().schema == schema.VERSION
    put(again, "cccc ddd", seq=1)
    assert embed_all(again, embedder) == 1 and nearest(again, embedder, "a") == ["aaaa bbb"]
    assert isinstance(again, SqliteStore)
    assert again._db.read(lambda db: db.execute("SELECT count(*) FROM codes").get) == 2
    assert again.verify() == []
    again.close()


def test_after_damage_vectors_are_made_anew(tmp_path: Path) -> None:
    embedder = LetterCounts()
    store = open_store(tmp_path)
    for n in range(60):
        put(store, f"text number {n} " * 30, seq=n)
    total = embed_all(store, embedder)
    nearest(store, embedder, "text")
    store.close()
    path = tmp_path / "gardener.db"
    data = bytearray(path.read_bytes())
    data[:100] = b"\xff" * 100  # the header: nothing can be read, a new archive is begun
    path.write_bytes(bytes(data))
    again = open_store(tmp_path)
    assert "damaged" in again.notice
    for n in range(60):
        put(again, f"text number {n} " * 30, seq=n)
    assert embed_all(again, embedder) == total and again.verify() == []
    again.close()


@given(
    entries=st.lists(
        st.tuples(st.text("abcdefgh ", min_size=1, max_size=12), st.sampled_from(CLASSES), st.sampled_from(["s1", "s2", "s3"])),
        min_size=1, max_size=25,
    ),
    query=st.text("abcdefgh", min_size=1, max_size=6),
    limit=st.integers(1, 8),
    session=st.sampled_from([None, "s1", "s2", "never"]),
    excluded=st.sampled_from([(), ("s1",), ("s2", "s3")]),
    classes=st.sampled_from([None, (), (ContentClass.LOG,), CLASSES]),
    min_seq=st.sampled_from([None, 0, 5, 99]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_filters_starve_nothing(entries: list[tuple[str, ContentClass, str]], query: str, limit: int, session: str | None,
                                excluded: tuple[str, ...], classes: tuple[ContentClass, ...] | None, min_seq: int | None) -> None:  # fmt: skip
    """The hits are the first of all hits that the filter lets through, as if every one had been asked for."""
    embedder = LetterCounts()
    store = open_store(None)
    for seq, (text, cls, own) in enumerate(entries):
        put(store, text, seq=seq, session=own, cls=cls)
    embed_all(store, embedder)
    vector = embedder.embed([query])[0]
    everything = store.search_vectors(vector, embedder=embedder.name, limit=10_000)
    places: dict[str, list[tuple[str, int]]] = {}
    kinds: dict[str, ContentClass] = {}
    for own in ("s1", "s2", "s3"):
        for each in store.session_entries(own):
            places.setdefault(each.id, []).append((own, each.seq))
            kinds[each.id] = each.cls
    expected = [
        hit for hit in everything
        if (classes is None or kinds[hit.entry_id] in classes)
        and any(
            (session is None or own == session) and (min_seq is None or seq >= min_seq) and own not in excluded
            for own, seq in places[hit.entry_id]
        )
    ]  # fmt: skip
    found = store.search_vectors(
        vector,
        embedder=embedder.name,
        limit=limit,
        session=session,
        exclude_sessions=excluded,
        classes=classes,
        min_seq=min_seq,
    )
    assert found == expected[:limit]
    store.close()


def test_a_rare_class_is_found_in_a_large_archive() -> None:
    embedder = LetterCounts()
    store = open_store(None)
    for n in range(400):
        put(store, f"abc {n}", seq=n)
    rare = put(store, "zzz", seq=500, cls=ContentClass.LOG)
    embed_all(store, embedder)
    hits = store.search_vectors(
        embedder.embed(["abc"])[0], embedder="letters", limit=3, classes=[ContentClass.LOG]
    )
    assert [hit.entry_id for hit in hits] == [rare.id]
    store.close()


def test_search_is_exact_beside_a_sort_of_everything() -> None:
    random = np.random.default_rng(7)
    store = open_store(None)
    for n in range(300):
        put(store, f"passage {n}", seq=n)
    passages = store.vectors_pending(1_000, "random")
    vectors = random.standard_normal((300, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store.put_vectors(list(zip(passages, vectors, strict=True)), "random")
    for query in vectors[:20]:
        hits = store.search_vectors(query, embedder="random", limit=10)
        exact = np.argsort(-(vectors.astype(np.float16).astype(np.float32) @ query), kind="stable")[:10]
        assert [hit.entry_id for hit in hits] == [passages[at].entry_id for at in exact]
        assert hits[0].similarity == pytest.approx(1.0, abs=1e-3)
    store.close()


def test_the_matrix_grows_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.vectors.SLICE_ROWS", 7)
    embedder = LetterCounts()
    store = SqliteStore(Database(None))
    for n in range(60):
        put(store, f"{chr(97 + n % 26)} {n}", seq=n)
        if n % 9 == 0:
            embed_all(store, embedder)
            assert store.warm_vectors(embedder.name) == n + 1
    embed_all(store, embedder)
    assert store.warm_vectors(embedder.name) == 60
    assert sorted(nearest(store, embedder, "a", 60)) == sorted(f"{chr(97 + n % 26)} {n}" for n in range(60))
    store.close()


def test_two_models_keep_their_own_vectors() -> None:
    one, two = LetterCounts(name="one"), LetterCounts(name="two", dim=16)
    store = open_store(None)
    put(store, "aaaa bbb", seq=0)
    assert embed_all(store, one) == 1 and embed_all(store, two) == 1
    put(store, "cccc ddd", seq=1)
    assert embed_all(store, two) == 1
    assert [p.text for p in store.vectors_pending(9, "one")] == ["cccc ddd"] and store.vectors_pending(
        9, "two"
    ) == []
    assert nearest(store, one, "c", 9) == ["aaaa bbb"]
    assert nearest(store, two, "c", 9) == ["cccc ddd", "aaaa bbb"]
    assert embed_all(store, one) == 1 and store.stats().vectors == 4
    store.close()


def test_the_active_session_comes_first() -> None:
    store = open_store(None)
    for n in range(5):
        put(store, f"mine {n}", seq=n, session="mine")
    for n in range(5):
        put(store, f"other {n}", seq=n, session="other")
    first = [p.text for p in store.vectors_pending(6, "x", session="mine")]
    assert first == ["mine 4", "mine 3", "mine 2", "mine 1", "mine 0", "other 4"]
    assert [p.text for p in store.vectors_pending(2, "x")] == ["other 4", "other 3"]
    assert isinstance(store.vectors_pending(1, "x")[0], PendingPassage)
    store.close()
