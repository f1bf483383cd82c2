"""A chat as the archive last saw it, put together again to be looked at or to be gone on with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import clear_floor
from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener import amendments, growth
from aider_gardener.gardener.compactions import market, swapped
from aider_gardener.gardener.state import ChatState, Prefix
from aider_gardener.messages import Entry, Fidelity, TokenCounter
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.usage import Prices
from aider_gardener.recall.recall import EDIT_UNDONE
from aider_gardener.settings import Settings

MEASURES = "frame"
WARMTH_STEPS = 1_000


def stored_chat(store: Store, info: SessionInfo, settings: Settings, count: TokenCounter) -> ChatState:
    """The chat of a stored session, with its entries as they stood and its last measured prompt.

    For reports only: nothing may be added to it. The window is 0 where no prompt was measured.
    """
    archive = Archive.reading(store)
    archive.count = count
    state = ChatState.new(settings, archive)
    state.frame = last_frame(store, info.id)
    measured = measures(store, info.id)
    with suppress(ValueError, TypeError, KeyError):
        state.host_limit, state.host_limit_given = int(measured["host_limit"]), bool(measured["limit_given"])
        state.usage.prices = Prices(**measured["prices"])
        state.prefix = Prefix(prompts=WARMTH_STEPS, kept=round(WARMTH_STEPS * measured["warm"]))
    stand_again(state, info)
    return state


def save_measures(state: ChatState) -> None:
    """Keep in the archive how the last prompt was measured, and what the marks of the history go by."""
    warm = market(state, cold=False).warm
    limit = {"host_limit": state.host_limit, "limit_given": state.host_limit_given}
    prices = asdict(state.usage.prices)
    state.archive.keep(MEASURES, {**asdict(state.frame), **limit, "prices": prices, "warm": warm})


def go_on(state: ChatState, info: SessionInfo) -> None:
    """Take up a session that was held before, in a chat in which nothing was said yet and whose archive is
    open for this session: its messages as they stood, its turns, its rules, what it came to."""
    stand_again(state, info)
    amendments.put_back(state)
    growth.put_back(state)


def stand_again(state: ChatState, info: SessionInfo) -> None:
    """Give a chat the entries of a stored session, as they stood."""
    archive, store = state.archive, state.archive.store
    stored = {entry.seq: entry for entry in store.session_entries(info.id)}
    floor, events = clear_floor(store, info.id), store.events(info.id)
    order = tuple(seq for seq, entry in stored.items() if entry.active and seq >= floor)
    undone = {str(event.data.get("entry_id")) for event in events if event.kind == EDIT_UNDONE}
    levels = {seq: after for event in events for seq, _before, after in swapped(event)}
    shown = {s: level for s, level in levels.items() if s in order and can_show(archive, stored[s], level)}
    chat = replace(
        state.chat,
        entries=stored,
        order=order,
        border=len(order),
        undone=frozenset(seq for seq, entry in stored.items() if entry.id in undone),
        turn=info.turns,
        floor=floor,
    )
    state.chat = chat.shown_at(shown, archive.text)


def can_show(archive: Archive, entry: Entry, level: Fidelity) -> bool:
    """Whether the archive holds what an entry stood as."""
    return level in (Fidelity.FULL, Fidelity.HIDDEN) or level in archive.renditions(entry)


def last_frame(store: Store, session: str) -> Frame:
    """The last measured prompt of a session; empty where none was."""
    kept = measures(store, session)
    with suppress(ValueError, TypeError, AttributeError):
        parts = {str(name): int(tokens) for name, tokens in kept.get("parts", {}).items()}
        files = {str(name): int(tokens) for name, tokens in kept.get("files", {}).items()}
        read_only = tuple(str(name) for name in kept.get("read_only", ()))
        window, model = int(kept.get("window", 0)), str(kept.get("model", ""))
        return Frame(window, parts, files, model, read_only=read_only)
    return Frame()


def measures(store: Store, session: str) -> Mapping[str, Any]:
    """What `save_measures` kept; an archive may come from elsewhere."""
    with suppress(ValueError):
        kept = json.loads(store.get_state(session, MEASURES) or "{}")
        return kept if isinstance(kept, dict) else {}
    return {}
