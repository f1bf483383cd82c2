"""Files of a user's that are changed in place: read with care, replaced whole, and put back byte for byte.

What was changed is written down in the user's own folder: the edits, and the hashes of the file before and
after them; nothing else of the file. While the file is as it was left, that takes the change back exactly.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aider_gardener import files
from aider_gardener.adapters.claude_code.json_edits import Edit, undone
from aider_gardener.errors import StoreError, UsageError

FORMAT = 1
LIMIT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class ConfigFile:
    """A file as it was found: `text` is None where there is none; `real` is where it lies, and `is_linked`
    says whether that is another place than its path tells."""

    path: Path
    real: Path
    text: str | None
    is_linked: bool = False


@dataclass(frozen=True)
class FileChange:
    """A file, the text it is to have (None: it goes), and the edits that lead there from `origin`.

    `origin` is the text without anything of ours, None where the file is ours altogether.
    """

    file: ConfigFile
    text: str | None
    origin: str | None = None
    edits: tuple[Edit, ...] = ()

    @property
    def is_one(self) -> bool:
        """Whether it changes anything."""
        return self.text != self.file.text


@dataclass(frozen=True)
class ConfigRecord:
    """What was done to a file: hashes of its text before (empty: there was none) and after, the edits between
    them, and the folders that were made for it, outermost first."""

    before: str
    after: str
    edits: tuple[Edit, ...]
    made: tuple[str, ...]


def find(path: Path, base: Path, *, inside: bool = False) -> ConfigFile:
    """A file below the folder `base` as it stands; links below that are followed, and told.

    Raises UsageError for one that cannot be read, is no UTF-8 text or no plain file, and with `inside` for a
    link that leads out of the folder.
    """
    real, folder = _real(path), _real(base)
    if inside and not real.is_relative_to(folder):
        raise UsageError(f"{path} is a link out of {base}, to {real}; put a plain file in its place")
    is_linked = real != folder / path.relative_to(base)
    try:
        return ConfigFile(path, real, files.read(real, LIMIT_BYTES).decode("utf-8"), is_linked)
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile(path, real, None, is_linked)
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def check_writable(change: FileChange) -> None:
    """Raise UsageError where the owner took away the right to write a file that is to change."""
    file = change.file
    if change.is_one and file.text is not None and not os.stat(file.real).st_mode & stat.S_IWUSR:
        raise UsageError(f"{file.path} is read-only; make it writable first (chmod u+w)")


def apply(change: FileChange, records: Path) -> None:
    """Carry a change out and write down how to take it back. Raises UsageError or StoreError.

    The new text is written beside the file and takes its place in one step, with its mode; a link stays one.
    A file that somebody else wrote since it was read stays as it is.
    """
    file = change.file
    if not change.is_one:
        return
    try:
        if change.edits:
            made = tuple(_missing_folders(file.real.parent)) or _made_for(file, records)
            record = ConfigRecord(_hash(change.origin), _hash(change.text), change.edits, made)
            _write_record(_record_path(file, records), file, record)
        _replace(change)
        if not change.edits:
            _forget(file, records)
    except OSError as error:
        raise StoreError(f"{file.path} cannot be written: {error.strerror or error}") from error


def origin(file: ConfigFile, records: Path) -> tuple[bool, str | None]:
    """Whether a file is still as it was left here, and if so its text from before (None: there was none)."""
    record = read_record(file, records)
    if record is None or file.text is None or _hash(file.text) != record.after:
        return False, None
    text = undone(file.text, record.edits)
    if record.before and _hash(text) == record.before:
        return True, text
    return not record.before, None


def was_made_here(file: ConfigFile, records: Path) -> bool:
    """Whether there was no such file before, or nothing is known of it."""
    record = read_record(file, records)
    return record is None or not record.before


def _made_for(file: ConfigFile, records: Path) -> tuple[str, ...]:
    """The folders that were made for a file."""
    record = read_record(file, records)
    return record.made if record else ()


def read_record(file: ConfigFile, records: Path) -> ConfigRecord | None:
    """What was done to a file, if that is known."""
    try:
        data = json.loads(files.read(_record_path(file, records), 2 * LIMIT_BYTES))
        if data["format"] != FORMAT or data["path"] != str(file.real):
            return None
        edits = tuple(Edit(int(at), str(old), str(new)) for at, old, new in data["edits"])
        return ConfigRecord(str(data["before"]), str(data["after"]), edits, tuple(map(str, data["made"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # without a record a file is cleaned by what stands in it


def unified_diff(change: FileChange) -> Iterator[str]:
    """The lines of a change as `diff -u` writes them, without their ends."""
    before, after = change.file.text, change.text
    source, target = (os.devnull if text is None else str(change.file.path) for text in (before, after))
    old, new = ((text or "").splitlines(keepends=True) for text in (before, after))
    for line in difflib.unified_diff(old, new, source, target):
        yield line.rstrip("\r\n")
        if line[:1] in " +-" and not line.endswith("\n") and line[:3] not in ("---", "+++"):
            yield "\\ No newline at end of file"


def _real(path: Path) -> Path:
    """Where a path leads. Raises UsageError for links in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        raise UsageError(f"{path} is a link in a circle; take it away") from None


def _missing_folders(folder: Path) -> Sequence[str]:
    """The folders that have to be made, outermost first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    return [str(each) for each in reversed(missing)]


def _replace(change: FileChange) -> None:
    """Put the new text in the file's place, or take the file away. Raises OSError and StoreError."""
    real = change.file.real
    if change.text is None:
        _check_untouched(change.file)
        real.unlink(missing_ok=True)
        return
    real.parent.mkdir(parents=True, exist_ok=True)
    beside = real.with_name(f".{real.name}.{secrets.token_hex(4)}.tmp")
    try:
        _write(beside, change.text.encode("utf-8"))
        if change.file.text is not None:
            os.chmod(beside, stat.S_IMODE(os.stat(real).st_mode))
        _check_untouched(change.file)
        os.replace(beside, real)
    except UnicodeEncodeError:
        raise StoreError(f"{change.file.path}: the path of this environment is no valid text") from None
    finally:
        beside.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    """A new file, on the disk before this returns."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _check_untouched(file: ConfigFile) -> None:
    """Raise StoreError where a file is no longer what was read."""
    if find(file.real, file.real.parent).text != file.text:
        raise StoreError(f"{file.path} was changed by another program just now; run the command again")


def _record_path(file: ConfigFile, records: Path) -> Path:
    name = hashlib.sha256(os.path.normcase(str(file.real)).encode("utf-8", "surrogatepass")).hexdigest()
    return records / f"{name[:16]}.json"


def _write_record(path: Path, file: ConfigFile, record: ConfigRecord) -> None:
    """Keep a record. Where that fails the file can still be cleaned by what stands in it."""
    value = {
        "format": FORMAT,
        "path": str(file.real),
        "before": record.before,
        "after": record.after,
        "edits": [[edit.at, edit.old, edit.new] for edit in record.edits],
        "made": list(record.made),
    }
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        _write(path, json.dumps(value).encode("ascii"))


def _forget(file: ConfigFile, records: Path) -> None:
    """Take away the record, and the folders that were made for a file and are empty."""
    made = _made_for(file, records)
    with contextlib.suppress(OSError):
        _record_path(file, records).unlink(missing_ok=True)
        for folder in reversed(made):
            Path(folder).rmdir()


def _hash(text: str | None) -> str:
    """The SHA-256 of a text, empty for no file."""
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
