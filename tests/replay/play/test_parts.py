"""A long history is cut between chats, and its parts come to what the whole would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_replays import made_call, made_result

from aider_gardener.replay.measure.result import Compaction, Measured, ReplayResult, Swapped
from aider_gardener.replay.measure.summary import summarize
from aider_gardener.replay.play import parts as cutting
from aider_gardener.replay.play.jobs import Job, replay_job
from aider_gardener.replay.play.parts import joined, joined_summary, part_of, parts, spread
from aider_gardener.replay.play.runner import STOPPED
from aider_gardener.replay.session.history import load_history
from aider_gardener.replay.session.session import Session, SessionEvent


def history(*chats: int, chars: int = 100) -> Session:
    """A history of chats of so many turns, each turn of so many characters."""
    events: list[SessionEvent] = []
    for turns in chats:
        if events:
            events.append(SessionEvent("restart", events[-1].turn))
        for _turn in range(turns):
            turn = (events[-1].turn if events else 0) + 1
            events += [
                SessionEvent("user", turn, text="?"),
                SessionEvent("reply", turn, text="x" * (chars - 1)),
            ]
    return Session(name="shop", events=tuple(events), sha256="", recorded=False)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_CHARS", 1_000)
    monkeypatch.setattr(cutting, "TASTE_CHARS", 100)


@pytest.mark.usefixtures("small")
def test_parts_end_with_chats_hold_every_turn_once_and_are_about_alike() -> None:
    chats = (2, 3, 1, 8, 2, 5, 4, 1, 1, 3)
    found = parts(history(*chats))
    ends = [sum(chats[:number]) for number in range(1, len(chats) + 1)]
    assert found[0] == (1, 2)
    assert [last for _, last in found if last not in ends] == []
    assert [turn for first, last in found for turn in range(first, last + 1)] == list(
        range(1, sum(chats) + 1)
    )
    assert len(found) == 4 and max(last - first + 1 for first, last in found) <= 12


@pytest.mark.usefixtures("small")
def test_one_chat_a_short_history_and_a_recorded_session_are_never_cut() -> None:
    assert parts(history(40)) == [(1, 40)]
    assert parts(history(4, 5)) == [(1, 9)]
    assert parts(replace(history(20, 20), recorded=True)) == [(1, 40)]


def test_the_first_parts_lie_far_apart() -> None:
    order = spread(12)
    assert sorted(order) == list(range(12)) and order[0] == 0
    assert max(order[:4]) - min(order[:4]) >= 6


def test_a_part_has_the_events_of_its_turns() -> None:
    session = history(2, 3)
    part = part_of(session, (3, 5))
    assert {event.turn for event in part.events} == {3, 4, 5} and part.turn_count == 5
    assert part_of(session, (1, 5)) is session


def made_part(first: int) -> ReplayResult:
    (one, texts), (two, more) = (made_call(turn, [("done", f"text {turn}")]) for turn in (first, first + 1))
    calls = (replace(one, shared=()), replace(two, shared=((0, 3),), standing_tokens=2))
    swap = Swapped(0, "e", first, "s", "c", "whole", "line", 1, "why", "original", "line")
    plan = Compaction(turn=first, by="plan", applied=True, tokens_before=9, tokens_after=3)
    return replace(
        made_result(turns=2, compactions=[plan], measured=Measured(1.0, (0.5,), {first: 0.1})),
        calls=calls,
        texts={**texts, **more},
        swaps=(swap,),
        notices=(f"turn {first}: a note",),
    )


def test_joined_parts_keep_what_each_shares_with_its_own_earlier_calls() -> None:
    first, second = made_part(1), replace(made_part(3), notices=(STOPPED.format(turn=3), "turn 1: a note"))
    both = joined([first, second])
    assert both.turns == 4 and [call.turn for call in both.calls] == [1, 2, 3, 4]
    assert [call.shared for call in both.calls] == [(), ((0, 3),), (), ((2, 3),)]
    assert [swap.plan for swap in both.swaps] == [0, 1] and len(both.compactions) == 2
    assert both.measured == Measured(2.0, (0.5, 0.5), {1: 0.1, 3: 0.1})
    assert both.notices == (STOPPED.format(turn=3), "turn 1: a note")
    assert set(both.texts.values()) == {f"text {turn}" for turn in range(1, 5)}
    assert joined([first]) is first


def test_the_summary_of_joined_parts_is_that_of_their_result() -> None:
    session = history(2, 2)
    results = [made_part(1), made_part(3)]
    summaries = [
        summarize(result, part_of(session, turns))
        for result, turns in zip(results, [(1, 2), (3, 4)], strict=True)
    ]
    both = joined(results)
    assert joined_summary(summaries, both) == summarize(both, session)


def test_parts_of_a_real_history_come_to_what_the_whole_does(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    chat = "\n# aider chat started at 2025-01-0{n} 10:00:00\n\n> Aider v0.86.2  \n\n#### why {n}?  \n\nbecause {n}\n\n> Tokens: 1k sent.  \n"
    path.write_text("".join(chat.format(n=n) for n in range(1, 5)), encoding="utf-8")
    session = load_history(path)
    whole = replay_job(Job(path, "stock"))
    read = replay_job(Job(path, "stock", turns=(3, 4)), session=part_of(session, (3, 4)))
    pieces = joined([replay_job(Job(path, "stock", turns=(1, 2))), read])
    assert session.turn_count == whole.turns == pieces.turns == 4
    assert [call.prompt for call in pieces.calls] == [call.prompt for call in whole.calls]
    assert pieces.tokens_billed == whole.tokens_billed
