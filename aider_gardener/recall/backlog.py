"""What is done between turns, never on the way of one: the index of very long originals, the upkeep that
the user's policy asks for, and the vectors of stored passages."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aider_gardener.archive.store.base import StoredPassage
from aider_gardener.errors import StoreError, fault_log
from aider_gardener.recall.embed import Embedder, EmbedderError, Load, load_use

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.archive.store.base import Vector

FETCH = 256
"""Passages taken from the archive at once."""
WRITE = 16
"""Of these so many are embedded and written at once: a pause waits no longer, and no more can be lost."""
IDLE_SECONDS = 600.0
"""The model's memory is given back after so long without work or a question, or up to twice as long."""
STOP_SECONDS = 1.0
QUESTION_SECONDS = 0.1
"""So long a turn waits for its question's vector, unless its host has more time (an agent's tool call) or the
embedder asks for more (a network call)."""


class Backlog:
    """Indexes and embeds a store's passages on one daemon thread, between `resume` and `pause`.

    It begins paused, and embeds only once it is asked for: by a question, or by `want`, on half a core. What
    is newest is embedded first. Trouble with the model ends embedding with one notice: the archive is
    searched by full text alone then. `load` None embeds nothing, by the user's choice. `upkeep` runs once, at
    the first rest; what it returns is a notice. Without `background` there is no thread, only `drain` works
    passages off and a question waits as long as it takes: two runs over one store do the same.
    """

    def __init__(
        self,
        store: Store,
        *,
        load: Load | None = load_use,
        background: bool = True,
        idle_seconds: float = IDLE_SECONDS,
        question_seconds: float = QUESTION_SECONDS,
        upkeep: Callable[[], str] | None = None,
    ) -> None:
        self.store = store
        self.off = load is None
        self.background = background
        self._idle_seconds, self._question_seconds = idle_seconds, question_seconds
        self._used_at = 0.0
        self._load = load
        self._upkeep = upkeep
        self._embedder: Embedder | None = None
        self._loading = threading.Lock()
        self._wake = threading.Condition()
        self._pauses = 1
        self._stopped = False
        self._wanted = False
        self._work = True
        self._worked = 0.0
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
        """The processor is wanted, by a turn or by a command of the user's. Returns at once."""
        with self._wake:
            self._pauses += 1

    def resume(self) -> None:
        """That is over (each `pause` has its `resume`): go on, with what has been stored since."""
        with self._wake:
            self._pauses = max(0, self._pauses - 1)
            self._go_on()

    def want(self) -> None:
        """Questions are likely from now on: load the model between turns, and embed what is pending."""
        with self._wake:
            if not self._wanted:
                self._wanted = True
                self._go_on()

    def query_vector(self, text: str) -> Vector | None:
        """The vector of a question, or None when a turn would wait too long for it, as it may where the
        model is to be loaded first (the next question has it then)."""
        if self.off or self._stopped:
            return None
        found: list[Vector] = []
        self._used_at = time.monotonic()

        def answer() -> None:
            try:
                if embedder := self._ready():
                    found.append(embedder.embed([text])[0])
                    self.want()
            except Exception as error:  # any failure of the model: full text serves alone
                self.give_up(str(error))

        if self.background:
            asking = threading.Thread(target=answer, name="gardener-question", daemon=True)
            asking.start()
            asking.join(float(getattr(self._embedder, "question_seconds", self._question_seconds)))
        else:
            answer()
        return found[0] if found else None

    def embed_first(self, passages: Iterable[StoredPassage]) -> int:
        """Embed passages that a question is likely to need before the others, as many as a turn may wait for;
        returns how many. Does nothing as long as the model is not loaded."""
        embedder, began = self._embedder, time.monotonic()
        vectors: list[tuple[StoredPassage, Vector]] = []
        if embedder is None or self.off:
            return 0
        try:
            for passage in passages:
                if time.monotonic() - began > QUESTION_SECONDS:
                    break
                vectors.append((passage, embedder.embed([passage.text])[0]))
            return self.store.put_vectors(vectors, embedder.name) if vectors else 0
        except StoreError:
            return 0
        except Exception as error:  # any failure of the model: full text serves alone
            self.give_up(str(error))
            return 0

    def drain(self, limit: int | None = None) -> int:
        """Embed all that is pending (or at most `limit`) now, in this thread, loading the model if need
        be; returns how many passages got a vector. 0 without an embedder. Raises StoreError."""
        while self.store.work_off():
            pass
        embedder = self._ready()
        return self._embed(embedder, limit) if embedder else 0

    def stop(self) -> None:
        """End the thread; returns within a second even if it is busy. Stopping twice is harmless."""
        atexit.unregister(self.stop)
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def _go_on(self) -> None:
        """Wake the thread, which starts at first need. The caller holds `_wake`."""
        self._work = True
        if self.background and not (self._pauses or self._thread or self._stopped):
            # Loading the model imports this, which fails (noisily) once the interpreter is ending.
            import concurrent.futures.thread  # noqa: F401  # reason: imported for its exit hook

            self._thread = threading.Thread(target=self._run, name="gardener-backlog", daemon=True)
            self._thread.start()
            atexit.register(self.stop)  # it must not be in the model's code when the interpreter ends
        self._wake.notify_all()

    # What the thread does

    def _run(self) -> None:
        try:
            while True:
                with self._wake:
                    is_due = self._wake.wait_for(
                        lambda: self._stopped or (self._work and not self._pauses), self._idle_seconds
                    )
                    if self._stopped:
                        return
                    if is_due:
                        self._work = False  # what comes from here on is announced by the next `resume`
                if is_due:
                    self._work_on()
                elif self._embedder is not None and time.monotonic() - self._used_at >= self._idle_seconds:
                    self._embedder.unload()
        except Exception as error:  # whatever it is, the chat goes on without vectors
            self.give_up(str(error) or type(error).__name__)

    def _work_on(self) -> None:
        """Index what waits, do the upkeep, once, then embed what is pending, until a pause comes."""
        try:
            while self._may_go_on() and self.store.work_off():
                pass
            if self._upkeep is not None and self._may_go_on():
                upkeep, self._upkeep = self._upkeep, None
                self._notice = upkeep() or self._notice
            embedder = self._ready() if self._wanted else None
            if embedder is not None:
                self._worked = time.thread_time()
                self.store.warm_vectors(embedder.name)
                self._embed(embedder, go_on=self._rested)
        except StoreError as error:  # it is tried again after the next turn
            fault_log().info("the archive is not worked on now: %s", error)

    def _may_go_on(self) -> bool:
        return not (self._stopped or self._pauses)

    def _rested(self) -> bool:
        """Whether to go on, after a rest as long as the work since the last: half a core is the user's."""
        with self._wake:
            self._wake.wait_for(lambda: self._stopped, time.thread_time() - self._worked)
        self._worked = time.thread_time()
        return self._may_go_on()

    def _embed(
        self, embedder: Embedder, limit: int | None = None, go_on: Callable[[], bool] = lambda: True
    ) -> int:
        """Embed what is pending, at most `limit`, as long as it may `go_on`; how many passages that were."""
        count = 0
        while most := 0 if self.off else FETCH if limit is None else min(FETCH, limit - count):
            passages = self.store.vectors_pending(most, embedder.name)
            if not passages:
                break
            for at in range(0, len(passages), WRITE):
                if not go_on():
                    return count
                some = passages[at : at + WRITE]
                vectors = embedder.embed([passage.text for passage in some])
                count += self.store.put_vectors(list(zip(some, vectors, strict=True)), embedder.name)
        return count

    def _ready(self) -> Embedder | None:
        """The loaded embedder, or None and off for good."""
        with self._loading:
            if self._embedder is None and self._load is not None and not self.off:
                try:
                    self._embedder = self._load()
                except EmbedderError as error:
                    self.give_up(str(error))
            return None if self.off else self._embedder

    def give_up(self, reason: str) -> None:
        """Do without vectors from now on; `take_notice` says why."""
        if not self.off and not self._stopped:
            line = " ".join(reason.split())
            self._notice = f"recall works by full text alone, not by meaning: {line}"
        self.off = True
