"""What is seen in several sessions: sentences that mean the same, and faults; precise rather than eager."""

from __future__ import annotations

import pytest
from gardener.test_account import chat, ran

from aider_gardener.archive.store import open_store
from aider_gardener.notes.observations import (
    EDIT,
    ERROR,
    LINT,
    RULE,
    TEST,
    Observation,
    Sighting,
    gathered,
    orders_in,
    says_same,
    sightings,
)
from bench.labelled_observations import GROUPS, HELD_OUT_GROUPS, HELD_OUT_OTHERS, NOT_ASKED, OTHERS
from bench.observations import figures

REFUSED_EDIT = (
    "# 1 SEARCH/REPLACE block failed to match!\n\n"
    "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in src/a.py\n<<<<<<< SEARCH\nx"
)
LINTED = "# Fix any errors below, if possible.\n\nsrc/a.py:3:1: F401 'os' imported but unused\n"
TSC = "src/a.ts(3,1): error TS7006: Parameter 'x' implicitly has an 'any' type."


def observed(*texts: str) -> list[Observation]:
    """What a session for each text shows, in their order."""
    store = open_store(None)
    for number, text in enumerate(texts, 1):
        chat(store, text, "Ok.", session=f"s{number:03}", at=float(number))
    found = (sightings(store.session_entries(info.id)) for info in store.sessions("p"))
    return gathered(each for session in found for each in session)


def test_sentences_that_say_the_same_are_told_from_those_that_do_not() -> None:
    found = figures(GROUPS, OTHERS)
    assert found.wrong <= 1 and found.proposed_wrong == 0
    assert found.found >= 0.75 * (found.found + found.missed)


def test_so_are_sentences_that_were_written_afterwards() -> None:
    found = figures(HELD_OUT_GROUPS, HELD_OUT_OTHERS)
    assert found.wrong == found.proposed_wrong == 0 and found.found >= 0.6 * (found.found + found.missed)


def test_a_project_of_all_of_them_proposes_only_what_is_one_group() -> None:
    rows = [*GROUPS, *HELD_OUT_GROUPS]
    texts = [text for group in rows for text in group] + [*OTHERS, *HELD_OUT_OTHERS, *NOT_ASKED]
    found = [each for each in observed(*texts) if each.kind == RULE]
    for each in found:
        said = {seen.text for seen in each.evidence}
        assert any(said <= set(group) for group in rows), said
    assert len(found) >= 16


@pytest.mark.parametrize("text", NOT_ASKED)
def test_what_asks_for_nothing_that_lasts_is_not_taken(text: str) -> None:
    assert orders_in(text) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use tabs, not spaces", "use spaces, not tabs"),
        ("functions under 40 lines", "functions under 60 lines"),
        ("never log requests", "always log requests"),
        ("no tests", "no new test files"),
    ],
)
def test_the_contrary_and_another_figure_are_not_the_same(one: str, other: str) -> None:
    assert not says_same(one, other)


def test_the_proposal_is_what_the_others_only_add_to() -> None:
    (found,) = observed(
        "please use httpx, not requests, in clients", "no, httpx, not requests", "use httpx, not requests!"
    )
    assert found.proposal == "httpx, not requests" and len(found.evidence) == 3


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            ran("pytest -q", "FAILED tests/test_a.py::test_x[1] - assert 1"),
            TEST,
            "tests/test_a.py::test_x",
        ),
        (ran("python a.py", "Traceback:\nOSError: disk 17 is full"), ERROR, "OSError: disk 17 is full"),
        (LINTED, LINT, "F401"),
        (ran("npx tsc", TSC), LINT, "TS7006"),
        (REFUSED_EDIT, EDIT, "src/a.py"),
    ],
)
def test_a_fault_of_three_sessions_is_proposed(text: str, kind: str, said: str) -> None:
    texts = text, text.replace("17", "18"), text.replace("[1]", "[2]")
    found = {each.kind: each for each in observed(*texts)}
    assert said in found[kind].proposal and "3 sessions" in found[kind].proposal
    assert observed(*texts[:2]) == []


def test_what_is_pasted_or_quoted_teaches_nothing() -> None:
    texts = [f"{number}\n\n```\nnever use tabs in yaml\n```\n> don't log secrets" for number in range(3)]
    assert observed(*texts) == []


def test_its_id_is_that_of_what_was_said_first() -> None:
    first = Sighting(RULE, "use a", "", "s1", 1, 1.0, "g1")
    more = Sighting(RULE, "use a b", "", "s2", 1, 2.0, "g2")
    assert Observation(RULE, "x", (first,)).id == Observation(RULE, "y", (first, more)).id
    assert Observation(RULE, "x", (more,)).id != Observation(RULE, "x", (first,)).id


def test_a_group_does_not_drift_from_what_most_of_it_says() -> None:
    names = "kafka redis celery rabbit mongo oracle".split()
    spans = ((0, 3), (0, 4), (1, 5), (2, 6))
    seen = [
        Sighting(RULE, f"never use {' '.join(names[low:high])}", "", f"s{at}", 1, float(at), f"g{at}")
        for at, (low, high) in enumerate(spans)
    ]
    assert [[s.session for s in each.evidence] for each in gathered(seen, 1)] == [
        ["s0", "s1"],
        ["s2"],
        ["s3"],
    ]
