"""Where the archive lies, and how its files are kept private."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

from aider_gardener.errors import StoreError

DIRECTORY_NAME = ".aider.gardener"
FILE_NAME = "gardener.db"
IGNORE_NAME = ".gitignore"

NETWORK_FILE_SYSTEMS = frozenset(
    "9p afpfs afs beegfs ceph cifs davfs drvfs fuse.glusterfs fuse.grpcfuse fuse.osxfs fuse.rclone fuse.s3fs "
    "fuse.sshfs fuse.vmhgfs-fuse glusterfs gpfs grpcfuse lustre ncpfs nfs nfs4 ocfs2 osxfs prl_fs smb2 smb3 "
    "smbfs v9fs vboxsf virtiofs vmhgfs webdav".split()
)
"""File systems without memory shared by all who open a file: write-ahead logging is unsafe there."""

LOCAL_FUSE = frozenset(
    f"fuse.{name}" for name in "bindfs cryfs encfs gocryptfs lxcfs mergerfs ntfs-3g securefs".split()
)
WINDOWS_REMOTE_DRIVE = 4


def store_directory(root: Path | None, *, project: Path | None = None) -> Path:
    """Where a project's archive belongs; nothing is made or touched.

    In a work tree its own directory; without one a directory of the user, named by the hash of the
    path of `project` (by default the working directory).
    """
    if root is not None:
        return Path(root) / DIRECTORY_NAME
    import platformdirs

    place = os.path.realpath(project or Path.cwd())
    name = hashlib.sha256(os.path.normcase(place).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Path(platformdirs.user_data_dir("aider-gardener", appauthor=False)) / "projects" / name


def prepare_directory(directory: Path) -> Path:
    """Make the archive's directory private and hidden from git; returns its real path.

    The directory itself, its ignore file and its database must not be symbolic links: the archive
    could otherwise be written outside the tree. Raises StoreError or OSError.
    """
    if _is_link(directory):
        raise StoreError(f"{directory} is a symbolic link")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    if not directory.is_dir():
        raise StoreError(f"{directory} is not a directory")
    for name in (IGNORE_NAME, FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
        if _is_link(directory / name):
            raise StoreError(f"{directory / name} is a symbolic link")
    _set_mode(directory, 0o700)
    real = Path(os.path.realpath(directory))
    ignore = real / IGNORE_NAME
    if not ignore.exists():
        with contextlib.suppress(FileExistsError), open_private(ignore) as handle:
            os.write(handle.fileno(), b"*\n")
    return real


def prepare_file(path: Path) -> None:
    """Make the database file with mode 0600 if it is not there, whatever the umask.

    SQLite gives its log and its shared memory the mode of the database.
    """
    try:
        open_private(path).close()
    except FileExistsError:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise StoreError(f"{path} is not a regular file") from None
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
    try:
        if sys.platform == "win32":
            return _is_windows_remote(path)
        if sys.platform == "darwin":
            listing = subprocess.run(["/sbin/mount"], capture_output=True, timeout=2, check=False).stdout
            kinds = mac_mounts(listing.decode("utf-8", "replace"))
        else:
            kinds = linux_mounts(Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape"))
    except (OSError, subprocess.SubprocessError, ValueError):
        return False
    return is_network_file_system(file_system(path, kinds))


def is_network_file_system(kind: str) -> bool:
    """Whether a kind of file system is a network's; of the FUSE ones all that are not known to be local."""
    kind = kind.lower()
    return kind in NETWORK_FILE_SYSTEMS or (kind.startswith("fuse.") and kind not in LOCAL_FUSE)


def file_system(path: Path, mounts: dict[str, str]) -> str:
    """The kind of file system that `path` lies on, by the longest mount point above it."""
    real = os.path.realpath(path)
    for parent in (real, *map(str, Path(real).parents)):
        if parent in mounts:
            return mounts[parent]
    return ""


def linux_mounts(mountinfo: str) -> dict[str, str]:
    """Mount point → kind, from the text of /proc/self/mountinfo (later mounts cover earlier ones)."""
    found = {}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) > 4 and kind:
            point = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
            found[point] = kind[0]
    return found


def mac_mounts(listing: str) -> dict[str, str]:
    """Mount point → kind, from what `mount` prints on macOS: `device on POINT (KIND, options)`."""
    found = {}
    for line in listing.splitlines():
        place, _, options = line.rpartition(" (")
        _, _, point = place.partition(" on ")
        if point and options:
            found[point] = options.rstrip(")").split(",")[0].strip()
    return found


def _is_windows_remote(path: Path) -> bool:
    import ctypes

    anchor = os.path.splitdrive(os.path.realpath(path))[0]
    if anchor.startswith("\\\\"):
        return True
    windows = getattr(ctypes, "windll", None)
    if windows is None:
        return False
    return int(windows.kernel32.GetDriveTypeW(anchor + "\\")) == WINDOWS_REMOTE_DRIVE


def _is_link(path: Path) -> bool:
    """Whether a path is a symbolic link, or a junction on Windows."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    attributes = getattr(found, "st_file_attributes", 0)
    reparse = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
    return stat.S_ISLNK(found.st_mode) or bool(attributes & reparse)


def _set_mode(path: Path, mode: int) -> None:
    """Set a mode if it differs; where the system knows none of that, the user's own folder protects."""
    if os.name == "posix" and stat.S_IMODE(os.lstat(path).st_mode) != mode:
        os.chmod(path, mode)
