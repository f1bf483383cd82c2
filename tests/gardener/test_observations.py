"""Proposals from the sessions of a project: taken ones are rules of later chats, refused ones never come again."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from gardener.test_account import chat

from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.observations import (
    FADED,
    REFUSED,
    TAKEN,
    WAITING,
    Observation,
    all_observations,
    decide,
    gathered,
    is_same_rule,
    orders_in,
    sightings,
    taken_rules,
)

LABELLED = json.loads((Path(__file__).parents[1] / "data" / "labelled_observations.json").read_text("utf-8"))
"""Sentences as people type them in different sessions: groups of which each says one thing, others that say
something near it, and some that set no rule for longer and correct nothing that can be learnt."""
NOT_ASKED = LABELLED["not asked"]
GROUPS, OTHERS = LABELLED["made on"].values()
HELD_OUT_GROUPS, HELD_OUT_OTHERS = LABELLED["written afterwards"].values()

DAY = 86_400.0
SAID = ("use httpx, not requests", "no, use httpx instead of requests", "I told you: httpx, not requests!")


def told_thrice(store: Store, *said: str, project: str = "p", start: int = 1) -> None:
    """Each of the sentences in a session of its own, a day apart."""
    for number, text in enumerate(said or SAID, start):
        chat(store, text, "Fine.", session=f"s{number}", at=number * DAY, project=project)


def now(store: Store, days: float = 3.0, state: str = WAITING) -> list[Observation]:
    return [each for each in all_observations(store, "p", clock=lambda: days * DAY) if each.state == state]


def say(store: Store, given: str, verdict: str, days: float = 3.0, project: str = "p") -> None:
    assert list(decide(store, project, [given], verdict, lambda: days * DAY))


def test_what_three_sessions_say_is_proposed_with_its_evidence() -> None:
    store = open_store(None)
    told_thrice(store, *SAID[:2])
    assert now(store) == []
    told_thrice(store, SAID[2], start=3)
    (found,) = now(store)
    assert found.proposal in SAID and [seen.session for seen in found.evidence] == ["s1", "s2", "s3"]
    assert all(store.get(seen.entry_id) for seen in found.evidence)


def test_what_forked_chats_have_of_the_one_before_was_said_once() -> None:
    store = open_store(None)
    for session in ("first", "fork", "fork-of-fork"):
        chat(store, SAID[0], "Fine.", session=session, at=DAY)
    assert now(store) == []


def test_what_is_not_seen_for_28_days_fades_and_comes_back_when_seen_again() -> None:
    store = open_store(None)
    told_thrice(store)
    assert len(now(store, 30.9)) == 1 and len(now(store, 31.1, FADED)) == 1
    assert now(store, 31.1) == []
    chat(store, "again: httpx, not requests", "Fine.", session="late", at=32 * DAY)
    assert len(now(store, 33)) == 1


def test_a_taken_rule_stands_in_every_later_chat_and_survives_a_clear() -> None:
    store = open_store(None)
    told_thrice(store)
    say(store, "1", TAKEN)
    assert now(store) == []
    assert [each.proposal for each in now(store, 3, TAKEN)] == list(taken_rules(store, "p"))
    gardener = chat(store, "hello", "Hi.", session="new", at=4 * DAY)
    assert [rule.text for rule in gardener.constraints()] == list(taken_rules(store, "p"))
    assert taken_rules(store, "p")[0] in gardener.map_note(lambda: "")
    gardener.clear()
    assert len(gardener.constraints()) == 1
    gardener.drop_rule(1)
    assert gardener.constraints() == []


def test_what_is_typed_later_wins_over_a_taken_rule() -> None:
    store = open_store(None)
    told_thrice(store)
    say(store, "1", TAKEN)
    gardener = chat(store, "use requests, not httpx", "Fine.", session="new", at=4 * DAY)
    assert [rule.text for rule in gardener.constraints()] == ["use requests, not httpx"]


def test_a_refused_one_never_comes_again_in_other_words_either() -> None:
    store = open_store(None)
    told_thrice(store)
    say(store, "1", REFUSED)
    told_thrice(store, "httpx please, not requests", "always use httpx, not requests", start=4)
    assert all_observations(store, "p", clock=lambda: 6 * DAY) == []
    for session in ("s1", "s2"):
        store.forget_session(session)
    assert all_observations(store, "p", clock=lambda: 6 * DAY) == [] and taken_rules(store, "p") == ()


def test_what_is_said_of_one_is_not_said_of_another() -> None:
    store = open_store(None)
    told_thrice(store)
    told_thrice(store, *(["never edit an applied migration"] * 3), start=4)
    first, second = now(store, 7)
    say(store, first.id, REFUSED, 7)
    assert [each.id for each in now(store, 7)] == [second.id]


def test_verdicts_go_with_an_export_and_stay_with_their_project(tmp_path: Path) -> None:
    store = open_store(tmp_path / "shared")
    told_thrice(store)
    say(store, "1", TAKEN)
    assert taken_rules(store, "elsewhere") == () and store.verify() == []
    store.export(tmp_path / "all.jsonl")
    other = open_store(tmp_path / "other")
    other.import_(tmp_path / "all.jsonl")
    other.import_(tmp_path / "all.jsonl")
    assert taken_rules(other, "p") == taken_rules(store, "p") != ()
    store.close()
    other.close()


def test_an_archive_that_moved_with_its_project_keeps_its_rules(tmp_path: Path) -> None:
    store = open_store(tmp_path / "repo" / ".aider.gardener")
    told_thrice(store, project="/old/place")
    say(store, "1", TAKEN, project="/old/place")
    assert len(taken_rules(store, str(tmp_path / "repo"))) == 1
    store.close()


# What says the same


def observed(*texts: str) -> list[Observation]:
    """What a session for each text shows, in their order."""
    store = open_store(None)
    for number, text in enumerate(texts, 1):
        chat(store, text, "Ok.", session=f"s{number:03}", at=float(number))
    found = (sightings(store.session_entries(info.id)) for info in store.sessions("p"))
    return gathered(each for session in found for each in session)


@pytest.mark.parametrize(
    ("groups", "others", "most_wrong", "least_found"),
    [(GROUPS, OTHERS, 1, 0.65), (HELD_OUT_GROUPS, HELD_OUT_OTHERS, 0, 0.45)],
    ids=["made on", "written afterwards"],
)
def test_sentences_that_say_the_same_are_told_from_those_that_do_not(
    groups: list[list[str]], others: list[str], most_wrong: int, least_found: float
) -> None:
    rows = [(number, text) for number, group in enumerate(groups) for text in group]
    rows += [(-number, text) for number, text in enumerate(others, 1)]
    pairs = [(one[0] == other[0], is_same_rule(one[1], other[1])) for one, other in combinations(rows, 2)]
    assert pairs.count((False, True)) <= most_wrong
    assert pairs.count((True, True)) >= least_found * sum(alike for alike, _ in pairs)
    for each in observed(*(text for _, text in rows)):
        assert any({seen.text for seen in each.evidence} <= set(group) for group in groups)


def test_a_project_of_all_of_them_proposes_only_what_is_one_group() -> None:
    rows = [*GROUPS, *HELD_OUT_GROUPS]
    texts = [text for group in rows for text in group] + [*OTHERS, *HELD_OUT_OTHERS, *NOT_ASKED]
    found = observed(*texts)
    for each in found:
        said = {seen.text for seen in each.evidence}
        assert any(said <= set(group) for group in rows), said
    assert len(found) >= 12


@pytest.mark.parametrize("text", [*NOT_ASKED, "No, take the other port THIS TIME"])
def test_what_asks_for_nothing_that_lasts_is_not_taken(text: str) -> None:
    assert orders_in(text) == ()


def test_the_proposal_is_what_the_others_only_add_to() -> None:
    (found,) = observed(
        "please use httpx, not requests, in clients", "no, httpx, not requests", "use httpx, not requests!"
    )
    assert found.proposal == "httpx, not requests" and len(found.evidence) == 3


def test_what_is_pasted_or_quoted_teaches_nothing() -> None:
    texts = [f"{number}\n\n```\nnever use tabs in yaml\n```\n> don't log secrets" for number in range(3)]
    assert observed(*texts) == []
