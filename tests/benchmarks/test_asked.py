"""What a cell asks: own probes, paraphrased ones, late ones, and a mark for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aider_gardener.replay.measure.result import ProbeResult
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe
from bench.grid.asked import ASKED_LATE, SAID_EARLY, Asked, asked_of

RECORDED = Path(__file__).resolve().parents[2] / "recorded_sessions"


def probe(about: int) -> Probe:
    return Probe(about, about + 3, "number", "how many?", ("17",))


def result(number: int, *, present: bool, supported: bool) -> ProbeResult:
    return ProbeResult(number, 1, 4, "number", "how many?", present, supported)


def test_each_list_gets_the_marks_of_its_own_probes() -> None:
    asked = Asked((probe(1), probe(2)), (probe(3),), (probe(4),))
    found = [
        result(1, present=True, supported=True),
        result(2, present=True, supported=False),
        result(3, present=False, supported=False),
        result(4, present=True, supported=True),
    ]
    assert asked.marks(found) == {"own": "21", "paraphrased": "0", "late": "2"}
    assert asked.marks(found[2:]) == {"own": "", "paraphrased": "0", "late": "2"}
    assert [one.about_turn for one in asked.probes] == [1, 2, 3, 4]


def test_a_long_session_asks_late_what_was_said_early(tmp_path: Path) -> None:
    path = RECORDED / "queue-incident"
    session = load_session(path)
    found = asked_of(path, session)
    assert found.own == session.probes
    assert found.late and {one.ask_at_turn for one in found.late} == {ASKED_LATE}
    assert {one.about_turn for one in found.late} <= {*SAID_EARLY}
    short = replace(session, events=tuple(event for event in session.events if event.turn < 20))
    assert asked_of(tmp_path, short).late == ()
