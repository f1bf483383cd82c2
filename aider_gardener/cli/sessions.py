"""`gardener sessions`: the chats of a project, listed, read and forgotten."""

from __future__ import annotations

import click

from aider_gardener.cli.root import (
    as_json,
    json_option,
    open_archive,
    project_of,
    put,
    session_named,
    store_option,
)

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
@click.option("--full", is_flag=True, help="Long outputs whole.")
@store_option
@json_option
def show(session: str, full: bool) -> None:
    """Print one chat turn by turn: prompts, replies, outputs. ID may be `last`.

    A line below a message says if the model saw less of it in later prompts.
    """
    from aider_gardener.cli.past_chats import transcript_lines
    from aider_gardener.gardener.past_chats import transcript

    store = open_archive(read_only=True)
    found = transcript(store, project_of(store), session_named(store, session))
    put(found, lambda: transcript_lines(found, full=full))
