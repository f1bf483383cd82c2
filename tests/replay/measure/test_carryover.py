"""Carry-over counts what replies use again, and whether the prompt held it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from made_replays import made_call, made_result, made_session

from aider_gardener.replay.measure.carryover import carried, facts_in
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import CarryOver
from aider_gardener.replay.measure.summary import carry_over as counted
from aider_gardener.replay.session.session import Session, SessionEvent

TURNS = [
    ("port is 8477, see net/ports.py", "I note it."),
    ("something else", "fine"),
    ("and more", "fine"),
    ("which port?", "It is 8477, in net/ports.py."),
]


def carry_over(result: ReplayResult, session: Session) -> CarryOver:
    return counted(list(carried(session, result.calls, result.texts)))


def replayed(*parts: tuple[str, str]) -> CarryOver:
    result = made_result([made_call(4, [*parts, ("cur", "which port?")])])
    return carry_over(result, made_session(*TURNS))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("net/ports.py", {"net/ports.py", "ports.py"}),
        ("src/money.js:12", {"src/money.js", "money.js"}),
        ("orders.create_order(", {"orders.create_order", "create_order"}),
        ("camelCase", {"camelCase"}),
        ("PRIV-207", {"PRIV-207"}),
        ("52.825", {"52.825"}),
        ("1000", set()),
        ("plain words and", set()),
        ("12", set()),
        ("371560kB", {"371560kB"}),
    ],
)
def test_what_counts_as_a_fact(word: str, expected: set[str]) -> None:
    found = {text for is_line, text in facts_in(f"so {word} it is") if not is_line}
    assert expected <= found and (expected or not found)


def test_a_blob_takes_time_by_its_size() -> None:
    began = time.process_time()
    assert facts_in("x" * 300_000) == {(True, "x" * 300_000)}
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        ("done", "port is 8477, see net/ports.py", CarryOver(3, 3)),
        ("done", "something about 8477", CarryOver(3, 1)),
        *((part, "net/ports.py: port = 8477", CarryOver()) for part in "system repo files readonly".split()),
    ],
)
def test_a_fact_counts_unless_the_host_sends_it_anew(part: str, text: str, expected: CarryOver) -> None:
    assert replayed((part, text)) == expected


ASKED_WITH_IT = "is it 8477 in net/ports.py?"


@pytest.mark.parametrize(
    "turns",
    [[*TURNS[:3], (ASKED_WITH_IT, TURNS[3][1])], [TURNS[0], TURNS[1], TURNS[3]]],
    ids=["the current turn says it again", "said less than three turns ago"],
)
def test_what_needs_no_memory_does_not_count(turns: list[tuple[str, str]]) -> None:
    result = made_result([made_call(len(turns), [("cur", turns[-1][0])])])
    assert carry_over(result, made_session(*turns)) == CarryOver()


def test_lines_are_counted_apart() -> None:
    line = "the lease is renewed twice a minute"
    session = made_session((line, "ok"), ("a", "b"), ("c", "d"), ("and?", f"As said:\n  {line}\n"))
    held = carry_over(made_result([made_call(4, [("done", f"- first\n{line}")])]), session)
    lost = carry_over(made_result([made_call(4, [("done", "- first")])]), session)
    assert (held.lines, held.lines_present, lost.lines, lost.lines_present) == (1, 1, 1, 0)
    assert held.facts == 0


def test_a_new_start_of_the_host_forgets_what_was_said_before() -> None:
    session = made_session(*TURNS)
    events = [*session.events[:2], SessionEvent("restart", 1), *session.events[2:]]
    result = made_result([made_call(4, [("done", "port is 8477, see net/ports.py")])])
    assert carry_over(result, replace(session, events=tuple(events))) == CarryOver()


LINE = "PORT_OF_THE_SERVER = find_port()"


@pytest.mark.parametrize(
    ("part", "text", "present"),
    [
        ("diffs", f"\nnet/ports.py\n```diff\n@@\n-{LINE}\n+new\n```\n", 1),
        ("diffs", f"\nnet/ports.py\n```diff\n@@\n {LINE}\n```\n", 1),
        ("bases", f"\nnet/ports.py\n```\n  {LINE}\n```\n", 1),
        ("bases", f"\nnet/ports.py\n```\n- {LINE}\n```\n", 0),
        ("done", f"+{LINE}", 0),
    ],
)
def test_what_only_an_old_text_of_a_file_has_is_a_memory(part: str, text: str, present: int) -> None:
    turns = [("what then?", LINE), *TURNS[1:3], ("again?", LINE)]
    call = made_call(4, [(part, text), ("cur", "again?")])
    found = carry_over(made_result([call]), made_session(*turns))
    assert (found.lines, found.lines_present) == (1, present)


def test_what_the_files_have_as_they_are_needs_none() -> None:
    turns = [("what then?", LINE), *TURNS[1:3], ("again?", LINE)]
    call, texts = made_call(4, [("bases", LINE), ("cur", "again?")])
    result = made_result([(replace(call, files_sha="now"), texts)])
    result = replace(result, texts={**result.texts, "now": f"  {LINE}\n"})
    assert carry_over(result, made_session(*turns)) == CarryOver()
