"""`gardener store`: look after the archive of a project. Argument parsing only; the work is elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.root import (
    FILE,
    PLACE,
    archive_directory,
    archive_options,
    notify,
    open_archive,
    opened,
    project_of,
    put,
    store_option,
)
from aider_gardener.cli.shared import share, sync, unshare
from aider_gardener.errors import UsageError
from aider_gardener.phrases import counted, size

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Address
    from aider_gardener.archive.retention import Pruning


@click.group()
def store() -> None:
    """Look after the archive of a project."""


for _command in (share, unshare, sync):
    store.add_command(_command)


@store.command("copy", short_help="Copy the whole archive to a directory or a server, or back.")
@click.option("--to", type=PLACE, metavar="PLACE", help="Where; it is made if need be.")
@click.option(
    "--from", "source", type=PLACE, metavar="PLACE", help="Add all of this archive to the project's."
)
@click.option("--readable", is_flag=True, help="Agree that what is encrypted here can be read on the server.")
@store_option
def store_copy(to: Path | Address | None, source: Path | Address | None, readable: bool) -> None:
    """Copy all that the archive holds to another directory or to a PostgreSQL server, or back.

    PLACE is a directory, or postgresql://ROLE@HOST/DATABASE#NAME. What is there already stays, nothing is
    doubled. A new archive in a directory is encrypted if the setting store_key is given, whatever this one
    is. On a server only ROLE can read it, and chats held with a local model are left out.
    """
    from aider_gardener import files
    from aider_gardener.archive.postgres.sync import ENCRYPTED
    from aider_gardener.archive.store.location import store_directory

    if (to is None) == (source is None):
        raise UsageError("say where: --to PLACE, or --from PLACE")
    own, _key = archive_directory(create=to is None)
    there = store_directory(None, files.in_home(to)) if isinstance(to, Path) else to
    other = archive_directory(source)[0] if isinstance(source, Path) else source
    if os.path.realpath(own) == os.path.realpath(str(there or other)):
        raise UsageError(f"{own} is where the archive lies already; name another directory")
    with closing(opened(other or own, source=True)) as given:
        if given.database.key and not (readable or isinstance(there or own, Path)):
            raise UsageError(ENCRYPTED)
        with closing(opened(there or own, create=True)) as taking:
            count = taking.copy_from(given)
            kind = "SQLite" if taking.is_file else "lines of JSON" if taking.directory else "PostgreSQL"
    for line in (given.notice, taking.notice):
        notify(line)
    click.echo(f"{counted(count, 'new line')} copied to {there or own} ({kind})")


@store.command("verify", short_help="Check the file, its index and every original.")
@archive_options
def store_verify() -> None:
    """Check the file's pages and indexes, and every original against its hash.

    What is wrong is told, and put right: a damaged file is set aside and a new one has what can be read of it
    and what the copy holds. Exit 1 when anything was wrong.
    """
    with closing(opened()) as store:
        notices = [store.notice]
        problems = [*filter(None, [store.mended]), *store.verify()]
        notices.append(store.notice)
        for notice in dict.fromkeys(notices):
            notify(notice if notice not in problems else "")
        put(problems, lambda: problems or ["The archive is sound."])
    if problems:
        sys.exit(1)


@store.command("export")
@click.argument("file", type=FILE)
@store_option
def store_export(file: Path) -> None:
    """Write everything as JSON lines, readable by the owner only. An export that is there is replaced."""
    click.echo(f"{counted(open_archive(source=True).export(file), 'line')} written to {file}")


@store.command("import", short_help="Add what an export holds and the archive does not.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@store_option
def store_import(file: Path) -> None:
    """Add what an export holds and the archive does not, which is begun if need be; all or nothing."""
    from aider_gardener.archive.store.records import read_export

    with suppress(OSError):  # told when it is taken in
        next(read_export(file))  # no archive is begun for what is none
    click.echo(f"{counted(open_archive(create=True).import_(file), 'new line')} read from {file}")


@store.command("gc", short_help="Show, or with --yes delete, what the retention rules let go.")
@click.option("--yes", is_flag=True, help="Delete it, for good.")
@archive_options
def store_gc(yes: bool) -> None:
    """Show what the retention rules let go, and beyond them the size that the setting `retention` names; with
    --yes delete it.

    What is deleted is gone from the file, its log and its index, and the room is given back to the disk.
    What is pinned never goes, nor what stands in a session that is open or was in use within 24 hours.
    """
    from aider_gardener.archive.retention import MEGABYTE, proposal, prune
    from aider_gardener.gardener.files import renew_index
    from aider_gardener.settings import Settings

    settings = Settings.from_env()
    archive = open_archive()
    most = settings.store_limit * MEGABYTE
    due = proposal(archive, most)
    deletes = bool(due) and yes
    before = archive.size_bytes()
    if deletes:
        prune(archive, most)
        renew_index(archive, project_of(archive))
    after = archive.size_bytes()
    sizes = {"bytes_before": before, "bytes_after": after}
    value = {"deleted": deletes, **sizes, "entries": [each.record() for each in due]}
    put(value, lambda: gc_report(due, size(before), size(after), deleted=deletes))


@store.command("encrypt")
@click.option(
    "--key",
    "source",
    metavar="keyring|env|file:PATH",
    help="The system's keyring, the variable AIDER_GARDENER_KEY, or a file. A keyring or a file gets a random"
    " key if it has none.  [default: the setting store_key]",
)
@store_option
def store_encrypt(source: str | None) -> None:
    """Encrypt the archive, index and vectors included.

    An encrypted copy takes the place of the file in one step, and the old bytes are overwritten. No chat of
    the project may be open. Later starts find the source of the key by themselves.
    """
    from aider_gardener.archive.store.encryption import encrypt
    from aider_gardener.settings import Settings

    settings = Settings.from_env(store_key=source)
    if not settings.store_key:
        raise UsageError("say where the key is to be: --key keyring, --key env or --key file:PATH")
    found, _key = archive_directory()
    readable = encrypt(found, settings.store_key)
    click.echo(
        f"The archive in {found} is encrypted. Its key is that of {settings.store_key}: keep it well,\n"
        "without it nobody can read the archive."
    )
    if readable:
        click.echo(f"Not encrypted, delete them if you can: {', '.join(readable)}")


def gc_report(due: Sequence[Pruning], before: str, after: str, *, deleted: bool) -> object:
    """What `gardener store gc` shows: what goes, by reason and class, and what was done about it."""
    from aider_gardener.tables import pruning_table

    if not due:
        return f"Nothing may go: the archive takes {before}."
    done = f"Nothing was deleted (the archive takes {before}); --yes deletes these entries for good."
    if deleted:
        done = f"Deleted for good. The archive took {before} and takes {after} now."
    return pruning_table(due, done)
