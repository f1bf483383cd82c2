"""`gardener pressure|restore|why|forget|pin|unpin`: single entries and the last chat, without a chat."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.pipe import put_bytes
from aider_gardener.cli.root import (
    directory_option,
    json_option,
    open_archive,
    private_file,
    project_of,
    put,
    session_named,
)
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.cli.root import Place

HISTORY_COPY = "aider's own .aider.chat.history.md and .aider.input.history keep their copies."


@click.command(short_help="What the last chat used of its window.")
@directory_option
@json_option
def pressure(place: Place | None, as_json: bool) -> None:
    """What the last chat of this project used of window and budget, as it was left."""
    from aider_gardener.gardener.report import last_pressure
    from aider_gardener.settings import Settings
    from aider_gardener.tables import pressure_table
    from aider_gardener.tokens import default_counter

    store = open_archive(place, read_only=True)
    info = session_named(store, "last")
    report, state = last_pressure(store, info, Settings.from_env(), default_counter())
    value = {**report.as_json(), "session": info.id, "turns": info.turns, "last_at": info.last_at}
    entries = state.chat.entries.values()
    put({**value, "model": state.frame.model}, as_json, lambda: pressure_table(report, entries, full=True))


@click.command(short_help="Print a message whole, as it is stored.")
@click.argument("entry_id", metavar="ID")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this new file, which only you can read.",
)
@directory_option
@json_option
def restore(entry_id: str, output: Path | None, place: Place | None, as_json: bool) -> None:
    """Print the whole original of an entry, and nothing else: byte for byte into a pipe or a file, on a
    terminal with its controls made visible."""
    from aider_gardener.archive.entries import full_id, source_words

    store = open_archive(place)
    entry = store.get(full_id(store, entry_id))
    if entry is None:
        raise UsageError(f"no entry has the id {entry_id}; gardener recall shows the ids there are")
    if output is not None:
        write_private(output, entry.content)
        click.echo(f"{len(entry.content):,} characters written to {output}", err=True)
    if as_json:
        record = {"id": entry.id, "session": entry.session, "turn": entry.turn, "source": source_words(entry)}
        click.echo(
            json.dumps(record | {"class": entry.cls.value, "tokens": entry.tokens, "text": entry.content})
        )
    elif output is None:
        end = "\n" if sys.stdout.isatty() and not entry.content.endswith("\n") else ""
        put_bytes((entry.content + end).encode("utf-8", "surrogatepass"))


def write_private(path: Path, text: str) -> None:
    """Write a text to a new file that only its owner may read. Raises UsageError or StoreError."""
    try:
        with private_file(path) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    except FileExistsError:
        raise UsageError(f"{path} exists already; name a new file") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror})") from error


@click.command(short_help="Tell why a message was shortened or left out.")
@click.argument("entry_id", metavar="ID")
@directory_option
@json_option
def why(entry_id: str, place: Place | None, as_json: bool) -> None:
    """Tell when and why a message was shortened or left out, and what brings it back."""
    from aider_gardener.archive.entries import full_id, why_stored
    from aider_gardener.tables import why_table

    store = open_archive(place, read_only=True)
    found = why_stored(store, full_id(store, entry_id))
    put(found.as_json(), as_json, lambda: why_table(found))


@click.command(short_help="Delete messages, or a whole chat, for good.")
@click.argument("entry_ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--session",
    metavar="ID",
    help="Forget a session: the entries that no other holds. `last`: the project's last one.",
)
@click.option("--yes", is_flag=True, help="Don't ask; needed where nobody can be asked.")
@directory_option
@json_option
def forget(
    entry_ids: tuple[str, ...], session: str | None, yes: bool, place: Place | None, as_json: bool
) -> None:
    """Delete entries, or a whole session, for good: from the file, its log and its index.

    The notes that quote them go too. A chat that is open meanwhile still holds what it shows.
    """
    if bool(entry_ids) == bool(session):
        raise UsageError("name the ids to forget, or a session with --session")
    store = open_archive(place)
    if session:
        forget_session(store, session, yes=yes, as_json=as_json)
        return
    from aider_gardener.archive.entries import full_id, quoting

    wanted = [full_id(store, given) for given in dict.fromkeys(entry_ids)]
    ids = list(dict.fromkeys([*wanted, *quoting(store, wanted)]))
    shown = ", ".join(ids[:4]) + (" …" if len(ids) > 4 else "")
    confirm(f"Delete {len(ids)} entries ({shown}) for good?", yes)
    tell_forgotten({"forgotten": store.forget(ids), "ids": ids, "session": ""}, store, as_json)


def forget_session(store: Store, given: str, *, yes: bool, as_json: bool) -> None:
    """Delete a session for good, once the user has agreed."""
    from aider_gardener.notes.last_chat import when

    found = session_named(store, given)
    turns = counted(found.turns, "turn")
    confirm(f"Delete session {found.id} of {when(found.last_at)} ({turns}) for good?", yes)
    tell_forgotten(
        {"forgotten": store.forget_session(found.id), "ids": [], "session": found.id}, store, as_json
    )


def tell_forgotten(value: dict[str, Any], store: Store, as_json: bool) -> None:
    """Say what was deleted, and what of it the archive could not reach; the index of sessions loses it."""
    from aider_gardener.gardener.files import renew_index

    renew_index(store, project_of(store))
    if as_json:
        click.echo(json.dumps(value))
        return
    click.echo(f"Forgot {value['forgotten']:,} entries. {HISTORY_COPY}")
    if store.notice:
        click.echo(f"gardener: {store.notice}", err=True)


def confirm(question: str, yes: bool) -> None:
    """Ask unless told not to. Raises UsageError where nobody can answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("this deletes for good; add --yes where nobody can be asked")
    click.confirm(question, abort=True)


def mark(entry_id: str, place: Place | None, as_json: bool, *, pinned: bool) -> None:
    """Set or clear the mark of an entry and say so."""
    from aider_gardener.archive.entries import full_id

    store = open_archive(place)
    found = full_id(store, entry_id)
    store.pin(found, pinned)
    if as_json:
        click.echo(json.dumps({"id": found, "pinned": pinned}))
    elif pinned:
        click.echo(f"{found} is pinned: it stays whole in the next chat that holds it.")
    else:
        click.echo(f"{found} is no longer pinned.")


@click.command(short_help="Have a message kept whole in chats.")
@click.argument("entry_id", metavar="ID")
@directory_option
@json_option
def pin(entry_id: str, place: Place | None, as_json: bool) -> None:
    """Mark a message to be kept whole in chats; --gardener-resume brings it along."""
    mark(entry_id, place, as_json, pinned=True)


@click.command()
@click.argument("entry_id", metavar="ID")
@directory_option
@json_option
def unpin(entry_id: str, place: Place | None, as_json: bool) -> None:
    """Let go of a pinned message: it may be compacted again."""
    mark(entry_id, place, as_json, pinned=False)
