"""Upkeep between turns: a background loop that finishes what is left.

Every 30 seconds, and never while a turn is on: the backlog, which indexes and embeds, is woken if something
waits, and, only if the user asked for it, one compressed form is refined by a model: its proposal takes the
form's place only if it is shorter, still holds every number, path, symbol and name of it, and states none
that the original does not hold. Where there is an index of sessions it is written anew once a chat has begun,
if a session is missing in it, and at the chat's end. The chat is not changed: what has expired and what an
entry is worth now, the next plan asks.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aider_gardener.archive.archive import Archive
from aider_gardener.errors import GardenerError
from aider_gardener.gardener import learnt
from aider_gardener.gardener.files import is_behind, is_kept, write_index
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Fidelity, TokenCounter
from aider_gardener.phrases import counted
from aider_gardener.plan.planner import note_rendition

Ask = Callable[[str], str]
"""Sends one prompt to a model and gives its answer. May raise anything."""

log = logging.getLogger("aider_gardener")

SECONDS = 30.0
STOP_SECONDS = 1.0
EXIT_SECONDS = 2.0
"""So long the end of a chat waits for the index."""
LATE = (
    f"the index of sessions would have taken more than {EXIT_SECONDS:g} s:"
    " the next chat writes it, or `gardener archive --all` now"
)


LEAST_TOKENS = 150
"""Shorter compressed forms are not worth a call."""
MOST_TOKENS = 6_000
SECONDS_BETWEEN_CALLS = 60.0
CALLS_A_CHAT = 50
FAILURES = 3
"""So many failed calls in a row end refinement for the chat."""

PROMPT = (
    "Below is a shortened note on part of a programmer's chat. Make it shorter still. Keep every number,"
    " path, identifier, error message, id in brackets and proper name exactly as written, keep who said"
    " what, add nothing that is not there. Answer with the shorter note alone.\n\n{note}"
)

FACT = re.compile(
    r"`[^`\n]{1,120}`"
    r"|https?://\S+"
    r"|[\w.@~-]*(?:[/\\][\w.@-]+)+"
    r"|\b\w[\w-]*\.\w[\w.-]*"
    r"|\b[^\W\d]\w*(?:::|->|\()"
    r"|\b\w*_\w*"
    r"|\b[^\W\d_]+(?=[A-Z])\w+"
    r"|\b\w*\d[\w:,.-]*\w|\b\d"
    r"|\b[A-Z]{2,}\b"
    r"|(?<=[a-z,;:] )[A-Z]\w+"
)
"""What a reader could look up or compare: code, addresses, paths, files, symbols, numbers, names."""


class PutOff(GardenerError):
    """It may not go on now: what was begun is left, and nothing of it was written."""


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
                log.info("upkeep is put off: %s", type(error).__name__)  # a message may quote the chat

    def round(self) -> bool:
        """One round now, in this thread; stops early when a turn begins. Whether the index of sessions was
        renewed. Raises StoreError."""
        state = self._state()
        if state is None or self._must_wait():
            return False
        self.rounds += 1
        wake_backlog(state.archive)
        if self.refiner is not None and not self._must_wait():
            self.refiner.refine(state, self._must_wait)
        return not self._must_wait() and self._catch_up(state)

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
                found = learnt.learnt(archive.store, archive.project, clock=archive.clock, pace=self._pace)
                new = learnt.announce(archive.store, archive.project, found, archive.clock())
                if new:
                    verb = "waits" if new == 1 else "wait"
                    state.pending_lines.append(
                        f"{counted(new, 'observation')} {verb}: /gardener observations"
                    )
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
            state.pending_lines.extend([put_off] if put_off else [])
        except Exception as error:  # reason: whatever it is, the chat goes on without
            why = str(error) if isinstance(error, GardenerError) else type(error).__name__
            if why != self._fault:
                state.pending_lines.append(f"the index of sessions is left as it is: {why}")
            self._fault, self._has_caught_up = why, True


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


# Shorter forms by a model


@dataclass
class Refiner:
    """Asks for one shorter form at a time, at most one a minute; `clock` gives seconds."""

    ask: Ask
    clock: Callable[[], float]
    calls: int = 0
    failures: int = 0
    _tried: set[str] = field(default_factory=set)
    _last: float | None = None

    def refine(self, state: ChatState, is_void: Callable[[], bool] = lambda: False) -> str:
        """Refine the longest form that stands nowhere yet and was not tried; the id of its entry, or "". What
        is answered counts for nothing if `is_void` says so then."""
        archive, chat = state.archive, state.chat
        is_over = self.failures >= FAILURES or self.calls >= CALLS_A_CHAT
        if is_over or (self._last is not None and self.clock() - self._last < SECONDS_BETWEEN_CALLS):
            return ""
        shown = {*chat.gone, *chat.fidelity}
        whole = [e for seq, e in dict(chat.entries).items() if seq not in shown and e.id not in self._tried]
        made = ((entry, archive.renditions(entry).get(Fidelity.COMPRESSED)) for entry in whole)
        forms = [(e, form) for e, form in made if form and LEAST_TOKENS <= form.tokens <= MOST_TOKENS]
        if not forms:
            return ""
        entry, form = max(forms, key=lambda row: (row[1].tokens, -row[0].seq))
        self._tried.add(entry.id)
        answer = self._answer(PROMPT.format(note=form.text))
        original = archive.without_secrets(entry).content
        is_late = is_void() or entry.seq in chat.fidelity
        if is_late or not is_better(form.text, answer, original, count=state.count):
            return ""
        archive.put_rendition(entry, note_rendition(entry, Fidelity.COMPRESSED, answer, state.count))
        return entry.id

    def _answer(self, prompt: str) -> str:
        """One call; "" where it fails."""
        self._last = self.clock()
        self.calls += 1
        try:
            answer = self.ask(prompt).strip()
        except Exception:  # reason: whatever the provider does, the algorithm's form stays
            self.failures += 1
            return ""
        self.failures = 0
        return answer


def facts(text: str) -> frozenset[str]:
    """The numbers, paths, symbols and names of a text, without the punctuation around them."""
    found = (match.group().strip("`.,;:()->").strip() for match in FACT.finditer(text))
    return frozenset(filter(None, found))


def is_better(form: str, proposal: str, original: str, *, count: TokenCounter) -> bool:
    """Whether a proposal may take the place of a compressed form of an original."""
    if not proposal.strip() or count(proposal) >= count(form):
        return False
    kept = all(stands(fact, proposal) for fact in facts(form))
    return kept and all(fact in original or fact in form for fact in facts(proposal))


def stands(fact: str, text: str) -> bool:
    """Whether a fact stands in a text as a whole, not as part of a longer word or number."""
    return re.search(rf"(?<![\w]){re.escape(fact)}(?![\w])", text) is not None
