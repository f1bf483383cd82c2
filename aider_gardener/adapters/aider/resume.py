"""Which older chat a new one goes on with (--gardener-resume=ID), and what of it the host holds then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCoder
from aider_gardener.adapters.aider.provider import provider_of
from aider_gardener.archive import sessions
from aider_gardener.archive.sessions import AIDER, LAST, SHORT_ID
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.phrases import counted
from aider_gardener.settings import SHORT_NOTE, Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import SessionInfo, Store
    from aider_gardener.gardener.state import ChatState

CLEARED = "; it was cleared at its end, so nothing of it stands in prompts."


def session_for(coder: HostCoder, settings: Settings, store: Store, project: str) -> str:
    """The id of the session that a new chat goes on with; "" for a session of its own.

    Where that cannot be, one line says why.
    """
    given = settings.resume.strip()
    if given in ("", SHORT_NOTE):
        return ""
    try:
        if coder.done_messages or coder.cur_messages:
            raise UsageError(
                f"aider restored its own history: leave --restore-chat-history out to go on with {given}"
            )
        if settings.mode == "observe":
            raise UsageError("a chat is not gone on with in mode observe, which changes no prompt")
        return _chosen(coder, store, project, given).id
    except GardenerError as error:
        coder.io.tool_warning(f"aider-gardener: {error}; this chat starts without it.")
        return ""


def _chosen(coder: HostCoder, store: Store, project: str, given: str) -> SessionInfo:
    """The session that is named so, if this process may go on with it. Raises UsageError."""
    if given.isdecimal() and len(given) < SHORT_ID:
        raise UsageError(f"{given} is no id (the numbers of `gardener sessions` change): type the id")
    found, elsewhere = sessions.said_in(store, project), store.open_elsewhere()
    hosts = {info.id: sessions.host_of(store, info.id) for info in found}
    free = [info for info in found if info.id not in elsewhere and hosts[info.id] == AIDER]
    is_last, model = given.lower() == LAST, coder.main_model
    info = free[0] if is_last and free else sessions.session_named(store, project, given)
    short = sessions.short_ids(list(hosts))[info.id]
    if hosts[info.id] != AIDER:
        where = f"was held in {hosts[info.id]}, which goes on with it"
        raise UsageError(f"session {short} {where}: /recall finds what was said there")
    if info.id in elsewhere:
        raise UsageError(f"session {short} is open in another process: end that chat first")
    floor, provider = sessions.clear_floor(store, info.id), provider_of(model)
    shown = [entry for entry in store.session_entries(info.id) if entry.active and entry.seq >= floor]
    if all(sessions.may_go(entry.provider, provider) for entry in shown):
        return info
    if is_last:
        raise UsageError(
            f"the last chat was held with a model of this machine and does not go to {model.name} unasked:"
            f" --gardener-resume={short} takes it up all the same"
        )
    told = f"that chat was held with a model of this machine; from here on it goes to {model.name}."
    coder.io.tool_warning(f"aider-gardener: {told}")
    return info


def put_back_files(coder: HostCoder, store: Store, session: str) -> None:
    """Add the files of a session's last prompt to the chat with the host's own commands, which say so and
    refuse what it refuses; a line names those that are gone."""
    from aider_gardener.gardener.stored_chat import last_frame

    frame = last_frame(store, session)
    here = {coder.get_rel_fname(name) for name in (*coder.abs_fnames, *coder.abs_read_only_fnames)}
    here = {name.replace(os.sep, "/") for name in here}
    wanted = [(name, "cmd_add") for name in frame.files]
    wanted += [(name, "cmd_read_only") for name in frame.read_only]
    gone = []
    for name, add in wanted:
        if name not in here and (Path(coder.root) / name).is_file() and '"' not in name:
            getattr(coder.commands, add)(f'"{name}"')
        elif name not in here:
            gone.append(name)
    if gone:
        coder.io.tool_warning(f"aider-gardener: no longer there, and not added: {', '.join(gone)}")


def line(state: ChatState, info: SessionInfo) -> str:
    """What the user is told of the chat that is gone on with."""
    from aider_gardener.notes.last_chat import when

    entries = state.chat.all_entries()
    whole = sum(entry.seq not in state.chat.fidelity for entry in entries)
    stands = f": {state.history_used:,} tokens of history, {whole} of {len(entries)} messages whole"
    end = f"{stands}; /clear drops it." if entries else CLEARED
    return (
        f"aider-gardener: going on with the chat of {when(info.last_at)} ({counted(info.turns, 'turn')}){end}"
    )
