"""`gardener doctor`: a check-up of the installation, so that a fault report can begin with facts."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.root import has_archive, in_words, json_option, place_of, put
from aider_gardener.errors import GardenerError
from aider_gardener.phrases import counted, path_shown

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

OLDEST, NEWEST = (3, 10), (3, 12)
MOST_PROBLEMS, LOG_LIMIT = 5, 1 << 20
"""So many faults of an archive are named; `gardener store verify` names all."""
FAULT_CHARS = 200
"""No line that a hook writes of a fault is longer; one of another's may be a megabyte."""

Found = tuple[bool, str]
"""Whether a part is in order, and what was found or what to do."""


@click.command(short_help="Check this installation and archive; changes nothing.")
@json_option
def doctor() -> None:
    """Check this installation: Python, aider and its patch points, SQLite, the archive of this project and
    whether it can be written, and what hooks met.

    Exit code 1 when something is not in order. A fault report should begin with the output.
    """
    from aider_gardener.tables import grid

    steps = {"Python": python, "aider": patch_points, "SQLite": sqlite, "archive": archive, "hooks": hooks}
    checks = [(name, *checked(step)) for name, step in steps.items()]
    rows = [("ok" if ok else "NOT OK", name, found) for name, ok, found in checks]
    value = [{"name": name, "ok": ok, "found": found} for name, ok, found in checks]
    put(value, lambda: grid(("", "", ""), rows, box=None, show_header=False))
    if not all(ok for _name, ok, _found in checks):
        sys.exit(1)


def checked(step: Callable[[], Found]) -> Found:
    try:
        return step()
    except OSError as error:
        return False, in_words(error)
    except (GardenerError, ImportError) as error:
        return False, str(error)
    except Exception as error:  # reason: of packages that do not fit each other the import raises anything
        return False, " ".join(f"{type(error).__name__}: {error}".split())[:FAULT_CHARS]


def python() -> Found:
    ok = OLDEST <= sys.version_info[:2] <= NEWEST
    import platform  # late, as all that the help of commands needs none of

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


@contextmanager
def reading(directory: Path, key: str) -> Iterator[Store | None]:
    """The archive in a directory, None where none is begun."""
    from aider_gardener.archive.store import open_to_read

    if not has_archive(directory):
        yield None
        return
    with closing(open_to_read(directory, key_source=key)) as store:
        yield store


def archive() -> Found:
    from aider_gardener.archive.store import encryption, location

    directory, key = place_of()
    if why := location.unusable(directory):
        return False, why
    for path in (directory / name for name in location.DATABASE_NAMES):
        if path.exists() and not os.access(path, os.W_OK):
            return False, location.UNWRITABLE.format(path=path)
    place = path_shown(directory, Path.cwd())
    aside = ", ".join(location.names_in(directory, location.ASIDE))
    aside_note = f"; set aside there, and no part of it: {aside}" if aside else ""
    with reading(directory, key) as store:
        if store is None:
            if key:
                encryption.read_key(key)
            return True, f"none yet (will be made in {place}){aside_note}"
        problems = store.verify()
    if not problems:
        return True, f"sound, in {place}{aside_note}"
    more = f" and {len(problems) - MOST_PROBLEMS:,} more" if len(problems) > MOST_PROBLEMS else ""
    named = "; ".join(problems[:MOST_PROBLEMS])
    mends = "" if "`gardener store verify`" in named else "; `gardener store verify` puts right what it can"
    return False, f"{named}{more}{mends}{aside_note}"


def hooks() -> Found:
    """What hooks met: records of transcripts that nobody here knows, which are kept as they are, and
    faults."""
    from aider_gardener import files
    from aider_gardener.adapters.claude_code.client import LOG_NAME
    from aider_gardener.adapters.intake import UNKNOWN_RECORD

    directory, key = place_of()
    with reading(directory, key) as store:
        if store is None:
            return True, "nothing was taken in yet"
        unknown = Counter(str(event.data.get("type")) for event in store.events(kind=UNKNOWN_RECORD))
    log = directory / LOG_NAME
    faults = files.read(log, LOG_LIMIT).decode("utf-8", "replace").splitlines() if log.is_file() else []
    kinds = ", ".join(f"{count} of the type {kind}" for kind, count in unknown.most_common(MOST_PROBLEMS))
    found = [f"records of unknown types, kept as they are, or not read: {kinds}"] if kinds else []
    if faults:
        failed = f"{counted(len(faults), 'hook')} failed, last {faults[-1][:FAULT_CHARS]}"
        found.append(f"{failed}; see {path_shown(log, Path.cwd())}")
    return not faults, "; ".join(found) or "no unknown records, no faults"
