"""What an archive holds and in which tier a chat would work in: a file of SQLite's, lines of JSON where that
cannot be written, else memory. Says why it is no better one, and copies one archive to another place.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import apsw

from aider_gardener.archive.store import database, encryption, lines, location, opening
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.errors import StoreError, UsageError

SQLITE, POSTGRESQL, LINES, MEMORY = "SQLite", "PostgreSQL", "JSON lines", "memory"
PROBE_BYTES = 4_096
NOT_ENCRYPTED = "the copy in {place} is not encrypted; `gardener store encrypt` encrypts it"
SAME_PLACE = "{place} is where the archive lies already; name another directory"


@dataclass(frozen=True)
class Tier:
    """Where what is said would go: the tier's name, and why it is no better one ("" for the best)."""

    name: str
    why: str = ""


@dataclass(frozen=True)
class Status:
    """What an archive holds. `lines_files` are files of lines that are in no file of SQLite's yet; `told` are
    lines for the user."""

    tier: str
    why: str
    directory: str
    entries: int
    sessions: int
    bytes: int
    lines_files: int
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Copied:
    """A copy of an archive: where and in which tier it is, how many lines went over, lines for the user."""

    place: str
    tier: str
    lines: int
    told: tuple[str, ...] = ()


def here(directory: Path, key_source: str = "", user: Path | None = None) -> Tier:
    """The tier that a chat would work in whose archive belongs to this directory.

    It is found by writing a small file there and removing it; if the directory is not there yet, by the
    rights to make it. An archive that the next chat would mend or set aside counts as one that opens.
    """
    try:
        place = Path(os.path.realpath(location.settled_directory(directory, user)))
        if not place.exists():
            around = next(folder for folder in place.parents if folder.exists())
            is_open = around.is_dir() and os.access(around, os.W_OK)
            return (
                Tier(SQLITE)
                if is_open
                else Tier(MEMORY, f"{around} cannot be written; check its permissions")
            )
        if not place.is_dir():
            return Tier(MEMORY, f"{place} is not a directory")
        location.check_files(place)
        fault = _fault_of_sqlite(place, key_source, user)
    except (StoreError, OSError, ValueError) as error:
        return Tier(MEMORY, str(error))
    if not fault:
        return Tier(SQLITE)
    if encryption.is_secret(place / location.FILE_NAME, key_source):
        return Tier(MEMORY, fault + opening.NO_PLAIN_LINES)
    probe = _probe_path(place)
    try:
        with location.open_private(probe) as handle:
            os.write(handle.fileno(), bytes(PROBE_BYTES))
            os.fsync(handle.fileno())
    except OSError as error:
        return Tier(MEMORY, f"{fault}, and no lines can be written there ({error.strerror})")
    finally:
        probe.unlink(missing_ok=True)
    return Tier(LINES, fault)


def _fault_of_sqlite(place: Path, key_source: str, user: Path | None) -> str:
    """Why SQLite cannot work in a directory, "" where it can.

    Raises StoreError for an archive that is neither to be opened nor to be replaced.
    """
    path = place / location.FILE_NAME
    try:
        if encryption.header_of(path):
            if not os.access(path, os.W_OK):
                return f"{path} cannot be written; check the permissions of the file and its directory"
            opening.opened_to_read(path, key_source, user).close()
    except (encryption.Locked, database.ForeignFile) as error:
        if not database.is_fault_of_file(error):
            raise
        return str(error)
    except database.Unavailable as error:
        return str(error)
    except StoreError:  # damaged, a stranger's or older: the next chat sees to it
        pass
    try:
        database.try_out(_probe_path(place))
    except apsw.Error as error:
        return database.explain(error, path)
    except OSError as error:
        return f"{place} cannot be written ({error.strerror}); check its permissions"
    return ""


def _probe_path(place: Path) -> Path:
    return place / f"{location.FILE_NAME}.probe-{secrets.token_hex(8)}"


def status(directory: Path, key_source: str = "", user: Path | None = None) -> Status:
    """What the archive of a directory holds; nothing is changed. Raises StoreError if it cannot be read."""
    store = opening.open_to_read(directory, key_source, user)
    try:
        stats, tier, place = store.stats(), here(directory, key_source, user), store.directory or directory
        told = (store.notice,) if store.notice else ()
        counts = (stats.entries, stats.sessions, stats.bytes, len(lines.names(place)))
        return Status(tier.name, tier.why, str(place), *counts, told)
    finally:
        store.close()


def copy(directory: Path, to: Path, key_source: str = "", user: Path | None = None) -> Copied:
    """Copy all that an archive holds to another place, which is made if need be, or added to.

    Vectors are made anew there. A new archive is encrypted if `key_source` says so. All or nothing. Raises
    StoreError or UsageError.
    """
    if os.path.realpath(directory) == os.path.realpath(to):
        raise UsageError(SAME_PLACE.format(place=to))
    source = opened_on_disk(directory, key_source, user)
    try:
        target = opened_on_disk(to, key_source, user)
        try:
            count = target.copy_from(source)
            place, tier = target.directory or to, SQLITE if target.is_file else LINES
        finally:
            target.close()
        was_secret = encryption.is_encrypted(directory / location.FILE_NAME)
        is_open = was_secret and not encryption.is_encrypted(place / location.FILE_NAME)
        told = [source.notice, target.notice, NOT_ENCRYPTED.format(place=place) if is_open else ""]
        return Copied(str(place), tier, count, tuple(filter(None, told)))
    finally:
        source.close()


def opened_on_disk(directory: Path, key_source: str = "", user: Path | None = None) -> SqliteStore:
    """The archive of a directory, made if need be. Raises StoreError where it would be in memory only."""
    store = opening.open_sqlite(directory, key_source=key_source, user=user)
    if not store.persistent:
        store.close()
        raise StoreError(store.notice)
    return store
