"""Encryption at rest, by choice: where the key comes from, and how an encrypted archive is recognised.

The whole file is encrypted, page by page, by SQLite3 Multiple Ciphers (ChaCha20 with Poly1305): texts,
index and vectors, the log and the journal. Beside it lies a marker, which names the source of the key and
holds a check by which a wrong key is told from damage; neither tells anything of the key or the chats.

To encrypt or decrypt an archive a copy is made whole, then put in its place in one step.

Whenever this is interrupted, the archive is the old one or the new one, and opens. No other process may
have it open meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import importlib.util
import json
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from aider_gardener.archive.store import files, location, schema
from aider_gardener.archive.store.location import MARKER_NAME
from aider_gardener.archive.store.pages import RAW_KEY, new_file, opened
from aider_gardener.errors import StoreError

VARIABLE = "AIDER_GARDENER_KEY"
SERVICE, ACCOUNT = "aider-gardener", "archive"
KEY_BYTES = 32
CHECK_ROUNDS = 64_007
PLAIN_HEADER = b"SQLite format 3\0"
PAYLOAD_FRACTIONS = b"\x40\x20\x20"
"""Bytes 21 to 23 of every SQLite file; the cipher leaves them as they are."""

NO_SOURCE = "{path} is encrypted; set store_key to keyring, env or file:PATH, as it was when it was encrypted"
WRONG_KEY = "{path} is encrypted and the key of {source} is not the one; it was left alone"
NO_VARIABLE = f"the variable {VARIABLE} holds no key"
NO_KEYRING = "the package keyring, or a keyring of the system, is not there; install keyring or use file:PATH"
NO_ENTRY = "the system's keyring holds no key of aider-gardener; `gardener store encrypt` makes one"

PART_NAME = "gardener.db.rekeyed"
IN_USE = "{path} is in use by another process: end the chats of this project first"
RETIRED = 1_000_000
"""The schema version of the file that was replaced: whoever still opens it leaves it alone."""


class Locked(StoreError):
    """The archive is encrypted and cannot be opened: no fault of the file's, which must not be touched."""


@dataclass(frozen=True)
class Marker:
    """What lies beside an encrypted archive."""

    source: str
    salt: str
    check: str

    def fits(self, key: str) -> bool:
        """Whether this is the key that the archive was encrypted with."""
        return hmac.compare_digest(self.check, checked(key, self.salt))


def checked(key: str, salt: str) -> str:
    """A check of a key, as hard to guess from as the encrypted file itself."""
    rounds = 1 if RAW_KEY.fullmatch(key) else CHECK_ROUNDS
    return hashlib.pbkdf2_hmac("sha256", key.encode("utf-8"), bytes.fromhex(salt), rounds).hex()


def read_marker(directory: Path) -> Marker | None:
    """The marker of a directory, or None where there is none that can be read."""
    try:
        value = json.loads(files.read(directory / MARKER_NAME))
        marker = Marker(str(value["source"]), str(value["salt"]), str(value["check"]))
        bytes.fromhex(marker.salt)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return marker


def write_marker(directory: Path, source: str, key: str) -> None:
    """Put a marker into a directory, in one step."""
    salt = secrets.token_hex(16)
    value = {"format": 1, "cipher": "chacha20", "source": source, "salt": salt, "check": checked(key, salt)}
    part = directory / f"{MARKER_NAME}.part"
    part.unlink(missing_ok=True)
    with location.open_private(part) as handle:
        os.write(handle.fileno(), json.dumps(value).encode("ascii"))
        os.fsync(handle.fileno())
    os.replace(part, directory / MARKER_NAME)


def remove_marker(directory: Path) -> None:
    """Take the marker away."""
    (directory / MARKER_NAME).unlink(missing_ok=True)


def header_of(path: Path) -> bytes:
    """The first bytes of a file, b"" for an empty or a missing one."""
    with contextlib.suppress(OSError), files.open_plain(path, location.LARGEST_BYTES) as handle:
        return handle.read(len(PLAIN_HEADER) + 8)
    return b""


def is_encrypted(path: Path) -> bool:
    """Whether a file is an encrypted database, by what the cipher leaves of its header."""
    header = header_of(path)
    # The cipher puts random bytes where the name of the format stands: one that has a few wrong is damaged.
    alike = sum(one == other for one, other in zip(header, PLAIN_HEADER, strict=False))
    return alike < len(PLAIN_HEADER) // 2 and header[21:24] == PAYLOAD_FRACTIONS


def is_secret(path: Path, source: str) -> bool:
    """Whether an archive is encrypted, or a new one would be."""
    return bool(source) or read_marker(path.parent) is not None or is_encrypted(path)


def key_for(path: Path, source: str) -> str:
    """The key to open an archive with, "" for one that is not encrypted.

    A new one is encrypted if there is a source; one that exists stays what it is. Raises Locked.
    """
    header, marker = header_of(path), read_marker(path.parent)
    if header.startswith(PLAIN_HEADER) or not (is_encrypted(path) or marker or (source and not header)):
        return ""
    source = source or (marker.source if marker else "")
    if not source:
        raise Locked(NO_SOURCE.format(path=path))
    try:
        key = read_key(source)
    except Locked as error:
        raise Locked(f"{path} is encrypted and {error}") if header else error from None
    if marker is not None and not marker.fits(key):
        raise Locked(WRONG_KEY.format(path=path, source=source))
    if marker is None and not header:
        write_marker(path.parent, source, key)
    return key


def read_key(source: str) -> str:
    """The key of a source: `env`, `keyring` or `file:PATH`. Raises Locked, saying what to do."""
    kind, _, place = source.partition(":")
    if kind == "env":
        key = os.environ.get(VARIABLE, "").strip()
        if not key:
            raise Locked(NO_VARIABLE)
        return key
    if kind == "keyring":
        return _from_keyring()
    if kind != "file":
        raise Locked(f"{source[:80]!r} is no source of a key: it is keyring, env or file:PATH")
    return _from_file(Path(place).expanduser())


def make_key(source: str) -> str:
    """The key of a source; where a file or the keyring has none yet, a random one is made and kept there."""
    kind, _, place = source.partition(":")
    if kind == "file" and not Path(place).expanduser().exists():
        key = secrets.token_hex(KEY_BYTES)
        try:
            with location.open_private(Path(place).expanduser()) as handle:
                os.write(handle.fileno(), key.encode("ascii") + b"\n")
                os.fsync(handle.fileno())
        except OSError as error:
            raise Locked(f"the key file {place} cannot be written ({error.strerror})") from error
        return key
    if kind == "keyring":
        with contextlib.suppress(Locked):
            return _from_keyring()
        key = secrets.token_hex(KEY_BYTES)
        try:
            _keyring().set_password(SERVICE, ACCOUNT, key)
        except Exception as error:  # every system's keyring has errors of its own
            raise Locked(NO_KEYRING) from error
    return read_key(source)


def _keyring() -> Any:
    if importlib.util.find_spec("keyring") is None:
        raise Locked(NO_KEYRING)
    return importlib.import_module("keyring")


def _from_keyring() -> str:
    library = _keyring()
    try:
        found = library.get_password(SERVICE, ACCOUNT)
    except Exception as error:  # every system's keyring has errors of its own
        raise Locked(NO_KEYRING) from error
    if not found:
        raise Locked(NO_ENTRY)
    return str(found)


def _from_file(path: Path) -> str:
    try:
        found = path.stat()
        text = files.read(path, follow=True).decode("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise Locked(f"the key file {path} cannot be read ({reason})") from error
    if os.name == "posix" and found.st_uid not in (0, os.geteuid()):
        raise Locked(f"the key file {path} belongs to another user")
    if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
        raise Locked(f"others may read the key file {path}: `chmod 600 {path}`")
    if not text:
        raise Locked(f"the key file {path} is empty")
    return text


def encrypt(directory: Path, source: str) -> list[str]:
    """Encrypt the archive of a directory with the key of a source, which is made if there is none yet.

    Returns the names of files in the directory that stay readable. Raises StoreError.
    """
    path = _archive_of(directory)
    if is_encrypted(path):
        raise StoreError(f"{path} is encrypted already")
    key = make_key(source)
    with _replaced(path, old_key="", new_key=key):
        write_marker(path.parent, source, key)
    kinds = ("damaged", "foreign", "removed", "lines")
    aside = sorted(each for kind in kinds for each in path.parent.glob(f"*.{kind}-*"))
    return [each.name for each in aside if not is_encrypted(each)]


def decrypt(directory: Path, source: str = "") -> None:
    """Decrypt the archive of a directory. Raises StoreError; Locked without its key."""
    path = _archive_of(directory)
    if not is_encrypted(path):
        raise StoreError(f"{path} is not encrypted")
    with _replaced(path, old_key=key_for(path, source), new_key=""):
        pass
    remove_marker(path.parent)


def clear_part(path: Path) -> None:
    """Remove what an interrupted run left beside an archive. The caller has the archive open."""
    with contextlib.suppress(OSError):
        path.with_name(PART_NAME).unlink(missing_ok=True)


def _archive_of(directory: Path) -> Path:
    path = location.prepare_directory(directory) / location.FILE_NAME
    if not path.is_file():
        raise StoreError(f"there is no archive in {directory}")
    return path


@contextlib.contextmanager
def _replaced(path: Path, *, old_key: str, new_key: str) -> Iterator[None]:
    """Make the copy, do what is done inside, then put the copy in place of the archive."""
    db = _held(path, old_key)
    part = path.with_name(PART_NAME)
    try:
        part.unlink(missing_ok=True)
        location.open_private(part).close()
        db.execute("VACUUM INTO ?", (new_file(part, new_key),))
        files.synced(part)
        yield
        _put_in_place(db, part, path)
        _drop_copy(path.with_name(location.COPY_NAME))
    except apsw.Error as error:
        raise StoreError(f"{path} could not be rewritten ({' '.join(str(error).split())})") from error
    finally:
        db.close()
        part.unlink(missing_ok=True)


def _held(path: Path, key: str) -> apsw.Connection:
    """The archive, held so that no other process can open it, its log moved into the file."""
    db = opened(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI, key)
    try:
        if not schema.is_exact(db):
            raise StoreError(f"{path} is not an archive of this version")
        db.pragma("locking_mode", "exclusive")
        if db.pragma("journal_mode", "delete") != "delete":
            raise apsw.BusyError
        db.execute("BEGIN EXCLUSIVE")
        db.execute("COMMIT")
    except (apsw.BusyError, apsw.LockedError):
        db.close()
        raise StoreError(IN_USE.format(path=path)) from None
    except BaseException:
        db.close()
        raise
    return db


def _put_in_place(db: apsw.Connection, part: Path, path: Path) -> None:
    """Replace the file while it is held; the old one is retired and overwritten, then it is gone."""
    if os.name == "nt":  # a file that is open cannot be replaced there
        db.close()
        os.replace(part, path)
        return
    old = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    try:
        os.replace(part, path)
        files.synced(path.parent)
        db.pragma("journal_mode", "memory")
        db.pragma("user_version", RETIRED)
        db.close()
        files.overwrite(old)
    finally:
        os.close(old)


def _drop_copy(copy: Path) -> None:
    """Overwrite and remove the copy of the archive, which has the old key or none."""
    with contextlib.suppress(FileNotFoundError):
        handle = os.open(copy, os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0))
        try:
            files.overwrite(handle)
        finally:
            os.close(handle)
        copy.unlink()
