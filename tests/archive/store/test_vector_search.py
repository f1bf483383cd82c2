"""Vectors at size: sqlite-vec answers from the file, codes in memory above a size, both near exact search."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aider_gardener.archive.store import Chunk, Store, VectorHit, open_store
from aider_gardener.archive.store import vectors as vector_search
from aider_gardener.archive.store.database import Database
from aider_gardener.archive.store.opening import open_lines
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.archive.store.vector_memory import Codes, Matrix, code, distances, products
from aider_gardener.messages import ContentClass, Entry, Source, SourceKind, entry_id

ROWS, DIM = 1_500, 384
RANDOM = np.random.default_rng(11)
CENTRES = RANDOM.standard_normal((40, DIM))


def texts_like_vectors(rows: int, dim: int) -> np.ndarray:
    """Vectors in clusters, as those of texts are, of length 1."""
    found = CENTRES[RANDOM.integers(0, 40, rows), :dim] + 0.6 * RANDOM.standard_normal((rows, dim))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


VECTORS = texts_like_vectors(ROWS, DIM)


def fill(store: Store, vectors: np.ndarray, *, session: str = "s1", name: str = "passage") -> list[str]:
    ids = []
    for n in range(len(vectors)):
        text, cls = f"{name} {n}", ContentClass.LOG if n % 7 == 0 else ContentClass.PROSE
        new = Entry(
            id=entry_id("user", text), session=session if n % 3 else "s2", turn=1, seq=n, role="user", content=text,
            source=Source(SourceKind.COMMAND, ""), cls=cls, segments=(), tokens=1,
        )  # fmt: skip
        ids.append(store.add(new, chunks=[Chunk(new.id, 0, len(text))]).id)
    passages = {p.entry_id: p for p in store.vectors_pending(len(vectors), "e")}
    store.put_vectors([(passages[each], vector) for each, vector in zip(ids, vectors, strict=True)], "e")
    return ids


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    directory = tmp_path_factory.mktemp("archive")
    store = open_store(directory)
    ids = fill(store, VECTORS)
    store.close()
    return directory, ids


def exact(
    query: np.ndarray, ids: list[str], limit: int = 10, allowed: Callable[[int], bool] = lambda n: True
) -> list[str]:
    order = np.argsort(-(VECTORS.astype(np.float16).astype(np.float32) @ query), kind="stable")
    return [ids[n] for n in order if allowed(int(n))][:limit]


def forced(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Make the search go one way whatever the size."""
    monkeypatch.setattr(vector_search, "UNREAD_ROWS", 0 if way == "sqlite-vec" else 10**9)
    monkeypatch.setattr(vector_search, "MATRIX_ROWS", 0 if way == "codes" else 10**9)
    if way != "sqlite-vec":
        monkeypatch.setattr(vector_search, "has_sqlite_vec", lambda db: False)


def near(store: Store, query: np.ndarray, **rest: object) -> list[VectorHit]:
    return store.search_vectors(query, embedder="e", limit=10, **rest)  # type: ignore[arg-type]  # reason: filters


@pytest.mark.parametrize("tier", ["file", "memory", "lines"])
def test_without_sqlite_vec_the_same_are_found_in_this_process(
    tmp_path: Path, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every search is one that sqlite-vec would answer, were it there."""
    monkeypatch.setattr(vector_search, "UNREAD_ROWS", 0)
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    store = (
        open_lines(tmp_path, time.time)
        if tier == "lines"
        else open_store(tmp_path if tier == "file" else None)
    )
    assert vector_search.library_version() == ""
    ids = fill(store, VECTORS[:300])
    for query in VECTORS[:20]:
        order = np.argsort(-(VECTORS[:300].astype(np.float16).astype(np.float32) @ query), kind="stable")
        assert [hit.entry_id for hit in near(store, query)] == [ids[n] for n in order[:10]]
    store.close()


def test_sqlite_vec_is_loaded_and_answers_on_this_machine() -> None:
    database = Database(None)
    assert vector_search.has_sqlite_vec(database.live), (
        "sqlite-vec is a dependency and this SQLite can load it"
    )
    near_one, far_one = code(np.array([1.0, -1.0] * 8)), code(np.array([1.0, 1.0] * 8))
    sql = "SELECT vec_distance_hamming(vec_bit(?), vec_bit(?))"
    assert database.live.execute(sql, (near_one, near_one)).get == 0
    assert database.live.execute(sql, (near_one, far_one)).get == 8
    with pytest.raises(Exception, match="not authorized"):
        database.live.execute("SELECT load_extension('anything')").fetchall()
    database.close()


@pytest.mark.parametrize("way", ["matrix", "codes", "sqlite-vec"])
def test_each_way_finds_the_ten_nearest(
    filled: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    forced(monkeypatch, way)
    monkeypatch.setattr(vector_search, "FEWEST_COMPARED", 200)
    directory, ids = filled
    store = open_store(directory)
    assert isinstance(store, SqliteStore)
    shares = []
    for query in texts_like_vectors(20, DIM):
        found = near(store, query)
        shares.append(len({hit.entry_id for hit in found} & set(exact(query, ids))) / 10)
        assert [hit.similarity for hit in found] == sorted((hit.similarity for hit in found), reverse=True)
    assert np.mean(shares) >= (0.95 if way != "matrix" else 1.0)
    held = store._vectors.held
    assert {"matrix": Matrix, "codes": Codes, "sqlite-vec": type(None)}[way] is type(held)
    store.close()


@pytest.mark.parametrize("way", ["matrix", "codes", "sqlite-vec"])
def test_filters_starve_no_way(
    filled: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    forced(monkeypatch, way)
    monkeypatch.setattr(vector_search, "FEWEST_COMPARED", 20)
    monkeypatch.setattr(vector_search, "OVERSAMPLE", 2)
    directory, ids = filled
    store = open_store(directory)
    query = VECTORS[5]
    filters: list[tuple[dict[str, object], Callable[[int], bool]]] = [
        ({"session": "s2"}, lambda n: n % 3 == 0),
        ({"session": "s2", "min_seq": 1_480}, lambda n: n % 3 == 0 and n >= 1_480),
        ({"classes": [ContentClass.LOG]}, lambda n: n % 7 == 0),
        ({"exclude_sessions": ["s1"]}, lambda n: n % 3 == 0),
        ({"session": "s2", "classes": [ContentClass.LOG]}, lambda n: n % 21 == 0),
    ]
    for wanted, allowed in filters:
        found = [hit.entry_id for hit in near(store, query, **wanted)]
        expected = exact(query, ids, allowed=allowed)
        assert len(found) == len(expected) and len({*found} & {*expected}) >= len(expected) / 2, wanted
        assert set(found) <= {ids[n] for n in range(ROWS) if allowed(n)}
    assert near(store, query, session="never") == [] and near(store, query, classes=[]) == []
    store.close()


@pytest.mark.parametrize("way", ["matrix", "codes", "sqlite-vec"])
def test_what_is_forgotten_is_found_no_more_and_nothing_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    forced(monkeypatch, way)
    one, two = open_store(tmp_path), open_store(tmp_path)
    assert isinstance(one, SqliteStore) and isinstance(two, SqliteStore)
    ids = fill(one, VECTORS[:60])
    for store in (one, two):
        assert near(store, VECTORS[7])[0].entry_id == ids[7]
    held = one._vectors.held, two._vectors.held
    assert one.forget([ids[7], ids[8]]) == 2
    for store, before in zip((one, two), held, strict=True):
        assert ids[7] not in [hit.entry_id for hit in near(store, VECTORS[7], session=None)]
        after = store._vectors.held
        if before is not None and after is not None:
            assert after.rows is before.rows and after.alive == 58
    more = fill(one, VECTORS[60:80], name="later")
    assert [near(store, VECTORS[66])[0].entry_id for store in (one, two)] == [more[6], more[6]]
    assert one.verify() == []
    one.close()
    two.close()


def test_a_process_that_missed_too_many_deletions_reads_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.vectors.REMOVALS_KEPT", 3)
    one, two = open_store(tmp_path), open_store(tmp_path)
    ids = fill(one, VECTORS[:30])
    assert near(two, VECTORS[7])[0].entry_id == ids[7]
    one.forget(ids[:20])
    found = [hit.entry_id for hit in two.search_vectors(VECTORS[7], embedder="e", limit=99)]
    assert set(found) == set(ids[20:]) and two.warm_vectors("e") == 10
    one.close()
    two.close()


def test_many_deletions_leave_no_room_wasted_in_memory_or_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.archive.store.vector_memory.WASTED_ROWS", 100)
    store = open_store(tmp_path)
    assert isinstance(store, SqliteStore)
    sizes = []
    for turn in range(3):
        ids = fill(store, VECTORS[:300], name=f"turn {turn}")
        assert near(store, VECTORS[7])[0].entry_id == ids[7]
        sizes.append(
            (tmp_path / "gardener.db").stat().st_size + (tmp_path / "gardener.db-wal").stat().st_size
        )
        store.forget(ids)
        assert near(store, VECTORS[7]) == [] and store.warm_vectors("e") == 0
    held = store._vectors.held
    assert held is not None and held.count == 0, "begun anew"
    assert max(sizes) < min(sizes) * 1.5
    store.compact()
    assert store.size_bytes() < 300_000
    store.close()


def test_a_matrix_that_grows_too_large_becomes_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_search, "MATRIX_ROWS", 100)
    monkeypatch.setattr(vector_search, "UNREAD_ROWS", 10**9)
    store = open_store(tmp_path)
    assert isinstance(store, SqliteStore)
    ids = fill(store, VECTORS[:90])
    assert near(store, VECTORS[7])[0].entry_id == ids[7] and type(store._vectors.held) is Matrix
    ids += fill(store, VECTORS[90:150], name="later")
    store.warm_vectors("e")
    assert near(store, VECTORS[120])[0].entry_id == ids[120]
    ids += fill(store, VECTORS[150:160], name="last")
    assert near(store, VECTORS[155])[0].entry_id == ids[155] and type(store._vectors.held) is Codes
    assert near(store, VECTORS[7])[0].entry_id == ids[7]
    store.close()


def test_an_odd_number_of_bytes_is_padded() -> None:
    for dim in (8, 20, 384, 7):
        matrix = RANDOM.standard_normal((50, dim)).astype(np.float32)
        rows = np.frombuffer(b"".join(code(row) for row in matrix), dtype=np.uint16).reshape(50, -1)
        expected = ((matrix > 0) != (matrix[3] > 0)).sum(axis=1)
        assert (distances(rows, code(matrix[3])) == expected).all()


def test_without_the_extension_numpy_serves(
    filled: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_search, "UNREAD_ROWS", 0)
    monkeypatch.setattr(vector_search, "SQLITE_VEC", "no_such_package")
    directory, ids = filled
    store = open_store(directory)
    assert isinstance(store, SqliteStore)
    assert [hit.entry_id for hit in near(store, VECTORS[9])] == exact(VECTORS[9], ids)
    assert store._vectors.held is not None
    store.close()


def test_opening_an_archive_loads_neither_numpy_nor_the_extension(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from aider_gardener.archive.store import open_store\n"
        "open_store(pathlib.Path(sys.argv[1])).close()\n"
        "sys.exit(bool({'numpy', 'sqlite_vec', 'keyring'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0


@pytest.mark.parametrize(("rows", "dim"), [(0, 384), (1, 384), (1_003, 384), (57, 1), (40, 20_000)])
def test_products_are_those_of_each_row(rows: int, dim: int) -> None:
    matrix = RANDOM.standard_normal((rows, dim)).astype(np.float32)
    wanted = RANDOM.standard_normal(dim).astype(np.float32)
    expected = (matrix.astype(np.float64) * wanted).sum(axis=1)
    assert products(matrix, wanted).dtype == np.float32
    assert np.allclose(products(matrix, wanted), expected, atol=1e-3)


def test_a_search_sets_no_other_thread_to_work() -> None:
    """Threads of numpy's BLAS spin for a while after each call: a core of the user's for nothing."""
    matrix = RANDOM.standard_normal((20_000, DIM)).astype(np.float32)
    wanted = matrix[0].copy()
    products(matrix, wanted)
    time.sleep(0.2)  # what other tests have set to spin has come to rest
    everywhere, here = time.process_time(), time.thread_time()
    for _round in range(10):
        products(matrix, wanted)
    here = time.thread_time() - here
    time.sleep(0.1)
    assert time.process_time() - everywhere < here + 0.05


def test_reading_many_vectors_takes_no_room_twice(filled: tuple[Path, list[str]]) -> None:
    store = open_store(filled[0])
    assert isinstance(store, SqliteStore)
    assert store._db.read(lambda db: store._vectors.grow(db, "e", 100)) == 100
    begun = store._vectors.held
    assert store.warm_vectors("e") == ROWS
    held = store._vectors.held
    assert begun is not None and held is not None and held.rows is begun.rows
    store.close()
