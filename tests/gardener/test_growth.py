"""Growth of a chat: growth, trend, status line, what was saved, kept across runs."""

from __future__ import annotations

import pytest
from made_chats import shown
from made_entries import make_gardener, message, talk, words

from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.errors import StoreError
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.report import POINTS, outlook, sent, status_line, turn_over
from aider_gardener.gardener.state import Growth, Point
from aider_gardener.gardener.stored_chat import saved_growth, saved_sessions
from aider_gardener.plan.goals import Frame, Goal
from aider_gardener.plan.usage import Call, Prices

PROSE = " ".join(f"The part number {n} of the answer explains a detail of topic {n * 3}." for n in range(60))
PRICES = Prices(input=1e-3, output=0.0, cache_read=1e-4, cache_write=1e-3)


def send(gardener: Gardener, *texts: str) -> None:
    sent(gardener.state, texts, sum(map(words, texts)))


def test_the_status_line_is_short() -> None:
    points = [Point(86_700, 200_000)]
    assert status_line(points, 2) == "43 % 86.7k · 2 compactions"
    assert status_line([Point(940, 0)], 1) == "940 · 1 compaction"


def test_the_outlook_says_how_many_turns_are_left() -> None:
    found = outlook([Point(10_000 * n, 100_000) for n in range(1, 8)])
    assert found["level"] == "WARNING"
    assert found["trend_tokens_a_turn"] == 10_000
    assert found["turns_left"] == 3
    full = outlook([Point(20_000 * n, 100_000) for n in range(1, 8)])
    assert (full["level"], full["turns_left"]) == ("HARD", None)
    assert found["bar"] == "█" * 14 + "░" * 6
    assert outlook([Point(9, 100)])["trend_tokens_a_turn"] == 0 and outlook([]) == {}


def chatted(gardener: Gardener, turns: int) -> None:
    """So many turns, each with one prompt that holds the whole view."""
    gardener.state.frame = Frame(window=100_000, parts={"system": 100})
    for number in range(turns):
        gardener.enter_turn()
        done = list(gardener.state.chat.done)
        gardener.sync([*done, *talk((f"question {number}", f"Answer {number}. {PROSE}"))], [])
        gardener.state.usage.add(Call(1_000, 10), PRICES)
        texts = ["word " * 100, *(piece.content for piece in gardener.state.chat.done)]
        send(gardener, *texts)
        gardener.leave_turn()
        turn_over(gardener.state)


def test_what_was_left_out_is_saved_on_every_prompt_and_recall_counts_against_it() -> None:
    gardener = make_gardener(history_tokens=1_000_000)
    chatted(gardener, 6)
    plan = compact_to(gardener.state, Goal(high=500, low=300))
    assert plan is not None
    texts = ["word " * 100, *(piece.content for piece in gardener.state.chat.done)]
    send(gardener, *texts)
    stands = sum(words(piece.content) for piece in gardener.state.chat.done)
    whole = sum(entry.tokens for entry in gardener.state.chat.entries.values())
    assert gardener.state.growth.saved_tokens == whole - stands
    assert gardener.state.growth.saved_cost == pytest.approx((whole - stands) * 1e-3)
    before, recalled = gardener.state.growth.saved_tokens, gardener.recall_note("what of topic 9?", "")
    assert recalled
    send(gardener, *texts, recalled)
    assert gardener.state.growth.saved_tokens - before == whole - stands - words(recalled)


def test_where_all_stood_whole_another_counter_and_more_around_it_save_and_lose_nothing() -> None:
    gardener = make_gardener(history_tokens=1_000_000)
    chatted(gardener, 3)
    gardener.state.archive.count = lambda text: 2 * words(text)
    reminder = "answer in the edit format " * 50
    send(gardener, "word " * 100, *(piece.content for piece in shown(gardener)), reminder)
    assert gardener.state.growth.saved_tokens == 0 and gardener.state.growth.saved_cost == 0


def test_what_no_window_could_have_taken_was_not_saved() -> None:
    gardener = make_gardener(history_tokens=1_000)
    gardener.state.frame = Frame(window=6_000, parts={"system": 100})
    gardener.sync(talk(("here it is", PROSE * 20), ("and?", "So.")), [message("user", "go on")])
    assert gardener.compact_if_due()
    texts = ["word " * 100, *(piece.content for piece in shown(gardener))]
    send(gardener, *texts)
    assert gardener.state.growth.saved_tokens == 6_000 - sum(map(words, texts))


def test_growth_is_kept_across_runs_and_bounded() -> None:
    gardener = make_gardener(history_tokens=1_000_000)
    chatted(gardener, 3)
    store = gardener.state.archive.store
    ((session, points),) = saved_sessions(store, "p")
    assert session.turns == session.calls == 3
    assert [point.tokens for point in points] == [point.tokens for point in gardener.state.growth.points]
    gardener.enter_turn()
    gardener.sync([*gardener.state.chat.done, *talk(("the process ends", "before the answer does"))], [])
    assert saved_sessions(store, "p")[0][0].turns == store.sessions("p")[0].turns == 4
    gardener.leave_turn()
    store.open_session("s2", project="p", started_at=2_000.0)
    gardener.state.archive.session = "s2"
    gardener.state.growth = Growth()
    chatted(gardener, 1)
    assert len(gardener.state.growth.points) == 4
    gardener.state.growth.points *= 40
    chatted(gardener, 1)
    assert len(gardener.state.growth.points) == POINTS


def test_a_store_that_refuses_costs_nothing_but_the_point(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = make_gardener()

    def refuse(*_arguments: object) -> None:
        raise StoreError("full")

    monkeypatch.setattr(gardener.state.archive.store, "set_state", refuse)
    chatted(gardener, 1)
    assert len(gardener.state.growth.points) == 1


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"session": {"turns": 1}, "points": [{}]}'])
def test_a_state_that_cannot_be_read_is_none(text: str | None) -> None:
    store = make_gardener().state.archive.store
    if text is not None:
        store.set_state("s", "autopilot", text)
    assert saved_growth(store, SessionInfo("s", "p", 0.0)) is None


def test_what_the_host_took_out_would_not_have_been_sent_anyway() -> None:
    gardener = make_gardener(history_tokens=1_000_000)
    messages = talk(("question", f"Answer. {PROSE}"), ("again", "Yes."))
    gardener.sync(messages, [])
    gardener.sync(messages[:2], [])
    send(gardener, *(message["content"] for message in messages[:2]))
    assert gardener.state.growth.saved_tokens == 0
