"""Hostile files in a repository: what hangs, what is read, what is changed.

    python -m bench.attacks.files [--json FILE]

Each attack runs in a process of its own, with a home of its own, for at most a minute and 1 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.attacks.results import HELD, environment, keep_outcomes, parser_of

SECONDS, MEMORY_BYTES = 60, 1 << 30
JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
TRIGGER = """CREATE TRIGGER t AFTER INSERT ON occurrences
    BEGIN UPDATE bodies SET body = CAST('evil' AS BLOB); END"""

Attack = Callable[[Path], str]
"""Does its worst to a repository and the archive's place in it; "held", or what went wrong."""


def put(store: Any, text: str) -> None:
    """Say something in a chat of an archive."""
    from aider_gardener.messages import ContentClass, Entry, Source, entry_id

    store.open_session("s", project="p", started_at=1.0)
    new = Entry(
        id=entry_id("user", text), session="s", turn=1, seq=0, role="user", content=text,
        source=Source(), cls=ContentClass.PROSE, segments=(), tokens=1,
    )  # fmt: skip
    store.add(new, chunks=[(0, len(text))])


def filled(place: Path, text: str) -> Path:
    """An archive with one entry, closed."""
    from aider_gardener.archive.store import open_store

    store = open_store(place)
    put(store, text)
    store.close()
    return place / "gardener.db"


def planted(place: Path) -> Path:
    """An archive that somebody else made, with an entry and a trigger."""
    path = filled(place, "evil")
    opened(path).execute(TRIGGER)
    return path


def opened(path: Path) -> Any:
    """A connection to an archive whose check sums are right, as whoever knows of them would write it."""
    import apsw

    from aider_gardener.archive.store import schema

    db = schema.opened(path, apsw.SQLITE_OPEN_READWRITE, "")
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    return db


def commit(top: Path, path: str = ".aider.gardener") -> None:
    for words in (["init", "-q"], ["add", "-f", path], ["commit", "-qm", "theirs"]):
        subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)


def told(place: Path) -> str:
    """Open and use the archive: does one line say what is wrong?"""
    from aider_gardener.archive.store import open_store

    store = open_store(place)
    put(store, "mine")
    return HELD if store.notice and "\n" not in store.notice else "not a word of it"


def clean(place: Path) -> str:
    """Open and use the archive: is what it shows the user's own?"""
    from aider_gardener.archive.store import open_store

    store = open_store(place)
    put(store, "mine")
    found = [entry.content for entry in store.session_entries("s")]
    return HELD if found == ["mine"] else f"it shows {found}"


def marker_names_zero(place: Path) -> str:
    place.mkdir()
    value = {"source": "file:/dev/zero", "salt": "00", "check": ""}
    (place / "encryption.json").write_text(json.dumps(value))
    return told(place)


def endless_marker(place: Path) -> str:
    place.mkdir()
    (place / "encryption.json").touch()
    os.truncate(place / "encryption.json", 1 << 40)
    return clean(place)


def committed_trigger(place: Path) -> str:
    planted(place)
    commit(place.parent)
    return clean(place)


def committed_entries(place: Path) -> str:
    filled(place, "evil")
    commit(place.parent)
    return clean(place)


def unpacked_trigger(place: Path) -> str:
    planted(place)
    return clean(place)


def committed_log(place: Path) -> str:
    path = filled(place, "mine")
    own, log = path.read_bytes(), path.with_name("gardener.db-wal")
    db = opened(path)
    db.execute("UPDATE bodies SET body = CAST('evil' AS BLOB)")
    theirs = log.read_bytes()
    db.close()
    path.write_bytes(own)
    log.write_bytes(theirs)
    commit(place.parent, ".aider.gardener/gardener.db-wal")
    return clean(place)


def strange_journal(place: Path) -> str:
    """A journal that says another file belongs to the same change: SQLite opens that one too."""
    path, victim = filled(place, "mine"), place.parent / "victim"
    victim.write_text("precious")
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = delete")
    db.close()
    name = str(victim).encode()
    head = (JOURNAL_MAGIC + struct.pack(">iIIII", 0, 0, 1, 512, 4096)).ljust(512, b"\0")
    tail = struct.pack(">I", 1 << 18) + name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    path.with_name("gardener.db-journal").write_bytes(head + tail)
    outcome = told(place)
    return outcome if victim.exists() else "it deleted the other file"


def hard_link(place: Path) -> str:
    victim = place.parent / "victim"
    victim.write_text("precious " * 1_000)
    victim.chmod(0o644)
    place.mkdir()
    os.link(victim, place / "gardener.db")
    outcome, mode = told(place), victim.stat().st_mode & 0o777
    return outcome if mode == 0o644 else f"the other file has the mode {mode:o}"


def foreign_directory(place: Path) -> str:
    from aider_gardener.archive.store import open_store

    top = place.parent
    (top / "a.py").write_text("")
    top.chmod(0o755)
    open_store(top).close()
    mode = top.stat().st_mode & 0o777
    return HELD if mode == 0o755 and len(list(top.iterdir())) == 1 else f"mode {mode:o}, files put into it"


NAMES = (
    ".gitignore", "encryption.json", "CONTEXT_ARCHIVE.md", "gardener.db", "gardener.db-wal",
    "gardener.db-shm", "gardener.db-journal", "gardener.db.copy", "gardener.db.mended",
)  # fmt: skip
"""All that the gardener writes in the archive's directory."""
PLANTED: dict[str, Callable[[Path, Path], None]] = {
    "a link to another file": lambda path, victim: path.symlink_to(victim),
    "a link to /dev/zero": lambda path, _victim: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path, victim: path.symlink_to(victim.parent / "new"),
    "a link to a directory": lambda path, victim: path.symlink_to(victim.parent),
    "a directory": lambda path, _victim: path.mkdir(),
    "a FIFO": lambda path, _victim: os.mkfifo(path),
}


def in_place_of(name: str, plant: Callable[[Path, Path], None]) -> Attack:
    """What stands in the place of one of the archive's files when two chats come and the index is written."""

    def attack(place: Path) -> str:
        from aider_gardener.archive.store import open_store
        from aider_gardener.errors import GardenerError
        from aider_gardener.gardener.files import write_index

        outside = place.parent.parent / "outside"
        outside.mkdir()
        (outside / "victim").write_text("precious")
        filled(place, "mine")
        (place / name).unlink(missing_ok=True)
        plant(place / name, outside / "victim")
        said = []
        for _ in range(2):
            store = open_store(place)
            put(store, "mine")
            try:
                write_index(store, "p")
                store.forget(["none"])
            except GardenerError as error:
                said.append(str(error))
            said += store.verify()
            found = [entry.content for entry in store.session_entries("s")]
            said.append(store.notice)
            store.close()
        if [each.name for each in outside.iterdir()] != ["victim"]:
            return "it wrote outside"
        if (outside / "victim").read_text() != "precious":
            return "it changed the other file"
        if found != ["mine"]:
            return f"it shows {found}"
        return HELD if not any("\n" in line for line in said) else "many lines"

    return attack


def linked_directory(*, is_own: bool) -> Attack:
    """The archive's directory leads elsewhere, to files of the user's or to an archive of another project."""

    def attack(place: Path) -> str:
        from aider_gardener.archive.store import open_store

        outside = place.parent.parent / "outside" / ".aider.gardener"
        outside.mkdir(parents=True)
        if is_own:
            filled(outside, "of another project")
        else:
            (outside / "a.txt").write_text("precious")
        before = {each: each.read_bytes() for each in outside.iterdir()}
        place.symlink_to(outside)
        store = open_store(place)
        put(store, "mine")
        found, notice = [entry.content for entry in store.session_entries("s")], store.notice
        store.close()
        if {each: each.read_bytes() for each in outside.iterdir()} != before:
            return "it wrote outside"
        return HELD if found == ["mine"] and notice else f"it shows {found}, says {notice!r}"

    return attack


WINDOW, PRICE = ("max_input_tokens", "max_tokens", "max_output_tokens"), (
    "input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)  # fmt: skip
NONSENSE: dict[str, Any] = {
    "a word": "x", "less than nothing": -1, "null": None, "more than a number": 1e308, "a list": [1],
}  # fmt: skip


def metadata(keys: tuple[str, ...], value: Any) -> Attack:
    """A repository's .aider.model.metadata.json says nonsense of the model: aider goes on as it would without
    the gardener."""

    def attack(place: Path) -> str:
        top = place.parent
        (top / ".aider.model.metadata.json").write_text(json.dumps({"theirs/m": dict.fromkeys(keys, value)}))
        (top / "a.py").write_text("x = 1\n")
        commit(top, "a.py")
        outcomes = []
        for words in ((), ("install",)):
            command = [sys.executable, "-c", TALK, *words]
            done = subprocess.run(command, cwd=top, capture_output=True, text=True, timeout=60, check=False)
            outcomes.append(
                (done.returncode, "Traceback" in done.stdout + done.stderr, "Noted." in done.stdout)
            )
        return HELD if outcomes[0] == outcomes[1] else f"aider {outcomes[0]}, with the gardener {outcomes[1]}"

    return attack


TALK = """
import sys
from types import SimpleNamespace
import aider.main, litellm
from aider_gardener.replay.play.calls import completion
litellm.completion = lambda **options: completion("Noted.", options["model"], 10, 5)
if sys.argv[1:]:
    from aider_gardener import install
    install()
words = ["--model", "theirs/m", "--yes-always", "--no-stream", "--no-show-model-warnings"]
words += ["--no-check-update", "--analytics-disable", "--no-pretty", "--edit-format", "ask"]
words += ["--map-tokens", "0"]
coder = aider.main.main(words, return_coder=True)
for number in range(4):
    coder.run(with_message=f"What is x in step {number}? " + "word " * 2_000)
"""


def recording(place: Path) -> str:
    from aider_gardener.errors import SessionError
    from aider_gardener.replay.session.session import read_rows

    os.mkfifo(place.parent / "session.jsonl")
    try:
        read_rows(place.parent / "session.jsonl")
    except SessionError:
        return HELD
    return "read"


ATTACKS: dict[str, Attack] = {
    **{f"{name} is {what}": in_place_of(name, plant) for name in NAMES for what, plant in PLANTED.items()},
    "the archive's directory is a link to files of the user's": linked_directory(is_own=False),
    "the archive's directory is a link to another archive": linked_directory(is_own=True),
    **{
        f"a repository says that {of} of a model is {what}": metadata(keys, value)
        for of, keys in (("the window", WINDOW), ("the price", PRICE))
        for what, value in NONSENSE.items()
        if keys is PRICE or not isinstance(value, (str, list))  # aider itself ends on those
    },
    "encryption.json names file:/dev/zero": marker_names_zero,
    "encryption.json of 1 TB": endless_marker,
    "a committed archive with a trigger": committed_trigger,
    "a committed archive with entries": committed_entries,
    "an unpacked archive with a trigger": unpacked_trigger,
    "a committed log beside one's own archive": committed_log,
    "a journal that names another file": strange_journal,
    "a hard link to another file": hard_link,
    "the store is a directory with other files": foreign_directory,
    "a recording is a FIFO": recording,
}


def outcome_of(name: str) -> str:
    """Run one attack in a process of its own: what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "home").mkdir()
        Path(folder, "repo").mkdir()
        command = [sys.executable, "-m", "bench.attacks.files", "--one", name]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment(Path(folder, "home")), timeout=SECONDS,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "it hung"
        words = (done.stdout if not done.returncode else done.stderr).strip().splitlines() or ["it died"]
        return words[-1].replace(folder, "…")


def attack(name: str) -> None:
    """In the process of its own: one attack, whose outcome is the last line printed."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    outcome = ATTACKS[name](Path.cwd() / "repo" / ".aider.gardener")
    print(outcome, flush=True)
    os._exit(0)  # threads that a fault left must not hold it up


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--one", choices=ATTACKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        attack(options.one)
    return keep_outcomes("files", {name: outcome_of(name) for name in ATTACKS}, options.json)


if __name__ == "__main__":
    sys.exit(main())
