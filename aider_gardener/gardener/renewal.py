"""The index of sessions kept up to date by itself, once it was written.

By age: once a chat has begun, if a session that ended does not stand in the index as it ended. Its process
was killed, or its host writes no index. By size: whenever much was said in a chat since the index was
written. And at the end of a chat. Beside it the user is told of each new observation, once.

It is done between turns, session by session; a turn that begins puts it off. A fault costs the chat one line.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from aider_gardener.archive.sessions import said_in, short_ids
from aider_gardener.archive.store.base import Store
from aider_gardener.archive.store.writing import read_bytes
from aider_gardener.errors import GardenerError
from aider_gardener.gardener import learnt
from aider_gardener.gardener.files import index_path, renew_unasked
from aider_gardener.gardener.pace import Pace, PutOff
from aider_gardener.gardener.pages import INDEX_SESSIONS, OLDER, index_heading
from aider_gardener.gardener.state import ChatState
from aider_gardener.phrases import counted

TOKENS = 30_000
"""So much said since the index was written makes it due: some forty turns of the recorded sessions."""
EXIT_SECONDS = 2.0
"""So long the end of a chat waits for the index."""
LATE = (
    f"the index of sessions would have taken more than {EXIT_SECONDS:g} s:"
    " the next chat writes it, or `gardener archive --all` now"
)


@dataclass
class Renewal:
    """The index as one chat keeps it. `seq` is that of the last entry that it holds of the chat, as far as
    this chat wrote it; `begun`: whether its age was looked at; `looked`: whether observations were, since;
    `fault` is what ended it in this chat."""

    seq: int = -1
    begun: bool = False
    looked: bool = False
    fault: str = ""

    def round(self, state: ChatState, pace: Callable[[], None]) -> bool:
        """Between turns: what is due now; whether the index was written. Raises nothing."""
        if self.fault:
            return False
        try:
            renewed = self._renew_if_due(state, pace)
            if not self.looked:
                tell_observations(state, pace)
                self.looked = True
            return renewed
        except PutOff:
            return False
        except Exception as error:  # reason: whatever it is, the chat goes on without
            self._fail(state, error)
            return False

    def at_end(self, state: ChatState) -> None:
        """At the end of a chat: the index, if anything was said since it was written. Raises nothing."""
        ends = time.monotonic() + EXIT_SECONDS
        try:
            if said_since(state, self.seq):
                self._write(state, Pace(lambda: time.monotonic() < ends, rest=lambda seconds: None))
        except PutOff:
            state.untold.append(LATE)
        except Exception as error:  # reason: the end of a chat is no place for a traceback
            self._fail(state, error)

    def _renew_if_due(self, state: ChatState, pace: Callable[[], None]) -> bool:
        held = state.archive
        is_due = said_since(state, self.seq) >= TOKENS or (
            not self.begun and is_behind(held.store, held.project, held.session)
        )
        if is_due:
            self._write(state, pace)
            self.looked = False
        self.begun = True
        return is_due

    def _write(self, state: ChatState, pace: Callable[[], None]) -> None:
        last = max(dict(state.chat.entries), default=-1)
        renew_unasked(state.archive.store, state.archive.project, pace)
        self.seq = last

    def _fail(self, state: ChatState, error: Exception) -> None:
        """Tell the user once, and leave the index alone in this chat."""
        why = str(error) if isinstance(error, GardenerError) else type(error).__name__
        if why != self.fault:
            state.untold.append(f"the index of sessions is left as it is: {why}")
        self.fault = why


def said_since(state: ChatState, seq: int) -> int:
    """The tokens of what was said in a chat behind an entry."""
    return sum(entry.tokens for each, entry in dict(state.chat.entries).items() if each > seq)


def is_behind(store: Store, project: str, besides: str = "") -> bool:
    """Whether a session that ended does not stand in the index as it ended, of those that it has room for.
    `besides` is one that goes on; those that other processes hold open do too. Raises StoreError."""
    infos, going_on = said_in(store, project), {besides, *store.open_elsewhere()}
    short = short_ids([info.id for info in infos])
    held = (read_bytes(index_path(store)) or b"").decode("utf-8", "replace").split("\n")
    shown = len([line for line in held if line.startswith("## ") and line != OLDER])
    room = shown if OLDER in held else INDEX_SESSIONS
    return any(
        index_heading(info, short[info.id]) not in held for info in infos[:room] if info.id not in going_on
    )


def tell_observations(state: ChatState, pace: Callable[[], None]) -> None:
    """Have the user told how many observations wait that no chat told of before. Raises StoreError."""
    held = state.archive
    found = learnt.learnt(held.store, held.project, clock=held.clock, pace=pace)
    new = learnt.announce(held.store, held.project, found, held.clock())
    if new:
        verb = "waits" if new == 1 else "wait"
        state.untold.append(f"{counted(new, 'observation')} {verb}: /gardener observations")
