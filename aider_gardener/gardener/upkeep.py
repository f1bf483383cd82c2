"""Upkeep between turns: a background loop that finishes what is left.

Every 30 seconds, and never while a turn is on: the backlog, which indexes and embeds, is woken if something
waits, and, only if the user asked for it, one compressed form is refined by a model. Where there is an index
of sessions it is written anew once a chat has begun, if a session is missing in it, and at the chat's end.
The chat is not changed: what has expired and what an entry is worth now, the next plan asks.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aider_gardener.archive.archive import Archive
from aider_gardener.errors import GardenerError
from aider_gardener.gardener import learnt
from aider_gardener.gardener.files import is_behind, is_kept, write_index
from aider_gardener.gardener.refiner import Ask, Refiner
from aider_gardener.gardener.state import ChatState
from aider_gardener.phrases import counted

log = logging.getLogger("aider_gardener")

SECONDS = 30.0
STOP_SECONDS = 1.0
EXIT_SECONDS = 2.0
"""So long the end of a chat waits for the index."""
LATE = (
    f"the index of sessions would have taken more than {EXIT_SECONDS:g} s:"
    " the next chat writes it, or `gardener archive --all` now"
)


class PutOff(GardenerError):
    """It may not go on now: what was begun is left, and nothing of it was written."""


@dataclass(frozen=True)
class Look:
    """What one round did: the entry of which a form was refined ("" for none), and whether the index of
    sessions was renewed."""

    refined: str = ""
    renewed: bool = False


class Upkeep:
    """The loop of one chat. It holds the chat weakly: a chat that is dropped ends its loop. `keeps_index`:
    there is an index of sessions, which is to be kept up to date."""

    def __init__(
        self,
        state: ChatState,
        *,
        refiner: Refiner | None = None,
        keeps_index: bool = False,
        seconds: float = SECONDS,
    ) -> None:
        self._state = weakref.ref(state)
        self.refiner = refiner
        self.keeps_index = keeps_index
        self.seconds = seconds
        self.rounds = 0
        self._indexed_seq = -1
        self._has_caught_up = False
        self._fault = ""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gardener-upkeep", daemon=True)

    def start(self) -> None:
        """Begin the loop on a daemon thread, once."""
        self._thread.start()

    def stop(self) -> None:
        """End the loop; returns within a second. Stopping twice is harmless."""
        self._stopped.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopped.wait(self.seconds) and self._state() is not None:
            try:
                self.round()
            except Exception as error:  # reason: never worth a word to the user; the next round tries again
                log.info("upkeep is put off: %s", error)

    def round(self) -> Look:
        """One round now, in this thread; stops early when a turn begins. Raises StoreError."""
        state = self._state()
        if state is None or self._must_wait():
            return Look()
        self.rounds += 1
        wake_backlog(state.archive)
        refined = ""
        if self.refiner is not None and not self._must_wait():
            refined = self.refiner.refine(state, self._must_wait)
        return Look(refined, not self._must_wait() and self._catch_up(state))

    def _must_wait(self) -> bool:
        state = self._state()
        return self._stopped.is_set() or state is None or state.busy

    def _catch_up(self, state: ChatState) -> bool:
        """Once in a chat: renew the index if a session is missing in it, and tell of new observations."""
        archive, renewed = state.archive, False
        if self.keeps_index and not self._has_caught_up:
            with self._harmless(state):
                if is_behind(archive.store, archive.project, archive.session):
                    self._write_index(state, self._pace)
                    renewed = True
                tell_observations(state, self._pace)
                self._has_caught_up = True
        return renewed

    def _pace(self) -> None:
        """Called before each session is read."""
        if self._must_wait():
            raise PutOff

    def index_at_end(self) -> None:
        """At the end of a chat: the index, if anything was said since it was written. Raises nothing."""
        state, ends = self._state(), time.monotonic() + EXIT_SECONDS

        def pace() -> None:
            if time.monotonic() >= ends:
                raise PutOff

        if state is not None and self.keeps_index and max(state.chat.entries, default=-1) > self._indexed_seq:
            with self._harmless(state, LATE):
                self._write_index(state, pace)

    def _write_index(self, state: ChatState, pace: Callable[[], None]) -> None:
        last = max([*state.chat.entries], default=-1)
        write_index(state.archive.store, state.archive.project, unasked=True, pace=pace)
        self._indexed_seq = last

    @contextmanager
    def _harmless(self, state: ChatState, put_off: str = "") -> Iterator[None]:
        """A fault of what is done for the index costs one line, and leaves the index alone in this chat."""
        try:
            yield
        except PutOff:
            state.untold.extend([put_off] if put_off else [])
        except Exception as error:  # reason: whatever it is, the chat goes on without
            why = str(error) if isinstance(error, GardenerError) else type(error).__name__
            if why != self._fault:
                state.untold.append(f"the index of sessions is left as it is: {why}")
            self._fault, self._has_caught_up = why, True


def tell_observations(state: ChatState, pace: Callable[[], None]) -> None:
    """Have the user told how many observations wait that no chat told of before. Raises StoreError."""
    held = state.archive
    found = learnt.learnt(held.store, held.project, clock=held.clock, pace=pace)
    new = learnt.announce(held.store, held.project, found, held.clock())
    if new:
        verb = "waits" if new == 1 else "wait"
        state.untold.append(f"{counted(new, 'observation')} {verb}: /gardener observations")


def wake_backlog(archive: Archive) -> None:
    """Have the embedding backlog go on if passages wait that nobody announced. Raises StoreError."""
    backlog = archive.backlog
    if backlog is None or backlog.off or not backlog.embedder_name:
        return
    if archive.store.vectors_pending(1, backlog.embedder_name):
        backlog.pause()
        backlog.resume()


def upkeep_for(state: ChatState, ask: Ask | None, *, clock: Callable[[], float] = time.monotonic) -> Upkeep:
    """The upkeep of a chat; with a model to ask only if the settings allow it, with the index of sessions
    only where there is one."""
    refiner = Refiner(ask, clock) if ask is not None and state.settings.may_refine else None
    return Upkeep(state, refiner=refiner, keeps_index=is_kept(state.archive.store))
