"""The part of the facade that says what is settled: rules, decisions, the note before the history."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from aider_gardener.notes.chatmap import past, room_for
from aider_gardener.notes.decisions import Decision, decided
from aider_gardener.notes.rules import Constraint, standing
from aider_gardener.notes.summary import summary

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener


class Settled:
    """What the user and the model settled in a chat, listed and as a note."""

    def map_note(self, around: Callable[[], str]) -> str:
        """Rules, summary and chat map as one note before the history; "" while all stands in full.

        It stays the same until the view changes. `around` gives the text of the prompt beside the
        history: what stands there is not named. At HARD pressure there is no note.
        """
        gardener = cast("Gardener", self)
        if not gardener.acts or gardener.is_hard():
            return ""
        with gardener.timed():
            note = gardener.chat_map.note
            room = room_for(gardener.settings, gardener.budget, note, gardener.plans_applied)
            tell = partial(
                summary,
                gardener.chat,
                token_limit=room.summary,
                renditions=gardener.archive.renditions,
                count=gardener.count,
            )
            return gardener.chat_map.renew(
                gardener.chat, room, around=around, summary=tell, count=gardener.count
            )

    def constraints(self) -> list[Constraint]:
        """The rules that the user set in this chat and that still hold, oldest first."""
        return standing(past(cast("Gardener", self).chat))

    def decisions(self) -> list[Decision]:
        """What was decided or rejected in this chat, oldest first."""
        return decided(past(cast("Gardener", self).chat))
