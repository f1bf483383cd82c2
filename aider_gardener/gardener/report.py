"""What a chat uses of its window and what was done in it, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aider_gardener.gardener.amendments import rules
from aider_gardener.gardener.compactions import asked_for, goal_of
from aider_gardener.gardener.state import ChatState
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
from aider_gardener.plan.planner import open_tokens
from aider_gardener.plan.view import Piece
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

DROPPABLE_SHARE = 0.05
"""A chat file that takes this share of the window, or of the prompt where no window is known, is named."""
DROPPABLE_SHOWN = 3
ADVICE = {
    Level.OK: "There is room.",
    Level.WARNING: "The window fills up: compact before a new task begins.",
    Level.OPTIMIZE: "Compact now; what goes stays in the archive, and recall brings it back.",
    Level.HARD: "Compact before the next prompt; what goes stays in the archive, and recall brings it back.",
}
"""What to do in a chat that its host tends itself."""


def tokens_shown(state: ChatState, entry: Entry) -> int:
    """The tokens of an entry as it stands in the chat now."""
    fidelity = state.chat.fidelity.get(entry.seq, Fidelity.FULL)
    if fidelity is Fidelity.HIDDEN:
        return 0
    return entry.tokens if fidelity is Fidelity.FULL else state.archive.renditions(entry)[fidelity].tokens


def pressure_report(state: ChatState) -> Pressure:
    """What the next prompt uses of window and budget, message by message and class by class, with what could
    be saved."""
    chat, count, frame = state.chat, state.count, state.frame
    pieces, entries = chat.pieces, list(chat.entries.values())
    rows = [_row(state, index, piece) for index, piece in enumerate(pieces)]
    largest = _largest(rows)
    history = state.history_used
    parts = {**frame.parts, "history": history, "current": open_tokens(chat, count)}
    used = sum(parts.values())
    asked = asked_for(state) if state.acts else None
    would_save = asked.plan.tokens_saved if asked else 0
    budget, drop = goal_of(state).high, droppable(frame, used)
    original = sum(entry.tokens for entry in entries)
    made = [state.archive.renditions(entry).get(Fidelity.COMPRESSED) for entry in entries]
    summary = sum(
        min(entry.tokens, form.tokens) if form else entry.tokens
        for entry, form in zip(entries, made, strict=True)
    )
    advice = recommendation(
        level(used, frame.window),
        history_used=history,
        budget=budget,
        would_save=would_save,
        drop=[str(row["path"]) for row in drop],
    )
    shown = [pieces[row["index"]].members for row in largest]
    return Pressure(
        **_of_window(used, frame),
        history_budget=budget,
        history_used=history,
        parts=parts,
        messages_count=len(rows),
        largest_messages=largest,
        by_message=rows,
        by_class=by_class([(entry, tokens_shown(state, entry)) for entry in chat.all_entries()]),
        entries_tracked=len(entries),
        total_original_tokens=original,
        total_summary_tokens=summary,
        compression_ratio=round(summary / original, 4) if original else 1.0,
        eviction_candidates=len(asked.plan.swaps) if asked else 0,
        plan_would_save=would_save,
        droppable_files=drop,
        recommendation=advice,
        largest_ids=[chat.entries[seqs[0]].id if len(seqs) == 1 else "" for seqs in shown],
    )


def untended(frame: Frame, entries: Sequence[Entry]) -> Pressure:
    """The pressure of a chat that its host tends itself: what its last prompt took, and all that was said."""
    used, original = sum(frame.parts.values()), sum(entry.tokens for entry in entries)
    rows = [message_row(at, entry.role, entry.cls, entry.tokens) for at, entry in enumerate(entries)]
    largest = _largest(rows)
    return Pressure(
        **_of_window(used, frame),
        history_budget=0,
        history_used=used,
        parts=frame.parts,
        messages_count=len(entries),
        largest_messages=largest,
        by_message=rows,
        by_class=by_class([(entry, entry.tokens) for entry in entries]),
        entries_tracked=len(entries),
        total_original_tokens=original,
        total_summary_tokens=original,
        compression_ratio=1.0,
        eviction_candidates=0,
        plan_would_save=0,
        droppable_files=[],
        recommendation=ADVICE[level(used, frame.window)],
        largest_ids=[entries[row["index"]].id for row in largest],
    )


def _of_window(used: int, frame: Frame) -> dict[str, Any]:
    return {
        "used": used,
        "available": max(0, frame.window - used),
        "utilization": round(used / frame.window, 4) if frame.window else 0.0,
        "level": level(used, frame.window).value,
    }


def _largest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-row["tokens"], row["index"]))[:LARGEST_SHOWN]


def _row(state: ChatState, index: int, piece: Piece) -> dict[str, Any]:
    """One message as a row of the report; a note that shows several entries has the class "note"."""
    single = len(piece.members) == 1 and piece.members[0] not in state.chat.fidelity
    cls = state.chat.entries[piece.members[0]].cls if single else None
    return message_row(index, piece.role, cls, piece.tokens(state.count) + MESSAGE_OVERHEAD_TOKENS)


def droppable(frame: Frame, used: int) -> list[dict[str, Any]]:
    """The largest files in the chat that take a noticeable share, worth a /drop if not needed."""
    least = DROPPABLE_SHARE * (frame.window or used)
    files = sorted(frame.files.items(), key=lambda item: (-item[1], item[0]))[:DROPPABLE_SHOWN]
    return [{"path": path, "tokens": tokens} for path, tokens in files if tokens >= least]


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
        "seconds": round(state.seconds, 3),
        "store": stats.path or "in memory",
        "stored_entries": stats.entries,
        "stored_bytes": stats.bytes,
    }
