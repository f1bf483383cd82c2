"""`gardener doctor`: a check-up of the installation, so that a fault report can begin with facts."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from aider_gardener.archive import plugin
from aider_gardener.cli.root import holds_archive, json_option, place_of, put
from aider_gardener.errors import GardenerError
from aider_gardener.phrases import counted, path_shown

OLDEST, NEWEST = (3, 10), (3, 12)
MOST_PROBLEMS, LOG_LIMIT = 5, 1 << 20
"""So many faults of an archive are named; `gardener store verify` names all."""
TIERS = {
    "SQLite": "SQLite, the best for one machine",
    "JSON lines": "JSON lines, taken into SQLite as soon as that works: {why}",
    "memory": "memory only, what is said is lost at the end: {why}",
}
"""What is said of each tier."""

Found = tuple[bool, str]
"""Whether a part is in order, and what was found or what to do."""


@dataclass(frozen=True)
class Check:
    """One thing looked at: what it is, whether it is in order, what was found or what to do."""

    name: str
    ok: bool
    found: str


@click.command(short_help="Check this installation and archive; changes nothing.")
@json_option
def doctor() -> None:
    """Check this installation: Python, aider and its patch points, SQLite, the archive of this project, and
    its tier: whether what is said goes to SQLite, to lines of JSON or to memory, and why. Where a server is
    named that it may be shared through: whether it answers within seconds, and is fit.

    Exit code 1 when something is not in order. A fault report should begin with the output.
    """
    from aider_gardener.tables import grid

    checks = checkup()
    rows = [("ok" if check.ok else "NOT OK", check.name, check.found) for check in checks]
    put(checks, lambda: grid(("", "", ""), rows, box=None, show_header=False))
    if any(not check.ok for check in checks):
        sys.exit(1)


def checkup() -> list[Check]:
    """All checks, in the order in which one would look; none of them leaves anything changed."""
    steps: dict[str, Callable[[], Found]] = {
        "Python": python,
        "aider": patch_points,
        "SQLite": sqlite,
        "archive": archive,
        "tier": tier,
        "hooks": hooks,
        "sharing": sharing,
        "server": server,
    }
    checks = [checked(name, step) for name, step in steps.items()]
    return [check for check in checks if check.found]


def checked(name: str, step: Callable[[], Found]) -> Check:
    try:
        return Check(name, *step())
    except (GardenerError, ImportError, OSError) as error:
        return Check(name, False, str(error))


def python() -> Found:
    ok = OLDEST <= sys.version_info[:2] <= NEWEST
    found = f"{platform.python_version()} on {platform.system()}"
    return ok, found if ok else f"{found}; aider-gardener needs Python 3.10 to 3.12"


def patch_points() -> Found:
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


def sqlite() -> Found:
    import apsw

    fts = "ENABLE_FTS5" in apsw.compile_options
    text = "available" if fts else "missing: reinstall apsw-sqlite3mc"
    return fts, f"{apsw.sqlite_lib_version()}, full text {text}"


def archive() -> Found:
    from aider_gardener.archive.store import open_to_read
    from aider_gardener.archive.store.location import check_whose, set_aside_in

    directory, key = place_of()
    check_whose(directory)
    aside = ", ".join(set_aside_in(directory))
    told = f"; set aside there, and no part of it: {aside}" if aside else ""
    if not holds_archive(directory):
        return True, f"none yet (will be made in {path_shown(directory, Path.cwd())}){told}"
    with closing(open_to_read(directory, key_source=key)) as store:
        problems = store.verify()
    if not problems:
        return True, f"sound, in {path_shown(directory, Path.cwd())}{told}"
    more = f" and {len(problems) - MOST_PROBLEMS:,} more" if len(problems) > MOST_PROBLEMS else ""
    named = "; ".join(problems[:MOST_PROBLEMS])
    return False, f"{named}{more}; `gardener store verify` puts right what it can{told}"


def tier() -> Found:
    """The tier that a chat would work in, and why no better one; only memory is out of order."""
    from aider_gardener.archive.store import opening

    name, why = opening.tier_of(*place_of())
    return name != opening.MEMORY, TIERS[name].format(why=why)


def hooks() -> Found:
    """What hooks met: records of transcripts that nobody here knows, which are kept as they are, and
    faults."""
    from aider_gardener import files
    from aider_gardener.adapters.claude_code.client import LOG_NAME
    from aider_gardener.adapters.intake import UNKNOWN_RECORD
    from aider_gardener.archive.store import open_to_read

    directory, key = place_of()
    if not (directory / "gardener.db").is_file():
        return True, "nothing was taken in yet"
    with closing(open_to_read(directory, key_source=key)) as store:
        unknown = Counter(str(event.data.get("type")) for event in store.events(kind=UNKNOWN_RECORD))
    log = directory / LOG_NAME
    faults = files.read(log, LOG_LIMIT).decode("utf-8", "replace").splitlines() if log.is_file() else []
    told = [f"{count} of the type {kind}" for kind, count in unknown.most_common(MOST_PROBLEMS)]
    records = f"records of unknown types, kept as they are, or not read: {', '.join(told)}" if told else ""
    failed = f"{counted(len(faults), 'hook')} failed, last {faults[-1]}" if faults else ""
    failed += f"; see {path_shown(log, Path.cwd())}" if faults else ""
    return not faults, "; ".join(filter(None, [records, failed])) or "no unknown records, no faults"


def sharing() -> Found:
    """How the project is shared; "" where it is not."""
    from aider_gardener.archive.store import open_to_read
    from aider_gardener.cli.shared import sharing_of

    directory, key = place_of()
    if not (directory / "gardener.db").is_file():
        return True, ""
    with closing(open_to_read(directory, key_source=key)) as store:
        found = sharing_of(store)
    if not found["shared"]:
        return True, ""
    failed = f"; the last sync failed: {found['problem']}" if found["problem"] else ""
    return not failed, f"as {found['name']}{failed}"


def server() -> Found:
    """Whether the server answers that the project is shared through, or that is named for nothing else."""
    is_shared = checked("sharing", sharing).found.startswith("as ")
    if not (is_shared or os.environ.get("AIDER_GARDENER_DATABASE_URL", "").strip()):
        return True, ""
    found: Found = plugin.part("sync").look(os.environ)
    return found
