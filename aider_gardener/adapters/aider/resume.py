"""A chat that begins with what was done in the last one, if the user wants that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener


def begin(coder: Any) -> None:
    """Put the account of the last chat into a new one, and tell the user in one line.

    Nothing happens when the chat has messages already (aider restored its history) or there is nothing to
    tell. The chat's gardener is made here only if it is wanted.
    """
    try:
        settings = link.settings_of(coder)
    except UsageError:  # said when the gardener is made
        return
    if not (settings.enabled and settings.resume) or coder.done_messages or coder.cur_messages:
        return
    gardener = link.active(coder)
    if gardener is None:
        return
    with link.guarded(coder):
        link.refresh(gardener, coder)
        found = gardener.last_time()
        if found is None:
            return
        from aider_gardener.plan.view import FILLER

        coder.done_messages = [
            {"role": "user", "content": found.note},
            {"role": "assistant", "content": FILLER},
        ]
        link.take_in(coder, gardener)
        gardener.chat.watched |= {seq for piece in gardener.chat.done[:1] for seq in piece.members}
        coder.io.tool_output(f"aider-gardener: {found.line()}")


def tell_if_left(coder: Any, gardener: Gardener) -> None:
    """Tell the user once, in one line, when the account of the last chat no longer stands whole.

    What the user dropped (/clear, /forget) leaves without a word.
    """
    chat = gardener.chat
    chat.watched -= chat.forgotten
    for seq in chat.watched & chat.fidelity.keys():
        chat.watched.discard(seq)
        coder.io.tool_output(
            "aider-gardener: the note on the last chat had to make room and no longer stands whole in the"
            f" prompt; /restore {chat.entries[seq].id} brings it back."
        )
