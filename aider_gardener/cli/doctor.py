"""`gardener doctor`: a check-up of the installation, so that a fault report can begin with facts."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from aider_gardener.archive import plugin
from aider_gardener.cli.root import json_option, put, repository_root
from aider_gardener.errors import GardenerError

OLDEST, NEWEST = (3, 10), (3, 12)
MOST_PROBLEMS, LOG_LIMIT = 5, 1 << 20
"""So many faults of an archive are named; `gardener store verify` names all."""

TIERS = {
    "SQLite": "SQLite, the best for one machine",
    "JSON lines": "JSON lines, taken into SQLite as soon as that works: {why}",
    "memory": "memory only, what is said is lost at the end: {why}",
}
"""What is said of each tier."""


@dataclass(frozen=True)
class Check:
    """One thing looked at: what it is, whether it is in order, what was found or what to do."""

    name: str
    ok: bool
    found: str


@click.command(short_help="Check this installation and archive; changes nothing.")
@json_option
def doctor(as_json: bool) -> None:
    """Check this installation: Python, aider and its patch points, SQLite, the archive of this project, and
    its tier: whether what is said goes to SQLite, to lines of JSON or to memory, and why. Where a server is
    named that it may be shared through: whether it answers within seconds, and is fit.

    Exit code 1 when something is not in order. A fault report should begin with the output.
    """
    from aider_gardener.tables import checkup_table

    checks = checkup(Path.cwd(), repository_root(Path.cwd()))
    put(
        [asdict(check) for check in checks],
        as_json,
        lambda: checkup_table([(check.name, check.ok, check.found) for check in checks]),
    )
    if any(not check.ok for check in checks):
        sys.exit(1)


def checkup(directory: Path, root: Path | None) -> list[Check]:
    """All checks, in the order in which one would look; none of them leaves anything changed."""
    steps: list[tuple[str, Callable[[], tuple[bool, str]]]] = [
        ("Python", python),
        ("aider", patch_points),
        ("SQLite", sqlite),
        ("archive", lambda: archive(root)),
        ("tier", lambda: tier(root)),
        ("Claude Code", lambda: claude_code(root)),
        ("directory", lambda: writable(root or directory)),
    ]
    return [*(checked(name, step) for name, step in steps), *shared(root)]


def shared(root: Path | None) -> list[Check]:
    """How the project is shared, and whether the server that it is shared through, or that is named for
    nothing else, answers."""
    from aider_gardener.cli.shared import sharing_of
    from aider_gardener.settings import Settings

    directory = directory_of(root)
    try:
        is_there = (directory / "gardener.db").is_file()
        found = sharing_of(directory, Settings.from_env().store_key) if is_there else {"shared": False}
    except (GardenerError, OSError) as error:
        return [Check("sharing", False, str(error))]
    if not found["shared"] and not os.environ.get("AIDER_GARDENER_DATABASE_URL", "").strip():
        return []
    told = []
    if found["shared"]:
        failed = f"; the last sync failed: {found['problem']}" if found["problem"] else ""
        told = [Check("sharing", not failed, f"as {found['name']}{failed}")]
    return [*told, Check("server", *plugin.part("sync").look(os.environ))]


def checked(name: str, step: Callable[[], tuple[bool, str]]) -> Check:
    try:
        ok, found = step()
    except (GardenerError, ImportError, OSError) as error:
        return Check(name, False, str(error))
    return Check(name, ok, found)


def python() -> tuple[bool, str]:
    ok = OLDEST <= sys.version_info[:2] <= NEWEST
    found = f"{platform.python_version()} on {platform.system()}"
    return ok, found if ok else f"{found}; aider-gardener needs Python 3.10 to 3.12"


def patch_points() -> tuple[bool, str]:
    """Whether the installed aider has every patch point, found by installing and taking out again, and
    whether this version was tried."""
    from aider_gardener import install, uninstall
    from aider_gardener.adapters.aider.install import installed_version, needed_points
    from aider_gardener.adapters.aider.patch_points import TRIED

    version, count = installed_version(), len(needed_points())
    install()
    uninstall()
    tried = "was tried" if version in TRIED else f"was not tried ({TRIED[0]} to {TRIED[-1]} were)"
    return True, f"{version} {tried}, all {count} patch points as expected"


def sqlite() -> tuple[bool, str]:
    import apsw

    fts = "ENABLE_FTS5" in apsw.compile_options
    text = "available" if fts else "missing: reinstall apsw-sqlite3mc"
    return fts, f"{apsw.sqlite_lib_version()}, full text {text}"


def tier(root: Path | None) -> tuple[bool, str]:
    """The tier that a chat would work in, and why no better one; only memory is out of order."""
    from aider_gardener.archive.store import opening
    from aider_gardener.settings import Settings

    name, why = opening.tier_of(directory_of(root), Settings.from_env().store_key)
    return name != opening.MEMORY, TIERS[name].format(why=why)


def directory_of(root: Path | None) -> Path:
    """Where the archive of a work tree, or of this directory, belongs."""
    from aider_gardener.archive.store.location import chosen_directory, store_directory
    from aider_gardener.settings import Settings

    named = Settings.from_env().store_path
    return chosen_directory(named) if named else store_directory(root)


def archive(root: Path | None) -> tuple[bool, str]:
    from aider_gardener.archive.store import open_to_read
    from aider_gardener.archive.store.lines import names
    from aider_gardener.archive.store.location import check_whose, set_aside_in
    from aider_gardener.settings import Settings

    directory = directory_of(root)
    check_whose(directory)
    aside = ", ".join(set_aside_in(directory))
    told = f"; set aside there, and no part of it: {aside}" if aside else ""
    if not (directory / "gardener.db").is_file() and not names(directory):
        return True, f"none yet (will be made in {directory}){told}"
    store = open_to_read(directory, key_source=Settings.from_env().store_key)
    try:
        problems = store.verify()
    finally:
        store.close()
    if not problems:
        return True, f"sound, in {directory}{told}"
    more = f" and {len(problems) - MOST_PROBLEMS:,} more" if len(problems) > MOST_PROBLEMS else ""
    return (
        False,
        f"{'; '.join(problems[:MOST_PROBLEMS])}{more}; `gardener store verify` puts right what it can{told}",
    )


def claude_code(root: Path | None) -> tuple[bool, str]:
    """What hooks met: records of transcripts that nobody here knows, which are kept as they are, and
    faults."""
    from aider_gardener import files
    from aider_gardener.adapters.claude_code.client import LOG_NAME
    from aider_gardener.adapters.intake import unknown_records
    from aider_gardener.archive.store import open_to_read
    from aider_gardener.settings import Settings

    directory = directory_of(root)
    if not (directory / "gardener.db").is_file():
        return True, "nothing was taken in yet"
    store = open_to_read(directory, key_source=Settings.from_env().store_key)
    try:
        unknown = unknown_records(store)
    finally:
        store.close()
    log = directory / LOG_NAME
    faults = files.read(log, LOG_LIMIT).decode("utf-8", "replace").splitlines() if log.is_file() else []
    told = [f"{count} of the type {kind}" for kind, count in unknown.most_common(MOST_PROBLEMS)]
    records = f"records of unknown types, kept as they are, or not read: {', '.join(told)}" if told else ""
    failed = f"{len(faults)} hooks failed, last {faults[-1]}; see {log}" if faults else ""
    return not faults, "; ".join(filter(None, [records, failed])) or "no unknown records, no faults"


def writable(directory: Path) -> tuple[bool, str]:
    ok = os.access(directory, os.W_OK)
    return ok, str(directory) if ok else f"{directory} cannot be written: memory will not outlive the process"
