"""`gardener`: the tools beside the chat. Argument parsing only; the work is in the modules.

Exit codes: 0 done, 1 failed, 2 usage. Errors are one line on stderr that says what to do next.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener import __version__, terminal
from aider_gardener.errors import GardenerError, UsageError

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.server import Address
    from aider_gardener.archive.store import Store
    from aider_gardener.archive.store.base import SessionInfo

    Place = Path | Address
    """Where an archive is: in a directory, or on a server."""

GROUPS = {
    "Every day": ("recall status sessions pressure restore why forget run compress replay import").split(),
    "Looking after it": ["store", "upkeep", "doctor"],
    "For agents": ["install", "uninstall", "mcp", "hook"],
    "For developers": ["record", "patches"],
}
"""The commands as they are listed."""
MODULES = {name: name for names in GROUPS.values() for name in names} | {
    **dict.fromkeys(("pressure", "restore", "why", "forget"), "entries"),
    **dict.fromkeys(GROUPS["For agents"], "agents"),
    **{"status": "recall", "import": "imports", "store": "archive"},
}
"""The module of each, which is imported only when it is called for."""


class LazyGroup(click.Group):
    """A group that imports a command's module when it is used, and ends on our errors in one line. What it
    and its commands print is visible."""

    def main(self, *args: Any, **options: Any) -> Any:
        terminal.guard()
        try:
            return super().main(*args, **options)
        except OSError as error:  # but of a closed pipe, which click ends without a word
            if not isinstance(error.__context__, BrokenPipeError):  # rich's answer to it is an error
                notify(in_words(error))
            if not (error.filename or isinstance(error, FileNotFoundError)):
                from aider_gardener.cli.pipe import nobody_reads  # late: the other commands need none of it

                nobody_reads()
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"aider_gardener.cli.{MODULES[cmd_name]}")
        commands = (one for one in vars(module).values() if isinstance(one, click.Command))
        return next(one for one in commands if one.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(90)) for name, one in commands if one])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else f"{ctx.command_path} {ctx.invoked_subcommand}"
            message = error.format_message().removesuffix(".")
            notify(f"{message[:1].lower()}{message[1:]}; {path} --help says what it takes")
            ctx.exit(2)
        except GardenerError as error:
            notify(str(error))
            ctx.exit(2 if isinstance(error, UsageError) else 1)


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "ignore_unknown_options": True,  # `invoke` refuses them, in one line
        "color": False if os.name == "nt" else None,  # else click has codes obeyed where a console can't
    },
)
@click.version_option(__version__, prog_name="gardener")
def main() -> None:
    """Look into the archive, replay sessions, compress text. The chat itself is `aider-gardener`."""


PLACE_KEY, JSON_KEY = f"{__name__}.store", f"{__name__}.json"
"""Under these a command's context, and those below it, have the archive that was named, and whether JSON was
asked for."""


def open_archive(*, read_only: bool = False, create: bool = False, source: bool = False) -> Store:
    """The archive of a project, until the command ends: that of --store, else as `aider-gardener` in this
    directory would find it.

    Raises UsageError when there is none yet, unless with `create`, and with `read_only`, which leaves
    whatever is found as it is, StoreError for one that is damaged. Of a `source` all is read: it is left as
    it is where it can only be read, as on a disk that takes no writes.
    """
    store = opened(read_only=read_only, create=create, source=source)
    notice = store.notice
    notify(notice)

    def end() -> None:
        notify(store.notice if store.notice != notice else "")
        store.close()

    click.get_current_context().call_on_close(end)
    return store


def in_words(error: OSError) -> str:
    """What cannot be used, and why: an error without a name is of the current directory, where that is gone,
    else of standard output."""
    is_directory = isinstance(error, FileNotFoundError)
    what = error.filename or ("the current directory" if is_directory else "standard output")
    return f"{what} cannot be used ({error.strerror or error})"


def notify(notice: str) -> None:
    """A line beside what a command prints, as long as an error's may be; nothing for ""."""
    if notice:
        click.echo(f"gardener: {GardenerError(' '.join(notice.split()))}", err=True)


def opened(
    given: Place | None = None, *, read_only: bool = False, create: bool = False, source: bool = False
) -> Store:
    """The archive of a place, as `open_archive` says; the caller closes it and tells its notice."""
    from aider_gardener.archive.store import open_store, open_to_read

    place = given or click.get_current_context().meta.get(PLACE_KEY)
    if place is not None and not isinstance(place, Path):
        from aider_gardener.archive.postgres import lines, server

        notify(server.warning(place.environ) if create else "")
        return lines.open_on_server(place, create=create, read_only=read_only)
    directory, key_source = archive_directory(place, create=create)
    if read_only or (source and not os.access(directory, os.W_OK)):
        return open_to_read(directory, key_source=key_source)
    return open_store(directory, key_source=key_source, or_memory=False)


def archive_directory(given: Path | None = None, *, create: bool = False) -> tuple[Path, str]:
    """The directory of the archive that is given, else of the one that is meant, and where its key is. Raises
    UsageError when there is none in it yet, unless with `create`, and StoreError for another's."""
    from aider_gardener.archive.store.location import check_whose

    place = given or click.get_current_context().meta.get(PLACE_KEY)
    if place is not None and not isinstance(place, Path):
        raise UsageError(f"{place} is on a server; this needs one in a directory")
    found, key_source = place_of(place)
    check_whose(found)
    if not (create or has_archive(found)):
        raise UsageError(f"there is no archive in {found}; run aider-gardener in the project first")
    return found, key_source


def place_of(given: Path | None = None, *, start: Path | None = None) -> tuple[Path, str]:
    """Where the archive belongs that is given, else that of the project around `start` (the working
    directory) or, where its chats were held with --no-git, of the folder alone; and where its key is.
    Nothing is touched."""
    from aider_gardener.archive.store.location import store_directory
    from aider_gardener.settings import Settings

    settings = Settings.from_env()
    if given:
        return store_directory(None, given), settings.store_key
    root = repository_root(start or Path.cwd())
    found = store_directory(root, settings.store_path, project=start)
    if root and not has_archive(found):
        alone = store_directory(None, settings.store_path, project=start)
        found = alone if has_archive(alone) else found
    return found, settings.store_key


def has_archive(directory: Path) -> bool:
    """Whether an archive is in a directory."""
    from aider_gardener.archive.store.lines import names

    return (directory / "gardener.db").exists() or bool(names(directory))


def repository_root(start: Path) -> Path | None:
    """The work tree that holds `start`, or None; a folder that has an archive (`Gardener.open` makes one in
    any) is its own."""
    if (start / ".aider.gardener").is_dir():
        return start
    return next((folder for folder in [start, *start.parents] if (folder / ".git").exists()), None)


def working_project() -> Path:
    """The work tree around the working directory, else that itself."""
    return (repository_root(Path.cwd()) or Path.cwd()).resolve()


class PlaceType(click.Path):
    """A directory, or the address of an archive on a server."""

    name = "directory or url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "://" not in str(value):
            return super().convert(value, param, ctx)
        from aider_gardener.archive.postgres.server import Address

        return Address.of(str(value))


def _remember(key: str) -> Callable[[click.Context, click.Parameter, object], None]:
    def remember(ctx: click.Context, _param: click.Parameter, value: object) -> None:
        if value:
            ctx.meta[key] = value

    return remember


PLACE = PlaceType(file_okay=False, path_type=Path)
store_option = click.option(
    "--store",
    type=PLACE,
    metavar="PLACE",
    expose_value=False,
    callback=_remember(PLACE_KEY),
    help="The archive's directory, or postgresql://…#NAME.  [default: that of this project]",
)
json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=_remember(JSON_KEY),
    help="One JSON value on stdout and nothing else.",
)
yes_option = click.option("--yes", is_flag=True, help="Don't ask; needed where nobody can be asked.")


def archive_options(command: Callable[..., object]) -> Callable[..., object]:
    """--store and --json, which most commands take."""
    return store_option(json_option(command))


class FileType(click.Path):
    """A file that is named; none of our files is to be called "-", which is standard output if at all."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value) or (str(value) == "-" and not self.allow_dash):
            self.fail("it is written to a file: name one", param, ctx)
        return super().convert(value, param, ctx)


FILE = FileType(dir_okay=False, path_type=Path)


def as_json() -> bool:
    """Whether JSON was asked for."""
    return bool(click.get_current_context().meta.get(JSON_KEY))


def project_of(store: Store) -> str:
    """The project whose chats are meant: that of the working directory, or, of an archive that was named and
    has none of it, that the archive lies in."""
    here = str(working_project())
    if PLACE_KEY not in click.get_current_context().meta or store.sessions(here):
        return here
    path = store.stats().path
    around = str(Path(path).resolve().parent.parent) if path else here
    return around if store.sessions(around) else here


def session_named(store: Store, given: str) -> SessionInfo:
    """The project's session that is named so: `last`, a number of the list, or the beginning of its id."""
    from aider_gardener.archive.sessions import session_named as found

    return found(store, project_of(store), given)


def entry_named(store: Store, given: str) -> str:
    """The id that begins with what was given; `last` is the newest message of the last chat."""
    from aider_gardener.archive.lookup import full_id, newest_id

    if given.strip().lower() == "last":
        return newest_id(store.session_entries(session_named(store, given).id))
    return full_id(store, given)


def put(value: object, shown: Callable[[], Any]) -> None:
    """Print a value as JSON if that was asked for, else how it is `shown`: a table, a text, or its lines."""
    if as_json():
        click.echo(json.dumps(value, ensure_ascii=True, default=_plain))
        return
    shown_value = shown()
    if isinstance(shown_value, Iterable) and not isinstance(shown_value, str):
        print_lines(shown_value)
        return
    if not isinstance(shown_value, str):
        from aider_gardener.tables import as_text

        shown_value = as_text(shown_value)
    click.echo(shown_value)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they come."""
    for line in lines:
        click.echo(line)


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def confirm(question: str, yes: bool) -> None:
    """Ask unless told not to. Raises UsageError where nobody can answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("this deletes for good; add --yes where nobody can be asked")
    click.confirm(question, abort=True)
