"""`gardener sessions`: the chats of a project, listed, read and forgotten."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.root import directory_option, json_option, open_archive, project_of, session_named

if TYPE_CHECKING:
    from aider_gardener.cli.root import Place

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
@directory_option
@json_option
@click.pass_context
def sessions(ctx: click.Context, limit: int, place: Place | None, as_json: bool) -> None:
    """List the chats of this project, the last used first.

    For each: when, turns, tokens sent, what that cost, how many files, an id, the first prompt. `show` and
    `forget` take the id or its beginning, the number in the list, or `last`; aider-gardener
    --gardener-resume=ID goes on with one.
    """
    if ctx.invoked_subcommand:
        return
    from aider_gardener.archive.sessions import project_sessions
    from aider_gardener.cli.past_chats import list_lines
    from aider_gardener.gardener.past_chats import past_chats

    store = open_archive(place, read_only=True)
    project = project_of(store)
    found = past_chats(store, project, limit)
    if as_json:
        click.echo(json.dumps([asdict(chat) for chat in found]))
        return
    if not found:
        click.echo(f"The archive holds no chat of {project}.")
        return
    for line in list_lines(found, shutil.get_terminal_size((80, 24)).columns, time.time()):
        click.echo(line)
    more = len(project_sessions(store, project)) - len(found)
    if more:
        click.echo(f"{more:,} older: --limit {len(found) + more}")


@sessions.command("show")
@click.argument("session", metavar="ID")
@click.option("--full", is_flag=True, help="Long outputs whole.")
@directory_option
@json_option
def show(session: str, full: bool, place: Place | None, as_json: bool) -> None:
    """Print one chat turn by turn: prompts, replies, outputs. ID may be `last`.

    A line below a message says if the model saw less of it in later prompts.
    """
    from aider_gardener.gardener.past_chats import transcript

    store = open_archive(place, read_only=True)
    found = transcript(store, project_of(store), session_named(store, session))
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        from aider_gardener.cli.past_chats import transcript_lines

        click.echo("\n".join(transcript_lines(found, full=full)))


@sessions.command("forget", short_help="Delete a chat for good.")
@click.argument("session", metavar="ID")
@click.option("--yes", is_flag=True, help="Don't ask; needed where nobody can be asked.")
@directory_option
@json_option
def forget(session: str, yes: bool, place: Place | None, as_json: bool) -> None:
    """Delete a chat for good, as `gardener forget --session ID`: the messages that no other chat holds."""
    from aider_gardener.cli.entries import forget_session

    forget_session(open_archive(place), session, yes=yes, as_json=as_json)
