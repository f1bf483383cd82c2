"""What is seen in several sessions: sentences that mean the same, and faults; precise rather than eager."""

from __future__ import annotations

import pytest
from gardener.test_account import chat, ran

from aider_gardener.archive.store import open_store
from aider_gardener.notes.observations import (
    KIND_EDIT,
    KIND_ERROR,
    KIND_LINT,
    KIND_RULE,
    KIND_TEST,
    Observation,
    Said,
    Sighting,
    corrections_in,
    gathered,
    meaning,
    observed,
    says_same,
)
from bench.labelled_observations import GROUPS, HELD_OUT_GROUPS, HELD_OUT_OTHERS, NOT_ASKED, OTHERS
from bench.observations import figures

REFUSED_EDIT = (
    "# 1 SEARCH/REPLACE block failed to match!\n\n"
    "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in src/a.py\n<<<<<<< SEARCH\nx"
)
LINT = "# Fix any errors below, if possible.\n\nsrc/a.py:3:1: F401 'os' imported but unused\n"
TSC = "src/a.ts(3,1): error TS7006: Parameter 'x' implicitly has an 'any' type."


def of_sessions(*texts: str) -> list[Said]:
    """A session for each text, in their order."""
    store = open_store(None)
    for number, text in enumerate(texts, 1):
        chat(store, text, "Ok.", session=f"s{number:03}", at=float(number))
    return [Said(info.id, store.session_entries(info.id)) for info in store.sessions("p")]


def test_sentences_that_say_the_same_are_told_from_those_that_do_not() -> None:
    found = figures(GROUPS, OTHERS)
    assert found.wrong == found.proposed_wrong == 0 and found.found >= 0.95 * (found.found + found.missed)


def test_so_are_sentences_that_were_written_afterwards() -> None:
    found = figures(HELD_OUT_GROUPS, HELD_OUT_OTHERS)
    assert found.wrong == found.proposed_wrong == 0 and found.found >= 0.5 * (found.found + found.missed)


def test_a_project_of_all_of_them_proposes_only_what_is_one_group() -> None:
    rows = [*GROUPS, *HELD_OUT_GROUPS]
    texts = [text for group in rows for text in group] + [*OTHERS, *HELD_OUT_OTHERS, *NOT_ASKED]
    found = [each for each in observed(of_sessions(*texts)) if each.kind == KIND_RULE]
    strangers = 0
    for each in found:
        group = next(set(group) for group in rows if each.proposal in group)
        strangers += sum(seen.text not in group for seen in each.evidence)
        assert sum(seen.text in group for seen in each.evidence) >= 3, each.proposal
    assert len(found) >= len(GROUPS) + len(HELD_OUT_GROUPS) // 3 and strangers <= 1


@pytest.mark.parametrize("text", NOT_ASKED)
def test_what_asks_for_nothing_that_lasts_is_not_taken(text: str) -> None:
    assert not any(meaning(said).is_telling for said in corrections_in(text))


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
    assert not says_same(meaning(one), meaning(other))


def test_a_ban_reaches_over_its_list_and_ends_at_the_next_order() -> None:
    found = meaning("no floats, decimals or strings for money, use integers")
    assert {"float", "decima", "string", "money"} <= found.banned and found.wanted == {"intege"}
    assert meaning("no floats: they lost us cents last year, and the auditor saw it").banned == {"float"}


def test_the_proposal_is_what_is_nearest_to_all() -> None:
    (found,) = observed(
        of_sessions(
            "use httpx, not requests", "use httpx and not requests in clients", "no, httpx, not requests"
        )
    )
    assert found.proposal in ("use httpx, not requests", "no, httpx, not requests")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            ran("pytest -q", "FAILED tests/test_a.py::test_x[1] - assert 1"),
            KIND_TEST,
            "tests/test_a.py::test_x",
        ),
        (ran("python a.py", "Traceback:\nOSError: disk 17 is full"), KIND_ERROR, "OSError: disk 17 is full"),
        (LINT, KIND_LINT, "F401"),
        (ran("npx tsc", TSC), KIND_LINT, "TS7006"),
        (REFUSED_EDIT, KIND_EDIT, "src/a.py"),
    ],
)
def test_a_fault_of_three_sessions_is_proposed(text: str, kind: str, said: str) -> None:
    sessions = of_sessions(text, text.replace("17", "18"), text.replace("[1]", "[2]"))
    found = {each.kind: each for each in observed(sessions)}
    assert said in found[kind].proposal and "3 sessions" in found[kind].proposal
    assert observed(sessions[:2]) == []


def test_what_is_pasted_or_quoted_teaches_nothing() -> None:
    texts = [f"{number}\n\n```\nnever use tabs in yaml\n```\n> don't log secrets" for number in range(3)]
    assert observed(of_sessions(*texts)) == []


def test_its_id_is_that_of_what_was_said_first() -> None:
    first = Sighting(KIND_RULE, "use a", "", "s1", 1, 1.0, "g1")
    more = Sighting(KIND_RULE, "use a b", "", "s2", 1, 2.0, "g2")
    assert Observation(KIND_RULE, "x", (first,)).id == Observation(KIND_RULE, "y", (first, more)).id
    assert Observation(KIND_RULE, "x", (more,)).id != Observation(KIND_RULE, "x", (first,)).id


def test_a_group_does_not_drift_from_what_most_of_it_says() -> None:
    names = "kafka redis celery rabbit mongo oracle".split()
    spans = ((0, 3), (0, 4), (1, 5), (2, 6))
    seen = [
        Sighting(KIND_RULE, f"never use {' '.join(names[low:high])}", "", f"s{at}", 1, float(at), f"g{at}")
        for at, (low, high) in enumerate(spans)
    ]
    assert [[s.session for s in each.evidence] for each in gathered(seen, 1)] == [["s0", "s1", "s2"], ["s3"]]
