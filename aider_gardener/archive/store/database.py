"""One SQLite file (or memory): its connection, lock, transactions, and what to do when it breaks.

Each page of a plain file ends in a check sum (`cksumvfs`, which is SQLite's own), each of an encrypted one in
the cipher's tag: what a disk has altered is an error when it is read, and never shown. An error of SQLite is
told as damage or not, with one line that says what to do.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from aider_gardener import files
from aider_gardener.archive.providers import may_go
from aider_gardener.archive.store import encryption, location, schema
from aider_gardener.archive.store.schema import CHECKSUM_BYTES, CHECKSUM_PLACE, opened
from aider_gardener.errors import StoreError

Result = TypeVar("Result")
Step = Callable[[apsw.Connection], Result]

BUSY_MILLISECONDS = 10_000
NETWORK_BUSY_MILLISECONDS = 30_000
"""Over a network every write is slower, and without a write-ahead log readers hold writers up."""
CACHE_KIB = 16_384
RETRY_SECONDS = 0.05
FALTERING = (apsw.IOError, apsw.LockedError, apsw.ProtocolError)
FALTERING_SECONDS = 1.0
"""What a file system that fails for a moment says, and how long opening is tried again then."""
WRITING = "BEGIN IMMEDIATE"
NO_TEXT = "a text that is no UTF-8"
HEADER_PLACES = 60, 68
"""Where a file's header has `user_version` and `application_id`."""
LOG_BYTES, NO_LOG = slice(18, 20), b"\1\1"
"""Where the header says whether there is a write-ahead log, and what it says where there can be none."""
BAD_INDEX = "an index that fits no more"
BAD_HEADER = "a header that is not an archive's"
NOT_OURS = "{path} is not an archive of the gardener's: it was left alone"
CHANGED = "{path} has other tables than an archive of the gardener's: it was left alone; move it away"
OTHER_VERSION = (
    "{path} was written by another version of aider-gardener: it was left alone; `gardener store export` of"
    " that version writes what `gardener store import` of this one reads"
)
UNREPAIRED = "{path} is damaged and was left as it is; `gardener store verify` saves what can be read of it"
READ_ONLY = "{path} is open to be read only"


class Unavailable(StoreError):
    """The file cannot be written or read for the moment; what was to be written may be tried again."""


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says that the file's contents are broken."""
    is_altered = getattr(error, "extendedresult", 0) in (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHORT_READ)
    return is_altered or isinstance(error, (apsw.CorruptError, apsw.NotADBError))


def explain(error: BaseException, path: Path | None) -> str:
    """One line for the user: what happened to the archive and what to do."""
    place = str(path) if path else "the archive in memory"
    if isinstance(error, (OSError, ValueError)):
        fault = getattr(error, "strerror", None) or error
        return location.UNUSABLE.format(path=getattr(error, "filename", None) or place, fault=fault)
    if not isinstance(error, apsw.Error):
        return str(error)
    if is_damage(error) and not isinstance(error, apsw.NotADBError):
        error = apsw.CorruptError()
    elif getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:  # no room for the log's index
        error = apsw.FullError()
    text = EXPLANATIONS.get(type(error))
    return text.format(path=place) if text else f"{place} cannot be used ({' '.join(str(error).split())})"


PASSING: dict[type[BaseException], str] = {
    apsw.FullError: "{path} cannot grow: the disk is full; free some space",
    apsw.BusyError: "{path} has been locked by another process for too long; try again",
    apsw.LockedError: "{path} is locked; try again",
    apsw.ProtocolError: "{path} cannot be locked (its file system fails at it); try again",
    apsw.ReadOnlyError: "{path} cannot be written; check the permissions of the file and its directory",
    apsw.CantOpenError: "{path} cannot be opened; check the permissions of the file and its directory",
    apsw.PermissionsError: "{path} cannot be used; check the permissions of the file and its directory",
    apsw.IOError: "{path} cannot be read or written (input/output error); check the disk",
}
"""What may work when it is tried again."""
EXPLANATIONS = {
    **PASSING,
    apsw.CorruptError: "{path} is damaged; `gardener store verify` says where",
    apsw.NotADBError: "{path} is damaged: it is no longer a database",
    apsw.TooBigError: "a text is too large for {path} (SQLite's limit is 1 GB)",
    apsw.NoMemError: "there is not enough memory for {path}",
}


class Gone(apsw.CorruptError):
    """The file was removed, emptied or replaced while it was open: what is written would be lost."""


class LogGone(Gone):
    """The log or its index was removed or replaced while the file was open: what is written there would end
    with those who hold it."""


class Older(Gone):
    """The file was overwritten by what it was before: what was said since is not in it."""


class OtherVersion(StoreError):
    """The file is an archive of another version: it must not be touched."""


class EmptyFile(apsw.CorruptError):
    """A file of no bytes, in which another process may be about to begin an archive."""


class Database:
    """A connection behind one lock, so that any thread may call; every write is one transaction.

    `path` None keeps everything in memory; a file is opened by `connect`. `repair` is asked when SQLite
    reports damage; if it returns true the step is run once more. `fault` is why it was closed before its end,
    `is_new` whether its tables were made here, `number` what tells its archive from others. With `read_only`
    the file and all around it stay as they are, whatever is found. Statements may ask `may_leave` of a
    provider: whether what was said to it may go to a server."""

    def __init__(
        self,
        path: Path | None,
        *,
        key_source: str = "",
        read_only: bool = False,
        patience_milliseconds: int = 0,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._patience = patience_milliseconds
        self.key_source = key_source
        self.key = ""
        self.repair: Callable[[apsw.Error], bool] | None = None
        self.fault = ""
        self.is_new = False
        self._lock = threading.RLock()
        self._depth = 0
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._is_identity_kept = False
        self._log: list[tuple[int, int] | None] = []
        self._reached: schema.Reached | None = None
        self._version = -1
        self.number: object = None
        if path is None:
            self.connect()

    def connect(self) -> None:
        """Open the file and check what it is, or begin one. It is tried again for as long as another process
        sets it up, holds it or puts another in its place (one that it encrypts), and for a moment where the
        file system fails, as one over a network does, or somebody has just taken the folder away. Raises
        apsw.Error, OSError or StoreError."""
        began = time.monotonic()
        while True:
            try:
                return self._connect()
            except (apsw.Error, OSError, StoreError) as error:
                folder = self.path.parent if self.path and not self.read_only else None
                is_gone = folder is not None and not os.path.exists(folder)
                is_held = isinstance(error, apsw.BusyError) or self.is_replaced()
                patience = BUSY_MILLISECONDS / 1_000 if is_held else FALTERING_SECONDS
                is_faltering = isinstance(error, FALTERING) and not is_damage(error)
                is_passing = is_gone or is_held or is_faltering or isinstance(error, EmptyFile)
                if not is_passing or time.monotonic() >= began + patience:
                    raise
                if is_gone and folder is not None:
                    location.prepare_directory(folder)
            time.sleep(RETRY_SECONDS)

    def _connect(self) -> None:
        if self.path is not None:
            location.check_files(self.path.parent)
            if not self.read_only:
                with contextlib.suppress(FileExistsError):  # SQLite gives its log the mode of the file
                    files.open_private(self.path).close()
            self._identity = location.identity(self.path)
            if self.read_only and not os.path.getsize(self.path):
                raise EmptyFile("an empty file")
            self.key = encryption.key_for(self.path, self.key_source)
        db = (
            _open_to_read(self.path, self.key) if self.path and self.read_only else _open(self.path, self.key)
        )
        db.create_scalar_function("may_leave", partial(may_go, provider="server"), 1, deterministic=True)
        try:
            db.execute("BEGIN")  # another process may be making the file: all is of one moment
            self._check(db)
            log = self._log_identities()
            db.execute("COMMIT")
            if not self.read_only:
                if self.path is not None and location.make_private(self.path) and db.readonly("main"):
                    db.close()  # the mode that was taken back let nobody write
                    for ending in location.LOG_ENDINGS:  # SQLite made these with the same
                        with contextlib.suppress(FileNotFoundError):
                            location.make_private(self.path.with_name(self.path.name + ending))
                    return self._connect()
                _configure(db, self.path)
                if schema.is_empty(db):
                    self.is_new = schema.create(db)
        except UnicodeDecodeError as error:
            db.close()
            raise apsw.CorruptError(NO_TEXT) from error
        except BaseException as error:
            db.close()
            if self.path is not None and is_damage(error):
                self._check_unread(self.path, error)
            raise
        self._connection, self.number, self._reached = db, schema.number_of(db), None
        # Some file systems number a file anew when it is first written, or whenever they are asked.
        self._is_identity_kept = self.path is not None and self._identity == location.identity(self.path)
        has_log = self._is_identity_kept and not self.read_only and db.pragma("journal_mode") == "wal"
        # A log that was there is known from the first reading on: another may have taken its place since.
        self._log = (log if None not in log else self._log_identities()) if has_log else []
        self.set_patience()

    def _check(self, db: apsw.Connection) -> None:
        """Whether the file is new or an archive of this version, with its tables to the letter. Raises
        StoreError for what must be left alone, CorruptError."""
        application, version = schema.kind_of(db)
        if self.path is None or (schema.is_empty(db) and not application and not version):
            return
        if application != schema.APPLICATION_ID:
            raise StoreError(NOT_OURS.format(path=self.path))
        if version != schema.VERSION:
            raise OtherVersion(OTHER_VERSION.format(path=self.path))
        if not schema.is_exact(db):
            raise StoreError(CHANGED.format(path=self.path))
        # Through SQLite: to close a file that was opened beside it would give up the locks of the process.
        if not self.key and db.read("main", 0, CHECKSUM_PLACE, 1)[1][0] != CHECKSUM_BYTES:
            raise apsw.CorruptError(BAD_HEADER)

    def _check_unread(self, path: Path, error: BaseException) -> None:
        """Raise another error than damage for a file that SQLite cannot read for another reason: its header
        names a newer version, and not ours with a bit turned over, or its key is another."""
        head = encryption.header_of(path)
        version, application = (int.from_bytes(head[at : at + 4], "big") for at in HEADER_PLACES)
        is_turned = (version ^ schema.VERSION).bit_count() == 1
        if application == schema.APPLICATION_ID and version > schema.VERSION and not is_turned:
            raise OtherVersion(OTHER_VERSION.format(path=path)) from None
        if self.key and isinstance(error, apsw.NotADBError) and not encryption.read_marker(path.parent):
            raise encryption.wrong_key(path, self.key_source) from None

    def copy_into(self, other: apsw.Connection) -> None:
        """Make all of this the contents of another database. Raises StoreError."""

        def step(db: apsw.Connection) -> None:
            with other.backup("main", db, "main") as backup:
                backup.step(-1)

        self.outside(step)

    def load(self, other: Database) -> None:
        """Make all of another the contents of this one, which is in memory. Raises StoreError, also where
        what was read is damaged."""
        if not other.key:
            other.copy_into(self.live)
        else:  # SQLite copies no encrypted file into one that is not
            data = bytearray(other.outside(lambda db: db.serialize("main")))
            data[LOG_BYTES] = NO_LOG
            self.live.deserialize("main", bytes(data))
        if self.outside(lambda db: db.execute("PRAGMA integrity_check(1)").get) != "ok":
            raise StoreError(explain(apsw.CorruptError(), other.path))

    def read(self, step: Step[Result]) -> Result:
        """Run a step that only reads, on one consistent state of the file."""
        return self._run(step, "BEGIN")

    def write(self, step: Step[Result]) -> Result:
        """Run a step in one transaction: all of it is on disk afterwards, or nothing."""
        if self.read_only:
            raise StoreError(READ_ONLY.format(path=self.path))
        return self._run(step, WRITING)

    def outside(self, step: Step[Result]) -> Result:
        """Run a step that may not stand in a transaction (checkpoints)."""
        with self._lock:
            try:
                return step(self.live)
            except apsw.Error as error:
                raise self.failure(error) from error

    @property
    def live(self) -> apsw.Connection:
        """The open connection; raises StoreError after `close`, Unavailable if it was lost before."""
        if self._connection is None:
            raise Unavailable(self.fault) if self.fault else StoreError("the archive is closed")
        return self._connection

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is running a step that may still be undone."""
        with self._lock:  # another thread's has ended then
            return self._depth > 0

    def _log_identities(self) -> list[tuple[int, int] | None]:
        return [location.identity(Path(f"{self.path}{ending}")) for ending in ("-wal", "-shm")]

    def take_log(self) -> bool:
        """Before the file is closed: bring what stands in a log that was removed into it; whether that was
        done. Not where another process has begun a new log by what the file held without it."""
        with self._lock:
            self.live.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            if self._log_identities()[0] is not None:
                return False
            try:
                self.live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
            except apsw.Error:
                return False
            return True

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def set_patience(self, milliseconds: int = 0) -> None:
        """How long a lock of another process is waited for; 0 is what was asked for when it was opened, else
        as long as is usual for the place."""
        with self._lock:
            milliseconds = milliseconds or self._patience
            if not milliseconds:
                has_log = self.path is None or self.live.pragma("journal_mode") == "wal"
                milliseconds = BUSY_MILLISECONDS if has_log else NETWORK_BUSY_MILLISECONDS
            self.live.set_busy_timeout(milliseconds)

    def is_replaced(self) -> bool:
        """Whether another process has put another file in this one's place since it was opened."""
        if self.path is None or self._identity is None:
            return False
        return location.identity(self.path) not in (self._identity, None)

    def _check_file(self) -> None:
        """Raise Gone unless the file that is open is still the one at its place, and no older."""
        if self.path is None:
            return
        try:
            found = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            raise Gone("the file is gone") from None
        except OSError:  # a file system that fails for a moment tells nothing
            return
        if self._is_identity_kept and (found.st_dev, found.st_ino) != self._identity:
            raise Gone("another file took its place")
        if not found.st_size:
            raise Gone("the file was emptied")
        if self._log and self._log_identities() != self._log:
            raise LogGone("its log is gone")
        if self.live.data_version() != self._version:  # another process has written
            now = schema.reached(self.live)
            if self._reached is not None and schema.is_older(self.live, now, self._reached):
                raise Older("an older one was copied over it")
            self._reached, self._version = now, self.live.data_version()

    def _run(self, step: Step[Result], begin: str) -> Result:
        with self._lock:
            try:
                return self._attempt(step, begin)
            except apsw.Error as error:
                if self._depth or self.repair is None or not is_damage(error) or not self.repair(error):
                    raise self.failure(error) from error
            try:
                return self._attempt(step, begin)
            except apsw.Error as error:  # damaged again: what is written waits beside it
                raise Unavailable(explain(error, self.path)) from error

    def failure(self, error: apsw.Error) -> StoreError:
        """The error to raise for SQLite's: `Unavailable` where trying again may help."""
        if self.read_only and is_damage(error):
            return StoreError(UNREPAIRED.format(path=self.path))
        kind = Unavailable if isinstance(error, tuple(PASSING)) else StoreError
        return kind(explain(error, self.path))

    def _attempt(self, step: Step[Result], begin: str) -> Result:
        """Run a step in a transaction, or as a part of the one that stands, which can be undone by itself."""
        part = f"step{self._depth}" if self._depth else ""
        self.live.execute(f"SAVEPOINT {part}" if part else begin)
        self._depth += 1
        try:
            if not part:
                self._check_file()
            result = step(self.live)
            reached = schema.reached(self.live) if begin == WRITING and not part else None
            self.live.execute(f"RELEASE {part}" if part else "COMMIT")
            if reached is not None:
                self._reached, self._version = reached, self.live.data_version()
        except BaseException as error:
            db = self._connection
            if db is not None and db.in_transaction:  # after some errors SQLite itself has undone all
                db.execute(f"ROLLBACK TO {part}; RELEASE {part}" if part else "ROLLBACK")
            if isinstance(error, UnicodeDecodeError):  # in a column of text, which SQLite does not check
                raise apsw.CorruptError(NO_TEXT) from error
            if isinstance(error, apsw.ConstraintError):  # an index, that of words too, is another than it was
                raise apsw.CorruptError(BAD_INDEX) from error
            if isinstance(error, apsw.SQLError) and not part and schema.is_empty(self.live):
                raise Gone("its tables are gone") from error
            raise
        finally:
            self._depth -= 1
        return result


def _open(path: Path | None, key: str = "") -> apsw.Connection:
    db = apsw.Connection(":memory:") if path is None else opened(path, apsw.SQLITE_OPEN_READWRITE, key)
    db.set_busy_timeout(BUSY_MILLISECONDS)
    return db


def _open_to_read(path: Path, key: str = "") -> apsw.Connection:
    # A file whose log is empty is read as it lies: SQLite would make a log and an index of it otherwise.
    query = "mode=ro" + ("" if has_log(path) else "&immutable=1")
    db = opened(path, apsw.SQLITE_OPEN_READONLY, key, query=query)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.set_busy_timeout(BUSY_MILLISECONDS)
    return db


def has_log(path: Path) -> bool:
    """Whether something that was written still lies in a log or a journal beside the file."""
    for ending in ("-wal", "-journal"):
        with contextlib.suppress(OSError):
            if os.path.getsize(f"{path}{ending}"):
                return True
    return False


def _configure(db: apsw.Connection, path: Path | None) -> None:
    """Durable writes, deleted bytes overwritten, write-ahead log where processes share memory."""
    db.pragma("secure_delete", True)
    if path is not None and schema.is_empty(db):
        db.pragma("auto_vacuum", 2)  # incremental: what `gardener store gc` frees can leave the file
    db.pragma("cache_size", -CACHE_KIB)
    db.pragma("temp_store", "memory")
    if path is None:
        return
    wanted = "truncate" if location.is_network_path(path.parent) else "wal"
    if db.pragma("journal_mode", wanted) != wanted:
        db.pragma("journal_mode", "truncate")
    db.pragma("synchronous", "full")
    db.pragma("journal_size_limit", 8 * 1024 * 1024)
