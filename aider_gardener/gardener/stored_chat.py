"""A chat as the archive last saw it: what is kept of it beside its entries, so that it can be put together
again to be looked at or to be gone on with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import clear_floor, host_of
from aider_gardener.archive.store.base import FRAME_KEY, GROWTH_KEY, SessionInfo
from aider_gardener.errors import UsageError
from aider_gardener.gardener.care import saved_amendments
from aider_gardener.gardener.compactions import PLAN, RESTS, THROTTLE, market, swapped
from aider_gardener.gardener.state import ChatState, ChatSums, Point, Prefix
from aider_gardener.messages import ContentClass, Entry, Level, Source, TokenCounter
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.usage import Call, Prices
from aider_gardener.plan.view import outcome
from aider_gardener.recall.recall import EDIT_UNDONE
from aider_gardener.settings import Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

MARKS_BY = ("mode", "preset", "history_tokens")
"""The settings that the marks of a chat go by; whoever looks at it later may have others."""


def stored_chat(store: Store, info: SessionInfo, settings: Settings, count: TokenCounter) -> ChatState:
    """The chat of a stored session, with its entries as they stood, its last measured prompt, and the marks
    of that moment.

    For reports only: nothing may be added to it. Where no prompt was measured the window and the host's limit
    are 0.
    """
    archive = Archive.reading(store)
    archive.count = count
    measured = _measures(store, info.id)
    own = {name: measured[name] for name in MARKS_BY if name in measured}
    with suppress(UsageError):
        settings = replace(settings, **own, given=frozenset(own))
    state = ChatState.new(settings, archive)
    state.frame, state.host_limit = last_frame(store, info.id), 0
    with suppress(ValueError, TypeError, KeyError):
        state.host_limit, state.host_limit_given = int(measured["host_limit"]), bool(measured["limit_given"])
        state.usage.add(Call(0, 0, reported=False), Prices(**measured["prices"]))  # as warm as then
        state.prefix = Prefix(prompts=1, unchanged=float(measured["warm"]))
    _restore_entries(state, info)
    return state


def save_measures(state: ChatState) -> None:
    """Keep in the archive how the last prompt was measured, and what the marks of the history go by."""
    warm = market(state, cold=False).warm
    limit = {"host_limit": state.host_limit, "limit_given": state.host_limit_given}
    limit |= {name: getattr(state.settings, name) for name in MARKS_BY}
    prices = asdict(state.usage.prices)
    state.archive.save_value(FRAME_KEY, {**asdict(state.frame), **limit, "prices": prices, "warm": warm})


def go_on(state: ChatState, info: SessionInfo) -> None:
    """Take up the session of this chat's archive, which was held before: what was said stands as it stood,
    with its turns, its rules and what it came to. For a chat in which nothing was said yet."""
    _restore_entries(state, info, with_gaps=True)
    state.amendments = (*state.amendments, *saved_amendments(state.archive.store, info.id))
    if growth := saved_growth(state.archive.store, info):
        state.growth.earlier, state.growth.points = growth
    state.show()


def _restore_entries(state: ChatState, info: SessionInfo, *, with_gaps: bool = False) -> None:
    """Give a chat the entries of a stored session, as they stood; with the places of forgotten ones, where it
    numbers what is said without gaps."""
    archive, store = state.archive, state.archive.store
    stored = {entry.seq: entry for entry in store.session_entries(info.id)}
    floor, events = clear_floor(store, info.id), store.events(info.id)
    forgotten = _places_of_forgotten(stored, floor) if with_gaps else {}
    entries = {seq: (stored | forgotten)[seq] for seq in sorted([*stored, *forgotten])}
    order = tuple(seq for seq, entry in entries.items() if entry.active and seq >= floor)
    undone, throttled = dict[str, str](), set[int]()
    levels: dict[int, Level] = {}
    for event in events:
        if event.kind == EDIT_UNDONE:
            undone[str(event.data.get("entry_id"))] = outcome(event.data.get("made"))
        swaps = {seq: after for seq, _before, after in swapped(event)}
        levels.update(swaps)
        throttled.update(stored.keys() & swaps if event.kind == THROTTLE else ())
        rests = -1 if event.kind == PLAN else event.data.get(RESTS)
        state.put_back_at = rests if isinstance(rests, int) else state.put_back_at
    shown = {
        seq: level
        for seq, level in levels.items()
        if seq in order
        and seq in stored  # and the archive holds what it stood as
        and (level in (Level.FULL, Level.HIDDEN) or level in archive.renditions(stored[seq]))
    }
    chat = replace(
        state.chat,
        entries=entries,
        forgotten=frozenset(forgotten),
        order=order,
        border=len(order),
        undone={seq: undone[entry.id] for seq, entry in stored.items() if entry.id in undone},
        throttled=frozenset(s for s in throttled if Level.COMPRESSED in archive.renditions(stored[s])),
        turn=info.turns,
        floor=floor,
    )
    state.chat = chat.shown_at(shown, archive.text)


def _places_of_forgotten(stored: Mapping[int, Entry], floor: int) -> dict[int, Entry]:
    """Entries without a text where some were forgotten, so that what stood around them is not joined: each in
    the role that takes turns with what stands before it."""
    found, role, turn = dict[int, Entry](), "assistant", 0
    for seq in range(floor, max(stored, default=-1) + 1):
        if entry := stored.get(seq):
            role, turn = entry.role, entry.turn
            continue
        role = "user" if role == "assistant" else "assistant"
        found[seq] = Entry("", "", turn, seq, role, "", Source(), ContentClass.PROSE, (), 0)
    return found


def last_frame(store: Store, session: str) -> Frame:
    """The last measured prompt of a session, in which nothing waits for an answer any more; empty where none
    was measured."""
    measures = _measures(store, session)
    with suppress(ValueError, TypeError, AttributeError):
        parts, files = (
            {str(name): int(tokens) for name, tokens in measures.get(which, {}).items()}
            for which in ("parts", "files")
        )
        read_only = tuple(map(str, measures.get("read_only", ())))
        window, model = int(measures.get("window", 0)), str(measures.get("model", ""))
        return Frame(window, parts, files, model, read_only)
    return Frame()


def _measures(store: Store, session: str) -> Mapping[str, Any]:
    """What `save_measures` kept; an archive may come from elsewhere."""
    with suppress(ValueError):
        value = json.loads(store.get_state(session, FRAME_KEY) or "{}")
        return value if isinstance(value, dict) else {}
    return {}


# Growth and sums


def save_growth(state: ChatState) -> None:
    """Write growth and sums to the archive; one that refuses is asked again after the next turn."""
    value = {"session": asdict(sums_of(state)), "points": [asdict(p) for p in state.growth.points]}
    state.archive.save_value(GROWTH_KEY, value)


def sums_of(state: ChatState) -> ChatSums:
    """What the chat has come to, with what it came to when it was held before."""
    usage, growth = state.usage, state.growth
    earlier = growth.earlier
    return ChatSums(
        started_at=earlier.started_at,
        ended_at=state.archive.clock(),
        model=state.frame.model,
        turns=state.chat.turn,
        calls=earlier.calls + usage.calls,
        prompt_tokens=earlier.prompt_tokens + usage.prompt_tokens,
        saved_tokens=earlier.saved_tokens + growth.saved_tokens,
        cost=round(earlier.cost + usage.cost, 6),
        saved_cost=round(earlier.saved_cost + growth.saved_cost, 6),
        compactions=earlier.compactions + len(state.plans),
        seconds=round(earlier.seconds + state.seconds, 3),
    )


def saved_growth(store: Store, info: SessionInfo) -> tuple[ChatSums, list[Point]] | None:
    """What a chat came to, its turns by its entries, and how it grew; None where that cannot be read."""
    try:
        value = json.loads(store.get_state(info.id, GROWTH_KEY) or "")
        fields = {name: v for name, v in value["session"].items() if name in ChatSums.__dataclass_fields__}
        sums = ChatSums(**{**fields, "turns": info.turns})
        return sums, [Point(int(row["tokens"]), int(row["window"])) for row in value["points"]]
    except (ValueError, KeyError, TypeError):
        return None


def saved_sessions(store: Store, project: str, host: str = "") -> list[tuple[ChatSums, list[Point]]]:
    """What is kept of the chats of a project, or of those with one `host`, the last used last."""
    infos = [info for info in store.sessions(project) if host in ("", host_of(store, info.id))]
    return sorted(
        filter(None, (saved_growth(store, each) for each in infos)), key=lambda row: row[0].ended_at
    )
