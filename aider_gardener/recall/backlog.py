"""What is done between turns, never on the way of one: the index of very long originals, the upkeep that
the user's policy asks for, and the vectors of stored passages."""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aider_gardener.archive.store import PendingPassage
from aider_gardener.errors import StoreError
from aider_gardener.recall.embed import Embedder, Load, load_use

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.archive.store.base import Vector

FETCH = 256
"""Passages taken from the archive at once."""
WRITE = 16
"""Vectors written in one transaction: a second or so of work is the most that can be lost."""
IDLE_SECONDS = 600.0
"""The model's memory is given back after so long without work or a question."""
STOP_SECONDS = 1.0
CORE_SHARE = 0.5
"""The thread rests after each passage, so that it takes at most this share of one core."""
QUESTION_SECONDS = 0.1
"""So long a turn waits for its question's vector, unless the embedder asks for more (a network call)."""
INDEX_AT_ONCE = 100
"""Passages of very long originals indexed in one transaction."""

log = logging.getLogger("aider_gardener")


class Backlog:
    """Indexes and embeds a store's passages on one daemon thread, between `resume` and `pause`.

    It begins paused, and embeds only once it is asked for: by a question, or by `want`. The thread takes half
    a core; questions are answered outside it. What is newest is embedded first. Trouble with the model ends
    embedding with one `notice`: the archive is searched by full text alone then. `load` None embeds nothing,
    by the user's choice. `upkeep` runs once, at the first rest; what it returns is a notice. Without
    `background` there is no thread and only `drain` works passages off: two runs over one store do the same.
    """

    def __init__(
        self,
        store: Store,
        *,
        load: Load | None = load_use,
        background: bool = True,
        idle_seconds: float = IDLE_SECONDS,
        upkeep: Callable[[], str] | None = None,
    ) -> None:
        self.store = store
        self.off = load is None
        self._load = load
        self._upkeep = upkeep
        self.background = background
        self._idle_seconds = idle_seconds
        self._embedder: Embedder | None = None
        self._loading = threading.Lock()
        self._wake = threading.Condition()
        self._pauses = 1
        self._stopped = False
        self._wanted = False
        self._work = True
        self._used_at = time.monotonic()
        self._notice = ""
        self._thread: threading.Thread | None = None

    @property
    def embedder_name(self) -> str:
        """The name under which vectors are stored, "" as long as no model was loaded."""
        return self._embedder.name if self._embedder else ""

    def take_notice(self) -> str:
        """Why vectors are off, in one line, the first time it is asked for after that; else ""."""
        notice, self._notice = self._notice, ""
        return notice

    def pause(self) -> None:
        """The processor is wanted, by a turn or by a command of the user's: stop after the passage that is
        being embedded. Returns at once."""
        with self._wake:
            self._pauses += 1
            self._wake.notify_all()

    def resume(self) -> None:
        """That is over (each `pause` has its `resume`): go on, with what has been stored since."""
        with self._wake:
            self._pauses = max(0, self._pauses - 1)
            self._work = True
            if not self._pauses:
                self._start()
            self._wake.notify_all()

    def want(self) -> None:
        """Questions are likely from now on: load the model between turns, and embed what is pending."""
        with self._wake:
            if not self._wanted:
                self._wanted = self._work = True
                if not self._pauses:
                    self._start()
                self._wake.notify_all()

    @property
    def question_seconds(self) -> float:
        """How long a turn waits for its question's vector; a replay, which must be the same twice, waits
        as long as it takes."""
        return float(getattr(self._embedder, "question_seconds", QUESTION_SECONDS))

    def query_vector(self, text: str, timeout_seconds: float | None = QUESTION_SECONDS) -> Vector | None:
        """The vector of a question, or None when that takes longer than the time given, as it may where the
        model is to be loaded first (the next question has it then). None waits as long as it takes."""
        if self.off or self._stopped:
            return None
        found: list[Vector] = []

        def answer() -> None:
            try:
                if embedder := self._ready():
                    found.append(embedder.embed([text])[0])
                    self.want()
            except Exception as error:  # any failure of the model: full text serves alone
                self._give_up(str(error))

        if timeout_seconds is None:
            answer()
        else:
            asking = threading.Thread(target=answer, name="gardener-question", daemon=True)
            asking.start()
            asking.join(timeout_seconds)
        return found[0] if found else None

    def embed_first(self, passages: Iterable[PendingPassage]) -> int:
        """Embed passages that a question is likely to need before the others, as many as QUESTION_SECONDS
        allow; returns how many."""
        embedder, began = self._embedder, time.monotonic()
        if embedder is None or not embedder.loaded or self.off:
            return 0
        made: list[tuple[PendingPassage, Vector]] = []
        try:
            for passage in passages:
                if time.monotonic() - began > QUESTION_SECONDS:
                    break
                made.append((passage, embedder.embed([passage.text])[0]))
            return self.store.put_vectors(made, embedder.name) if made else 0
        except StoreError:
            return 0
        except Exception as error:  # any failure of the model: full text serves alone
            self._give_up(str(error))
            return 0

    def drain(self, limit: int | None = None) -> int:
        """Embed all that is pending (or at most `limit`) now, in this thread, loading the model if need
        be; returns how many passages got a vector. 0 without an embedder. Raises StoreError."""
        while self.store.work_off():
            pass
        embedder = self._ready()
        count = 0
        while embedder is not None and (limit is None or count < limit):
            wanted = FETCH if limit is None else min(FETCH, limit - count)
            passages = self.store.vectors_pending(wanted, embedder.name)
            if not passages:
                break
            vectors = embedder.embed([passage.text for passage in passages])
            count += self.store.put_vectors(list(zip(passages, vectors, strict=True)), embedder.name)
        return count

    def stop(self) -> None:
        """End the thread; returns within a second even if it is busy. Stopping twice is harmless."""
        with self._wake:
            self._stopped = True
            thread = self._thread
            self._wake.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_SECONDS)

    # What the thread does

    def _start(self) -> None:
        """Start the thread at first need. The caller holds `_wake`."""
        if self.background and self._thread is None and not self._stopped:
            # Loading the model imports this, which fails (noisily) once the interpreter is ending.
            import concurrent.futures.thread  # noqa: F401  # reason: imported for its exit hook

            self._thread = threading.Thread(target=self._run, name="gardener-backlog", daemon=True)
            self._thread.start()
            stop_at_exit(self)

    def _run(self) -> None:
        try:
            while self._wait_for_work():
                self._work_on()
        except Exception as error:  # whatever it is, the chat goes on without vectors
            self._give_up(str(error) or type(error).__name__)

    def _wait_for_work(self) -> bool:
        """Sleep until there is something to do; False when it is over. Unloads the model when idle."""
        with self._wake:
            while not self._stopped:
                if self._work and not self._pauses:
                    return True
                idle = time.monotonic() - self._used_at
                embedder = self._embedder
                if embedder is None or not embedder.loaded:
                    self._wake.wait()
                elif idle >= self._idle_seconds:
                    embedder.unload()
                else:
                    self._wake.wait(self._idle_seconds - idle)
        return False

    def _work_on(self) -> None:
        """Index what waits, load the model if need be, then embed what is pending until a pause comes."""
        self._look_after()
        embedder = self._ready() if self._wanted else None
        with self._wake:
            if not self._pauses:
                self._work = False  # what comes from here on is announced by the next `resume`
        if embedder is None:
            return
        try:
            self.store.warm_vectors(embedder.name)
            while self._may_go_on():
                passages = self.store.vectors_pending(FETCH, embedder.name)
                if not passages:
                    break
                self._embed(embedder, passages)
        except StoreError as error:  # it is tried again after the next turn
            log.info("the archive takes no vectors now: %s", error)

    def _look_after(self) -> None:
        """What needs no model: the index of very long originals, and the upkeep, once."""
        try:
            while not (self._stopped or self._pauses) and self.store.work_off(INDEX_AT_ONCE):
                pass
            if self._upkeep is not None and not (self._stopped or self._pauses):
                upkeep, self._upkeep = self._upkeep, None
                self._notice = upkeep() or self._notice
        except StoreError as error:
            log.info("upkeep of the archive is put off: %s", error)

    def _embed(self, embedder: Embedder, passages: list[PendingPassage]) -> None:
        made: list[tuple[PendingPassage, Vector]] = []
        step = int(getattr(embedder, "texts_at_once", 1))
        for at in range(0, len(passages), step):
            if not self._may_go_on():
                break
            some = passages[at : at + step]
            began = time.thread_time()
            made += zip(some, embedder.embed([passage.text for passage in some]), strict=True)
            self._rest(time.thread_time() - began)
            self._used_at = time.monotonic()
            if len(made) >= WRITE:
                self.store.put_vectors(made, embedder.name)
                made = []
        self.store.put_vectors(made, embedder.name)

    def _rest(self, worked_seconds: float) -> None:
        """As long as keeps to the share of a core; a pause or the end cuts it short."""
        with self._wake:
            self._wake.wait_for(lambda: not self._may_go_on(), worked_seconds * (1 / CORE_SHARE - 1))

    def _may_go_on(self) -> bool:
        return not (self._stopped or self.off or self._pauses)

    def _ready(self) -> Embedder | None:
        """The loaded embedder, or None and off for good."""
        with self._loading:
            if self.off or self._load is None:
                return None
            if self._embedder is None:
                found, reason = self._load()
                if found is None:
                    self._give_up(reason)
                self._embedder = found
            elif not self._embedder.loaded:
                self._embedder.load()
            self._used_at = time.monotonic()
            return self._embedder

    def _give_up(self, reason: str) -> None:
        if not self.off and not self._stopped:
            line = " ".join(reason.split())
            self._notice = f"recall works by full text alone, not by meaning: {line}"
        self.off = True


def stop_at_exit(backlog: Backlog) -> None:
    """Stop the thread before the interpreter ends: it must not be in the model's code then."""
    held = weakref.ref(backlog)

    def stop() -> None:
        found = held()
        if found is not None:
            found.stop()

    atexit.register(stop)
