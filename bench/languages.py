"""How well questions in several languages find English logs and code, by words, by meaning and by both.

    python -m bench.languages [--embedder NAME] [--json FILE]

Each of twenty passages, as they stand in chats (logs, code, outputs), is to be found by its question among
passages of the recorded sessions' files. The questions are hand-made: none repeats a name, path or number of
its passage, unless people would type it in any language.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import GardenerError
from aider_gardener.messages import ContentClass, Entry, Source, SourceKind, entry_id
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import EmbedderError, loading
from aider_gardener.recall.finding import cosines
from aider_gardener.recall.recall import recall
from aider_gardener.recall.request import Request
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("results") / "languages.json"
LABELLED = json.loads(Path(__file__).with_name("labelled").joinpath("languages.json").read_text("utf-8"))
LANGUAGES: dict[str, str] = LABELLED["languages"]
"""Their names by their codes (ISO 639-1)."""
PASSAGES: list[dict[str, str]] = LABELLED["passages"]
"""Each a `passage`, and the question that it answers by the code of its language."""
OTHERS, OTHER_CHARS = 300, 500
"""So many passages of the sessions' files stand beside the twenty, of so many characters."""


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


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", help="as the setting embedder")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    try:
        rows = measure(options.embedder)
    except GardenerError as problem:
        print(f"bench.languages: {problem}", file=sys.stderr)
        return 1
    print(table(rows))
    value = {
        "provenance": made_on(),
        "passages": len(PASSAGES) + OTHERS,
        "embedder": options.embedder,
        "rows": [asdict(row) for row in rows],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(embedder: str) -> list[Row]:
    """One row for each language. Raises EmbedderError."""
    store = open_store(None)
    wanted = [add(store, asked["passage"], seq) for seq, asked in enumerate(PASSAGES)]
    for seq, text in enumerate(other_texts(), len(PASSAGES)):
        add(store, text, seq)
    backlog = Backlog(store, load=loading(embedder), background=False)
    backlog.drain()
    if backlog.off:
        raise EmbedderError(backlog.take_notice())
    archive = Archive.reading(store)
    archive.backlog = backlog
    rows = []
    for field, language in LANGUAGES.items():
        ways = found(archive, [asked[field] for asked in PASSAGES])
        rows.append(Row(language, *(share(ranks, wanted, depth) for ranks in ways for depth in (1, 5))))
    store.close()
    return rows


def found(archive: Archive, questions: Sequence[str]) -> tuple[list[list[str]], ...]:
    """The entries that each question finds, best first: by words, by meaning, and by recall."""
    by_meaning = [nearest(archive, q, 5) for q in questions]
    return recalled(Archive.reading(archive.store), questions), by_meaning, recalled(archive, questions)


def recalled(archive: Archive, questions: Sequence[str]) -> list[list[str]]:
    """The entries that recall finds for each question, best first; by words alone without a backlog."""
    asked = [Request(question, token_limit=100_000) for question in questions]
    return [[hit.entry_id for hit in recall(archive, Chat(), each)] for each in asked]


def nearest(archive: Archive, question: str, limit: int) -> list[str]:
    """The entries whose passage is nearest in meaning, nearest first."""
    evidence = archive.store.evidence([])
    near = cosines(archive, Chat(), Request(question), evidence)
    best = [int(evidence.chunks[at]) for at in (-near).argsort(kind="stable")[:limit]]
    quoted = archive.store.quoted(best)
    return [quoted[chunk].entry_id for chunk in best]


def add(store: Store, text: str, seq: int) -> str:
    """The text as an entry of one passage; returns its id."""
    source, tokens = Source(SourceKind.COMMAND), len(text) // 4
    entry = Entry(entry_id("user", text), "s", 1, seq, "user", text, source, ContentClass.LOG, (), tokens)
    return store.add(entry, chunks=[(0, len(text))]).id


def other_texts() -> list[str]:
    """Passages spread evenly over the files that the recorded sessions begin with: they never change."""
    folder = ROOT / "recorded_sessions"
    files = sorted(path for path in folder.glob("*/repo0/**/*") if path.is_file())
    whole = "".join(path.read_bytes().decode("utf-8", "ignore") for path in files)
    step = len(whole) // OTHERS
    return [whole[at : at + OTHER_CHARS] for at in range(0, step * OTHERS, step)]


def share(ranks: Sequence[Sequence[str]], wanted: Sequence[str], depth: int) -> float:
    """How many of the targets are among the first so many, of 1."""
    return sum(target in ids[:depth] for ids, target in zip(ranks, wanted, strict=True)) / len(wanted)


def table(rows: Sequence[Row]) -> str:
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


if __name__ == "__main__":
    sys.exit(main())
