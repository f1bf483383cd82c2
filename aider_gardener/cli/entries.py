"""`gardener pressure|restore|why|forget`: single entries and the last chat, without a chat."""

from __future__ import annotations

import click

from aider_gardener.cli.pipe import put_bytes
from aider_gardener.cli.root import (
    archive_options,
    as_json,
    confirm,
    entry_named,
    open_archive,
    project_of,
    put,
    session_named,
    yes_option,
)
from aider_gardener.errors import UsageError
from aider_gardener.phrases import counted, when

HISTORY_COPY = (
    "aider's own .aider.chat.history.md and .aider.input.history keep their copies, as do other agents:"
    " `gardener import` would bring a chat of aider's back from there."
)


@click.command(short_help="What the last chat used of its window.")
@archive_options
def pressure() -> None:
    """What the last chat of this project used of window and budget, as it was left."""
    from aider_gardener.archive.sessions import host_of
    from aider_gardener.gardener.report import last_pressure
    from aider_gardener.settings import Settings
    from aider_gardener.tables import pressure_table
    from aider_gardener.tokens import default_counter

    store = open_archive(read_only=True)
    info = session_named(store, "last")
    report, state = last_pressure(store, info, Settings.from_env(), default_counter())
    value = {**report.as_json(), "session": info.id, "turns": info.turns, "last_at": info.last_at}
    entries, host = state.chat.entries.values(), host_of(store, info.id)
    shown = {**value, "model": state.frame.model}
    put(shown, lambda: pressure_table(report, entries, host=host))


@click.command(short_help="Print a message whole, as it is stored.")
@click.argument("entry_id", metavar="ID|last")
@archive_options
def restore(entry_id: str) -> None:
    """Print the whole original of an entry, and nothing else: byte for byte into a pipe or a file, on a
    terminal with its controls made visible."""
    from aider_gardener.archive.lookup import source_words, stored

    store = open_archive(read_only=True)
    entry = stored(store, entry_named(store, entry_id))
    data = entry.content.encode("utf-8", "surrogatepass")
    if as_json():
        record = {"id": entry.id, "session": entry.session, "turn": entry.turn}
        record |= {"source": source_words(store, entry), "class": entry.cls.value}
        record |= {"tokens": entry.tokens, "text": entry.content}
        put(record, str)
    else:
        put_bytes(data)


@click.command(short_help="Tell why a message was shortened or left out.")
@click.argument("entry_id", metavar="ID|last")
@archive_options
def why(entry_id: str) -> None:
    """Tell when and why a message was shortened or left out, and what brings it back."""
    from aider_gardener.archive.lookup import stored, why_stored
    from aider_gardener.tables import why_table

    store = open_archive(read_only=True)
    found = why_stored(store, stored(store, entry_named(store, entry_id)))
    put(found.as_json(), lambda: why_table(found))


@click.command(short_help="Delete messages, or a whole chat, for good.")
@click.argument("entry_ids", metavar="[ID|last]...", nargs=-1)
@click.option(
    "--session",
    metavar="ID",
    help="Forget a session: the entries that no other holds. `last`: the project's last one.",
)
@yes_option
@archive_options
def forget(entry_ids: tuple[str, ...], session: str | None, yes: bool) -> None:
    """Delete entries, or a whole session, for good: from the file, its log and its index.

    The notes that quote them go too. A chat that is open meanwhile still holds what it shows.
    """
    from aider_gardener.archive.lookup import quoting
    from aider_gardener.gardener.files import renew_index

    if bool(entry_ids) == bool(session):
        raise UsageError("name the ids to forget, or a session with --session")
    store = open_archive()
    ids, chat = list[str](), ""
    if session:
        found = session_named(store, session)
        turns = counted(found.turns, "turn")
        confirm(f"Delete session {found.id} of {when(found.last_at)} ({turns}) for good?", yes)
        count, chat = store.forget_session(found.id), found.id
    else:
        wanted = [entry_named(store, given) for given in dict.fromkeys(entry_ids)]
        ids += dict.fromkeys([*wanted, *quoting(store, wanted)])
        shown = ", ".join(ids[:4]) + (" …" if len(ids) > 4 else "")
        confirm(f"Delete {counted(len(ids), 'entry', 'entries')} ({shown}) for good?", yes)
        count = store.forget(ids)
    renew_index(store, project_of(store))
    value = {"forgotten": count, "ids": ids, "session": chat}
    put(value, lambda: f"Forgot {counted(count, 'entry', 'entries')}. {HISTORY_COPY}")
