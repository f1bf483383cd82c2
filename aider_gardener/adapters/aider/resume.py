"""Which older chat a new one goes on with (--gardener-resume=ID), and what of it the host holds then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCoder
from aider_gardener.adapters.aider.provider import provider_of
from aider_gardener.archive.sessions import (
    AIDER,
    LAST,
    SHORT_ID,
    clear_floor,
    host_of,
    may_go,
    said_in,
    session_named,
    short_ids,
)
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.settings import SHORT_NOTE, Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import SessionInfo, Store
    from aider_gardener.gardener.state import ChatState

WITHOUT = "aider-gardener: {why}; this chat starts without it."
RESTORED = "aider restored its own history: leave --restore-chat-history out to go on with {given}"
OBSERVED = "a chat is not gone on with in mode observe, which changes no prompt"
LOCAL = (
    "the last chat was held with a model of this machine and does not go to {model} unasked:"
    " --gardener-resume={short} takes it up all the same"
)
TOLD = "aider-gardener: that chat was held with a model of this machine; from here on it goes to {model}."
OPEN = "session {short} is open in another process: end that chat first"
OTHER_HOST = "session {short} was held in {host}, which goes on with it: /recall finds what was said there"
NUMBER = "{given} is no id (the numbers of `gardener sessions` change): type the id"


def session_for(coder: HostCoder, settings: Settings, store: Store, project: str) -> str:
    """The id of the session that a new chat goes on with; "" for a session of its own.

    Where that cannot be, one line says why.
    """
    given = settings.resume.strip()
    if given in ("", SHORT_NOTE):
        return ""
    try:
        if coder.done_messages or coder.cur_messages:
            raise UsageError(RESTORED.format(given=given))
        if settings.mode == "observe":
            raise UsageError(OBSERVED)
        return chosen(coder, store, project, given).id
    except GardenerError as error:
        coder.io.tool_warning(WITHOUT.format(why=error))
        return ""


def chosen(coder: HostCoder, store: Store, project: str, given: str) -> SessionInfo:
    """The session that is named so, if this process may go on with it. Raises UsageError."""
    if given.isdecimal() and len(given) < SHORT_ID:
        raise UsageError(NUMBER.format(given=given))
    found = said_in(store, project)
    elsewhere = store.open_elsewhere()
    is_last = given.lower() == LAST
    free = [info for info in found if info.id not in elsewhere and host_of(store, info.id) == AIDER]
    info = free[0] if is_last and free else session_named(store, project, given)
    short = short_ids([each.id for each in found])[info.id]
    if host_of(store, info.id) != AIDER:
        raise UsageError(OTHER_HOST.format(short=short, host=host_of(store, info.id)))
    if info.id in elsewhere:
        raise UsageError(OPEN.format(short=short))
    if stays_here(store, info, provider_of(coder.main_model)):
        if is_last:
            raise UsageError(LOCAL.format(model=coder.main_model.name, short=short))
        coder.io.tool_warning(TOLD.format(model=coder.main_model.name))
    return info


def stays_here(store: Store, info: SessionInfo, provider: str) -> bool:
    """Whether anything that stands in a session was said to a model of this machine, and this one is none."""
    floor = clear_floor(store, info.id)
    standing = (entry for entry in store.session_entries(info.id) if entry.active and entry.seq >= floor)
    return any(not may_go(entry.provider, provider) for entry in standing)


def put_back_files(coder: HostCoder, store: Store, session: str) -> None:
    """Add the files of a session's last prompt to the chat with the host's own commands, which say so and
    refuse what it refuses; a line names those that are gone."""
    from aider_gardener.gardener.stored_chat import last_frame

    frame = last_frame(store, session)
    here = {name.replace(os.sep, "/") for name in map(coder.get_rel_fname, coder.abs_fnames)}
    here |= {name.replace(os.sep, "/") for name in map(coder.get_rel_fname, coder.abs_read_only_fnames)}
    gone = []
    for names, add in ((frame.files, "cmd_add"), (frame.read_only, "cmd_read_only")):
        for name in names:
            if name in here:
                continue
            if (Path(coder.root) / name).is_file() and '"' not in name:
                getattr(coder.commands, add)(f'"{name}"')
            else:
                gone.append(name)
    if gone:
        coder.io.tool_warning(f"aider-gardener: no longer there, and not added: {', '.join(gone)}")


def line(state: ChatState, info: SessionInfo) -> str:
    """What the user is told of the chat that is gone on with."""
    from aider_gardener.notes.last_chat import plural, when

    entries = state.chat.all_entries()
    whole = sum(entry.seq not in state.chat.fidelity for entry in entries)
    told = f"going on with the chat of {when(info.last_at)} ({info.turns} {plural('turn', info.turns)})"
    if not entries:
        return f"aider-gardener: {told}; it was cleared at its end, so nothing of it stands in prompts."
    stands = f"{state.history_used:,} tokens of history, {whole} of {len(entries)} messages whole"
    return f"aider-gardener: {told}: {stands}; /clear drops it."
