"""Where the archive lies, and whose it is: the project's, whichever HOME or container it is opened in.

What is in the folder tells whose it is: no links, nothing that git tracks, which came from whoever wrote to
the repository, and no file of another user's. What is refused stays as it is, and nothing is made beside it.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from pathlib import Path

from aider_gardener import files
from aider_gardener.errors import StoreError

DIRECTORY_NAME = ".aider.gardener"
FILE_NAME = "gardener.db"
IGNORE_NAME, IGNORE_ALL = ".gitignore", b"*\n"
RECORDINGS_NAME = "recordings"
"""The folder beside an archive, or before there is one, in which chats are recorded."""
COPY_NAME = f"{FILE_NAME}.copy"
MENDED_NAME = f"{FILE_NAME}.mended"
"""A new archive that is about to take the place of a damaged one."""
MARKER_NAME = "encryption.json"
LOG_ENDINGS = "-wal", "-shm", "-journal"
"""How the names of SQLite's own files beside one end."""
JOURNAL_NAME = f"{FILE_NAME}-journal"
JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Ends a journal that names another."""
DATABASE_NAMES = (FILE_NAME, *(f"{FILE_NAME}{ending}" for ending in LOG_ENDINGS))
GIT_SECONDS = 10
PLAIN_INDEX, INDEX_BYTES = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3"), 1 << 28

ASIDE = re.compile(re.escape(FILE_NAME) + r"\.(damaged|removed|damaged-lines)-(?!.*-(?:wal|shm|journal)$)")
"""What was set aside, without its log."""

NOT_OURS = "{path} holds other files: name an empty directory, or one that does not exist yet"
TRACKED = (
    "git tracks files in {path}: they are the repository's and were left alone; if they are yours"
    " `git rm -r --cached {path}`, else name another place (the setting store)"
)
ANOTHERS = (
    "{path} belongs to another user (uid {uid}) and was left alone: work as that user, or name another place"
    " (the setting store)"
)
UNUSABLE = "{path} cannot be used ({fault}); check its permissions and its disk"
LINKED = "{path} is a symbolic link: put the folder in its place, or name that by AIDER_GARDENER_STORE"
UNWRITABLE = "{path} cannot be written; check its permissions"
HARD_LINK = (
    "{path} has a second name (a hard link), under which SQLite could damage it: put a copy in its place"
)

LOCAL_FILE_SYSTEMS = frozenset(
    "apfs bcachefs btrfs exfat ext2 ext3 ext4 f2fs fat fat32 fuse.bindfs fuse.cryfs fuse.encfs "
    "fuse.gocryptfs fuse.lxcfs fuse.mergerfs fuse.ntfs-3g fuse.securefs fuseblk hfs jfs msdos nilfs2 ntfs "
    "ntfs3 overlay ramfs refs reiserfs rootfs tmpfs ufs vfat xfs zfs".split()
)
"""File systems known to share memory among all who open a file. Elsewhere write-ahead logging is unsafe."""

ESCAPED = re.compile(r"\\([0-7]{3})")
"""How Linux writes a blank in the place of a file system."""
REMOTE_DRIVE = "remote"
"""What psutil says of a drive of Windows' that stands for a share."""


def store_directory(
    root: Path | None, named: Path | None = None, *, project: Path | None = None, user: Path | None = None
) -> Path:
    """Where a project's archive belongs; nothing is made or touched.

    At the place that the user named, from the project on where it is relative, if nothing is there yet or an
    archive is; else in a directory of its own in it, so that the one that was named stays as it is. Without
    one in a work tree its own directory;
    without either a directory of the user (in `user`, by default `user_directory()`), named by the hash of
    the path of `project` (by default the working directory).
    """
    if named is not None:
        named = (root or project or Path.cwd()) / named
        is_ours = named.name == DIRECTORY_NAME or not os.path.lexists(named) or _is_ours(named)
        return named if is_ours else named / DIRECTORY_NAME
    if root is not None:
        return Path(root) / DIRECTORY_NAME
    place = os.path.realpath(project or Path.cwd())
    import hashlib  # late: as in messages

    name = hashlib.sha256(os.path.normcase(place).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return (user or user_directory()) / "projects" / name


def user_directory() -> Path:
    """The folder of this user's data on this machine."""
    import platformdirs

    return Path(platformdirs.user_data_dir("aider-gardener", appauthor=False))


def prepare_directory(directory: Path) -> Path:
    """Make the archive's directory private and hidden from git; returns its real path.

    It and the archive's files must be the user's (`check_whose`) and plain ones, no links: it could otherwise
    be written outside the tree, or hang. One that was there before and has not the archive's own name keeps
    its mode, and is refused unless it is empty or holds an archive. Raises StoreError or OSError.
    """
    check_whose(directory)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700)
        files.give_to_owner(directory, directory)
        is_own = True
    except FileExistsError:
        is_own = directory.name == DIRECTORY_NAME
    if not directory.is_dir():
        raise StoreError(f"{directory} is not a directory")
    is_empty = not os.listdir(directory)  # before whose it is: another process may be filling it right now
    check_files(directory)
    if not (is_own or is_empty or _is_ours(directory)):
        raise StoreError(NOT_OURS.format(path=directory))
    if is_own or (not is_empty and _is_hidden(directory)):
        make_private(directory, 0o700)
    real = Path(os.path.realpath(directory))
    if is_own or is_empty:
        with contextlib.suppress(FileExistsError), files.open_private(real / IGNORE_NAME) as file:
            file.write(IGNORE_ALL)
    return real


def check_whose(directory: Path) -> None:
    """Raise StoreError where a directory is a link, git tracks anything in it, or what lies there is another
    user's; nothing is made or touched."""
    if files.is_link(directory):
        raise StoreError(LINKED.format(path=directory))
    if is_tracked(directory):
        raise StoreError(TRACKED.format(path=directory))
    try:
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        _check_owner(directory)
        raise StoreError(UNUSABLE.format(path=directory, fault=error.strerror)) from error
    for name in sorted(names):
        if name.startswith(FILE_NAME) or name == MARKER_NAME:
            _check_owner(directory / name)


def unusable(directory: Path) -> str:
    """Why nothing can be kept in a directory, as far as that is seen from outside; "" where it can be."""
    try:
        check_whose(directory)
    except StoreError as error:
        return str(error)
    found = Path(os.path.realpath(directory))
    around = next(folder for folder in (found, *found.parents) if folder.exists())
    can = around.is_dir() and os.access(around, os.W_OK)
    return "" if can else UNWRITABLE.format(path=around)


def _check_owner(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if is_anothers(found := os.lstat(path)):
            raise StoreError(ANOTHERS.format(path=path, uid=found.st_uid))


def is_anothers(found: os.stat_result) -> bool:
    """Whether a file belongs to a user other than this process's; root opens everybody's."""
    return os.name == "posix" and os.geteuid() not in (0, found.st_uid)


def names_in(directory: Path, form: re.Pattern[str]) -> list[str]:
    """The names in a directory that begin as a form says."""
    try:
        return sorted(filter(form.match, os.listdir(directory)))
    except OSError:
        return []


def check_files(directory: Path) -> None:
    """Raise StoreError unless each file of an archive is missing or a plain one that nothing else shares."""
    for name in (IGNORE_NAME, MARKER_NAME, *DATABASE_NAMES):
        path = directory / name
        try:
            names = files.check_plain(path).st_nlink
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"{path} cannot be used ({error.strerror})") from error
        if name in DATABASE_NAMES and names > 1:
            raise StoreError(HARD_LINK.format(path=path))
    journal = directory / JOURNAL_NAME
    with contextlib.suppress(OSError), files.open_plain(journal) as file:
        file.seek(-len(JOURNAL_MAGIC), os.SEEK_END)
        if file.read() == JOURNAL_MAGIC:  # SQLite would open the file that it names, and might delete it
            raise StoreError(
                f"{journal} names another journal, as none of the archive's does: it was left alone"
            )


def is_tracked(directory: Path) -> bool:
    """Whether git tracks a file in a directory, or the directory itself, in whatever case it is written."""
    parent = Path(os.path.realpath(directory.parent))
    around = (folder / ".git" for folder in (parent, *parent.parents))
    git = next((path for path in around if path.exists()), None)
    if git is None or not directory.exists() or not _may_track(git, directory.name):
        return False
    import subprocess  # late: seldom is a program asked

    command = ["git", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-C", str(parent)]
    command += ["ls-files", "-z", "--", f":(icase,literal){directory.name}"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, env=environ, capture_output=True, timeout=GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout)


def _may_track(git: Path, name: str) -> bool:
    """Whether a path with this name may be in the index of a repository, by its bytes: each hook opens an
    archive, and git would be a program to start. False only where the index is one file that holds paths
    whole, as those of the versions 2 and 3 do."""
    try:
        index = files.read(git / "index", INDEX_BYTES)
    except OSError:  # a work tree beside its repository, or none
        return True
    is_whole = index[:8] in PLAIN_INDEX and not any(git.glob("sharedindex.*"))
    return not (is_whole and name.isascii()) or name.lower().encode() in index.lower()


def remove(path: Path, *, file: bool = True) -> None:
    """Remove a database with its log, or what lies beside it alone. Raises OSError."""
    for ending in ("", *LOG_ENDINGS) if file else LOG_ENDINGS:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def make_private(path: Path, mode: int = 0o600) -> bool:
    """Take back the mode of what is known to be ours, and tell whether it was another; where there are none
    the user's own folder protects."""
    is_other = os.name == "posix" and stat.S_IMODE(os.lstat(path).st_mode) != mode
    if is_other:
        os.chmod(path, mode)
    return is_other


def identity(file: Path | int) -> tuple[int, int] | None:
    """What tells a file, by its path or as it is open, from another one later put in its place; None when it
    is not there."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def is_network_path(path: Path) -> bool:
    """Whether a directory lies on a file system that is not known to be local; False where none is told."""
    real = os.path.realpath(path)
    if real.startswith("\\\\"):  # a share of Windows' that no drive stands for
        return True
    try:
        found = {os.path.normcase(place): (kind.lower(), options) for place, kind, options in mounts()}
    except OSError:
        return False
    for place in (real, *map(str, Path(real).parents)):
        if (mount := found.get(os.path.normcase(place))) is not None:
            kind, options = mount
            return REMOTE_DRIVE in options.split(",") or kind not in ("", *LOCAL_FILE_SYSTEMS)
    return False


def mounts() -> list[tuple[str, str, str]]:
    """Of each file system the place, the kind and the options. Raises OSError."""
    if sys.platform == "linux":  # it says so in a file; to import psutil takes longer than to open an archive
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.split(" ") for line in file]
        return [(ESCAPED.sub(lambda code: chr(int(code[1], 8)), row[1]), row[2], row[3]) for row in rows]
    import psutil

    try:
        found = psutil.disk_partitions(all=True)
    except psutil.Error as error:
        raise OSError from error
    return [(each.mountpoint, each.fstype, each.opts) for each in found]


def _is_ours(directory: Path) -> bool:
    """Whether an archive's database, or what lies beside one, is in a directory, or our ignore file with
    nothing but recordings."""
    try:
        names = os.listdir(directory)
    except OSError:
        return False
    return any(name.startswith(FILE_NAME) for name in names) or (
        {*names} - {RECORDINGS_NAME} == {IGNORE_NAME} and _is_hidden(directory)
    )


def _is_hidden(directory: Path) -> bool:
    """Whether our ignore file is in a directory; another process may be about to write it."""
    try:
        return files.read(directory / IGNORE_NAME) in (IGNORE_ALL, b"")
    except OSError:
        return False


def is_shared(directory: Path | None, project: str) -> bool:
    """Whether an archive may hold other projects' chats: it does not lie in this one. What lies in it moves
    with it, so there older sessions are found by whatever name the project had then."""
    return directory is not None and Path(project).resolve() not in directory.resolve().parents
