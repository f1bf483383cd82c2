"""What the gardener tells of a chat, of an archive and of all its chats, in sentences with units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aider_gardener.plan.said import counted, short

STATES = {
    "off": "The gardener is off; it goes on archiving.",
    "observe": "The gardener only watches (observe): prompts stay as they are.",
}
TIMES = {0: "no room had to be made", 1: "room was made once", 2: "room was made twice"}


def status_text(status: Mapping[str, Any]) -> str:
    """What a chat's gardener is and did, given its `status()`."""
    less = f", {short(status['tokens_saved'])} tokens less" if status["compactions"] else ""
    stored = f"{counted(status['stored_entries'], 'message')}, {size(status['stored_bytes'])}"
    lines = [
        f"{STATES.get(status['mode'], 'The gardener is on.')} Room is made when the history passes"
        f" {status['history_mark']:,} tokens; a question may recall {status['recall_budget']:,} beside it.",
        f"This chat: {counted(status['turns'], 'turn')}, {counted(status['entries'], 'message')};"
        f" {room_made(status['compactions'])}{less}.",
        bill(status) if status["calls"] else "Nothing was sent yet.",
        rules(status["constraints"]),
        f"Archive {status['store']}: {stored}. The gardener's own work took {status['seconds']:.1f} s.",
    ]
    return "\n".join(lines)


def rules(number: int) -> str:
    """How many rules of the user's hold."""
    if not number:
        return "No rule of yours was found."
    return f"{counted(number, 'rule')} of yours {'holds' if number == 1 else 'hold'} (/gardener constraints)."


def room_made(times: int) -> str:
    """How often the history was compacted."""
    return TIMES.get(times, f"room was made {times:,} times")


def bill(sums: Mapping[str, Any]) -> str:
    """What was sent, what it cost, and what that saved beside sending the whole history."""
    sent, saved, less = sums["prompt_tokens"], sums["saved_tokens"], sums["saved_cost"]
    cost = f" for ${sums['cost']:,.2f}" if sums["cost"] else ""
    calls, whole = counted(sums["calls"], "call"), sent + saved
    if not saved:
        return f"Sent {short(sent)} tokens in {calls}{cost}; all of the chat stood in them."
    parts = [f"${abs(less):,.2f}"] if cost and abs(less) >= 0.005 else []
    parts += [f"{short(abs(saved))} tokens", *([f"{abs(saved) / whole:.0%}"] if whole > 0 else [])]
    words = "saved" if saved >= 0 else "with the whole history it had been less by"
    return f"Sent {short(sent)} tokens in {calls}{cost}; {words} {', '.join(parts)}."


def size(number: int) -> str:
    """Bytes: "940 bytes", "12 KB", "1.2 MB"."""
    if number < 1_000:
        return counted(number, "byte")
    return f"{number / 1_000:,.0f} KB" if number < 1_000_000 else f"{number / 1_000_000:,.1f} MB"


def archive_text(status: Mapping[str, Any]) -> str:
    """What an archive holds, how its last chat stood and what all its chats came to."""
    secrets, pinned = status["redacted_secrets"], status["pinned"]
    held = [counted(status["sessions"], "chat"), counted(status["entries"], "message"), size(status["bytes"])]
    held += [f"{pinned:,} pinned"] if pinned else []
    held += [f"{counted(secrets, 'secret')} taken out"] if secrets else []
    lines = [
        f"Archive {status['archive']}: {', '.join(held)}.",
        f"What was said has {short(status['original_tokens'])} tokens, its shortened forms"
        f" {short(status['compressed_tokens'])} ({status['compression_ratio']:.0%}).",
    ]
    if last := status.get("last_chat"):
        lines.append(outlook_text(last))
    if sums := status.get("all_chats"):
        lines.append(f"All chats: {sums_text(sums)}")
    return "\n".join(lines)


def outlook_text(last: Mapping[str, Any]) -> str:
    """How full the window was at the end of a chat, and where that was heading."""
    used, window = f"{last['tokens']:,}", last["window"]
    if window:
        used = f"{used} of {window:,} tokens, {last['utilization']:.0%} {last['bar']} {last['level']}"
    else:
        used = f"{used} tokens"
    slope, left = last["trend_tokens_a_turn"], last["turns_left"]
    way = f"{'grew' if slope >= 0 else 'shrank'} by {short(abs(slope))} tokens a turn"
    until = f", full in {counted(left, 'turn')} at that rate" if left else ""
    return f"Last chat: {used}; it {way}{until}."


def sums_text(sums: Mapping[str, Any]) -> str:
    """What several chats came to."""
    chats = f"{counted(sums['sessions'], 'chat')}, {counted(sums['turns'], 'turn')}"
    own = f"The gardener's own work took {sums['seconds']:.1f} s."
    return f"{chats}; {room_made(sums['compactions'])}. {bill(sums)} {own}"


def month_text(sums: Mapping[str, Any]) -> str:
    """What the chats of a month came to."""
    return f"In {sums['month']}: {sums_text(sums)}"
