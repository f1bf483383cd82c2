"""What an error of SQLite means: damage or not, and one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import apsw

from aider_gardener.errors import StoreError


class Unavailable(StoreError):
    """The file cannot be written or read for the moment; what was to be written may be tried again."""


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file's contents are broken."""
    return isinstance(error, (apsw.CorruptError, apsw.NotADBError))


def is_index_damage(error: BaseException) -> bool:
    """Whether only the full-text index is broken: it can be built anew from the originals."""
    code = getattr(error, "extendedresult", 0)
    return isinstance(error, apsw.CorruptError) and code == apsw.SQLITE_CORRUPT_VTAB


def failure(error: apsw.Error, path: Path | None) -> StoreError:
    """The error to raise for SQLite's: `Unavailable` where trying again may help."""
    kind = Unavailable if isinstance(error, PASSING) else StoreError
    return kind(explain(error, path))


def explain(error: apsw.Error, path: Path | None) -> str:
    """One line for the user: what happened to the archive and what to do."""
    place = str(path) if path else "the archive in memory"
    for kind, text in EXPLANATIONS:
        if isinstance(error, kind):
            return text.format(path=place)
    return f"{place} cannot be used ({' '.join(str(error).split())})"


EXPLANATIONS: tuple[tuple[type[BaseException], str], ...] = (
    (apsw.FullError, "{path} cannot grow: the disk is full; free some space"),
    (apsw.BusyError, "{path} has been locked by another process for too long; try again"),
    (apsw.LockedError, "{path} is locked; try again"),
    (apsw.ReadOnlyError, "{path} cannot be written; check the permissions of the file and its directory"),
    (apsw.CantOpenError, "{path} cannot be opened; check the permissions of the file and its directory"),
    (apsw.PermissionsError, "{path} cannot be used; check the permissions of the file and its directory"),
    (apsw.IOError, "{path} cannot be read or written (input/output error); check the disk"),
    (apsw.CorruptError, "{path} is damaged; `gardener store verify` says where"),
    (apsw.NotADBError, "{path} is damaged: it is no longer a database"),
    (apsw.TooBigError, "a text is too large for {path} (SQLite's limit is 1 GB)"),
    (apsw.NoMemError, "there is not enough memory for {path}"),
)


PASSING = (
    apsw.FullError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.PermissionsError,
    apsw.IOError,
)
