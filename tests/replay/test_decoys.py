"""Wrong answers: they are of the right make, really wrong, the same each time, and scored like right ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.replay.measure.probes import CROSSED, NEVER_SAID, Decoys, altered, key_pattern, tally
from aider_gardener.replay.measure.result import DecoyResult
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Event, Probe, Session

RECORDED = Path(__file__).resolve().parents[2] / "recorded_sessions"
SAID = {
    1: "The staging box kestrel listens on port 48213 behind the old balancer of the payments team.",
    6: "Nightly exports of the ledger run with a lease of 52.5 seconds since the incident in March.",
}


def session() -> Session:
    events = tuple(Event(kind="user", turn=turn, text=text) for turn, text in SAID.items())
    return Session(name="s", events=events, sha256="", repo0=None, files=())


PROBES = (
    Probe(1, 9, "number", "Which port has the staging box?", ("48213",)),
    Probe(6, 9, "number", "How long is the lease of the exports?", ("52.5",)),
)


def test_an_invented_answer_is_never_supported_whatever_is_sent() -> None:
    decoys = Decoys(session(), PROBES)
    everything = (" something else" * 50).join(SAID.values())
    for number, probe in enumerate(PROBES, 1):
        never, crossed = decoys.results(number, probe, everything)
        assert (never.kind, never.present, never.supported) == (NEVER_SAID, False, False)
        assert (crossed.kind, crossed.present, crossed.supported) == (CROSSED, True, False)
    assert decoys.of(PROBES[0])[0].keys != PROBES[0].answer_keys


def test_a_decoy_that_stands_in_the_right_surroundings_is_seen() -> None:
    decoys = Decoys(session(), PROBES)
    lie = decoys.of(PROBES[0])[0].keys[0]
    never, crossed = decoys.results(1, PROBES[0], SAID[1].replace("48213", lie) + " 52.5")
    assert never.supported, "the very sentence with another number: the score must see it"
    assert crossed.supported, "the other answer stands among the words of this one"


def test_probes_whose_keys_are_not_where_they_say_have_no_decoys() -> None:
    assert Decoys(session(), PROBES).of(Probe(6, 9, "number", "?", ("48213",))) == ()


@pytest.mark.parametrize("name", ["ledger-api", "checkout-ts", "queue-incident"])
def test_every_recorded_probe_has_a_decoy_that_was_really_never_said(name: str) -> None:
    session = load_session(RECORDED / name)
    decoys = Decoys(session, session.probes)
    made = [decoys.of(probe) for probe in session.probes]
    never = [one for found in made for one in found if one.kind == NEVER_SAID]
    assert len(never) >= 0.9 * len(session.probes)
    assert not any(all(key_pattern(key).search(decoys.everything) for key in one.keys) for one in never)
    assert made == [Decoys(session, session.probes).of(probe) for probe in session.probes]


@given(
    st.from_regex(r"[a-z]{3,8}[_-][a-z]{3,8}|[1-9][0-9]{2,6}(\.[0-9]+)?", fullmatch=True), st.integers(1, 8)
)
def test_an_altered_key_is_another_one_of_the_same_make(key: str, attempt: int) -> None:
    made = altered(key, attempt, ["quartz", "lagoon"])
    assert made != key or made.endswith(("quartz", "lagoon"))
    assert any(char.isdigit() for char in made) == any(char.isdigit() for char in key)
    if key[0].isdigit():
        assert len(made) == len(key) and made[0] != "0"


def test_the_tally_counts_by_kind() -> None:
    results = [
        DecoyResult(1, NEVER_SAID, ("a",), False, False),
        DecoyResult(1, CROSSED, ("b",), True, False),
        DecoyResult(2, CROSSED, ("c",), True, True),
    ]
    assert tally(results) == {NEVER_SAID: (1, 0, 0), CROSSED: (2, 2, 1)}
