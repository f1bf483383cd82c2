"""Scoring of probes: what counts as present, what as supported."""

from __future__ import annotations

from aider_gardener.replay.measure.probes import key_pattern, score, texts_of_turn
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


def test_a_paraphrase_with_enough_of_the_words_supports() -> None:
    assert score(probe("47"), [SAID], ["raised billing worker pool: 47 connections"]).supported
    assert not score(probe("47"), [SAID], ["raised it to 47 since"]).supported


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


def test_a_probe_may_be_looked_for_in_other_surroundings() -> None:
    wrong = Probe(1, 5, "number", "How many?", ("52",), near=("47",))
    assert score(wrong, [SAID], [SAID.replace("47", "52")]).supported
    assert not score(wrong, [SAID], ["the lease of the exports is 52 seconds"]).supported
