"""What it costs to renew the index of sessions, and to look for observations, by the size of the archive.

    python -m bench.renewal [--sessions N ...] [--json FILE]

The recorded sessions are chats of one project, over and over, each message with a number of its own so that
nothing is stored or remembered twice. Processor seconds, in a process that has done it once: `index` is the
whole of it, as at the end of a chat. In the loop of a chat a turn that begins stops it behind the session
that is being read, and `step` is the longest of them: so long a turn may find it at work.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import project_sessions
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.files import OLDER, index_path, write_index
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.learnt import learnt
from aider_gardener.messages import entry_id
from aider_gardener.replay.session.history import load_session
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate
from bench.provenance import made_on
from bench.retrieval import ROOT, messages_of

RESULTS = Path(__file__).with_name("results") / "renewal.json"
FORMAT = 1
SESSIONS = (10, 100, 1_000)
PROJECT = "p"
BEGUN, HOUR = 1.7e9, 3_600.0


@dataclass(frozen=True)
class Cost:
    """The cost at one size: sessions, those of them that the index lists, its bytes, processor seconds."""

    sessions: int
    listed: int
    bytes: int
    index: float
    observations: float
    step: float


@dataclass
class Steps:
    """The processor seconds between calls, one a session."""

    began: float = field(default_factory=time.thread_time)
    longest: float = 0.0

    def __call__(self) -> None:
        now = time.thread_time()
        self.longest, self.began = max(self.longest, now - self.began), now


def filled(directory: Path, sessions: int, recorded: Sequence[Path]) -> Store:
    """An archive of so many sessions, those that were recorded in turn, an hour apart."""
    with tempfile.TemporaryDirectory() as folder:
        first, there = open_store(Path(folder) / "first"), Path(folder) / "lines.jsonl"
        for number, path in enumerate(recorded):
            tell(first, path, BEGUN + number * HOUR)
        first.export(there)
        first.close()
        rows = [json.loads(line) for line in there.read_text("utf-8").splitlines()]
        with there.open("w", encoding="utf-8") as out:
            for line in copied(rows, sessions, len(recorded)):
                out.write(json.dumps(line) + "\n")
        store = open_store(directory)
        store.import_(there)
    return store


def tell(store: Store, path: Path, at: float) -> None:
    """Hold a recorded session again."""
    archive = Archive(store, session=path.name, project=PROJECT, count=approximate, clock=lambda: at)
    gardener, session = Gardener(Settings(), archive), load_session(path)
    for turn in range(1, session.turn_count + 1):
        gardener.enter_turn()
        gardener.sync(
            [
                *gardener.state.chat.pieces,
                *(asdict(message) for event in session.turn(turn) for message in messages_of(event)),
            ],
            [],
        )
        gardener.leave_turn()


def copied(rows: Sequence[dict[str, Any]], sessions: int, recorded: int) -> Iterator[dict[str, Any]]:
    """The lines of an export as those of so many sessions: nothing in two of them is the same."""
    yield rows[0]
    names = [row["id"] for row in rows if row["kind"] == "session"]
    for copy in range(-(-sessions // recorded)):
        wanted, shift = set(names[: sessions - copy * recorded]), copy * recorded * HOUR
        ids: dict[str, str] = {}
        for row in rows[1:]:
            if row["kind"] == "session" and row["id"] in wanted:
                yield {**row, "id": f"{row['id']}-{copy}", "started_at": row["started_at"] + shift}
            elif row["kind"] == "said":
                said = dict(row)
                if "content" in row:
                    content = f"{row['content']} #{copy}"
                    ids[row["id"]] = entry_id(row["role"], content)
                    said |= {"content": content, "chunks": []}
                if row["session"] in wanted:
                    said |= {"session": f"{row['session']}-{copy}", "at": row["at"] + shift}
                    yield {**said, "id": ids[row["id"]]}


def measured(store: Store) -> Cost:
    """What it costs in an archive, the second time."""
    now = max(info.last_at for info in project_sessions(store, PROJECT))
    for _ in range(2):
        steps = Steps()
        index = seconds(lambda pace: write_index(store, PROJECT, unasked=True, pace=pace), steps)
        observations = seconds(lambda pace: learnt(store, PROJECT, clock=lambda: now, pace=pace), steps)
    held = index_path(store).read_bytes()
    listed = held.decode().count("\n## ") - held.decode().count(f"\n{OLDER}\n")
    return Cost(
        len(project_sessions(store, PROJECT)), listed, len(held), index, observations, round(steps.longest, 3)
    )


def seconds(work: Callable[[Steps], object], steps: Steps) -> float:
    """The processor seconds of a piece of work that calls `steps` before each session."""
    began = steps.began = time.thread_time()
    work(steps)
    steps()
    return round(time.thread_time() - began, 2)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, nargs="+", default=SESSIONS, metavar="N")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    recorded = sorted(path.parent for path in (ROOT / "recorded_sessions").glob("*/session.jsonl"))
    costs = []
    for number in options.sessions:
        with tempfile.TemporaryDirectory() as folder:
            store = filled(Path(folder) / "archive", number, recorded)
            costs.append(measured(store))
            store.close()
        print(costs[-1], flush=True)
    value = {
        "format": FORMAT,
        "kind": "renewal",
        "provenance": made_on(),
        "costs": [asdict(cost) for cost in costs],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
