"""Decoys: wrong answers that nothing supports, unless a prompt holds a lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.replay.measure.probes import key_pattern, score, texts_of_turn
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session, SessionEvent
from bench.grid.decoys import CROSSED, NEVER_SAID, altered, decoys_of

RECORDED = Path(__file__).resolve().parents[2] / "recorded_sessions"
SAID_BY_TURN = {
    1: "The staging box kestrel listens on port 48213 behind the old balancer of the payments team.",
    6: "Nightly exports of the ledger run with a lease of 52.5 seconds since the incident in March.",
}


def session(*probes: Probe) -> Session:
    events = tuple(SessionEvent(kind="user", turn=turn, text=text) for turn, text in SAID_BY_TURN.items())
    return Session(name="s", events=events, sha256="", probes=probes or PROBES)


PROBES = (
    Probe(1, 9, "number", "Which port has the staging box?", ("48213",)),
    Probe(6, 9, "number", "How long is the lease of the exports?", ("52.5",)),
)


def test_an_invented_answer_is_never_supported_whatever_is_sent() -> None:
    everything = (" something else" * 50).join(SAID_BY_TURN.values())
    made = list(decoys_of(session()))
    assert [one.kind for one in made] == [NEVER_SAID, CROSSED] * 2
    for one in made:
        found = score(one, [SAID_BY_TURN[one.about_turn]], [everything])
        assert (found.present, found.supported) == (one.kind == CROSSED, False)


def test_a_decoy_that_stands_in_the_right_surroundings_is_seen() -> None:
    never, crossed, *_ = decoys_of(session())
    lie = SAID_BY_TURN[1].replace("48213", never.answer_keys[0]) + " 52.5"
    for one in (never, crossed):
        assert score(one, [SAID_BY_TURN[1]], [lie]).supported


@pytest.mark.parametrize("name", ["till-log", "ferry-desk"])
def test_every_recorded_probe_has_a_decoy_that_was_really_never_said(name: str) -> None:
    session = load_session(RECORDED / name)
    made = list(decoys_of(session))
    never = [one for one in made if one.kind == NEVER_SAID]
    assert len(never) >= 0.9 * len(session.probes) and made == list(decoys_of(session))
    said = "\n".join(
        text for turn in range(1, session.turn_count + 1) for text in texts_of_turn(session, turn)
    )
    assert not any(all(key_pattern(key).search(said) for key in one.answer_keys) for one in never)


@given(
    st.from_regex(r"[a-z]{3,8}[_-][a-z]{3,8}|[1-9][0-9]{2,6}(\.[0-9]+)?", fullmatch=True), st.integers(1, 8)
)
def test_an_altered_key_is_another_one_of_the_same_make(key: str, attempt: int) -> None:
    made = altered(key, attempt, ["quartz", "lagoon"])
    assert made != key or made.endswith(("quartz", "lagoon"))
    assert any(char.isdigit() for char in made) == any(char.isdigit() for char in key)
    if key[0].isdigit():
        assert len(made) == len(key) and made[0] != "0"
