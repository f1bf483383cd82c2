"""The pressure report, computed from a chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.gardener.amendments import rules
from aider_gardener.gardener.compactions import asked_for, goal_of
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Fidelity, TokenCounter
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import (
    LARGEST_SHOWN,
    Frame,
    Level,
    Pressure,
    by_class,
    level,
    message_row,
    recommendation,
)
from aider_gardener.plan.planner import open_tokens
from aider_gardener.plan.view import Piece
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

DROPPABLE_SHARE = 0.05
"""A chat file that takes this share of the window, or of the prompt where no window is known, is named."""
DROPPABLE_SHOWN = 3


def pressure_report(state: ChatState) -> Pressure:
    """What the next prompt uses of window and budget, message by message and class by class."""
    chat, count, frame, archive = state.chat, state.count, state.frame, state.archive
    pieces = chat.pieces
    rows = [piece_row(index, piece, chat, count) for index, piece in enumerate(pieces)]
    largest = sorted(rows, key=lambda row: (-row["tokens"], row["index"]))[:LARGEST_SHOWN]
    past_tokens = state.history_used
    parts = {**frame.parts, "history": past_tokens, "current": open_tokens(chat, count)}
    used = sum(parts.values())
    standing = [(entry, standing_tokens(entry, chat, archive)) for entry in chat.all_entries()]
    asked = asked_for(state) if state.acts else None
    plan = asked.plan if asked else None
    would_save = plan.tokens_saved if plan else 0
    level_now = level(used, frame.window)
    drop = droppable(frame, used)
    entries = list(chat.entries.values())
    original = sum(entry.tokens for entry in entries)
    summary = sum(compressed_tokens(entry, archive) for entry in entries)
    budget = goal_of(state).high
    return Pressure(
        used=used,
        available=max(0, frame.window - used) if frame.window else 0,
        utilization=round(used / frame.window, 4) if frame.window else 0.0,
        level=level_now.value,
        history_budget=budget,
        history_used=past_tokens,
        parts=parts,
        messages_count=len(rows),
        largest_messages=largest,
        by_message=rows,
        by_class=by_class(standing),
        entries_tracked=len(entries),
        total_original_tokens=original,
        total_summary_tokens=summary,
        compression_ratio=round(summary / original, 4) if original else 1.0,
        eviction_candidates=len(plan.swaps) if plan else 0,
        plan_would_save=would_save,
        droppable_files=drop,
        recommendation=advice(level_now, past_tokens, budget, would_save, drop),
        largest_ids=[piece_id(pieces[row["index"]], chat) for row in largest],
    )


def advice(level_now: Level, used: int, budget: int, would_save: int, drop: Sequence[dict[str, Any]]) -> str:
    """One sentence: what to do now."""
    names = [str(row["path"]) for row in drop]
    return recommendation(level_now, history_used=used, budget=budget, would_save=would_save, drop=names)


def piece_row(index: int, piece: Piece, chat: Chat, count: TokenCounter) -> dict[str, Any]:
    """One message as a row of the report; a note that shows several entries has the class "note"."""
    single = len(piece.members) == 1 and chat.fidelity.get(piece.members[0]) is None
    cls = chat.entries[piece.members[0]].cls if single else None
    return message_row(index, piece.role, cls, piece.tokens(count) + MESSAGE_OVERHEAD_TOKENS)


def piece_id(piece: Piece, chat: Chat) -> str:
    """The id of the entry that a message shows; "" where it shows several."""
    return chat.entries[piece.members[0]].id if len(piece.members) == 1 else ""


def standing_tokens(entry: Entry, chat: Chat, archive: Archive) -> int:
    """The tokens of an entry as it stands in the chat now."""
    fidelity = chat.fidelity.get(entry.seq, Fidelity.FULL)
    if fidelity is Fidelity.HIDDEN:
        return 0
    return entry.tokens if fidelity is Fidelity.FULL else archive.renditions(entry)[fidelity].tokens


def compressed_tokens(entry: Entry, archive: Archive) -> int:
    """The tokens of an entry in its compressed form, or whole where it has none."""
    made = archive.renditions(entry).get(Fidelity.COMPRESSED)
    return min(entry.tokens, made.tokens) if made else entry.tokens


def droppable(frame: Frame, used: int) -> list[dict[str, Any]]:
    """The largest files in the chat that take a noticeable share, worth a /drop if not needed."""
    least = DROPPABLE_SHARE * (frame.window or used)
    rows = [{"path": path, "tokens": tokens} for path, tokens in frame.files.items() if tokens >= least]
    return sorted(rows, key=lambda row: (-int(str(row["tokens"])), str(row["path"])))[:DROPPABLE_SHOWN]


def status_record(state: ChatState) -> dict[str, Any]:
    """Mode, budget, what was done and what is stored, as plain data."""
    stats, applied, totals = state.archive.store.stats(), state.plans, state.usage.totals
    return {
        "mode": state.settings.mode if state.on else "off",
        "history_budget": state.budget,
        "history_mark": goal_of(state).high,
        "recall_budget": state.recall_budget,
        "turns": state.chat.turn,
        "entries": len(state.chat.entries),
        "compactions": len(applied),
        "tokens_saved": sum(item.plan.tokens_saved for item in applied),
        "calls": totals.calls,
        "prompt_tokens": totals.prompt_tokens,
        "saved_tokens": state.growth.saved_tokens,
        "cost": round(totals.cost, 6),
        "saved_cost": round(state.growth.saved_cost, 6),
        "constraints": len(rules(state)),
        "chat_map_tokens": state.note.tokens,
        "seconds": round(sum(state.timings.values()), 3),
        "store": stats.path or "in memory",
        "stored_entries": stats.entries,
        "stored_bytes": stats.bytes,
    }
