"""Shorter forms by a model, only if the user asked for them, and believed only where they lost nothing.

A proposal takes the place of the algorithm's form only if it is shorter, still holds every number, path,
symbol and name of it, and states none that the original does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Fidelity, TokenCounter
from aider_gardener.plan.planner import note_rendition

Ask = Callable[[str], str]
"""Sends one prompt to a model and gives its answer. May raise anything."""

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


@dataclass
class Refiner:
    """Asks for one shorter form at a time, at most one a minute; `clock` gives seconds."""

    ask: Ask
    clock: Callable[[], float]
    calls: int = 0
    failures: int = 0
    _tried: set[str] = field(default_factory=set)
    _last: float | None = None

    @property
    def is_ready(self) -> bool:
        """Whether a call may be made now."""
        is_over = self.failures >= FAILURES or self.calls >= CALLS_A_CHAT
        return not is_over and (self._last is None or self.clock() - self._last >= SECONDS_BETWEEN_CALLS)

    def refine(self, state: ChatState, is_void: Callable[[], bool] = lambda: False) -> str:
        """Refine the longest form that stands nowhere yet and was not tried; the id of its entry, or "". What
        is answered counts for nothing if `is_void` says so then."""
        archive, chat = state.archive, state.chat
        if not self.is_ready:
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
        if not is_better(form.text, answer, original, count=state.count):
            return ""
        if is_void() or entry.seq in chat.fidelity:
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
