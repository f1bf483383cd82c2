"""Upkeep between turns that asks a model, and only if the user allowed it: every 30 seconds, never while a
turn is on and at most once a minute, one compressed form is refined. A proposal takes the place of the form
only if it is shorter, still holds every number, path, symbol and name of it, and states none that the
original does not hold. Indexing and embedding are the backlog's; what has expired the next plan asks.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable

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
    """The loop of one chat. `clock` gives seconds."""

    def __init__(
        self,
        state: ChatState,
        ask: Ask,
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state, self.ask, self.seconds, self.clock = state, ask, seconds, clock
        self.calls = self.failures = 0
        self._tried: set[str] = set()
        self._last: float | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gardener-upkeep", daemon=True)

    def start(self) -> None:
        """Begin the loop on a daemon thread, once, if the settings allow to ask a model."""
        if self.state.settings.may_refine:
            self._thread.start()

    def stop(self) -> None:
        """End the loop; returns within a second. Stopping twice is harmless."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopped.wait(self.seconds):
            try:
                self.refine()
            except Exception as error:  # reason: never worth a word to the user; the next round tries again
                log.info("upkeep is put off: %s", type(error).__name__)  # a message may quote the chat

    def refine(self) -> str:
        """Refine the longest form that stands nowhere yet and was not tried; the id of its entry, or "". What
        is answered counts for nothing once a turn is on. Raises StoreError."""
        archive, chat = self.state.archive, self.state.chat
        is_over = self.failures >= FAILURES or self.calls >= CALLS_A_CHAT
        is_soon = self._last is not None and self.clock() - self._last < SECONDS_BETWEEN_CALLS
        if is_over or is_soon or self.state.busy:
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
        is_void = self._stopped.is_set() or self.state.busy or entry.seq in self.state.chat.fidelity
        if is_void or not is_better(form.text, answer, original, count=self.state.count):
            return ""
        archive.put_rendition(entry, note_rendition(entry, Fidelity.COMPRESSED, answer, self.state.count))
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
