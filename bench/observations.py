"""How many sentences that say the same are known to, and how many that do not are taken for it.

    python -m bench.observations

Two sets of labelled sentences: the one that the comparison was made on, and one that was written afterwards.
For each all pairs are compared, and then all of its sentences are said in sessions of their own in a project.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from aider_gardener.gardener.learnt import Sighting, gathered, says_same

Groups = Sequence[Sequence[str]]
LABELLED: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("labelled").joinpath("observations.json").read_text("utf-8")
)
"""Sentences as people type them in different sessions: groups of which each says one thing, others that say
something near it, and some that set no rule for longer and correct nothing that can be learnt."""
SETS = {name: LABELLED[name] for name in ("made on", "written afterwards")}
NOT_ASKED: Sequence[str] = LABELLED["not asked"]
HEAD = (
    *("sentences", "groups", "others", "pairs found", "of", "pairs wrong", "groups proposed"),
    "proposals wrong",
)


@dataclass(frozen=True)
class Figures:
    """Of pairs that say the same those found and missed, and those taken for it that do not; then of groups
    those that became a proposal of their own words, and other proposals."""

    found: int
    missed: int
    wrong: int
    proposed: int
    proposed_wrong: int


def figures(groups: Groups, others: Sequence[str]) -> Figures:
    """The figures of one set."""
    rows = [(number, text) for number, group in enumerate(groups) for text in group]
    rows += [(-number, text) for number, text in enumerate(others, 1)]
    found = missed = wrong = 0
    for (one, said), (other, again) in combinations(rows, 2):
        is_same = says_same(said, again)
        found += is_same and one == other
        wrong += is_same and one != other
        missed += not is_same and one == other
    seen = [Sighting(text, f"s{at}", 1, float(at), f"g{at}") for at, (_, text) in enumerate(rows)]
    proposals = [{each.text for each in one.evidence} for one in gathered(seen)]
    right = {
        at for at, group in enumerate(groups) for one in proposals if len(one & set(group)) > len(one) / 2
    }
    return Figures(found, missed, wrong, len(right), len(proposals) - len(right))


def table() -> Iterator[tuple[str, ...]]:
    """A row a set, under HEAD."""
    for name, labelled in SETS.items():
        groups, others = labelled["groups"], labelled["others"]
        found = figures(groups, others)
        cells = (len(groups), len(others), found.found, found.found + found.missed, found.wrong)
        yield (name, *map(str, (*cells, found.proposed, found.proposed_wrong)))


def main() -> int:
    for row in (HEAD, *table()):
        print("  ".join(cell.rjust(len(head)) for cell, head in zip(row, HEAD, strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
