"""How well questions in several languages find English logs and code, by words, by meaning and by both.

`python bench/languages.py [--embedder NAME]` prints a Markdown table and writes bench/results/languages.json.
Each of twenty passages is to be found by its question among passages of this project's own sources.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from aider_gardener.adapters.aider.embedding import loading  # noqa: E402  # reason: the path is set above
from aider_gardener.archive.archive import Archive  # noqa: E402  # reason: the path is set above
from aider_gardener.archive.store import Chunk, Store, open_store  # noqa: E402  # reason: the path is set above
from aider_gardener.messages import (  # noqa: E402  # reason: the path is set above
    ContentClass,
    Entry,
    Source,
    SourceKind,
    entry_id,
)
from aider_gardener.plan.chat import Chat  # noqa: E402  # reason: the path is set above
from aider_gardener.recall.backlog import Backlog  # noqa: E402  # reason: the path is set above
from aider_gardener.recall.candidates import Request, near_in_meaning  # noqa: E402  # reason: the path is set above
from aider_gardener.recall.recall import recall  # noqa: E402  # reason: the path is set above
from aider_gardener.tokens import approximate  # noqa: E402  # reason: the path is set above
from bench.language_questions import LANGUAGES, PASSAGES  # noqa: E402  # reason: the path is set above

OTHERS, OTHER_CHARS = 300, 500
"""So many passages of the project's own sources stand beside the twenty, of so many characters."""


@dataclass(frozen=True)
class Row:
    """Shares of one language's questions, 0 to 1, whose passage came first, or among the first five."""

    language: str
    words_first: float
    words_five: float
    meaning_first: float
    meaning_five: float
    both_first: float
    both_five: float


def add(store: Store, text: str, seq: int) -> str:
    source, tokens = Source(SourceKind.COMMAND), len(text) // 4
    entry = Entry(entry_id("user", text), "s", 1, seq, "user", text, source, ContentClass.LOG, (), tokens)
    return store.add(entry, chunks=[Chunk(entry.id, 0, len(text))]).id


def other_texts() -> list[str]:
    """Passages spread evenly over the package's sources and docs."""
    files = [*sorted((ROOT / "aider_gardener").rglob("*.py")), *sorted((ROOT / "docs").rglob("*.md"))]
    whole = "".join(path.read_text("utf-8") for path in files)
    step = len(whole) // OTHERS
    return [whole[at : at + OTHER_CHARS] for at in range(0, step * OTHERS, step)]


def share(ranks: list[list[str]], wanted: list[str], depth: int) -> float:
    return sum(target in found[:depth] for found, target in zip(ranks, wanted, strict=True)) / len(wanted)


def measure(embedder: str) -> list[Row]:
    """One row for each language."""
    store = open_store(None)
    wanted = [add(store, text, seq) for seq, (text, _) in enumerate(PASSAGES)]
    for seq, text in enumerate(other_texts(), len(PASSAGES)):
        add(store, text, seq)
    backlog = Backlog(store, load=loading(embedder), background=False)
    backlog.drain()
    if backlog.off:
        sys.exit(backlog.take_notice())
    archive = Archive.reading(store)
    rows = []
    for at, language in enumerate(LANGUAGES):
        questions = [versions[at] for _, versions in PASSAGES]
        by_words = [[hit.entry_id for hit in store.search_text(q, limit=5)] for q in questions]
        archive.backlog = backlog
        near = [near_in_meaning(archive, q, limit=5, session=None, min_seq=None) for q in questions]
        by_meaning = [[hit.entry_id for hit in found] for found in near]
        asked = [Request(question, token_limit=100_000) for question in questions]
        both = [[hit.entry_id for hit in recall(archive, Chat(), each, count=approximate)] for each in asked]
        figures = [share(found, wanted, depth) for found in (by_words, by_meaning, both) for depth in (1, 5)]
        rows.append(Row(language, *figures))
    return rows


def table(rows: list[Row]) -> str:
    """The rows as Markdown: first / among the first five, in per cent."""
    lines = ["| question in | by words | by meaning | recall (both) |", "|---|---|---|---|"]
    for row in rows:
        cells = [
            f"{100 * first:.0f} / {100 * five:.0f}"
            for first, five in (
                (row.words_first, row.words_five),
                (row.meaning_first, row.meaning_five),
                (row.both_first, row.both_five),
            )
        ]
        lines.append(f"| {row.language} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="minilm", help="as the setting embedder")
    embedder = parser.parse_args().embedder
    rows = measure(embedder)
    result = {"embedder": embedder, "passages": len(PASSAGES) + OTHERS, "rows": [asdict(row) for row in rows]}
    place = ROOT / "bench" / "results" / "languages.json"
    place.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
