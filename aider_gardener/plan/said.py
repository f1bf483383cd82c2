"""What is told of a plan, in words of somebody who chats."""

from __future__ import annotations

from aider_gardener.messages import Fidelity, Plan

SHOWN = {
    Fidelity.FULL: "whole",
    Fidelity.COMPRESSED: "shortened",
    Fidelity.LINE: "one line",
    Fidelity.HIDDEN: "left out",
}
"""How much of a message stands in the prompt."""


def short(tokens: float) -> str:
    """Tokens in a few characters: "940", "86.7k", "1.2M"."""
    if abs(tokens) < 1_000:
        return f"{tokens:.0f}"
    return f"{tokens / 1_000:.1f}k" if abs(tokens) < 999_950 else f"{tokens / 1_000_000:.1f}M"


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things: "1 message", "1,200 messages"."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def made_room(plan: Plan, *, has_undo: bool = True) -> str:
    """A plan that was applied: "made room: 3 old messages now stand as notes, 2 are left out, 4.1k tokens
    less; /gardener undo takes it back". `has_undo`: the chat has that command."""
    done = f"made room: {changes(plan)}, {short(plan.tokens_saved)} tokens less"
    return f"{done}; /gardener undo takes it back" if has_undo else done


def changes(plan: Plan, *, would: bool = False) -> str:
    """What became of how many messages, or `would` become of them."""
    notes = sum(swap.after in (Fidelity.COMPRESSED, Fidelity.LINE) for swap in plan.swaps)
    gone = sum(swap.after is Fidelity.HIDDEN for swap in plan.swaps)
    stand = "would stand" if would else "now stands" if notes == 1 else "now stand"
    left = "would be" if would else "is" if gone == 1 else "are"
    parts = (
        [f"{counted(notes, 'old message')} {stand} as {'a note' if notes == 1 else 'notes'}"] if notes else []
    )
    parts += [
        f"{gone:,} {left} left out" if notes else f"{counted(gone, 'old message')} {left} left out"
    ] * bool(gone)
    return ", ".join(parts)
