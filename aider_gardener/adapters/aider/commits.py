"""What aider's weak model is given to write a commit message from, in its compressed form.

aider gives it the diff and all current messages, outputs of commands included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostMessage
from aider_gardener.messages import Fidelity, Message, SourceKind

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener


def shortened(gardener: Gardener, history: Sequence[HostMessage]) -> list[HostMessage]:
    """The messages with the compressed form of each, where it has one; what the user typed stays whole."""
    state = gardener.state
    entries = {
        piece.message: state.chat.entries[piece.members[0]]
        for piece in state.chat.pieces
        if len(piece.members) == 1 and not piece.is_note
    }
    found = []
    for message in history:
        entry = entries.get(Message(message["role"], message["content"]))
        if entry is not None and entry.source.kind is not SourceKind.TYPED:
            form = state.archive.renditions(entry).get(Fidelity.COMPRESSED)
            message = {**message, "content": form.text} if form else message
        found.append(message)
    return found
