"""Write the parts of docs/upkeep.md that commands made of recorded sessions, or with `--check` compare them.

The archive is that of the session till-log, three chats of one project, replayed on a real aider with the
gardener in it; its project and its chats get names that stay. What the recordings propose as rules is shown
as if all of them were chats of one project: no recording has three chats that say the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pages import command, put_section, results, section_faults, table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import project_sessions, short_ids
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.location import DIRECTORY_NAME
from aider_gardener.gardener import done_tasks, learnt
from aider_gardener.gardener.account import account
from aider_gardener.gardener.files import project_index, session_page
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Message
from aider_gardener.replay.play.clock import START
from aider_gardener.replay.play.jobs import Job, replay_job
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import SessionEvent
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate
from bench import renewal
from bench.observations import HEAD
from bench.observations import table as measured
from bench.retrieval import messages_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upkeep.md"
RECORDED = ROOT / "recorded_sessions"
SESSION = "till-log"
DAY = 86_400.0
TODO = """\
# slate 0.3.0

- [x] exit code 5 for what cannot be written
    - approved by operations, the supervisor knows it
- [x] a failed append leaves no torn bytes behind
- [ ] tell the pilot tills from the others
- [x] CHANGELOG.md with the ticket numbers
    - [ ] the number of the power cut
"""
"""A list of tasks for that project, written for the page."""


def main(argv: Sequence[str] | None = None) -> int:
    """Put every part into the page, or with --check only compare them."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    return command(__doc__, argv, faults, write)


def faults() -> Iterator[str]:
    """The parts that are not what the commands make, a line each."""
    for name in parts_made():
        yield from section_faults(PAGE, name, partial(parts_made().__getitem__, name), "upkeep_page.py")


def write() -> str:
    for name in parts_made():
        put_section(PAGE, name, partial(parts_made().__getitem__, name))
    return f"{PAGE.name}: the files are those that the commands make"


@lru_cache(maxsize=1)
def parts_made() -> Mapping[str, str]:
    """By its name each part of the page: files in fences, and tables of what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "slate"
        root.mkdir()
        store = replayed(Path(folder), root)
        project = str(root)
        info = project_sessions(store, project)[0]
        short = short_ids([each.id for each in project_sessions(store, project)])
        (root / "TODO.md").write_text(TODO, encoding="utf-8")
        clock = standing(START + DAY)
        moves = done_tasks.moves(store, project, clock=clock)
        done_tasks.apply(store, project, moves, clock=clock)
        made = {
            "session": session_page(account(store, info), short[info.id]),
            "index": project_index(store, project),
            "tasks before": TODO,
            "tasks after": (root / "TODO.md").read_text("utf-8"),
            "task archive": (root / done_tasks.ARCHIVE_NAME).read_text("utf-8"),
            "observations": observations(),
        }
        store.close()
    fenced = {name: f"~~~~text\n{text}~~~~\n" for name, text in made.items()}
    rows = [[*row] for row in measured()]
    costs = results(renewal.RESULTS, "renewal", renewal.FORMAT)
    tables = {"precision": table(HEAD, rows), "renewal": cost(costs)}
    return fenced | {name: "\n".join(lines) + "\n" for name, lines in tables.items()}


def cost(value: Mapping[str, Any]) -> Iterator[str]:
    """A row a size of the archive: what the index and the look for observations cost."""
    rows = [
        [
            f"{row['sessions']:,}", f"{row['listed']:,}", f"{row['bytes'] / 1_000:.0f} KB",
            f"{row['index']:.1f} s", f"{row['observations']:.1f} s", f"{row['step']:.2f} s",
        ]
        for row in value["costs"]
    ]  # fmt: skip
    return table(["sessions", "listed", "index", "to renew it", "observations", "longest step"], rows)


def standing(at: float) -> Callable[[], float]:
    """A clock that stands still."""
    return lambda: at


def replayed(folder: Path, root: Path) -> Store:
    """The archive of the session, replayed with the gardener, as that of the project at `root`."""
    first, there = folder / "replayed" / DIRECTORY_NAME, folder / "all.jsonl"
    replay_job(
        Job(
            replace(load_session(RECORDED / SESSION), probes=()),
            "gardener",
            settings={"store": str(first), "embedder": "none"},
        )
    )
    own = open_store(folder / "adopted")
    own.adopt(first / "gardener.db")
    own.export(there)
    own.close()
    there.write_text(renamed(there.read_text("utf-8"), str(root)), "utf-8")
    store = open_store(root / DIRECTORY_NAME)
    store.import_(there)
    return store


def renamed(lines: str, project: str) -> str:
    """An export in which the project and its sessions have names that stay."""
    rows = [json.loads(line) for line in lines.splitlines()]
    sessions = [row for row in rows if row["kind"] == "session"]
    for number, row in enumerate(sessions, 1):
        name = hashlib.sha256(f"{SESSION} {number}".encode()).hexdigest()[:16]
        lines = lines.replace(json.dumps(row["id"]), json.dumps(name))
        lines = lines.replace(json.dumps(row["project"]), json.dumps(project))
    return lines


def observations() -> str:
    """What `gardener observations` would list if every recording were a chat of one project, a day apart."""
    store = open_store(None)
    names = sorted(path.parent.name for path in RECORDED.glob("*/session.jsonl"))
    for number, name in enumerate(names):
        at = START + number * DAY
        archive = Archive(store, session=name, project="p", count=approximate, clock=standing(at))
        gardener, said = Gardener(Settings(), archive), []
        session = load_session(RECORDED / name)
        for turn in range(1, session.turn_count + 1):
            gardener.enter_turn()
            said += [asdict(message) for event in session.turn(turn) for message in told(event)]
            gardener.sync([], said)
            gardener.leave_turn()
    found = learnt.learnt(store, "p", clock=standing(START + len(names) * DAY))
    return "\n".join(learnt.render(store, "p", found)) + "\n"


def told(event: SessionEvent) -> Iterator[Message]:
    """What an event leaves in the chat, what the linter reported too."""
    if event.kind == "warning" and event.text.lstrip().startswith("# Fix any errors below"):
        yield Message("user", event.text)
    yield from messages_of(event)


if __name__ == "__main__":
    sys.exit(main())
