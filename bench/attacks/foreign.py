"""What other programs do to an archive that chats have open: is all there that was archived, or is it said?

    python -m bench.attacks.foreign [--runs N] [--seed N] [--act NAME] [--json FILE]

In each run two chats as in bench.attacks.kills write to one archive, another program comes in between (ACTS,
by turns, or one of them), both go on for some turns and are killed. `lost` counts messages that were
acknowledged, not forgotten, and are not there: what an ended chat had said goes with the folder that is
removed. `lost of open chats` counts those that were said since a chat began, `untold` runs that lost some, in
which a chat was open all the while, and neither a chat nor the next opening said a line: one that begins in a
folder without an archive cannot know of one. `stuck` counts chats that did not go on, `ended` those
that ended by themselves, and of an act with which exit code: one below 0 is a signal, and -7 (SIGBUS) the one
that any program gets which has SQLite's index of the log mapped while another copies over it.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from aider_gardener.archive.store import schema
from bench.attacks.kills import looked_at, writer
from bench.attacks.results import keep, parser_of

WRITERS, TURNS_AFTER, HELD_SECONDS, ENDING_SECONDS = 2, 4, 1.0, 5.0
COUNTED = ("messages acknowledged", "lost", "lost of open chats", "untold", "stuck", "ended")
FOLDER, FILE = ".aider.gardener", "gardener.db"
ENDINGS = ("", "-wal", "-shm")
Act = Callable[[Path], None]
"""Does something to a project whose archive is open."""


def sql(*statements: str) -> Act:
    """What another SQLite does that knows nothing of the check sums of pages."""

    def act(project: Path) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(project / FOLDER / FILE, timeout=5)) as db:
            db.isolation_level = None
            for statement in statements:
                db.execute(statement).fetchall()

    return act


def held(begin: str) -> Act:
    """A browser that leaves a transaction open for a while."""

    def act(project: Path) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(project / FOLDER / FILE, timeout=5)) as db:
            db.isolation_level = None
            db.execute(begin)
            db.execute("SELECT count(*) FROM originals").fetchall()
            time.sleep(HELD_SECONDS)

    return act


def git(*commands: str) -> Act:
    def act(project: Path) -> None:
        for command in commands:
            subprocess.run(["git", "-C", str(project), *command.split()], check=False, capture_output=True)

    return act


def copied(source: Path, target: Path) -> None:
    """A folder's files as they are found; a chat goes on meanwhile, and some of them go as it does."""
    with suppress(shutil.Error):
        ignored = shutil.ignore_patterns("*.part*")
        shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)


def backed_up(project: Path) -> None:
    path = project / FOLDER / FILE
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db, closing(sqlite3.connect("")) as to:
        db.backup(to, pages=5)


def restored(project: Path) -> None:
    """An older copy of the folder is copied over the one that is open."""
    older = project.parent / "older"
    copied(project / FOLDER, older)
    time.sleep(0.3)
    copied(older, project / FOLDER)


def replaced(project: Path) -> None:
    """As rsync does it: each file is written beside and renamed."""
    for ending in ENDINGS:
        path = project / FOLDER / f"{FILE}{ending}"
        with suppress(FileNotFoundError):
            os.replace(shutil.copy(path, project / FOLDER / f".{path.name}.x"), path)


def moved(project: Path) -> None:
    os.rename(project / FOLDER, project / "kept")


def moved_and_back(project: Path) -> None:
    os.rename(project / FOLDER, project / "kept")
    time.sleep(0.3)
    if not (project / FOLDER).exists():
        os.rename(project / "kept", project / FOLDER)


def without(*endings: str) -> Act:
    def act(project: Path) -> None:
        for ending in endings:
            (project / FOLDER / f"{FILE}{ending}").unlink(missing_ok=True)

    return act


def emptied(project: Path) -> None:
    for ending in ("", "-wal"):
        os.truncate(project / FOLDER / f"{FILE}{ending}", 0)


def swapped(project: Path) -> None:
    """The folder is another project's from now on."""
    os.rename(project / FOLDER, project / "kept")
    copied(project / "kept", project / FOLDER)


def forbidden(project: Path) -> None:
    for path in ((project / FOLDER), *(project / FOLDER).iterdir()):
        with suppress(FileNotFoundError):
            path.chmod(0o500 if path.is_dir() else 0o400)


LOOKED_AT = "looked at by a browser, and once more when the chats are killed"
LOOK = sql("SELECT count(*) FROM originals")
ACTS: dict[str, Act] = {
    LOOKED_AT: LOOK,
    "backup": backed_up,
    "VACUUM": sql("VACUUM"),
    "journal_mode=DELETE": sql("PRAGMA journal_mode=DELETE"),
    "wal_checkpoint(TRUNCATE)": sql("PRAGMA wal_checkpoint(TRUNCATE)"),
    "REINDEX": sql("REINDEX"),
    "a row written by a browser": sql("UPDATE sessions SET project = project"),
    "a table added by a browser": sql("CREATE TABLE notes (a)", "INSERT INTO notes VALUES (1)"),
    "user_version raised": sql("PRAGMA user_version = 999"),
    "held for reading": held("BEGIN"),
    "held for writing": held("BEGIN IMMEDIATE"),
    "an older folder copied over": restored,
    "rsync of its own files": replaced,
    "git stash -u": git("stash -u"),
    "git stash --all": git("stash --all"),
    "git stash --all and pop": git("stash --all", "stash pop"),
    "git clean -fdx": git("clean -fdx"),
    "folder renamed": moved,
    "folder renamed and back": moved_and_back,
    "folder replaced by its copy": swapped,
    "-wal removed": without("-wal"),
    "-shm removed": without("-shm"),
    "-wal and -shm removed": without("-wal", "-shm"),
    "all but the log removed": without("", "-shm"),
    "each file emptied": emptied,
    "read-only": forbidden,
}


def allowed(project: Path) -> None:
    for path in ((project / FOLDER), *(project / FOLDER).iterdir()):
        path.chmod(0o700 if path.is_dir() else 0o600)


AFTERWARDS: dict[str, Act] = {
    LOOKED_AT: LOOK,  # who closes it last moves the log into the file, without check sums
    "a table added by a browser": sql("DROP TABLE notes"),
    "user_version raised": sql(f"PRAGMA user_version = {schema.VERSION}"),
    "read-only": allowed,
}
"""What is done when the chats are killed: the last makes of an archive that is refused one that is not."""


def main() -> None:
    parser = parser_of(__doc__, runs=4 * len(ACTS), seed=1)
    parser.add_argument("--act", choices=ACTS, help="One of the acts.")
    options = parser.parse_args()
    acts = [options.act] if options.act else list(ACTS)
    keep("foreign", attack(options.runs, options.seed, acts), options.json)


def attack(runs: int, seed: int, acts: Sequence[str]) -> dict[str, Any]:
    """So many runs, the acts by turns; what they came to, and which acts lost something."""
    by_act: dict[str, Counter[str]] = {act: Counter() for act in acts}
    for number in range(runs):
        act = acts[number % len(acts)]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
            by_act[act] += one_run(Path(root) / "project", act, f"{seed} {number}")
    total: Counter[str] = sum(by_act.values(), Counter())
    return {"runs": runs, **{name: total[name] for name in COUNTED}, "by act": by_act}


def one_run(project: Path, act: str, seed: str) -> Counter[str]:
    """Two chats, an act in between, and what is left of them."""
    chance, found = random.Random(seed), Counter(runs=1)
    project.mkdir()
    git("init -q", "commit -q --allow-empty -m x")(project)
    directory = project / FOLDER
    writers = [writer(directory, f"k{number}", chance.randrange(1 << 30)) for number in range(WRITERS)]
    turns = chance.randrange(2, 8)
    found["stuck"] += sum(not each.goes_on(turns) for each in writers)
    time.sleep(chance.random() * 0.05)
    ACTS[act](project)
    for each in writers:
        each.hear(lambda: False)  # what was said before it was done
    before = [len(each.told) for each in writers]
    for each in writers:
        goes_on = each.goes_on(TURNS_AFTER)
        each.process.join(0 if goes_on else ENDING_SECONDS)  # its pipe is closed before it has ended
        code = each.process.exitcode
        found["ended"] += code is not None
        found[f"exit code {code}"] += code is not None
        found["stuck"] += not goes_on and code is None
    for each in writers:
        each.kill()
    if act in AFTERWARDS:
        AFTERWARDS[act](project)
    lines = [row[1] for each in writers for row in each.told if row[0] == "notice"]
    for each in writers:
        outcome = looked_at(directory, each.name, each.told)
        lines += [fault for fault in outcome.faults if fault.startswith("opened with")]
        found["messages acknowledged"] += outcome.acknowledged
        found["lost"] += len(outcome.lost)
        found["lost of open chats"] += len(looked_at(directory, each.name, each.since_it_began()).lost)
    after = [each.told[at:] for each, at in zip(writers, before, strict=True)]
    was_there = any("closed" not in {kind for kind, *_ in rows} for rows in after)
    found["untold"] += bool(found["lost"] and was_there and not lines)
    return +found


if __name__ == "__main__":
    main()
