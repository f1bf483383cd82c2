"""Where the archive lies, and how its files are kept private."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import subprocess
from pathlib import Path

from aider_gardener.archive.store import files
from aider_gardener.archive.store.files import is_link
from aider_gardener.errors import StoreError

DIRECTORY_NAME = ".aider.gardener"
FILE_NAME = "gardener.db"
IGNORE_NAME, IGNORE_ALL = ".gitignore", b"*\n"
COPY_NAME = f"{FILE_NAME}.copy"
MENDED_NAME = f"{FILE_NAME}.mended"
"""A new archive that is about to take the place of a damaged one."""
MARKER_NAME = "encryption.json"
INDEX_NAME = "CONTEXT_ARCHIVE.md"
"""The index of its sessions, for people."""
JOURNAL_NAME = f"{FILE_NAME}-journal"
JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Ends a journal that names another."""
DATABASE_NAMES = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", JOURNAL_NAME)
LARGEST_BYTES = 1 << 46
"""More than SQLite's largest file: for what is not read whole."""
GIT_SECONDS = 10

NOT_OURS = "{path} holds other files: name an empty directory, or one that does not exist yet"
HARD_LINK = (
    "{path} has a second name (a hard link), under which SQLite could damage it: put a copy in its place"
)

NETWORK_FILE_SYSTEMS = frozenset(
    "9p afpfs afs beegfs ceph cifs davfs drvfs fuse.glusterfs fuse.grpcfuse fuse.osxfs fuse.rclone fuse.s3fs "
    "fuse.sshfs fuse.vmhgfs-fuse glusterfs gpfs grpcfuse lustre ncpfs nfs nfs4 ocfs2 osxfs prl_fs smb2 smb3 "
    "smbfs v9fs vboxsf virtiofs vmhgfs webdav".split()
)
"""File systems without memory shared by all who open a file: write-ahead logging is unsafe there."""

LOCAL_FUSE = frozenset(
    f"fuse.{name}" for name in "bindfs cryfs encfs gocryptfs lxcfs mergerfs ntfs-3g securefs".split()
)
REMOTE_DRIVE = "remote"
"""What psutil says of a drive of Windows' that stands for a share."""


def store_directory(root: Path | None, *, project: Path | None = None, user: Path | None = None) -> Path:
    """Where a project's archive belongs; nothing is made or touched.

    In a work tree its own directory; without one a directory of the user (in `user`, by default
    `user_directory()`), named by the hash of the path of `project` (by default the working directory).
    """
    if root is not None:
        return Path(root) / DIRECTORY_NAME
    place = os.path.realpath(project or Path.cwd())
    name = hashlib.sha256(os.path.normcase(place).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return (user or user_directory()) / "projects" / name


def chosen_directory(place: Path) -> Path:
    """Where the archive belongs if the user names a place; nothing is made or touched.

    There, if nothing is there yet or an archive is; else in a directory of its own in it, so that the one
    that was named stays as it is.
    """
    is_ours = place.name == DIRECTORY_NAME or not os.path.lexists(place) or _holds_only_ours(place)
    return place if is_ours or os.path.lexists(place / FILE_NAME) else place / DIRECTORY_NAME


def user_directory() -> Path:
    """The folder of this user's data on this machine."""
    import platformdirs

    return Path(platformdirs.user_data_dir("aider-gardener", appauthor=False))


def prepare_directory(directory: Path, user: Path | None = None) -> Path:
    """Make the archive's directory private and hidden from git; returns its real path.

    Where git tracks anything in it a directory of the user's (in `user`, by default `user_directory()`) takes
    its place: what is in a repository came from whoever wrote to that. The directory and the files of the
    archive must be plain ones, no links: it could otherwise be written outside the tree, or hang. One that
    was there before and has not the archive's own name keeps its mode, and is refused unless it is empty or
    holds an archive. Raises StoreError or OSError.
    """
    directory = settled_directory(directory, user)
    is_made = _make(directory)
    if not directory.is_dir():
        raise StoreError(f"{directory} is not a directory")
    is_empty = not os.listdir(directory)  # before what it holds: another process may be filling it right now
    is_own = is_made or directory.name == DIRECTORY_NAME or _holds_only_ours(directory)
    check_files(directory)
    if not (is_own or is_empty or os.path.lexists(directory / FILE_NAME)):
        raise StoreError(NOT_OURS.format(path=directory))
    if is_own:
        _set_mode(directory, 0o700)
    real = Path(os.path.realpath(directory))
    ignore = real / IGNORE_NAME
    if (is_own or is_empty) and not ignore.exists():
        with contextlib.suppress(FileExistsError), open_private(ignore) as handle:
            os.write(handle.fileno(), IGNORE_ALL)
    return real


def settled_directory(directory: Path, user: Path | None = None) -> Path:
    """The directory, or where git tracks anything in it the one of the user's that takes its place; nothing
    is made or touched. Raises StoreError for a link."""
    if is_link(directory):
        raise StoreError(f"{directory} is a symbolic link")
    if is_tracked(directory):
        return store_directory(None, project=directory.parent, user=user)
    return directory


def check_files(directory: Path) -> None:
    """Raise StoreError unless each file of an archive is missing or a plain one that nothing else shares."""
    for name in (IGNORE_NAME, MARKER_NAME, *DATABASE_NAMES):
        path = directory / name
        if not os.path.lexists(path):
            continue
        if is_link(path):
            raise StoreError(f"{path} is a symbolic link")
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(f"{path} is not a regular file")
        if name in DATABASE_NAMES and found.st_nlink > 1:
            raise StoreError(HARD_LINK.format(path=path))
    if _names_another_journal(directory / JOURNAL_NAME):
        raise StoreError(f"{directory / JOURNAL_NAME} is not the archive's: it was left alone")


def is_tracked(directory: Path) -> bool:
    """Whether git tracks a file in a directory, or the directory itself, in whatever case it is written."""
    parent = Path(os.path.realpath(directory.parent))
    if not directory.exists() or not any((folder / ".git").exists() for folder in (parent, *parent.parents)):
        return False
    command = ["git", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-C", str(parent)]
    command += ["ls-files", "-z", "--", f":(icase,literal){directory.name}"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, env=environ, capture_output=True, timeout=GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout)


def prepare_file(path: Path) -> None:
    """Make the database file with mode 0600 if it is not there, whatever the umask.

    SQLite gives its log and its shared memory the mode of the database.
    """
    with contextlib.suppress(FileExistsError):
        open_private(path).close()


def make_private(path: Path) -> None:
    """Take a file's mode back to 0600, once it is known to be ours."""
    _set_mode(path, 0o600)


def open_private(path: Path) -> PrivateFile:
    """Open a new file for writing, mode 0600; raises FileExistsError when there is one."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    if hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):
            os.fchmod(handle, 0o600)
    return PrivateFile(handle)


class PrivateFile:
    """A file handle that closes itself at the end of a `with` block."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def fileno(self) -> int:
        return self._handle

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> PrivateFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one later put in its place; None when it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def is_network_path(path: Path) -> bool:
    """Whether a directory lies on a file system of `NETWORK_FILE_SYSTEMS`; False where unknown."""
    import psutil

    real = os.path.realpath(path)
    if real.startswith("\\\\"):  # a share of Windows' that no drive stands for
        return True
    try:
        mounts = {os.path.normcase(each.mountpoint): each for each in psutil.disk_partitions(all=True)}
    except (OSError, psutil.Error):
        return False
    above = (mounts.get(os.path.normcase(place)) for place in (real, *map(str, Path(real).parents)))
    mount = next((each for each in above if each is not None), None)
    if mount is None:
        return False
    return REMOTE_DRIVE in mount.opts.split(",") or is_network_file_system(mount.fstype)


def is_network_file_system(kind: str) -> bool:
    """Whether a kind of file system is a network's; of the FUSE ones all that are not known to be local."""
    kind = kind.lower()
    return kind in NETWORK_FILE_SYSTEMS or (kind.startswith("fuse.") and kind not in LOCAL_FUSE)


def _make(directory: Path) -> bool:
    """Make a private directory; False if there is one."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def _holds_only_ours(directory: Path) -> bool:
    """Whether a directory has our ignore file, written or about to be, and else only what this package writes
    into an archive's."""
    try:
        others = set(os.listdir(directory)) - {IGNORE_NAME}
        is_ignored = files.read(directory / IGNORE_NAME) in (IGNORE_ALL, b"")
    except OSError:
        return False
    return is_ignored and all(name.startswith((FILE_NAME, MARKER_NAME, INDEX_NAME)) for name in others)


def _names_another_journal(path: Path) -> bool:
    """Whether a rollback journal says that it belongs to a change of several files, as none of ours does.

    SQLite would open the file that it names, and might delete it.
    """
    try:
        with files.open_plain(path, LARGEST_BYTES) as file:
            file.seek(-len(JOURNAL_MAGIC), os.SEEK_END)
            return file.read() == JOURNAL_MAGIC
    except (OSError, ValueError):
        return False


def _set_mode(path: Path, mode: int) -> None:
    """Set a mode if it differs; where the system knows none of that, the user's own folder protects."""
    if os.name == "posix" and stat.S_IMODE(os.lstat(path).st_mode) != mode:
        os.chmod(path, mode)
