"""Encryption at rest, by choice: where the key comes from, and how an encrypted archive is recognised.

SQLite3 Multiple Ciphers encrypts the file, its log and its journal (ChaCha20 with Poly1305). Beside it lies a
marker: the source of the key, and a check by which a wrong key is told from damage. SQLite cannot do that: it
says NOTADB of both, and CORRUPT of a wrong key where a journal waits to be rolled back.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import stat
from pathlib import Path

import apsw

from aider_gardener import files
from aider_gardener.archive.store import location, schema
from aider_gardener.archive.store.location import MARKER_NAME
from aider_gardener.archive.store.schema import RAW_KEY, new_file, opened
from aider_gardener.errors import StoreError
from aider_gardener.files import write_private

VARIABLE = "AIDER_GARDENER_KEY"
KEYRING_ENTRY = "aider-gardener", "archive"
CHECK_ROUNDS = 64_007
KEY_BYTES, KEY_CHARS = 32, 8
"""Of a random key, and at least of a passphrase that a new one is."""
PLAIN_HEADER, PAYLOAD_FRACTIONS = b"SQLite format 3\0", b"\x40\x20\x20"
"""What every SQLite file begins with, and its bytes 21 to 23, which the cipher leaves as they are."""
HEADER_BYTES = 100
PART_NAME = f"{location.FILE_NAME}.rekeyed.part"
"""What is about to take an archive's place; what a killed process leaves of it goes as `repair.clear_parts`
says."""
NO_KEY = "no key for the encrypted archive from {source}: {why}"


def read_marker(directory: Path) -> dict[str, str]:
    """The `source` of the key and a `check` of it, as they lie beside an encrypted archive; {} where neither
    can be read."""
    try:
        value = json.loads(files.read(directory / MARKER_NAME))
        return {name: str(value[name]) for name in ("source", "check")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def write_marker(directory: Path, source: str, key: str) -> None:
    """Put a marker into a directory, in one step. Raises StoreError for a key that is soon guessed."""
    if len(key) < KEY_CHARS:
        why = f"it has {len(key)} characters and is soon guessed: take at least {KEY_CHARS}"
        raise StoreError(NO_KEY.format(source=source, why=why))
    value = {"source": source, "check": _check(key, os.urandom(16).hex())}
    write_private(directory / MARKER_NAME, json.dumps(value))


def _check(key: str, salt: str) -> str:
    """A salt and the hash of a key with it, as hard to guess from as the encrypted file itself."""
    import hashlib  # late: most archives are plain

    rounds = 1 if RAW_KEY.fullmatch(key) else CHECK_ROUNDS
    return f"{salt}:{hashlib.pbkdf2_hmac('sha256', key.encode(), salt.encode(), rounds).hex()}"


def header_of(path: Path) -> bytes:
    """The first bytes of a file, b"" for an empty or a missing one."""
    with contextlib.suppress(OSError), files.open_plain(path) as handle:
        return handle.read(HEADER_BYTES)
    return b""


def is_encrypted(path: Path) -> bool:
    """Whether a file is an encrypted database, by what the cipher leaves of its header."""
    header = header_of(path)
    # The cipher puts random bytes where the name of the format stands: one that has a few wrong is damaged.
    alike = sum(one == other for one, other in zip(header, PLAIN_HEADER, strict=False))
    return alike < len(PLAIN_HEADER) // 2 and header[21:24] == PAYLOAD_FRACTIONS


def is_secret(path: Path, source: str) -> bool:
    """Whether an archive is encrypted, or a new one would be."""
    return bool(source or read_marker(path.parent)) or is_encrypted(path)


def key_for(path: Path, source: str) -> str:
    """The key to open an archive with, "" for one that is not encrypted.

    A new one is encrypted if there is a source; one that exists stays what it is. Raises StoreError.
    """
    header, marker = header_of(path), read_marker(path.parent)
    if header.startswith(PLAIN_HEADER) or not (is_encrypted(path) or marker or (source and not header)):
        return ""
    source = source or marker.get("source", "")
    if not source:
        raise StoreError(f"{path} is encrypted; set store_key to where its key is: keyring, env or file:PATH")
    from hmac import compare_digest  # late: most archives are plain

    key = read_key(source)
    check = marker.get("check", "")
    if marker and not compare_digest(check.encode(), _check(key, check.partition(":")[0]).encode()):
        raise wrong_key(path, source)
    if not marker and not header:
        write_marker(path.parent, source, key)
    return key


def wrong_key(path: Path, source: str) -> StoreError:
    """The error for an archive that the key of a source does not fit."""
    return StoreError(f"{path} is encrypted and the key of {source} is not the one; it was left alone")


def read_key(source: str, *, make: bool = False) -> str:
    """The key of a source: `env`, `keyring` or `file:PATH`. With `make` a keyring or a file that has none yet
    gets a random one. Raises StoreError, saying what to do."""
    kind, _, place = source.partition(":")
    try:
        if kind == "env":
            key = os.environ.get(VARIABLE, "").strip()
        elif kind == "keyring":
            key = _of_keyring(make=make)
        elif kind == "file":
            key = _of_file(files.in_home(place), make=make)
        else:
            raise ValueError("it is none of keyring, env and file:PATH")
        if not key:
            raise ValueError(f"{VARIABLE} is empty" if kind == "env" else "it holds none")
    except (OSError, ValueError) as error:
        raise StoreError(
            NO_KEY.format(source=source, why=getattr(error, "strerror", None) or error)
        ) from error
    return key


def _of_keyring(*, make: bool) -> str:
    try:
        library = importlib.import_module("keyring")
        if make and not library.get_password(*KEYRING_ENTRY):
            library.set_password(*KEYRING_ENTRY, os.urandom(KEY_BYTES).hex())
        return library.get_password(*KEYRING_ENTRY) or ""
    except Exception as error:  # every system's keyring has errors of its own
        raise ValueError(
            "uv tool install '.[keyring]' in the checkout, or use file:PATH where the system has none"
        ) from error


def _of_file(path: Path, *, make: bool) -> str:
    if not path.is_absolute():  # later starts and hooks are in other folders
        raise ValueError("name the file from the root or from ~ on")
    if make and not path.exists():
        if not path.parent.is_dir():
            raise ValueError(f"make the folder {path.parent} first")
        write_private(path, os.urandom(KEY_BYTES).hex())
    text = files.read(path, follow=True).decode("utf-8", "replace").strip()
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ValueError(f"others may read it: `chmod 600 {path}`")
    return text


def encrypt(directory: Path, source: str) -> list[str]:
    """Encrypt the archive of a directory with the key of a source, which is made if there is none yet.

    A copy takes the place of the file, which nobody else may have open, and what it replaces is overwritten.
    Whenever this is interrupted, the archive is the old one or the new one.

    Returns the names of files in the directory that stay readable. Raises StoreError.
    """
    path = location.prepare_directory(directory) / location.FILE_NAME
    if not header_of(path).startswith(PLAIN_HEADER):
        raise StoreError(f"{path} is {'encrypted already' if is_encrypted(path) else 'no archive'}")
    key = read_key(source, make=True)
    part, copy = path.with_name(PART_NAME), path.with_name(location.COPY_NAME)
    db = opened(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI, "")
    try:
        if not schema.is_exact(db):
            raise StoreError(f"{path} is no archive of this version: it was left alone")
        db.pragma("locking_mode", "exclusive")
        if db.pragma("journal_mode", "delete") != "delete":
            raise apsw.BusyError
        db.execute("BEGIN EXCLUSIVE; COMMIT")
        location.remove(part)
        files.open_private(part).close()
        db.execute("VACUUM INTO ?", (new_file(part, key),))
        files.synced(part)
        write_marker(path.parent, source, key)
        if os.name == "nt":  # a file that is open cannot be replaced there
            db.close()
        with files.overwritten(path):  # still locked: who waits for it finds no archive there
            os.replace(part, path)
            files.synced(path.parent)
        if copy.is_file():
            files.erase(copy)
    except (apsw.BusyError, apsw.LockedError):
        raise StoreError(f"{path} is in use by another process: end the project's chats first") from None
    except (apsw.Error, UnicodeDecodeError) as error:
        raise StoreError(f"{path} could not be rewritten ({' '.join(str(error).split())})") from error
    finally:
        db.close()
        with contextlib.suppress(OSError):
            location.remove(part)
    return [each.name for each in sorted(path.parent.glob(f"{path.name}.*")) if not is_encrypted(each)]
