"""Upkeep between turns: a background loop that finishes what is left and looks over what is kept.

Every 30 seconds, and never while a turn is on: chunks of long originals are indexed, the embedding
backlog is woken if something waits, entries are scored anew and the expired ones counted, and, only if
the user asked for it, one compressed form is refined by a model. It changes nothing in the chat: what
is due is applied by the next plan.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aider_gardener.errors import StoreError
from aider_gardener.gardener.refine import Refiner, candidates
from aider_gardener.messages import Entry, Fidelity
from aider_gardener.plan.planner import candidates as planned
from aider_gardener.plan.planner import note_rendition

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

log = logging.getLogger("aider_gardener")

SECONDS = 30.0
INDEX_CHUNKS = 100
"""Chunks indexed in one go: a turn that begins meanwhile waits some milliseconds at most."""
STORE_FAILURES = 3
STOP_SECONDS = 1.0


@dataclass(frozen=True)
class Look:
    """What one round did and found: chunks indexed, entries scored and due, whether the backlog was
    woken and a form refined."""

    indexed: int = 0
    woken: bool = False
    scored: int = 0
    due: int = 0
    refined: str = ""


class Upkeep:
    """The loop of one chat. It holds the gardener weakly: a chat that is dropped ends its loop."""

    def __init__(
        self, gardener: Gardener, *, refiner: Refiner | None = None, seconds: float = SECONDS
    ) -> None:
        self._gardener = weakref.ref(gardener)
        self.refiner = refiner
        self.seconds = seconds
        self.rounds = 0
        self.look = Look()
        self._failures = 0
        self._wake = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin the loop on a daemon thread; starting twice is harmless."""
        with self._wake:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._run, name="gardener-upkeep", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the loop; returns within a second. Stopping twice is harmless."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._stopped:
                    self._wake.wait(self.seconds)
                if self._stopped or self._gardener() is None:
                    return
            try:
                self.round()
            except StoreError:
                self._failures += 1
                if self._failures >= STORE_FAILURES:
                    return
            except Exception as error:  # reason: upkeep is never worth a word to the user
                log.error("upkeep ended: %s", type(error).__name__)
                return

    def round(self) -> Look:
        """One round now, in this thread; stops early when a turn begins. Raises StoreError."""
        gardener = self._gardener()
        if gardener is None or self._must_wait(gardener):
            return Look()
        self.rounds += 1
        indexed = gardener.archive.store.work_off(INDEX_CHUNKS)
        woken = not self._must_wait(gardener) and wake_backlog(gardener)
        scored, due = (0, 0) if self._must_wait(gardener) else look_over(gardener)
        refined = "" if self._must_wait(gardener) else self._refine(gardener)
        self.look = Look(indexed, woken, scored, due, refined)
        self._failures = 0
        return self.look

    def _must_wait(self, gardener: Gardener) -> bool:
        return self._stopped or gardener.busy

    def _refine(self, gardener: Gardener) -> str:
        """Refine one form that stands nowhere yet; the id of its entry, or ""."""
        refiner = self.refiner
        if refiner is None or not refiner.ready:
            return ""
        standing = dict(gardener.chat.fidelity)
        whole = [e for e in snapshot(gardener) if e.seq not in standing]
        found = refiner.next(candidates(whole, lambda entry: dict(gardener.archive.renditions(entry))))
        if found is None:
            return ""
        entry, form = found
        text = refiner.refine(entry, form, count=gardener.count)
        if text is None or self._must_wait(gardener) or entry.seq in gardener.chat.fidelity:
            return ""
        gardener.archive.put_rendition(
            entry, note_rendition(entry, Fidelity.COMPRESSED, text, gardener.count)
        )
        return entry.id


def snapshot(gardener: Gardener) -> list[Entry]:
    """The entries of the chat that are still part of it; safe while another thread adds some."""
    gone = set(gardener.chat.gone)
    return [entry for seq, entry in dict(gardener.chat.entries).items() if seq not in gone]


def wake_backlog(gardener: Gardener) -> bool:
    """Have the embedding backlog go on if passages wait that nobody announced; whether it was woken."""
    backlog = gardener.archive.backlog
    if backlog is None or backlog.off or not backlog.embedder_name:
        return False
    waits = gardener.archive.store.vectors_pending(1, backlog.embedder_name)
    if waits:
        backlog.pause()
        backlog.resume()
    return bool(waits)


def look_over(gardener: Gardener) -> tuple[int, int]:
    """Score every entry of the chat anew and count those that have expired: (scored, due)."""
    chat = gardener.chat.twin()
    rows = planned(
        chat, focus=gardener.focus(), renditions=gardener.archive.renditions, policy=gardener.policy
    )
    gardener.scores = {row.entry.seq: row.priority for row in rows}
    due = gardener.policy.due(rows, turn=chat.turn, over=False)
    return len(rows), len(due)


def upkeep_for(
    gardener: Gardener, ask: Callable[[str], str] | None, *, clock: Callable[[], float] = time.monotonic
) -> Upkeep:
    """The upkeep of a chat; with a model to ask only if the settings say `refine`."""
    wanted = ask is not None and gardener.settings.refine
    return Upkeep(gardener, refiner=Refiner(ask, clock) if ask is not None and wanted else None)
