"""Optional refinement of compressed forms by a language model, believed only where it lost nothing.

A proposal takes the place of the algorithm's form only if it is shorter, still holds every number,
path, symbol and name of it, and states none that the original does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from aider_gardener.messages import Entry, Fidelity, Rendition, TokenCounter

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


def facts(text: str) -> frozenset[str]:
    """The numbers, paths, symbols and names of a text, without the punctuation around them."""
    return frozenset(
        found for match in FACT.finditer(text) if (found := match.group().strip("`.,;:()->").strip())
    )


def is_better(form: str, proposal: str, original: str, *, count: TokenCounter) -> bool:
    """Whether a proposal may take the place of a compressed form of an original."""
    if not proposal.strip() or count(proposal) >= count(form):
        return False
    lost = [fact for fact in facts(form) if not stands(fact, proposal)]
    made_up = [fact for fact in facts(proposal) if fact not in original and fact not in form]
    return not lost and not made_up


def stands(fact: str, text: str) -> bool:
    """Whether a fact stands in a text as a whole, not as part of a longer word or number."""
    return re.search(rf"(?<![\w]){re.escape(fact)}(?![\w])", text) is not None


@dataclass
class Refiner:
    """Asks for one shorter form at a time, at most one a minute; `clock` gives seconds."""

    ask: Ask
    clock: Callable[[], float]
    calls: int = 0
    accepted: int = 0
    failures: int = 0
    _tried: set[str] = field(default_factory=set)
    _last: float | None = None

    @property
    def over(self) -> bool:
        """Whether no more calls will be made in this chat."""
        return self.failures >= FAILURES or self.calls >= CALLS_A_CHAT

    @property
    def ready(self) -> bool:
        """Whether a call may be made now."""
        waited = self._last is None or self.clock() - self._last >= SECONDS_BETWEEN_CALLS
        return waited and not self.over

    def next(self, rows: Iterable[tuple[Entry, Rendition]]) -> tuple[Entry, Rendition] | None:
        """The first form that is worth a call and has not been tried."""
        for entry, form in rows:
            if entry.id not in self._tried and LEAST_TOKENS <= form.tokens <= MOST_TOKENS:
                return entry, form
        return None

    def refine(self, entry: Entry, form: Rendition, *, count: TokenCounter) -> str | None:
        """One call: the better text, or None. A call that fails counts as a failure and raises nothing."""
        self._tried.add(entry.id)
        self._last = self.clock()
        self.calls += 1
        try:
            proposal = self.ask(PROMPT.format(note=form.text)).strip()
        except Exception:  # reason: whatever the provider does, the algorithm's form stays
            self.failures += 1
            return None
        self.failures = 0
        if not is_better(form.text, proposal, entry.content, count=count):
            return None
        self.accepted += 1
        return proposal


def candidates(
    entries: Iterable[Entry], renditions: Callable[[Entry], dict[Fidelity, Rendition]]
) -> list[tuple[Entry, Rendition]]:
    """The compressed forms of the given entries, the longest first."""
    found = [(entry, made) for entry in entries if (made := renditions(entry).get(Fidelity.COMPRESSED))]
    return sorted(found, key=lambda row: (-row[1].tokens, row[0].seq))
