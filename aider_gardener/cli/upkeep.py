"""`gardener archive`: sessions as Markdown. Argument parsing only; the work is elsewhere."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.root import directory_option, json_option, open_archive, project_of
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import Store


@click.command(short_help="Write a session, or the index of all, as Markdown.")
@click.argument("session", required=False, metavar="[SESSION]")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to this file, which only you can read.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Write the index of all sessions, to CONTEXT_ARCHIVE.md in the archive's directory or to --output.",
)
@directory_option
@json_option
def archive(
    session: str | None, output: Path | None, everything: bool, directory: Path | None, as_json: bool
) -> None:
    """Print a session as Markdown: what was asked, done and decided, rules, files, errors mended and open.

    SESSION is the beginning of an id, a number of `gardener sessions`, or `last`, which is the default. What
    stands in the page has ids, with which `gardener restore` prints the whole. A file that is there already
    is written anew if it is such a page.
    """
    from aider_gardener.archive.sessions import said_in, session_named, short_ids
    from aider_gardener.gardener.account import account
    from aider_gardener.gardener.pages import session_page
    from aider_gardener.plan.said import counted

    if everything and (session or as_json):
        raise UsageError("--all writes the index of all sessions: leave SESSION and --json out")
    store = open_archive(directory, read_only=True)
    project = project_of(store)
    if everything:
        path = write_index(store, project, output)
        click.echo(f"{counted(len(said_in(store, project)), 'session')} listed in {path}")
        return
    info = session_named(store, project, session or "last")
    found = account(store, info)
    if as_json:
        click.echo(json.dumps(asdict(found), default=str))
        return
    page = session_page(found, short_ids([each.id for each in said_in(store, project)])[info.id])
    if output is None:
        click.echo(page, nl=False)
    else:
        write_page(output, page)
        click.echo(f"Session {info.id} written to {output}", err=True)


def write_index(store: Store, project: str, output: Path | None) -> Path:
    """Write the index of a project's sessions where it belongs, or to a file; returns where."""
    from aider_gardener.gardener.pages import INDEX_NAME, project_index

    folder = store.directory or Path.cwd()
    path = output or folder / INDEX_NAME
    write_page(path, project_index(store, project))
    return path


def renew_index(store: Store) -> None:
    """Write the index beside the archive anew if there is one, so that nothing forgotten stands in it."""
    from aider_gardener.gardener.pages import INDEX_NAME

    if store.directory and (store.directory / INDEX_NAME).exists():
        write_index(store, project_of(store), None)


def write_page(path: Path, page: str) -> None:
    """Write a page of ours. Raises UsageError where something else is there, and StoreError."""
    from aider_gardener.archive.store.writing import read_bytes, write_private
    from aider_gardener.gardener.pages import is_ours

    if not is_ours(read_bytes(path)):
        raise UsageError(f"{path} is there already and no page of `gardener archive`; name another file")
    write_private(path, page)
