"""`gardener upkeep`: what was said and learnt, for people to read and decide. Arguments only: others work."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from aider_gardener.cli.root import (
    FILE,
    archive_options,
    open_archive,
    print_lines,
    project_of,
    put,
    store_option,
    working_project,
)
from aider_gardener.errors import UsageError

dry_run_option = click.option("--dry-run", is_flag=True, help="Only say what would be done.")
numbers_argument = click.argument("numbers", nargs=-1, required=True, metavar="N...")


@click.group(short_help="An index of sessions, proposals for rules, done tasks.")
def upkeep() -> None:
    """Upkeep of what was said and learnt."""


@upkeep.command(short_help="The index of all sessions as Markdown.")
@click.option("--output", type=FILE, metavar="FILE", help="Write to this file, mode 0600.")
@dry_run_option
@store_option
def index(output: Path | None, dry_run: bool) -> None:
    """Write the index of sessions to CONTEXT_ARCHIVE.md in the archive's directory, or to --output.

    Once it is there it is written anew as a chat in aider ends, and when something is forgotten.
    """
    from aider_gardener.gardener import files

    store = open_archive(read_only=True)
    click.echo(files.write_index(store, project_of(store), output, dry_run=dry_run))


@upkeep.command(short_help="What three chats say, proposed as rules.")
@click.option("--all", "everything", is_flag=True, help="List those too that were not seen for 28 days.")
@archive_options
def observations(everything: bool) -> None:
    """List the rules that you said in three chats of this project, with where.

    Nothing becomes a rule unless you take it. What was not seen for 28 days fades.
    """
    from aider_gardener.gardener.observations import all_observations, render

    store = open_archive(read_only=True)
    found = all_observations(store, project_of(store))
    put(found, lambda: render(store, project_of(store), found, faded=everything))


@upkeep.command(short_help="Make observations rules of every later chat.")
@numbers_argument
@store_option
def take(numbers: tuple[str, ...]) -> None:
    """Make observations rules of every later chat of this project. N is a number of the list, or an id."""
    from aider_gardener.gardener.observations import TAKEN, decide

    store = open_archive()
    print_lines(decide(store, project_of(store), numbers, TAKEN))


@upkeep.command(short_help="Have observations never proposed again.")
@numbers_argument
@store_option
def refuse(numbers: tuple[str, ...]) -> None:
    """Have observations never proposed again, and rules that were taken dropped. N is a number or an id."""
    from aider_gardener.gardener.observations import REFUSED, decide

    store = open_archive()
    print_lines(decide(store, project_of(store), numbers, REFUSED))


@upkeep.command(short_help="Move what is checked off to TASK_ARCHIVE.md.")
@click.argument("listed", type=FILE, required=False, metavar="[FILE]")
@dry_run_option
def tasks(listed: Path | None, dry_run: bool) -> None:
    """Move what is checked off in FILE, else in TASKS.md and TODO.md of the repository, to TASK_ARCHIVE.md.

    A task goes with all that is indented below it, once nothing of that is open. The archive has the last ten
    whole, of older ones a line. Where you change a file meanwhile it stays as it is.
    """
    from aider_gardener.gardener import done_tasks

    print_lines(done_tasks.moved(working_project(), listed, dry_run=dry_run))


@upkeep.command(short_help="What the chats of a month came to.")
@click.argument("month", default="", required=False, metavar="[YYYY-MM]")
@archive_options
def month(month: str) -> None:
    """What the chats came to in which something was last said in a month, the current one by default."""
    from aider_gardener.gardener.past_chats import month_report, render_month

    try:
        wanted = datetime.strptime(month, "%Y-%m") if month else datetime.now()
    except ValueError:
        raise UsageError(f"{month!r} is no month; write one as 2026-01") from None
    store = open_archive(read_only=True)
    found = month_report(store, project_of(store), f"{wanted:%Y-%m}")
    put(found, lambda: render_month(found))
