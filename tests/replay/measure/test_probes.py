"""Scoring of probes: what counts as present, what as supported; and of wrong answers, which must not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.replay.measure.probes import (
    CROSSED,
    NEVER_SAID,
    Decoys,
    altered,
    around,
    key_pattern,
    score,
    tally,
    texts_of_turn,
)
from aider_gardener.replay.measure.result import DecoyResult
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session, SessionEvent

SAID = "the pool of the billing worker was raised to 47 connections after the outage on Friday night"


def probe(*keys: str) -> Probe:
    return Probe(
        about_turn=1, ask_at_turn=5, kind="number", question="How many connections?", answer_keys=keys
    )


def test_an_untouched_text_supports_its_probe() -> None:
    found = score(probe("47"), [SAID], ["hello", SAID])
    assert (found.present, found.supported) == (True, True)


def test_a_bare_key_is_present_but_not_supported() -> None:
    found = score(probe("47"), [SAID], ["12 47 99 31"])
    assert (found.present, found.supported) == (True, False)
    assert found.unsupported == ("47",)


def test_a_missing_key_is_neither() -> None:
    found = score(probe("47", "Friday"), [SAID], ["on Friday night the billing pool"])
    assert (found.present, found.supported) == (False, False)
    assert found.missing == ("47",)


def test_a_paraphrase_with_enough_of_the_words_supports() -> None:
    assert score(probe("47"), [SAID], ["raised billing worker pool: 47 connections"]).supported
    assert not score(probe("47"), [SAID], ["raised it to 47 since"]).supported


def test_any_one_occurrence_may_support() -> None:
    assert score(probe("47"), [SAID], ["47", "line 47", SAID]).supported


def test_surroundings_further_than_forty_words_do_not_count() -> None:
    filler = " filler" * 41
    far = SAID.replace("47", filler + " 47" + filler)
    assert not score(probe("47"), [SAID], [far]).supported


def test_a_key_that_was_not_said_there_needs_no_surroundings() -> None:
    assert score(probe("47"), ["something else"], ["47"]).supported


def test_numbers_match_whole_words_in_any_case() -> None:
    assert key_pattern("47").search("is 47.") and not key_pattern("47").search("1470")
    assert key_pattern("DROP COLUMN").search("no drop\ncolumn here")
    assert key_pattern("coffee").search("two Coffees")
    assert not key_pattern("id").search("video")
    assert key_pattern("-19.98)").search("= (-19.98)")


def test_around_takes_words_on_both_sides_without_the_key() -> None:
    text = "alpha beta gamma KEY delta epsilon zeta"
    at = text.index("KEY")
    assert around(text, at, at + 3, 2) == {"beta", "gamma", "delta", "epsilon"}


def test_where_it_was_said_is_everything_of_the_turn() -> None:
    events = (
        SessionEvent("user", 1, text="typed"),
        SessionEvent("command", 1, command="ls", output="listed"),
        SessionEvent("confirm", 1, question="asked?"),
        SessionEvent("reply", 1, text="answered"),
        SessionEvent("reply", 2, text="later"),
    )
    said = "\n".join(texts_of_turn(Session("x", events, ""), 1))
    assert all(word in said for word in ("typed", "ls", "listed", "answered"))
    assert "later" not in said and "asked" not in said


RECORDED = Path(__file__).resolve().parents[3] / "recorded_sessions"
SAID_BY_TURN = {
    1: "The staging box kestrel listens on port 48213 behind the old balancer of the payments team.",
    6: "Nightly exports of the ledger run with a lease of 52.5 seconds since the incident in March.",
}


def session() -> Session:
    events = tuple(SessionEvent(kind="user", turn=turn, text=text) for turn, text in SAID_BY_TURN.items())
    return Session(name="s", events=events, sha256="", repo0=None, files=())


PROBES = (
    Probe(1, 9, "number", "Which port has the staging box?", ("48213",)),
    Probe(6, 9, "number", "How long is the lease of the exports?", ("52.5",)),
)


def test_an_invented_answer_is_never_supported_whatever_is_sent() -> None:
    decoys = Decoys(session(), PROBES)
    everything = (" something else" * 50).join(SAID_BY_TURN.values())
    for number, probe in enumerate(PROBES, 1):
        never, crossed = decoys.results(number, probe, everything)
        assert (never.kind, never.present, never.supported) == (NEVER_SAID, False, False)
        assert (crossed.kind, crossed.present, crossed.supported) == (CROSSED, True, False)
    assert decoys.of(PROBES[0])[0].keys != PROBES[0].answer_keys


def test_a_decoy_that_stands_in_the_right_surroundings_is_seen() -> None:
    decoys = Decoys(session(), PROBES)
    lie = decoys.of(PROBES[0])[0].keys[0]
    never, crossed = decoys.results(1, PROBES[0], SAID_BY_TURN[1].replace("48213", lie) + " 52.5")
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
