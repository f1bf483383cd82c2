"""`gardener archive|observations|…`: upkeep of what was said and learnt. Arguments only: others work."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.past_chats import harmless
from aider_gardener.cli.root import directory_option, json_option, open_archive, project_of
from aider_gardener.errors import UsageError
from aider_gardener.gardener import files
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import Store
    from aider_gardener.cli.root import Place


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
    session: str | None, output: Path | None, everything: bool, place: Place | None, as_json: bool
) -> None:
    """Print a session as Markdown: what was asked, done and decided, rules, files, errors mended and open.

    SESSION is the beginning of an id, a number of `gardener sessions`, or `last`, which is the default. What
    stands in the page has ids, with which `gardener restore` prints the whole. A file that is there already
    is written anew if it is such a page.
    """
    from aider_gardener.archive.sessions import project_sessions, session_named, short_ids
    from aider_gardener.gardener.account import account
    from aider_gardener.gardener.files import session_page

    if everything and (session or as_json):
        raise UsageError("--all writes the index of all sessions: leave SESSION and --json out")
    store = open_archive(place, read_only=True)
    project = project_of(store)
    if everything:
        path = files.write_index(store, project, output)
        click.echo(f"{counted(len(project_sessions(store, project)), 'session')} listed in {path}")
        return
    info = session_named(store, project, session or "last")
    found = account(store, info)
    if as_json:
        click.echo(json.dumps(asdict(found), default=str))
        return
    page = session_page(found, short_ids([each.id for each in project_sessions(store, project)])[info.id])
    if output is None:
        click.echo(page, nl=False)
    else:
        files.write_page(output, page)
        click.echo(f"Session {info.id} written to {output}", err=True)


@click.group(invoke_without_command=True, short_help="What three chats say is proposed as a rule.")
@click.option("--all", "everything", is_flag=True, help="List those too that were not seen for 28 days.")
@directory_option
@json_option
@click.pass_context
def observations(ctx: click.Context, everything: bool, place: Place | None, as_json: bool) -> None:
    """List what was said or went wrong in three chats of this project, each as a proposal for a rule.

    A preference or correction in your own words, a test that failed, an error, a linter's code, an edit that
    did not apply; with the sessions and messages in which it was seen. What was not seen for 28 days fades.
    Nothing becomes a rule unless you take it.
    """
    if ctx.invoked_subcommand:
        return
    from aider_gardener.gardener import learnt

    store = open_archive(place, read_only=True)
    found = learnt.learnt(store, project_of(store))
    if as_json:
        click.echo(json.dumps(learnt.records(found)))
        return
    for line in learnt.render(store, project_of(store), found, faded=everything):
        click.echo(harmless(line))


@observations.command("take", short_help="Make observations rules of every later chat.")
@click.argument("numbers", nargs=-1, required=True, metavar="N...")
@click.option("--conventions", is_flag=True, help="Add them to CONVENTIONS.md in the repository too.")
@directory_option
def take(numbers: tuple[str, ...], conventions: bool, place: Place | None) -> None:
    """Make observations rules of every later chat of this project. N is a number of the list, or an id.

    /gardener constraints lists them in a chat. With --conventions they are added to CONVENTIONS.md too, under
    a heading of their own; whatever stands there stays as it is.
    """
    from aider_gardener.gardener import learnt

    store, rules = _decided(numbers, place, learnt.TAKEN)
    if conventions:
        path = Path(project_of(store)) / learnt.CONVENTIONS_NAME
        click.echo(f"{counted(learnt.add_conventions(path, rules), 'rule')} added to {path}")


@observations.command("refuse", short_help="Have observations never proposed again.")
@click.argument("numbers", nargs=-1, required=True, metavar="N...")
@directory_option
def refuse(numbers: tuple[str, ...], place: Place | None) -> None:
    """Have observations never proposed again, and rules that were taken dropped. N is a number or an id."""
    from aider_gardener.gardener import learnt

    _decided(numbers, place, learnt.REFUSED)


def _decided(numbers: Sequence[str], place: Place | None, verdict: str) -> tuple[Store, list[str]]:
    """Keep a verdict on observations, all or none, and say so; returns the archive and their rules."""
    from aider_gardener.gardener import learnt

    store = open_archive(place)
    project = project_of(store)
    found = learnt.learnt(store, project)
    chosen = [found.named(given) for given in dict.fromkeys(numbers)]
    for each in chosen:
        click.echo(harmless(learnt.decide(store, project, each, verdict, time.time())))
    return store, [each.proposal for each in chosen]


@click.command("compress-context", short_help="Renew the index, show observations, move done tasks.")
@click.option(
    "--session-now", is_flag=True, help="Write the index of sessions anew, the last one at its top."
)
@click.option("--observations", "learnt_now", is_flag=True, help="Show what is proposed as a rule.")
@click.option("--tasks", is_flag=True, help="Move what is checked off to TASK_ARCHIVE.md.")
@click.option("--all", "everything", is_flag=True, help="All of it.")
@click.option(
    "--tasks-file",
    "listed",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The list of tasks.  [default: TASKS.md and TODO.md in the repository]",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@directory_option
def compress_context(
    session_now: bool,
    learnt_now: bool,
    tasks: bool,
    everything: bool,
    listed: Path | None,
    dry_run: bool,
    place: Place | None,
) -> None:
    """Upkeep of what was said, now: the index of sessions, proposals for rules, done tasks.

    A task that is checked off leaves its list with all that stands below it, once nothing of that is open.
    TASK_ARCHIVE.md has the last ten in detail, of older ones a line, with session and day. Where you change a
    file meanwhile nothing is moved.
    """
    from aider_gardener.gardener import done_tasks, learnt

    if not (session_now or learnt_now or tasks or everything):
        raise UsageError("say what: --session-now, --observations, --tasks or --all")
    store = open_archive(place, read_only=dry_run)
    project = project_of(store)
    if session_now or everything:
        click.echo(files.renew_now(store, project, would=dry_run))
    if learnt_now or everything:
        for line in learnt.render(store, project, learnt.learnt(store, project)):
            click.echo(harmless(line))
    if tasks or everything:
        found = done_tasks.moves(store, project, listed=listed)
        if not dry_run:
            done_tasks.apply(store, project, found)
        for line in done_tasks.render(found, would=dry_run):
            click.echo(harmless(line))


@click.command(short_help="What the chats of a month came to.")
@click.option("--month", metavar="YYYY-MM", help="Of this month.  [default: the current one]")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page instead, which only you can read and which loads nothing.",
)
@directory_option
@json_option
def report(month: str | None, page: Path | None, place: Place | None, as_json: bool) -> None:
    """What the chats of a month came to: tokens sent and saved, cost, commits, errors, tasks, observations.

    A chat belongs to the month in which something was last said in it.
    """
    from aider_gardener.gardener.past_chats import month_report, render_month

    month = month or time.strftime("%Y-%m")
    if not re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", month):
        raise UsageError(f"--month {month!r} is no month; write it as 2026-11")
    store = open_archive(place, read_only=True)
    found = month_report(store, project_of(store), month)
    if page is not None:
        from aider_gardener.replay.show.pages import write_month

        write_month(found, page)
        click.echo(f"Report of {month} written to {page}", err=True)
    if as_json:
        click.echo(json.dumps(found.record()))
    elif page is None:
        for line in render_month(found):
            click.echo(harmless(line))
