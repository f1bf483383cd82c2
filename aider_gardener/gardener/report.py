"""The pressure report, computed from a chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aider_gardener.messages import Entry, Fidelity
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
from aider_gardener.plan.planner import history_tokens, open_exchange, piece_tokens
from aider_gardener.plan.view import Piece
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

DROPPABLE_SHARE = 0.05
"""A chat file that takes this share of the window, or of the prompt where no window is known, is named."""
DROPPABLE_SHOWN = 3


def pressure_report(gardener: Gardener) -> Pressure:
    """What the next prompt uses of window and budget, message by message and class by class."""
    chat, count, frame = gardener.chat, gardener.count, gardener.frame
    pieces = [*chat.done, *chat.cur]
    now = open_exchange(chat)
    rows = [piece_row(index, piece, gardener) for index, piece in enumerate(pieces)]
    past = history_tokens(chat.done, chat.cur, now, count)
    current = piece_tokens(pieces, count) - past
    parts = {**frame.parts, "history": past, "current": current}
    used = sum(parts.values())
    standing = [(entry, standing_tokens(entry, gardener)) for entry in chat.all_entries()]
    plan = gardener.plan() if gardener.acts else None
    would_save = plan.tokens_saved if plan else 0
    state = level(used, frame.window)
    drop = droppable(frame, used)
    entries = list(chat.entries.values())
    original = sum(entry.tokens for entry in entries)
    summary = sum(compressed_tokens(entry, gardener) for entry in entries)
    return Pressure(
        used=used,
        available=max(0, frame.window - used) if frame.window else 0,
        utilization=round(used / frame.window, 4) if frame.window else 0.0,
        level=state.value,
        history_budget=gardener.goal().high,
        history_used=past,
        parts=parts,
        messages_count=len(pieces),
        largest_messages=sorted(rows, key=lambda row: (-row["tokens"], row["index"]))[:LARGEST_SHOWN],
        by_message=rows,
        by_class=by_class(standing),
        entries_tracked=len(entries),
        total_original_tokens=original,
        total_summary_tokens=summary,
        compression_ratio=round(summary / original, 4) if original else 1.0,
        eviction_candidates=len(plan.swaps) if plan else 0,
        plan_would_save=would_save,
        droppable_files=drop,
        recommendation=advice(state, past, gardener.goal().high, would_save, drop),
    )


def advice(state: Level, used: int, budget: int, would_save: int, drop: Sequence[dict[str, Any]]) -> str:
    names = [str(row["path"]) for row in drop]
    return recommendation(state, history_used=used, budget=budget, would_save=would_save, drop=names)


def piece_row(index: int, piece: Piece, gardener: Gardener) -> dict[str, Any]:
    """One message as a row of the report; a note that shows several entries has the class "note"."""
    single = len(piece.members) == 1 and gardener.chat.fidelity.get(piece.members[0]) is None
    cls = gardener.chat.entries[piece.members[0]].cls if single else None
    return message_row(index, piece.role, cls, gardener.count(piece.content) + MESSAGE_OVERHEAD_TOKENS)


def standing_tokens(entry: Entry, gardener: Gardener) -> int:
    """The tokens of an entry as it stands in the chat now."""
    fidelity = gardener.chat.fidelity.get(entry.seq, Fidelity.FULL)
    if fidelity is Fidelity.HIDDEN:
        return 0
    return entry.tokens if fidelity is Fidelity.FULL else gardener.archive.renditions(entry)[fidelity].tokens


def compressed_tokens(entry: Entry, gardener: Gardener) -> int:
    """The tokens of an entry in its compressed form, or whole where it has none."""
    made = gardener.archive.renditions(entry).get(Fidelity.COMPRESSED)
    return min(entry.tokens, made.tokens) if made else entry.tokens


def droppable(frame: Frame, used: int) -> list[dict[str, Any]]:
    """The largest files in the chat that take a noticeable share, worth a /drop if not needed."""
    least = DROPPABLE_SHARE * (frame.window or used)
    rows = [{"path": path, "tokens": tokens} for path, tokens in frame.files.items() if tokens >= least]
    return sorted(rows, key=lambda row: (-int(str(row["tokens"])), str(row["path"])))[:DROPPABLE_SHOWN]


def status_record(gardener: Gardener) -> dict[str, Any]:
    """Mode, budget, what was done and what is stored, as plain data."""
    stats = gardener.archive.store.stats()
    return {
        "mode": gardener.settings.mode if gardener.on else "off",
        "history_budget": gardener.budget,
        "recall_budget": gardener.recall_budget,
        "turns": gardener.chat.turn,
        "entries": len(gardener.chat.entries),
        "compactions": len(gardener.plans_applied),
        "tokens_saved": sum(item.plan.tokens_saved for item in gardener.plans_applied),
        "constraints": len(gardener.constraints()),
        "chat_map_tokens": gardener.chat_map.note.tokens,
        "seconds": round(sum(gardener.timings.values()), 3),
        "store": stats.path or "in memory",
        "stored_entries": stats.entries,
        "stored_bytes": stats.bytes,
    }
