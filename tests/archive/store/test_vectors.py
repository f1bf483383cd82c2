"""Vectors on disk and in memory: a byte a number, shared between processes, gone when forgotten."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import made_lines
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_lines import bytes_of
from made_search import rows_in
from made_vectors import LetterCounts

from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.database import Database
from aider_gardener.archive.store.search import packed, products
from aider_gardener.messages import Entry, entry_id

RANDOM = np.random.default_rng(11)


def put(store: Store, content: str, *, seq: int) -> Entry:
    return made_lines.put(store, content, seq=seq, detail="", chunk_chars=40)


def embed_all(store: Store, embedder: LetterCounts) -> int:
    passages = store.vectors_pending(10_000, embedder.name)
    vectors = embedder.embed([passage.text for passage in passages])
    return store.put_vectors(list(zip(passages, vectors, strict=True)), embedder.name)


def embed_as(store: Store, vectors: Any, name: str = "e") -> Any:
    """Store a passage for each vector, and the vector; returns the numbers of the chunks."""
    for n in range(len(vectors)):
        put(store, f"passage {n}", seq=n)
    passages = sorted(store.vectors_pending(len(vectors), name), key=lambda passage: passage.number)
    assert store.put_vectors(list(zip(passages, vectors, strict=True)), name) == len(vectors)
    return np.array([passage.number for passage in passages])


def unit_vectors(rows: int, dim: int, seed: int = 7) -> Any:
    found = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def texts_of(store: Store) -> dict[int, str]:
    """The text of each chunk, by its number."""
    sql = 'SELECT c.number, o.id, c.start, c."end" FROM chunks c JOIN originals o ON o.number = c.original'
    rows: list[Any] = store.database.read(lambda db: db.execute(sql).fetchall())
    return {number: (store.original(entry) or "")[start:end] for number, entry, start, end in rows}


def likeness(store: Store, embedder: LetterCounts, text: str) -> dict[str, float]:
    """How near each passage with a vector is to a text, nearest first."""
    texts = texts_of(store)
    found = store.similarities(
        embedder.embed([text])[0], embedder=embedder.name, chunks=np.array(list(texts), dtype=np.int64)
    )
    near = {own: float(value) for own, value in zip(texts.values(), found, strict=True) if value == value}
    return dict(sorted(near.items(), key=lambda item: -item[1]))


def nearest(store: Store, embedder: LetterCounts, text: str) -> list[str]:
    return list(likeness(store, embedder, text))


def test_another_process_adds_and_forgets(tmp_path: Path) -> None:
    embedder = LetterCounts()
    one, two = open_store(tmp_path), open_store(tmp_path)
    first = put(one, "aaaa bbb", seq=0)
    embed_all(one, embedder)
    assert nearest(two, embedder, "cccc") == ["aaaa bbb"]
    put(one, "cccc ddd", seq=1)
    embed_all(one, embedder)
    assert nearest(two, embedder, "cccc") == ["cccc ddd", "aaaa bbb"]
    assert one.warm_vectors(embedder.name) == 2
    one.forget([first.id])
    assert nearest(two, embedder, "aaaa") == ["cccc ddd"]
    two.forget([entry_id("user", "cccc ddd")])
    put(two, "eeee fff", seq=2)  # takes the rows of what was forgotten
    assert nearest(one, embedder, "cccc") == [], "and not their vectors"
    embed_all(two, embedder)
    assert likeness(one, embedder, "eeee fff") == {"eeee fff": pytest.approx(1.0, abs=1e-3)}


def test_forgotten_vectors_leave_no_bytes(tmp_path: Path) -> None:
    embedder = LetterCounts()
    store = open_store(tmp_path)
    for n in range(40):
        put(store, f"neighbour {n} " * 9, seq=n)
    marked = put(store, "Quokka zebra xylophone", seq=99)
    embed_all(store, embedder)
    mark = packed(embedder.embed(["Quokka zebra xylophone"])[0]).tobytes()
    before = rows_in(store, "vectors")
    assert mark in bytes_of(tmp_path) and store.warm_vectors("letters") == before
    store.forget([marked.id])
    assert mark not in bytes_of(tmp_path)
    assert store.warm_vectors("letters") == before - 1
    assert mark not in store._vectors.rows
    assert rows_in(store, "vectors") == before - 1 and store.verify() == []


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


NUMBERS = st.integers(-2, 70)


@given(wanted=st.lists(NUMBERS, max_size=20) | st.lists(NUMBERS, min_size=60, max_size=90))
@settings(max_examples=60, deadline=None)
def test_chunks_come_in_any_order_and_repeatedly(wanted: list[int], sixty: tuple[Store, Any]) -> None:
    store, vectors = sixty
    found = store.similarities(vectors[0], embedder="e", chunks=np.array(wanted, dtype=np.int64))
    assert len(found) == len(wanted)
    for chunk, value in zip(wanted, found, strict=True):
        if 1 <= chunk <= 60:
            assert value == pytest.approx(float(vectors[chunk - 1] @ vectors[0]), abs=0.01)
        else:
            assert np.isnan(value)


@pytest.fixture(scope="module")
def sixty() -> Any:
    """A store with vectors of the chunks 1 to 60, and the vectors."""
    store = open_store(None)
    vectors = unit_vectors(60, 384)
    assert embed_as(store, vectors).tolist() == list(range(1, 61))
    return store, vectors


def test_equal_vectors_are_equally_near_wherever_they_stand() -> None:
    store = open_store(None)
    vectors = np.concatenate([np.repeat(unit_vectors(1, 500), 37, axis=0), unit_vectors(40, 500, seed=3)])
    chunks = embed_as(store, vectors)
    for asked in (chunks, chunks[:5], chunks[30:37]):
        found = store.similarities(unit_vectors(1, 500, seed=5)[0], embedder="e", chunks=asked)
        assert len(set(found[: min(37, len(asked))].tolist())) == 1


def test_an_interrupt_while_vectors_are_read_leaves_none_beside_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, vectors = Store(Database(None)), unit_vectors(60, 384)
    chunks = embed_as(store, vectors)

    with monkeypatch.context() as patch:
        patch.setattr("aider_gardener.archive.store.search.SLICE_ROWS", 10)
        store.database.read(lambda db: store._vectors.grow(db, "e"))
        patch.setattr(np, "sqrt", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            store.warm_vectors("e")
    found = store.similarities(vectors[7], embedder="e", chunks=chunks)
    assert np.allclose(found, vectors @ vectors[7], atol=0.01)


def test_two_models_keep_their_own_vectors() -> None:
    one, two = LetterCounts(name="one"), LetterCounts(name="two", dim=16)
    store = open_store(None)
    put(store, "aaaa bbb", seq=0)
    assert embed_all(store, one) == 1 and embed_all(store, two) == 1
    put(store, "cccc ddd", seq=1)
    assert embed_all(store, two) == 1
    assert [p.text for p in store.vectors_pending(9, "one")] == ["cccc ddd"]
    assert store.vectors_pending(9, "two") == []
    assert nearest(store, one, "c") == ["aaaa bbb"]
    assert nearest(store, two, "c") == ["cccc ddd", "aaaa bbb"]
    assert embed_all(store, one) == 1 and rows_in(store, "vectors") == 4


def test_opening_an_archive_does_not_load_numpy(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from aider_gardener.archive.store import open_store\n"
        "open_store(pathlib.Path(sys.argv[1])).close()\n"
        "sys.exit(bool({'numpy', 'keyring'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0


def test_a_search_sets_no_other_thread_to_work() -> None:
    """Threads of numpy's BLAS spin for a while after each call: a core of the user's for nothing."""
    rows, dim = 20_000, 512
    matrix = RANDOM.integers(-127, 128, (rows, dim), dtype=np.int8)
    wanted = RANDOM.standard_normal(dim).astype(np.float32)
    every = np.arange(rows)
    products(matrix, wanted, every)
    others = []
    for _attempt in range(5):  # threads that other tests have left may work in one of them
        time.sleep(0.2)
        everywhere, here = time.process_time(), time.thread_time()
        for _round in range(40):
            products(matrix, wanted, every)
        here = time.thread_time() - here
        time.sleep(0.1)
        others.append(time.process_time() - everywhere - here)
        if others[-1] < 0.02:
            return
    raise AssertionError(others)
