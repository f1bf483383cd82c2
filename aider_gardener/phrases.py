"""What people are told of numbers, plans, chats and archives: sentences with units, no names of fields."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.messages import Level, Plan

LEVELS = {
    Level.FULL: "whole",
    Level.COMPRESSED: "shortened",
    Level.LINE: "one line",
    Level.HIDDEN: "left out",
}
"""How much of a message is in the prompt."""
MODES = {
    "off": "The gardener is off; it goes on archiving.",
    "observe": "The gardener only watches (observe): prompts stay as they are.",
}
YOUR_LIMIT, WINDOW_LEAVES = "your limit", "what the window leaves"
WHILE_COLD = "while the prompt cache is cold"
LEAST_SAVED = 0.005
"""Dollars that are worth a word."""
TURNS_NAMED = 8
"""Of more turns only their number and the span are told: nobody reads a line of 28 numbers."""
SHELLS = frozenset("sh bash dash zsh ksh fish".split())
TIMES = {0: "no room had to be made", 1: "room was made once", 2: "room was made twice"}


def cold(idle_seconds: float, lost: float, saved: float, *, is_reported: bool) -> str:
    """What a prompt costs for a cache that has gone cold, and what /compact would spare of it, in dollars.
    `is_reported`: the provider's own numbers tell that it caches."""
    change = "has gone cold" if is_reported else "has probably gone cold"
    line = f"the prompt cache {change} after {idle_seconds / 60:.0f} min: this prompt costs"
    return f"{line} ${lost:.2f} more" + (
        f"; /compact before it would have saved ${saved:.2f}" if saved >= LEAST_SAVED else ""
    )


def short(tokens: float) -> str:
    """Tokens in a few characters: "940", "86.7k", "1.2M"."""
    if abs(tokens) < 1_000:
        return f"{tokens:.0f}"
    return f"{tokens / 1_000:.1f}k" if abs(tokens) < 999_950 else f"{tokens / 1_000_000:.1f}M"


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things: "1 message", "1,200 messages"."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def when(at: float) -> str:
    """A time as the user's clock shows it, to the minute; "" for 0."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at else ""


def path_shown(path: Path, root: Path) -> str:
    """A path as one would type it in the directory `root`."""
    for base, mark in ((root, ""), (Path.home(), "~/")):
        if path.is_relative_to(base) and path != base:
            return mark + path.relative_to(base).as_posix()
    return str(path)


def size(number: int) -> str:
    """Bytes: "940 bytes", "12 KB", "1.2 MB"."""
    if number < 1_000:
        return counted(number, "byte")
    return f"{number / 1_000:,.0f} KB" if number < 1_000_000 else f"{number / 1_000_000:,.1f} MB"


def applied_text(plan: Plan, limit: str = "", *, has_undo: bool = True) -> str:
    """A plan that was applied: "made room above aider's limit: 3 old messages now stand as notes, 2 are left
    out, 4.1k tokens less; /gardener undo takes it back". `has_undo`: the chat has that command."""
    why = f" above {limit}" if limit else f" {WHILE_COLD}" if plan.reason.endswith(WHILE_COLD) else ""
    done = f"made room{why}: {changes(plan)}, {short(plan.tokens_saved)} tokens less"
    return f"{done}; /gardener undo takes it back" if has_undo else done


def limit_passed(set_by: str, tokens: int, *, caches_if_asked: bool = False) -> str:
    """Whose limit the history passed, and how to set another where that helps: "aider's limit of 1,024 tokens
    (--gardener-history-tokens sets another)". `caches_if_asked`: the provider would cache prompts if it were
    told to, and then a longer history costs less than this one."""
    if set_by == WINDOW_LEAVES:  # of a window no setting makes more
        return f"{set_by}, {counted(tokens, 'token')}"
    longer = "--cache-prompts keeps more for less money, " if caches_if_asked else ""
    hint = "" if set_by == YOUR_LIMIT else f" ({longer}--gardener-history-tokens sets another)"
    return f"{set_by} of {tokens:,} tokens{hint}"


def recalled(turns: Collection[int], elsewhere: int) -> str:
    """What was recalled for a prompt: "recalled 3 passages: turns 4 and 9, 1 of another chat"; of many turns
    their span. `turns` are those of the passages said in this chat, `elsewhere` counts the others."""
    parts = [_turns(sorted(set(turns)))] if turns else []
    parts += [f"{elsewhere} of another chat"] if elsewhere else []
    return f"recalled {counted(len(turns) + elsewhere, 'passage')}: {', '.join(parts)}"


def _turns(turns: Sequence[int]) -> str:
    if len(turns) > TURNS_NAMED:
        return f"{len(turns)} turns, {turns[0]} to {turns[-1]}"
    *first, last = map(str, turns)
    return f"turns {', '.join(first)} and {last}" if first else f"turn {last}"


def changes(plan: Plan, *, would: bool = False) -> str:
    """What became of how many messages, or `would` become of them."""
    notes = sum(swap.after in (Level.COMPRESSED, Level.LINE) for swap in plan.swaps)
    hidden = sum(swap.after is Level.HIDDEN for swap in plan.swaps)
    notes_verb = "would stand" if would else "now stands" if notes == 1 else "now stand"
    hidden_verb = "would be" if would else "is" if hidden == 1 else "are"
    parts = []
    if notes:
        parts.append(f"{counted(notes, 'old message')} {notes_verb} as {'a note' if notes == 1 else 'notes'}")
    if hidden:
        parts.append(f"{f'{hidden:,}' if notes else counted(hidden, 'old message')} {hidden_verb} left out")
    return ", ".join(parts)


def room_text(times: int) -> str:
    """How often the history was compacted."""
    return TIMES.get(times, f"room was made {times:,} times")


def dollars(amount: float) -> str:
    """An amount that was spent: "$1.20", "<$0.01"."""
    return f"${amount:,.2f}" if amount >= 0.005 else "<$0.01"


def bill(sums: Mapping[str, Any]) -> str:
    """What was sent, what it cost, and what that saved beside sending the whole history."""
    sent, saved, less = sums["prompt_tokens"], sums["saved_tokens"], sums["saved_cost"]
    cost = f" for {dollars(sums['cost'])}" if sums["cost"] else ""
    if cost and (unpriced := sums.get("unpriced")):
        cost += f" (of {counted(unpriced, 'chat')} no cost is known)"
    calls, whole = counted(sums["calls"], "call"), sent + saved
    if not saved:
        return f"Sent {short(sent)} tokens in {calls}{cost}."
    parts = [f"${abs(less):,.2f}"] if cost and abs(less) >= 0.005 else []
    parts += [f"{short(abs(saved))} tokens", *([f"{abs(saved) / whole:.0%}"] if whole > 0 else [])]
    words = "saved" if saved >= 0 else "with the whole history it had been less by"
    return f"Sent {short(sent)} tokens in {calls}{cost}; {words} {', '.join(parts)}."


def status_text(status: Mapping[str, Any]) -> str:
    """What a chat's gardener is and did, given its `status()`."""
    rules, stored = status["constraints"], counted(status["stored_entries"], "different message")
    before = f", {status['cleared']:,} of them before /clear" if status["cleared"] else ""
    line = f"{counted(rules, 'rule')} of yours {'holds' if rules == 1 else 'hold'} (/gardener constraints)."
    lines = [
        MODES.get(status["mode"])
        or f"The gardener is on. Room is made when the history passes {status['history_mark']:,} tokens;"
        f" a question may recall {status['recall_budget']:,} beside it.",
        f"This chat: {counted(status['turns'], 'turn')}, {counted(status['entries'], 'message')}{before};"
        f" {room_text(status['compactions'])}.",
        bill(status) if status["calls"] else "Nothing was sent yet.",
        line if rules else "No rule of yours was found.",
        f"Archive {status['store']}: {stored}, {size(status['stored_bytes'])}."
        f" The gardener's own work took {status['seconds']:.1f} s.",
    ]
    return "\n".join(lines)


def archive_text(status: Mapping[str, Any]) -> str:
    """What an archive holds, how its last chat stood and what all its chats came to."""
    secrets, pinned = status["redacted_secrets"], status["pinned"]
    counts = [
        counted(status["sessions"], "chat"),
        counted(status["entries"], "different message"),
        size(status["bytes"]),
    ]
    counts += [f"{pinned:,} pinned"] if pinned else []
    counts += [f"{counted(secrets, 'secret')} taken out"] if secrets else []
    lines = [
        f"Archive {status['archive']}: {', '.join(counts)}.",
    ]
    if status["entries"]:
        whole, shown = status["original_tokens"], status["compressed_tokens"]
        share = f", its shortened forms {short(shown)} ({status['compression_ratio']:.0%})"
        lines.append(f"What was said has {short(whole)} tokens{share if shown < whole else ''}.")
    lines += [outlook_text(last)] if (last := status.get("last_chat")) else []
    if sums := status.get("all_chats"):
        which = "All chats" if sums["sessions"] == status["sessions"] else "Those with figures"
        lines.append(f"{which}: {sums_text(sums)}")
    return "\n".join(lines)


def outlook_text(last: Mapping[str, Any]) -> str:
    """How full the window was at the end of a chat, and where that was heading."""
    used, window = f"{last['tokens']:,} tokens", last["window"]
    if window:
        full = f"{last['utilization']:.0%} {last['bar']} {last['level']}"
        used = f"{last['tokens']:,} of {window:,} tokens, {full}"
    slope, turns_left = last["trend_tokens_a_turn"], last["turns_left"]
    way = f"{'grew' if slope >= 0 else 'shrank'} by {short(abs(slope))} tokens a turn"
    until = f", full in {counted(turns_left, 'turn')} at that rate" if turns_left else ""
    return f"Last chat: {used}; it {way}{until}."


def sums_text(sums: Mapping[str, Any]) -> str:
    """What several chats came to."""
    return f"{counted(sums['sessions'], 'chat')}, {chat_text(sums)}"


def chat_text(sums: Mapping[str, Any]) -> str:
    """What a chat came to."""
    own = f" The gardener's own work took {sums['seconds']:.1f} s." if sums["seconds"] else ""
    return f"{counted(sums['turns'], 'turn')}; {room_text(sums['compactions'])}. {bill(sums)}{own}"


def bar(share: float, cells: int) -> str:
    """A bar of so many cells for a share of 0 to 1; what is over shows as full."""
    filled = round(min(max(share, 0.0), 1.0) * cells)
    return "█" * filled + "░" * (cells - filled)


def command_line(words: Sequence[str]) -> str:
    """A command as it would be typed; what a shell is given to run stands for the shell."""
    is_line = len(words) > 2 and words[1].startswith("-") and words[1].endswith("c")
    return words[2] if is_line and Path(words[0]).name in SHELLS else shlex.join(words)
