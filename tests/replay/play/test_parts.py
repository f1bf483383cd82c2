"""A long history is cut between chats, and its parts come to what the whole would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_replays import made_call, made_result

from aider_gardener.replay.measure.result import STOPPED, Compaction, ReplayResult
from aider_gardener.replay.play import parts as cutting
from aider_gardener.replay.play.jobs import Job, replay_all
from aider_gardener.replay.play.parts import joined, parts
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


@pytest.mark.usefixtures("small")
def test_parts_end_with_chats_hold_every_turn_once_and_are_about_alike() -> None:
    chats = (2, 3, 1, 8, 2, 5, 4, 1, 1, 3)
    found = [(part.first_turn, part.turn_count) for part in parts(history(*chats))]
    ends = [sum(chats[:number]) for number in range(1, len(chats) + 1)]
    assert [last for _, last in found if last not in ends] == []
    assert [turn for first, last in found for turn in range(first, last + 1)] == list(
        range(1, sum(chats) + 1)
    )
    assert len(found) == 4 and max(last - first + 1 for first, last in found) <= 14


@pytest.mark.usefixtures("small")
def test_one_chat_a_short_history_and_a_recorded_session_are_never_cut() -> None:
    for whole in (history(40), history(4, 5), replace(history(20, 20), recorded=True)):
        assert parts(whole) == [whole]


def made_part(first: int) -> ReplayResult:
    (one, texts), (two, more) = (made_call(turn, [("done", f"text {turn}")]) for turn in (first, first + 1))
    calls = (one, replace(two, shared=((0, 3),)))
    plan = Compaction(turn=first, by="plan", applied=True, tokens_before=9, tokens_after=3, seconds=0.5)
    return replace(
        made_result(turns=2, compactions=[plan], overhead={first: 0.1}),
        calls=calls,
        texts={**texts, **more},
        replay_seconds=1.0,
        notices=(f"turn {first}: a note",),
    )


def test_joined_parts_keep_what_each_shares_with_its_own_earlier_calls() -> None:
    first, second = made_part(1), replace(made_part(3), notices=(f"turn 3: {STOPPED}", "turn 1: a note"))
    both = joined([first, second])
    assert both.turns == 4 and [call.turn for call in both.calls] == [1, 2, 3, 4]
    assert [call.shared for call in both.calls] == [(), ((0, 3),), (), ((2, 3),)]
    assert len(both.compactions) == 2 and both.plan_seconds == [0.5, 0.5]
    assert both.replay_seconds == 2.0 and both.overhead_seconds == {1: 0.1, 3: 0.1}
    assert both.notices == (f"turn 3: {STOPPED}", "turn 1: a note")
    assert set(both.texts.values()) == {f"text {turn}" for turn in range(1, 5)}
    assert joined([first]) is first


def test_parts_of_a_real_history_come_to_what_the_whole_does(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    chat = "\n# aider chat started at 2025-01-0{n} 10:00:00\n\n> Aider v0.86.2  \n\n#### why {n}?  \n\nbecause {n}\n\n> Tokens: 1k sent.  \n"
    path.write_text("".join(chat.format(n=n) for n in range(1, 5)), encoding="utf-8")
    session = load_history(path)
    halves = [
        replace(session, events=tuple(event for event in session.events if (event.turn > 2) is later))
        for later in (False, True)
    ]
    whole, *read = replay_all([Job(each, "stock") for each in (session, *halves)])
    pieces = joined(read)
    assert session.turn_count == whole.turns == pieces.turns == 4
    assert [call.prompt for call in pieces.calls] == [call.prompt for call in whole.calls]
    assert pieces.tokens_billed == whole.tokens_billed
