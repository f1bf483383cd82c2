"""`gardener sessions`: the chats of a project, listed, read and forgotten; and recorded ones, checked."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aider_gardener.cli.root import (
    FILE,
    as_json,
    json_option,
    open_archive,
    project_of,
    put,
    session_named,
    store_option,
)
from aider_gardener.phrases import counted

LISTED = 20


@click.group(invoke_without_command=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=LISTED,
    show_default=True,
    metavar="N",
    help="At most so many.",
)
@store_option
@json_option
@click.pass_context
def sessions(ctx: click.Context, limit: int) -> None:
    """List the chats of this project, the last used first.

    For each: when, turns, tokens sent, what that cost, how many files, an id, the first prompt. `show` takes
    the id or its beginning, the number in the list, or `last`, as do gardener forget --session ID and
    aider-gardener --gardener-resume=ID, which goes on with one.
    """
    if ctx.invoked_subcommand:
        return
    from aider_gardener.archive.sessions import project_sessions
    from aider_gardener.cli.past_chats import chats_table
    from aider_gardener.gardener.past_chats import past_chats

    store = open_archive(read_only=True)
    project = project_of(store)
    found = past_chats(store, project, limit)
    if not found:
        put([], lambda: f"The archive holds no chat of {project}.")
        return
    put(found, lambda: chats_table(found))
    more = len(project_sessions(store, project)) - len(found)
    if more and not as_json():
        click.echo(f"{more:,} older: --limit {len(found) + more}")


@sessions.command("show")
@click.argument("session", metavar="ID")
@click.option(
    "--html",
    "page",
    type=FILE,
    metavar="FILE",
    help="Write a page instead: each message, and beside it the shorter forms that went to the model.",
)
@click.option("--full", is_flag=True, help="Long outputs whole.")
@store_option
@json_option
def show(session: str, page: Path | None, full: bool) -> None:
    """Print one chat turn by turn: prompts, replies, outputs. ID may be `last`.

    A line below a message says if the model saw less of it in later prompts.
    """
    from aider_gardener.cli.past_chats import transcript_lines
    from aider_gardener.gardener.past_chats import transcript

    store = open_archive(read_only=True)
    found = transcript(store, project_of(store), session_named(store, session))
    if page is not None:
        from aider_gardener.replay.show.pages import write_transcript

        write_transcript(found, page)
        click.echo(f"{len(found.turns):,} turns written to {page}", err=True)
    if page is None or as_json():
        put(found, lambda: transcript_lines(found, full=full))


@sessions.command("check")
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@json_option
def check(folders: tuple[Path, ...]) -> None:
    """Check recorded sessions: every fault with its file and line.

    What looks like a secret is told too, but is no fault.
    """
    from aider_gardener.replay.session.check import check_folder

    found = {str(folder): check_folder(folder) for folder in folders}
    serious = {name: sum(fault.serious for fault in faults) for name, faults in found.items()}
    if not as_json():
        for fault in (fault for faults in found.values() for fault in faults):
            click.echo(str(fault), err=True)
    value = {name: list(map(str, faults)) for name, faults in found.items()}
    put(value, lambda: (f"{name}: {counted(n, 'fault') if n else 'sound'}" for name, n in serious.items()))
    sys.exit(1 if any(serious.values()) else 0)
