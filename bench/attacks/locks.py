"""A file system that fails now and then: an error of SQLite's at each of a chat's first statements.

    python -m bench.attacks.locks [--statements N] [--every N] [--json FILE]

A network file system loses locks and connections. So the n-th statement of a chat of six turns raises once,
by turns as an input/output error, a busy or locked file, and a failed locking protocol. The chat must go
on with at most one line of complaint and one that all is well, and all it said must be in the archive
afterwards.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw

from aider_gardener.archive.store import database, open_store
from bench.attacks.chat import Played
from bench.attacks.results import keep, parser_of

FAULTS = (apsw.IOError, apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
TURNS = 6


@dataclass
class Failing:
    """Raises at the statements from number `at` on, `times` of them, counted over all connections."""

    at: int
    fault: type[apsw.Error]
    times: int = 1
    seen: int = 0
    hit: str = ""

    def watch(self, _cursor: object, statement: str, _bindings: object) -> bool:
        if statement.startswith("ROLLBACK"):
            return True
        self.seen += 1
        if self.at <= self.seen < self.at + self.times:
            self.hit = self.hit or statement
            raise self.fault("injected")
        return True


@contextmanager
def failing(at: int, fault: type[apsw.Error], times: int = 1) -> Iterator[Failing]:
    """Every connection to an archive opened inside fails at that statement."""
    found = Failing(at, fault, times)
    opened = database._open

    def watched(path: Path | None, key: str = "") -> apsw.Connection:
        db = opened(path, key)
        if path is not None:
            db.exec_trace = found.watch
        return db

    with patch.object(database, "_open", watched):
        yield found


def attempt(directory: Path, at: int, times: int = 1) -> dict[str, Any]:
    """One chat that fails at one statement: what raised, what the user was told, what was lost."""
    fault = FAULTS[at % len(FAULTS)]
    raised = ""
    with failing(at, fault, times) as found:
        chat = Played(directory)
        try:
            for _ in range(TURNS):
                chat.turn()
        except Exception as error:  # reason: what is raised is the result
            raised = f"{type(error).__name__}: {error}"
        said, notices = chat.said(), [chat.store.notice, *chat.notices]
        chat.close()
    store = open_store(directory)
    stored = [entry.content for entry in store.session_entries("s")]
    problems = store.verify()
    store.close()
    return {
        "at": at,
        "fault": fault.__name__,
        "statement": found.hit[:80],
        "raised": raised,
        "notices": len(set(filter(None, notices))),
        "lost": len([text for text in said if text not in stored]) + 2 * TURNS - len(said),
        "problems": problems,
    }


def main() -> None:
    options = parser_of(__doc__, statements=330, every=1).parse_args()
    rows = []
    for at in range(1, options.statements + 1, options.every):
        with tempfile.TemporaryDirectory() as directory:
            rows.append(attempt(Path(directory) / "archive", at))
        if rows[-1]["raised"] or rows[-1]["lost"] or rows[-1]["problems"] or rows[-1]["notices"] > 2:
            print(json.dumps(rows[-1]), flush=True)
    found = {
        "attempts": len(rows),
        "met": sum(bool(row["statement"]) for row in rows),
        "raised": sum(bool(row["raised"]) for row in rows),
        "messages lost": sum(row["lost"] for row in rows),
        "archives damaged": sum(bool(row["problems"]) for row in rows),
        "told more than twice": sum(row["notices"] > 2 for row in rows),
        "told nothing": sum(bool(row["statement"]) and not row["notices"] for row in rows),
    }
    keep("locks", found, options.json)


if __name__ == "__main__":
    main()
