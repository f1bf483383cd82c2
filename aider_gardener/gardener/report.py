"""What a chat uses of its window, how that grows, what was done in it and what was saved, as values and as
lines for its user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import linear_regression
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.sessions import AIDER, PYTHON, host_of
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.gardener.care import rules
from aider_gardener.gardener.compactions import asked_for, drafted, goal_of, market
from aider_gardener.gardener.state import ChatState, Point
from aider_gardener.gardener.stored_chat import save_growth, saved_sessions, stored_chat, sums_of
from aider_gardener.messages import TokenCounter
from aider_gardener.phrases import bar, cold, counted, short
from aider_gardener.plan.goals import Frame, Fullness, Goal, Pressure, fullness
from aider_gardener.plan.planner import piece_tokens
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.settings import Settings
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

LARGEST_SHOWN = 10
COLD_WORTH = 0.03
"""Dollars that a cold cache must cost to be spoken of."""
DROPPABLE_SHARE = 0.05
"""A chat file that takes this share of the window, or of the prompt where no window is known, is named."""
DROPPABLE_SHOWN = 3
POINTS = 50
"""So many turns of growth are kept."""
BAR_CELLS = 20
NOTHING_TO_DO, HARDLY_FITS = "Nothing to do.", "The prompt hardly fits the window."
NEXT_COMPACTS = "The history is above its limit; the next prompt compacts it."
FULL_AND_COMPACTS = "The window is full; the next prompt compacts the history."
FILLING_UP = "The window is filling up; the gardener compacts the history by itself."
COMPACT = (
    "The window fills up: compact before a new task; what goes stays in the archive, recall brings it back."
)
"""What to do in a chat that its host manages itself."""


# Pressure


def pressure_report(state: ChatState, *, cold: bool = False, managed: bool = True) -> Pressure:
    """What the next prompt uses of window and budget, message by message and class by class, with what could
    be saved. `cold`: the provider's cache will hold nothing of its history. A chat that is not `managed` its
    host keeps within the window itself, and the frame is its last prompt, the history included."""
    chat, frame, history = state.chat, state.frame, state.history_used
    rows = _message_rows(state)
    largest = sorted(rows, key=lambda row: (-row["tokens"], row["index"]))[:LARGEST_SHOWN]
    members = [chat.pieces[row["index"]].members for row in largest]
    parts = {**frame.parts, **({"history": history, "current": state.open_used} if managed else {})}
    used, acts = sum(parts.values()), managed and state.acts and state.budget > 0
    asked, goal = asked_for(state) if acts else None, goal_of(state, cold=cold)
    saves, drop = asked.plan.tokens_saved if asked else 0, droppable(frame, used)
    classes = by_class(state)
    entries, original, summary = (
        int(sum(row[name] for row in classes.values())) for name in ("count", "orig", "sum")
    )
    return Pressure(
        used=used,
        available=frame.window - used if frame.window else 0,
        utilization=round(used / frame.window, 4) if frame.window else 0.0,
        level=fullness(used, frame.window).value,
        history_budget=goal.high if acts else 0,
        history_used=history if managed else used,
        parts=parts,
        messages_count=len(rows),
        largest_messages=largest,
        by_message=rows,
        by_class=classes,
        entries_tracked=entries,
        total_original_tokens=original,
        total_summary_tokens=summary,
        compression_ratio=round(summary / original, 4) if original else 1.0,
        eviction_candidates=len(asked.plan.swaps) if asked else 0,
        plan_would_save=saves,
        droppable_files=drop,
        recommendation=_advice(state, goal, used, acts=acts, saves=saves, drop=drop),
        largest_ids=[chat.entries[seqs[0]].id if len(seqs) == 1 else "" for seqs in members],
        budget_set_by=goal.set_by if managed else "",
    )


def _message_rows(state: ChatState) -> list[dict[str, Any]]:
    """The messages of the chat as plain data, in their order, with what each takes."""
    chat, rows = state.chat, list[dict[str, Any]]()
    for index, piece in enumerate(chat.pieces):
        is_one = len(piece.members) == 1 and piece.members[0] not in chat.levels
        cls = chat.entries[piece.members[0]].cls.value if is_one else "note"  # that shows several entries
        tokens = piece.tokens(state.count) + MESSAGE_OVERHEAD_TOKENS
        rows.append({"index": index, "role": piece.role, "class": cls, "tokens": tokens})
    return rows


def _advice(
    state: ChatState, goal: Goal, used: int, *, acts: bool, saves: int, drop: Sequence[Mapping[str, object]]
) -> str:
    """What is worth doing about a prompt of so many tokens, where the gardener `acts` or its host does."""
    window = state.frame.window
    full = fullness(used, window)
    if full is Fullness.OK:
        advice = NEXT_COMPACTS if acts and state.history_used > goal.high else NOTHING_TO_DO
    elif not acts:
        advice = COMPACT
    elif full is Fullness.HARD:
        due = drafted(state, goal)
        is_enough = due and fullness(used - due.plan.tokens_saved, window) is not Fullness.HARD
        advice = FULL_AND_COMPACTS if is_enough else HARDLY_FITS
    else:
        advice = FILLING_UP
    if saves:
        advice += f" A compaction now would save {saves:,} tokens (/gardener plan shows it)."
    if drop and full is not Fullness.OK:
        named = ", ".join(str(row["path"]) for row in drop)
        advice += f" Largest files in the chat, worth a /drop if not needed: {named}."
    return advice


def last_pressure(
    store: Store, info: SessionInfo, settings: Settings, count: TokenCounter
) -> tuple[Pressure, ChatState]:
    """What a stored chat used of its window, as it was left, and that chat. Raises StoreError."""
    state = stored_chat(store, info, settings, count)
    return pressure_report(state, managed=host_of(store, info.id) in (AIDER, PYTHON)), state


def by_class(state: ChatState) -> dict[str, dict[str, float]]:
    """Entries, original tokens, tokens as they are shown, and their ratio, for each class that occurs, most
    tokens first. A form that is no shorter counts as the original; what notes have around entries is of no
    class."""
    found: dict[str, dict[str, float]] = {}
    for entry in state.chat.all_entries():
        row = found.setdefault(entry.cls.value, {"count": 0, "orig": 0, "sum": 0})
        original = entry.tokens + MESSAGE_OVERHEAD_TOKENS
        row["count"] += 1
        row["orig"] += original
        if state.chat.shows(entry):
            row["sum"] += min(state.tokens_shown(entry) + MESSAGE_OVERHEAD_TOKENS, original)
    for row in found.values():
        row["ratio"] = round(row["sum"] / row["orig"], 4)
    return dict(sorted(found.items(), key=lambda item: -item[1]["sum"]))


def droppable(frame: Frame, used: int) -> list[dict[str, object]]:
    """The largest files in the chat that take a noticeable share, worth a /drop if not needed."""
    least = DROPPABLE_SHARE * (frame.window or used)
    files = sorted(frame.files.items(), key=lambda item: (-item[1], item[0]))[:DROPPABLE_SHOWN]
    return [{"path": path, "tokens": tokens} for path, tokens in files if tokens >= least]


def status_record(state: ChatState, *, cold: bool = False) -> dict[str, Any]:
    """Mode, mark (`cold` as above), what was done, also when the chat was held before, and what is stored."""
    store, sums = state.archive.store, sums_of(state)
    stats = store.stats()
    return {
        "mode": state.settings.mode if state.on else "off",
        "history_budget": state.budget,
        "history_mark": goal_of(state, cold=cold).high,
        "recall_budget": state.recall_budget,
        "turns": state.chat.turn,
        "entries": len(state.chat.entries) - len(state.chat.forgotten),
        "cleared": sum(seq < state.chat.floor for seq in state.chat.entries.keys() - state.chat.forgotten),
        "compactions": sums.compactions,
        "calls": sums.calls,
        "prompt_tokens": sums.prompt_tokens,
        "saved_tokens": sums.saved_tokens,
        "cost": sums.cost,
        "saved_cost": sums.saved_cost,
        "constraints": len(rules(state)),
        "chat_map_tokens": state.note.tokens,
        "seconds": sums.seconds,
        "store": stats.path or "in memory",
        "stored_entries": stats.entries,
        "stored_bytes": stats.bytes,
    }


# Growth


def sent(state: ChatState, texts: Collection[str], tokens: int) -> None:
    """Note that a prompt of these texts and so many tokens was sent: what it would have held more with as
    much of the history as its window had taken.

    Each original is measured beside its own short form, as both were counted when it entered; what is not of
    the history counts on neither side. So nothing is saved, or lost, where all of it stood whole.
    """
    chat, growth = state.chat, state.growth
    shorter = [chat.entries[seq] for seq in chat.order if seq in chat.levels]
    saved = sum(entry.tokens - state.tokens_shown(entry) for entry in shorter)
    saved -= state.note.tokens if state.note.text in texts else 0
    saved -= state.count(state.recalled.text) if state.recalled.text in texts else 0
    saved -= state.count(NOTE_HEAD) * sum(piece.is_note for piece in chat.pieces)
    if saved > 0 and state.frame.window:
        saved = min(saved, max(0, state.frame.window - tokens))
    growth.saved_tokens += saved
    growth.saved_cost += saved * state.usage.prices.input * (1 - market(state, cold=False).cached_share)


def cold_line(state: ChatState) -> str:
    """Before a prompt that no cache holds any more is paid: what it costs for that, and what could be done
    about it; "" where that is little, or the provider does not cache, by its own numbers or, where it gives
    none, as in a stream, by its prices. A plan that is due then is taken by itself."""
    usage = state.usage
    per_token = usage.prices.input - usage.prices.cache_read
    lost = (state.frame.tokens + state.history_used) * per_token
    if not usage.is_cold or (usage.reports and not usage.cache_read_share) or lost < COLD_WORTH:
        return ""
    goal, history = goal_of(state, cold=True), state.history_used
    saved = 0.0 if history > goal.high else max(0, history - goal.low) * usage.prices.input
    return cold(usage.idle_seconds, lost, saved, is_reported=usage.reports)


def turn_over(state: ChatState) -> bool:
    """Take a point of growth and keep all in the archive; whether the turn called the model."""
    growth, archive, calls = state.growth, state.archive, state.usage.calls
    called, growth.calls_counted = calls > growth.calls_counted, calls
    if not called:
        return False
    if not growth.earlier.started_at:
        growth.earlier = replace(growth.earlier, started_at=archive.clock())
        before = saved_sessions(archive.store, archive.project, archive.host)[-1:]
        growth.points = [*(point for _sums, points in before for point in points), *growth.points]
    tokens = state.frame.tokens + piece_tokens(state.chat.pieces, state.count)
    growth.points = [*growth.points, Point(tokens, state.frame.window)][-POINTS:]
    save_growth(state)
    return True


def status_line(points: Sequence[Point], compactions: int) -> str:
    """How full the window is and how often the history was compacted: "43 % 86.7k · 2 compactions"."""
    now = points[-1] if points else Point(0, 0)
    share = f"{now.utilization * 100:.0f} % " if now.window else ""
    return f"{share}{short(now.tokens)} · {counted(compactions, 'compaction')}"


def outlook(points: Sequence[Point]) -> dict[str, object]:
    """Level, bar and trend of a chat's growth as plain data; {} without a point. The trend is the tokens by
    which the prompt grows a turn: the slope of the least-squares line, 0 below two points."""
    if not points:
        return {}
    now, tokens = points[-1], [point.tokens for point in points]
    slope = linear_regression(range(len(tokens)), tokens).slope if len(tokens) > 1 else 0.0
    free_tokens = now.window - now.tokens
    return {
        "level": fullness(now.tokens, now.window).value,
        "tokens": now.tokens,
        "window": now.window,
        "utilization": round(now.utilization, 4),
        "bar": bar(now.utilization, BAR_CELLS),
        "trend_tokens_a_turn": round(slope),
        "turns_left": round(free_tokens / slope) if slope >= 1 and now.window and free_tokens > 0 else None,
        "turns_seen": len(points),
    }
