"""Upkeep between turns: a background loop that finishes what is left.

Every 30 seconds, and never while a turn is on: the backlog, which indexes and embeds, is woken if something
waits, and, only if the user asked for it, one compressed form is refined by a model: its proposal takes the
form's place only if it is shorter, still holds every number, path, symbol and name of it, and states none
that the original does not hold. What has expired and what an entry is worth now, the next plan asks.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

from aider_gardener.archive.archive import Archive
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Fidelity, TokenCounter
from aider_gardener.plan.planner import note_rendition

Ask = Callable[[str], str]
"""Sends one prompt to a model and gives its answer. May raise anything."""

log = logging.getLogger("aider_gardener")

SECONDS = 30.0
STOP_SECONDS = 1.0
LEAST_TOKENS, MOST_TOKENS = 150, 6_000
"""Shorter compressed forms are not worth a call, longer ones are left alone."""
SECONDS_BETWEEN_CALLS, CALLS_A_CHAT = 60.0, 50
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


class Upkeep:
    """The loop of one chat. It holds the chat weakly: a chat that is dropped ends its loop."""

    def __init__(self, state: ChatState, refiner: Refiner | None = None, seconds: float = SECONDS) -> None:
        self._state = weakref.ref(state)
        self.refiner = refiner
        self.seconds = seconds
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

    def round(self) -> None:
        """One round now, in this thread; nothing while a turn is on. Raises StoreError."""
        state = self._state()
        if state is not None and not self._must_wait():
            wake_backlog(state.archive)
            if self.refiner is not None and not self._must_wait():
                self.refiner.refine(state, self._must_wait)

    def _must_wait(self) -> bool:
        state = self._state()
        return self._stopped.is_set() or state is None or state.busy


def wake_backlog(archive: Archive) -> None:
    """Have the embedding backlog go on if passages wait that nobody announced. Raises StoreError."""
    backlog = archive.backlog
    if backlog is None or backlog.off or not backlog.embedder_name:
        return
    if archive.store.vectors_pending(1, backlog.embedder_name):
        backlog.pause()
        backlog.resume()


def upkeep_for(state: ChatState, ask: Ask, *, clock: Callable[[], float] = time.monotonic) -> Upkeep:
    """The upkeep of a chat; with a model to ask only if the settings allow it."""
    return Upkeep(state, Refiner(ask, clock) if state.settings.may_refine else None)


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
