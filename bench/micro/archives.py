"""Archives of a given size for the suites: written as an export and read in, with a vector for each passage.

Vectors come from word counts turned into 512 numbers by a fixed random matrix: they cost next to
nothing, so that what is measured is the archive, and texts that share words are near each other.
"""

from __future__ import annotations

import json
import random
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store, schema
from aider_gardener.messages import Focus, Message, entry_id
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import USE_DIM
from aider_gardener.tokens import approximate

RECIPE = 4
"""Part of the folder's name, behind the version: raise it when the entries are made in another way."""
BUCKETS = 4_096
BATCH = 4_000
VOCABULARY = 60_000
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
FIRST_NUMBER = 1_000_000
SESSIONS = 40
"""The entries are spread over so many sessions."""


class WordVectors:
    """An embedder without a model; see the module."""

    name = "bench-words"
    dim = USE_DIM

    def __init__(self) -> None:
        self.matrix = np.random.default_rng(7).standard_normal((BUCKETS, USE_DIM)).astype(np.float32)

    def load(self) -> None:
        """Nothing is loaded."""

    def unload(self) -> None:
        """Nothing was."""

    def embed(self, texts: Sequence[str]) -> Any:
        rows = ([bucket(each) for each in text.split()] or [0] for text in texts)
        found = np.stack([self.matrix[row].sum(axis=0) for row in rows])
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def bucket(word: str) -> int:
    return zlib.crc32(word.encode()) % BUCKETS


def backlog(store: Store) -> Backlog:
    """A backlog that answers at once and works in the caller's thread only."""
    embedder = WordVectors()
    made = Backlog(store, load=lambda: embedder, background=False)
    made.drain(0)
    return made


def archive_of(entries: int, folder: Path) -> Path:
    """The folder of an archive with so many entries, each with its vectors; built if it is not there."""
    target = folder / f"archive-{entries}-{schema.VERSION}.{RECIPE}"
    if (target / "ready").exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    target.mkdir(exist_ok=True)
    store = open_store(target)
    with tempfile.TemporaryDirectory() as scratch:
        export = Path(scratch) / "export.jsonl"
        with export.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines(entries, Path(scratch)))
        store.import_(export)
    while store.work_off():
        continue
    vectors = backlog(store)
    while vectors.drain(BATCH):
        continue
    store.close()
    (target / "ready").write_text("built to its end\n", encoding="utf-8")
    return target


def lines(entries: int, scratch: Path) -> Iterator[dict[str, Any]]:
    """The lines of an export, after the pattern of a real one of a single entry."""
    store = open_store(scratch / "pattern")
    archive = Archive(store, session="s", project="bench", count=approximate, clock=lambda: 1.8e9)
    archive.add(Message("assistant", "pattern"), turn=1, seq=1, focus=Focus())
    store.export(scratch / "pattern.jsonl")
    store.close()
    text = (scratch / "pattern.jsonl").read_text(encoding="utf-8")
    pattern = {line["kind"]: line for line in map(json.loads, text.splitlines())}
    yield pattern["meta"]
    for number in range(SESSIONS):
        yield {**pattern["session"], "id": f"session-{number}"}
    rng = random.Random(11)
    for n in range(entries):
        content = passage(rng, n)
        entry = entry_id("assistant", content)
        span = {"segments": [[0, len(content), "prose", "", ""]], "chunks": [[0, len(content)]]}
        at = {"session": f"session-{n % SESSIONS}", "seq": n // SESSIONS, "turn": n // SESSIONS // 4 + 1}
        said = {"id": entry, "content": content, "tokens": len(content) // 4}
        yield {**pattern["said"], **said, **span, **at}


def passage(rng: random.Random, n: int) -> str:
    """Two sentences with names, a path and a number that occurs nowhere else."""
    a, b, c, d, e, f, g, h = (term(rng) for _ in range(8))
    return (
        f"The {a} {b}_{c} reads src/{d}/{e}.py before the {f} ends."
        f" We set the limit of the {g} to {FIRST_NUMBER + n} because the {h} {a} failed."
    )


def term(rng: random.Random) -> str:
    """A word of a vocabulary in which few are common and most are rare, as in any text."""
    rank = int(VOCABULARY ** rng.random())
    syllables: list[str] = []
    while rank or not syllables:
        rank, at = divmod(rank, len(SYLLABLES))
        syllables.append(SYLLABLES[at])
    return "".join(syllables) + "or"


def question(rng: random.Random, entries: int) -> str:
    """Asks for one of the entries in other words: by its number, or by some of its words."""
    n = rng.randrange(entries)
    if rng.random() < 0.5:
        return f"why did we set that limit to {FIRST_NUMBER + n}, and for which {term(rng)}?"
    return f"what does the {term(rng)} of {term(rng)}_{term(rng)} read before the {term(rng)} ends?"
