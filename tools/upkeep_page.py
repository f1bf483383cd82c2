"""Write the parts of docs/upkeep.md that commands made of recorded sessions, or with `--check` compare them.

The archive is that of the session till-log, three chats of one project, replayed on a real aider with the
gardener in it; its project and its chats get names that stay.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pages import Section, main, table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.location import DIRECTORY_NAME
from aider_gardener.gardener.done_tasks import HEAD as DONE
from aider_gardener.gardener.done_tasks import archived, done_in
from aider_gardener.gardener.files import project_index
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from bench.observations import HEAD
from bench.observations import table as measured

TOOL = "upkeep_page"
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upkeep.md"
RECORDED = ROOT / "recorded_sessions"
SESSION = "till-log"
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


@lru_cache(maxsize=1)
def parts_made() -> Mapping[str, str]:
    """By its name each part of the page: files in fences, and tables of what was measured."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "slate"
        root.mkdir()
        store = replayed(Path(folder), root)
        project = str(root)
        _left, done = done_in(TODO)
        made = {
            "index": project_index(store, project),
            "tasks before": TODO,
            "task archive": archived(DONE, done, "2024-01-02"),
        }
        store.close()
    fenced = {name: f"~~~~text\n{text}~~~~\n" for name, text in made.items()}
    precision = table(HEAD, [[*row] for row in measured()])
    return fenced | {"precision": "\n".join(precision) + "\n"}


def replayed(folder: Path, root: Path) -> Store:
    """The archive of the session, replayed with the gardener, as that of the project at `root`."""
    first, there = folder / "replayed" / DIRECTORY_NAME, folder / "all.jsonl"
    session = replace(load_session(RECORDED / SESSION), probes=())
    replay_job(Job(session, f"gardener+store={first}+embedder=none"))
    own = open_store(folder / "adopted")
    with closing(open_store(first)) as replayed:
        own.copy_from(replayed)
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


SECTIONS = [
    Section(PAGE, name, lambda name=name: parts_made()[name])  # type: ignore[misc]  # reason: bound now
    for name in ("index", "tasks before", "task archive", "precision")
]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
