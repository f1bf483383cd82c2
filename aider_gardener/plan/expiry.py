"""Expiry: which entries are due to be shown shorter, by their class's or their own term.

An entry that is due is only made so here; a plan applies it, with what else is due then.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aider_gardener.messages import ContentClass, Entry, Fidelity
from aider_gardener.plan.evict import ORDER, Candidate, Shield
from aider_gardener.settings import ANY_CLASS, Terms

OUTSIDE = frozenset({ContentClass.PROMPT})
"""What the user typed expires only if its class is named: `all` leaves it out."""


def term(entry: Entry, by_class: Mapping[str, int], own: Mapping[str, int]) -> int:
    """The turns after which an entry is due; 0: never."""
    if entry.id in own:
        return own[entry.id]
    common = 0 if entry.cls in OUTSIDE else by_class.get(ANY_CLASS, 0)
    return by_class.get(entry.cls.value, common)


@dataclass(frozen=True)
class Policy:
    """What a plan does beside meeting its mark.

    `terms` say when entries are due. The last `keep_turns` turns (0: only the last exchange) stay whole
    as long as the prompt can be sent, and so do the entries `named`, by their place. `older`: once a plan is
    made, it shows everything older by a line.
    """

    terms: Terms = field(default_factory=Terms)
    keep_turns: int = 0
    older: bool = False
    named: frozenset[int] = frozenset()

    def with_own(self, entry_id: str, context_ttl: int, summarise_after: int) -> Policy:
        """The policy with terms of its own for one entry; 0 turns mean never."""
        terms = replace(
            self.terms,
            own_ttl={**self.terms.own_ttl, entry_id: context_ttl},
            own_summarise={**self.terms.own_summarise, entry_id: summarise_after},
        )
        return replace(self, terms=terms)

    def keeps(self, entry: Entry, turn: int) -> bool:
        """Whether the entry is named or belongs to the last turns that stay whole."""
        return entry.seq in self.named or (self.keep_turns > 0 and entry.turn >= turn - self.keep_turns)

    def due(self, rows: Sequence[Candidate], *, turn: int, over: bool) -> dict[int, Fidelity]:
        """For each entry that stands fuller than it is worth now: the level it is due for. `over`: a
        plan is made anyway."""
        found: dict[int, Fidelity] = {}
        for row in rows:
            wanted = due_level(row.entry, self.terms, turn=turn)
            shield = Shield.NONE
            if self.older and over and not self.keeps(row.entry, turn):
                wanted, shield = Fidelity.LINE, Shield.PROMPT
            level = reachable(row, wanted, row.floor(shield))
            if level is not row.current:
                found[row.entry.seq] = level
        return found


def due_level(entry: Entry, terms: Terms, *, turn: int) -> Fidelity:
    """The most that is worth showing of an entry at this turn."""
    age = turn - entry.turn
    ttl = term(entry, terms.context_ttl, terms.own_ttl)
    summarise = term(entry, terms.summarise_after, terms.own_summarise)
    if ttl and age >= ttl:
        return Fidelity.LINE
    return Fidelity.COMPRESSED if summarise and age >= summarise else Fidelity.FULL


def reachable(row: Candidate, wanted: Fidelity, floor: Fidelity) -> Fidelity:
    """The lowest rendition that the entry has, not below what is wanted or its floor, and smaller than
    what stands now; else what stands."""
    have = {option.fidelity for option in row.options}
    lowest = min(ORDER.index(wanted), ORDER.index(floor))
    below = [
        level
        for level in ORDER[ORDER.index(row.current) + 1 : lowest + 1]
        if level in have and row.tokens(level) < row.tokens(row.current)
    ]
    return below[-1] if below else row.current
