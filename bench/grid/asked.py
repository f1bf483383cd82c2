"""What a cell asks: a session's own probes, the same paraphrased, and those of its beginning asked late.

All are asked in one replay, since a probe leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aider_gardener.replay.measure.result import ProbeResult
from aider_gardener.replay.session.session import Probe, Session, load_probes
from bench.grid.decoys import decoys_of

PARAPHRASED = "paraphrased.json"
"""In a session's folder: some of its probes in other words than were said."""

SAID_EARLY, ASKED_LATE, LONG_TURNS = range(3, 8), 45, 50
"""The turns about which the late probes ask, the turn before which they are asked, and how many turns a
session must have for it."""

MARKS = "012"
"""How a probe was met: not, present, supported."""


@dataclass(frozen=True)
class Asked:
    """Lists of probes, asked in this order."""

    own: tuple[Probe, ...]
    paraphrased: tuple[Probe, ...] = ()
    late: tuple[Probe, ...] = ()
    decoys: tuple[Probe, ...] = ()

    @property
    def probes(self) -> tuple[Probe, ...]:
        return self.own + self.paraphrased + self.late + self.decoys

    def marks(self, results: Sequence[ProbeResult]) -> dict[str, str]:
        """A mark for each probe in the order of its list; those that were not asked have none."""
        marks = {found.number: MARKS[found.present + found.supported] for found in results}
        made, number = {}, 0
        for name in ("own", "paraphrased", "late"):
            numbers = range(number + 1, number + 1 + len(getattr(self, name)))
            made[name] = "".join(marks[at] for at in numbers if at in marks)
            number += len(numbers)
        return made


def asked_of(path: Path, session: Session) -> Asked:
    """What a session is asked; `path` is its folder."""
    paraphrased = load_probes(path / PARAPHRASED)
    late: tuple[Probe, ...] = ()
    if session.turn_count >= LONG_TURNS:
        early = [probe for probe in session.probes if probe.about_turn in SAID_EARLY]
        late = tuple(replace(probe, ask_at_turn=ASKED_LATE) for probe in early)
    return Asked(session.probes, paraphrased, late, tuple(decoys_of(session)))
