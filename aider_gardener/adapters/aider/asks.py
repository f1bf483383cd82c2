"""A reply that asks for originals is answered by a reflection, aider's own way of answering a reply."""

from __future__ import annotations

from typing import Any

from aider_gardener.adapters.aider import link

INTERRUPTED = "I see that you interrupted my previous reply."

TOO_LONG = "FinishReasonLength exception"


def answer(coder: Any) -> bool:
    """Add what the reply asked for to the reflection; True when there was something to add.

    Edits of the same reply were applied before. Nothing is added when the host will not reflect again or
    the reply was broken off.
    """
    gardener = link.active(coder)
    if gardener is None or not gardener.settings.ask_for_originals:
        return False
    reply = coder.partial_response_content or ""
    if coder.num_reflections >= coder.max_reflections or broken_off(coder):
        return False
    text, ids = gardener.answer(reply)
    if not text:
        return False
    waiting = coder.reflected_message
    coder.reflected_message = f"{waiting}\n\n{text}" if waiting else text
    coder.io.tool_output(f"aider-gardener: the model asked for {', '.join(ids)} and is given it.")
    return True


def broken_off(coder: Any) -> bool:
    """Whether there was no reply at all, the user interrupted it, or it did not fit."""
    last = coder.cur_messages[-1] if coder.cur_messages else {}
    text = str(last.get("content", ""))
    return last.get("role") == "user" or text == INTERRUPTED or text.startswith(TOO_LONG)
