"""`gardener store share`, `unshare` and `sync`, and `gardener recall --everywhere`: the archive on a server.
Argument parsing only; the work is done in `archive.postgres`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.root import (
    archive_options,
    as_json,
    notify,
    open_archive,
    project_of,
    put,
    store_option,
)
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.phrases import counted, when

if TYPE_CHECKING:
    from aider_gardener.archive.postgres.search import SharedHit
    from aider_gardener.archive.store import Store

REMOVED = (
    "{role} was removed, unless a group that --status shows admits it. What {role} wrote stays on the server,"
    " what {role} fetched stays with {role}."
)


@click.command("share", short_help="Share this project's archive through a PostgreSQL server.")
@click.option(
    "--name",
    default="",
    help="Its name on the server, or CREATOR/NAME to join.  [default: the one it has, else the folder's]",
)
@click.option("--owner", "owners", multiple=True, metavar="ROLE", help="Let this role read and write.")
@click.option("--reader", "readers", multiple=True, metavar="ROLE", help="Let this role read.")
@click.option("--remove", "removed", multiple=True, metavar="ROLE", help="Take this role's access away.")
@click.option("--readable", is_flag=True, help="Agree that what is encrypted here can be read there.")
@click.option("--prepare", is_flag=True, help="Only make the server's tables.")
@click.option(
    "--status", "as_status", is_flag=True, help="Only say how the project is shared, and with whom."
)
@archive_options
def share(
    name: str,
    owners: tuple[str, ...],
    readers: tuple[str, ...],
    removed: tuple[str, ...],
    readable: bool,
    prepare: bool,
    as_status: bool,
) -> None:
    """Share this project's archive with other machines and people, through a PostgreSQL server.

    The server is that of AIDER_GARDENER_DATABASE_URL or the PG* variables. What was said to remote models
    goes there, secrets taken out; what was said to a local model never does. Chats go on without the server:
    they send and fetch in the background.
    """
    from aider_gardener.archive.postgres import server
    from aider_gardener.archive.postgres import sync as shared

    if prepare:
        with server.connected() as connection:
            server.prepare(connection)
        click.echo("The server is ready.")
        return
    store = _on_disk(create=not (as_status or removed))
    project = project_of(store)
    if as_status:
        value = shared.status(store, project)
        value |= shared.members(store, project) if value["shared"] else {}
        put(value, lambda: status_lines(value))
        return
    if removed:
        if name or owners or readers:
            raise UsageError("--remove goes without --name, --owner and --reader")
        shared.remove(store, project, removed)
        put({"removed": removed}, lambda: (REMOVED.format(role=role) for role in removed))
        return
    if twice := sorted({*owners} & {*readers}):
        raise UsageError(f"{twice[0]} is named as owner and as reader: name it once, an owner reads too")
    notify(server.warning(os.environ))
    found = shared.share(store, project, name, owners=owners, readers=readers, readable=readable)
    click.echo(f"{project} is shared as {found.name}, by {found.author}.", err=as_json())
    for role in dict.fromkeys((*owners, *readers)):
        click.echo(f"{role} may read {'and write ' * (role in owners)}it.", err=as_json())
    _synced(store, project)


@click.command("unshare")
@click.option(
    "--delete", is_flag=True, help="Take back what you shared, from the server and the others' archives."
)
@store_option
def unshare(delete: bool) -> None:
    """Share this project no more. What was sent stays on the server, unless it is to be deleted."""
    from aider_gardener.archive.postgres import sync as shared

    store = _on_disk()
    found = shared.unshare(store, project_of(store), delete=delete, now=time.time())
    done = "What you shared of it was deleted there." if delete else "What was sent stays on the server."
    click.echo(f"{found.name} is no longer shared from here. {done}")


@click.command("sync", short_help="Send and fetch what is new of a shared project.")
@click.option("--unasked", is_flag=True, hidden=True, help="A host began it: nothing is said.")
@click.option("--project", default="", hidden=True, help="The project's path.")
@archive_options
def sync(unasked: bool, project: str) -> None:
    """Send what is new of a shared project to the server and fetch what others sent, now."""
    store = _on_disk()
    _synced(store, project or project_of(store), unasked=unasked)


def _synced(store: Store, project: str, *, unasked: bool = False) -> None:
    from aider_gardener.archive.postgres import sync as shared

    done = shared.sync(store, project, unasked=unasked)
    has_moved = any((done.sent, done.fetched, done.told, done.heard, done.refused))
    if not unasked and (has_moved or not done.problem or as_json()):
        parts = [f"{counted(done.sent, 'message')} sent", f"{done.fetched:,} fetched"]
        parts += [f"{done.told:,} deletions told, {done.heard:,} heard"] if done.told or done.heard else []
        parts += [f"{done.refused:,} refused: they are not what they say"] if done.refused else []
        put(done, lambda: ", ".join(parts) + ".")
    if done.problem:
        raise StoreError(done.problem)


def status_lines(value: Mapping[str, Any]) -> Iterator[str]:
    """How a project is shared, in a few words."""
    if not value["shared"]:
        yield "This project is not shared."
        return
    at = value["synced_at"]
    place = value["server"] or "no server"
    yield f"Shared as {value['name']} by {value['author']} ({value['role']}) on {place}."
    waits = f"{counted(value['waiting'], 'message')}, {counted(value['to_forget'], 'deletion')}"
    yield f"Waiting: {waits}. Last sync: {when(at) or 'never'}."
    if value["staying"]:
        what = counted(value["staying"], "message")
        yield f"Never sent: {what}, said to a local model or to none."
    if value["problem"]:
        yield f"The last sync failed: {value['problem']}"
    if value.get("members"):
        named = (f"{each['member']} ({each['role']})" for each in value["members"])
        yield f"Members: {', '.join(named)}"
    if value.get("members_problem"):
        yield f"Its members are not known: {value['members_problem']}"


def found_everywhere(query: str, limit: int) -> list[SharedHit]:
    """The best passages of all projects that the user may read on the server, best first: by words and, where
    the setting `embedder` names a model of this machine, by meaning. Raises UsageError and StoreError."""
    from aider_gardener.archive.postgres.search import search
    from aider_gardener.archive.postgres.server import connected
    from aider_gardener.recall.embed import EmbedderError, loading
    from aider_gardener.settings import Settings

    vector: Sequence[float] = ()
    name = ""
    try:
        if load := loading(Settings.from_env().embedder):
            embedder = load()
            vector, name = embedder.embed([query])[0].tolist(), embedder.name
    except EmbedderError as error:
        notify(str(error))
    with connected() as connection:
        return search(connection, query, limit=limit, vector=vector, embedder=name)


def found_text(passages: Sequence[SharedHit]) -> str:
    """The passages, each under its project, author, turn and day."""
    return "\n\n".join(
        f"{each.project}, {each.author}, turn {each.turn}, {when(each.at)} [{each.id}]\n{each.text.strip()}"
        for each in passages
    )


def _on_disk(*, create: bool = False) -> Store:
    """The archive of a project, which must be one on disk; `create`: it is begun if need be."""
    from aider_gardener.archive.postgres.sync import IN_MEMORY

    store = open_archive(create=create)
    if not store.is_file:
        raise UsageError(IN_MEMORY)
    return store
