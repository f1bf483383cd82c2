"""The growth of a chat: how full the window is, where that is heading, and what the gardener saved.

Kept for each chat in the archive after every turn, so that `gardener status` and the next run know it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from statistics import linear_regression
from typing import Any

from aider_gardener.archive.store.base import Store
from aider_gardener.gardener.report import tokens_shown
from aider_gardener.gardener.state import ChatState, ChatSums, Point
from aider_gardener.phrases import counted, short
from aider_gardener.plan.goals import level
from aider_gardener.plan.planner import piece_tokens
from aider_gardener.plan.usage import Market
from aider_gardener.plan.view import NOTE_HEAD

POINTS = 50
"""So many turns of growth are kept."""
BAR_CELLS = 20
STATE_KEY = "autopilot"


def sent(state: ChatState, texts: Iterable[str]) -> None:
    """Note that a prompt of these texts was sent: what it would have held more with as much of the history
    as its window had taken.

    Each original is measured beside its own short form, as both were counted when it entered; what is not of
    the history counts on neither side. So nothing is saved, or lost, where all of it stood whole.
    """
    chat, count, growth, prices = state.chat, state.count, state.growth, state.usage.prices
    said = list(texts)
    shorter = [chat.entries[seq] for seq in chat.order if seq in chat.fidelity]
    saved = sum(entry.tokens - tokens_shown(state, entry) for entry in shorter)
    recalled = state.recollection.open[1] if state.recollection.open else ""
    ours = [text for text in said if text and text in (state.note.text, recalled)]
    ours += [NOTE_HEAD for piece in chat.pieces if piece.is_note]
    saved -= sum(map(count, ours))
    if saved > 0 and state.frame.window:
        saved = min(saved, max(0, state.frame.window - sum(map(count, said))))
    growth.saved_tokens += saved
    market = Market(prices.input, prices.cache_read, state.usage.cache_read_share or 0.0)
    growth.saved_cost += saved * market.token


def turn_over(state: ChatState) -> bool:
    """Take a point of growth and keep all in the archive; whether the turn called the model."""
    growth, archive, calls = state.growth, state.archive, state.usage.totals.calls
    called, growth.calls_seen = calls > growth.calls_seen, calls
    if not called:
        return False
    if not growth.earlier.started_at:
        growth.earlier = replace(growth.earlier, started_at=archive.clock())
        before = kept_sessions(archive.store, archive.project)[-1:]
        growth.points = [*(point for _sums, points in before for point in points), *growth.points]
    tokens = state.frame.around + piece_tokens(state.chat.pieces, state.count)
    growth.points = [*growth.points, Point(tokens, state.frame.window)][-POINTS:]
    keep(state)
    return True


def keep(state: ChatState) -> None:
    """Write growth and sums to the archive; one that refuses is asked again after the next turn."""
    value = {"session": asdict(sums_of(state)), "points": [asdict(p) for p in state.growth.points]}
    state.archive.keep(STATE_KEY, value)


def put_back(state: ChatState) -> None:
    """Take over what the session came to when it was held before."""
    kept = read_state(state.archive.store.get_state(state.archive.session, STATE_KEY))
    if kept is not None:
        state.growth.earlier, state.growth.points = kept


def sums_of(state: ChatState) -> ChatSums:
    """What the chat has come to, with what it came to when it was held before."""
    totals, growth = state.usage.totals, state.growth
    earlier = growth.earlier
    return ChatSums(
        started_at=earlier.started_at,
        ended_at=state.archive.clock(),
        model=state.frame.model,
        turns=state.chat.turn,
        calls=earlier.calls + totals.calls,
        prompt_tokens=earlier.prompt_tokens + totals.prompt_tokens,
        saved_tokens=earlier.saved_tokens + growth.saved_tokens,
        cost=round(earlier.cost + totals.cost, 6),
        saved_cost=round(earlier.saved_cost + growth.saved_cost, 6),
        compactions=earlier.compactions + len(state.plans),
        seconds=round(earlier.seconds + state.seconds, 3),
    )


def trend(points: Sequence[Point]) -> float:
    """Tokens by which the prompt grows a turn: the slope of the least-squares line; 0 below two points."""
    if len(points) < 2:
        return 0.0
    return linear_regression(range(len(points)), [point.tokens for point in points]).slope


def status_line(points: Sequence[Point], compactions: int) -> str:
    """How full the window is and how often the history was compacted: "43 % 86.7k · 2 compactions"."""
    now = points[-1] if points else Point(0, 0)
    share = f"{now.utilization * 100:.0f} % " if now.window else ""
    return f"{share}{short(now.tokens)} · {counted(compactions, 'compaction')}"


def outlook(points: Sequence[Point]) -> dict[str, Any]:
    """Level, bar and trend of a chat's growth as plain data; {} without a point."""
    if not points:
        return {}
    now, slope = points[-1], trend(points)
    left = now.window - now.tokens
    full = round(min(now.utilization, 1.0) * BAR_CELLS)
    return {
        "level": level(now.tokens, now.window).value,
        "tokens": now.tokens,
        "window": now.window,
        "utilization": round(now.utilization, 4),
        "bar": "█" * full + "░" * (BAR_CELLS - full),
        "trend_tokens_a_turn": round(slope),
        "turns_left": round(left / slope) if slope >= 1 and now.window and left > 0 else None,
        "turns_seen": len(points),
    }


def report_line(session: ChatSums) -> str:
    """One chat's report for its user."""
    sign = "fewer" if session.saved_tokens >= 0 else "more"
    money = f", about ${abs(session.saved_cost):.2f}" if abs(session.saved_cost) >= 0.005 else ""
    return (
        f"aider-gardener: {counted(session.turns, 'turn')}, {short(session.prompt_tokens)} prompt tokens in"
        f" {counted(session.calls, 'call')}; {short(abs(session.saved_tokens))} {sign} than with the whole"
        f" history ({abs(session.saved_share):.0%}{money}); {counted(session.compactions, 'compaction')},"
        f" {session.seconds:.1f} s of its own work."
    )


def read_state(text: str | None) -> tuple[ChatSums, list[Point]] | None:
    """A chat's state as it was kept, or None for none or one that cannot be read."""
    try:
        value = json.loads(text or "")
        known = ChatSums.__dataclass_fields__
        session = ChatSums(**{name: v for name, v in value["session"].items() if name in known})
        return session, [Point(int(row["tokens"]), int(row["window"])) for row in value["points"]]
    except (ValueError, KeyError, TypeError):
        return None


def kept_sessions(store: Store, project: str) -> list[tuple[ChatSums, list[Point]]]:
    """What is kept of the chats of a project, oldest first."""
    rows = (read_state(store.get_state(info.id, STATE_KEY)) for info in store.sessions(project))
    return [row for row in rows if row is not None]


def summed(sessions: Sequence[ChatSums]) -> Mapping[str, Any]:
    """Several chats together as plain data."""
    names = "turns calls prompt_tokens saved_tokens cost saved_cost compactions seconds".split()
    sums = {name: sum(getattr(session, name) for session in sessions) for name in names}
    share = ChatSums(**sums).saved_share
    rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in sums.items()}
    return {"sessions": len(sessions), **rounded, "saved_share": round(share, 4)}


def project_status(store: Store, project: str) -> dict[str, Any]:
    """How the last chat of a project stood, where it was heading, and what all its chats came to."""
    rows = kept_sessions(store, project)
    if not rows:
        return {}
    return {"last_chat": outlook(rows[-1][1]), "all_chats": dict(summed([row[0] for row in rows]))}


def month_status(store: Store, project: str, month: str) -> dict[str, Any]:
    """What a project's chats came to in a month ("2026-11", local time); {} when there was none."""
    sessions = [session for session, _points in kept_sessions(store, project)]
    found = [s for s in sessions if datetime.fromtimestamp(s.ended_at).strftime("%Y-%m") == month]
    return {"month": month, **summed(found)} if found else {}
