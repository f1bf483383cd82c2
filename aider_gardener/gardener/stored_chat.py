"""A chat as the archive last saw it, put together again to be looked at or to be gone on with."""

from __future__ import annotations

import json
from dataclasses import replace

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.entries import levels_by_id
from aider_gardener.archive.sessions import clear_floor
from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener import amendments, growth
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Fidelity, TokenCounter
from aider_gardener.plan.goals import Frame
from aider_gardener.recall.recall import EDIT_UNDONE
from aider_gardener.settings import Settings


def stored_chat(store: Store, info: SessionInfo, settings: Settings, count: TokenCounter) -> ChatState:
    """The chat of a stored session, with its entries as they stood and its last measured prompt.

    For reports only: nothing may be added to it. The window is 0 where no prompt was measured.
    """
    archive = Archive.reading(store)
    archive.count = count
    frame, budget = last_frame(store, info.id)
    state = ChatState.new(replace(settings, history_tokens=settings.history_tokens or budget), archive)
    state.frame = frame
    stand_again(state, info)
    return state


def go_on(state: ChatState, info: SessionInfo) -> None:
    """Take up a session that was held before, in a chat in which nothing was said yet and whose archive is
    open for this session: its messages as they stood, its turns, its rules, what it came to."""
    stand_again(state, info)
    amendments.put_back(state)
    growth.put_back(state)


def stand_again(state: ChatState, info: SessionInfo) -> None:
    """Give a chat the entries of a stored session, as they stood."""
    archive, store = state.archive, state.archive.store
    stored = store.session_entries(info.id)
    floor, events = clear_floor(store, info.id), store.events(info.id)
    present = [entry for entry in stored if entry.active and entry.seq >= floor]
    levels = {stored_id: swaps[-1] for stored_id, swaps in levels_by_id(events).items()}
    undone = {str(event.data.get("entry_id")) for event in events if event.kind == EDIT_UNDONE}
    entries = {entry.seq: entry for entry in stored}
    last_seq = {entry.id: entry.seq for entry in stored}
    fidelity: dict[int, Fidelity] = {}
    for entry in present:
        turn, level = levels.get(entry.id, (0, Fidelity.FULL))
        is_last = last_seq[entry.id] == entry.seq and any(
            e.id == entry.id and e.seq != entry.seq for e in stored
        )
        said_since = is_last and entry.turn >= turn
        if level is not Fidelity.FULL and not said_since and can_show(archive, entry, level):
            fidelity[entry.seq] = level
    order = tuple(entry.seq for entry in present)
    chat = replace(
        state.chat,
        entries=entries,
        order=order,
        border=len(order),
        undone=frozenset(entry.seq for entry in stored if entry.id in undone),
        turn=info.turns,
        floor=floor,
    )
    state.chat = chat.shown_at(fidelity, archive.text)


def can_show(archive: Archive, entry: Entry, level: Fidelity) -> bool:
    """Whether the archive holds what an entry stood as."""
    return level is Fidelity.HIDDEN or level in archive.renditions(entry)


def last_frame(store: Store, session: str) -> tuple[Frame, int]:
    """The last measured prompt of a session and its history budget in tokens (0: not known)."""
    try:
        kept = json.loads(store.get_state(session, "frame") or "{}")
        parts = {str(name): int(tokens) for name, tokens in kept.get("parts", {}).items()}
        files = {str(name): int(tokens) for name, tokens in kept.get("files", {}).items()}
        read_only = tuple(str(name) for name in kept.get("read_only", ()))
        window, model = int(kept.get("window", 0)), str(kept.get("model", ""))
        frame = Frame(window, parts, files, model, read_only=read_only)
        return frame, int(kept.get("history_budget", 0))
    except (ValueError, TypeError, AttributeError):
        return Frame(), 0
