"""Costs at prompt-cache prices, against figures worked out by hand."""

from __future__ import annotations

import pytest

from aider_gardener.errors import ReplayError
from aider_gardener.plan.usage import Prices
from aider_gardener.replay.measure import cost
from aider_gardener.replay.measure.cost import (
    PROVIDERS,
    Bill,
    HistoryMark,
    Provider,
    Rule,
    Window,
    bill,
    costs,
)
from aider_gardener.replay.measure.result import ModelCall

OPENAI = Provider("O", "big", "small", Rule.PREFIX, unit_tokens=128)
DEEPSEEK = Provider("D", "big", "big", Rule.PREFIX, unit_tokens=64)
PLAIN = Provider("A", "big", "small", Rule.NONE)
MARKED = Provider("A+", "big", "small", Rule.BREAKPOINTS)
TABLE = {"big": Prices(10.0, 40.0, 1.0, 12.5), "small": Prices(2.0, 8.0, 0.5, 2.5)}


REAL_PRICES = cost.prices_of


@pytest.fixture(autouse=True)
def own_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "prices_of", lambda model: TABLE[model])


def call(turn: int, *messages: tuple[str, int, str], kind: str = "main", out: int = 0) -> ModelCall:
    tokens = sum(message[1] for message in messages)
    return ModelCall(turn, 1, kind, "m", len(messages), 0, tokens, out, {}, tuple(messages))


SYSTEM = ("s", 1000, "system")


def test_a_prefix_below_the_minimum_is_not_cached() -> None:
    calls = [call(1, SYSTEM, ("a", 10, "cur")), call(2, SYSTEM, ("b", 10, "cur"))]
    assert bill(calls, OPENAI, Window.SESSION) == Bill(20200.0, 2020, 0, 0, 0)


def test_prefix_is_cached_in_steps_of_128_for_openai_and_64_for_deepseek() -> None:
    calls = [
        call(1, SYSTEM, ("d1", 350, "done"), ("a", 10, "cur")),
        call(2, SYSTEM, ("d1", 350, "done"), ("b", 10, "cur"), out=3),
    ]
    # 1,350 tokens are shared: 10 steps of 128 are 1,280, 21 units of 64 are 1,344.
    assert bill(calls, OPENAI, Window.SESSION) == Bill(13600 + 80 * 10 + 1280 + 120, 1360 + 80, 1280, 0, 3)
    assert bill(calls, DEEPSEEK, Window.SESSION).cache_read_tokens == 1344


def test_any_earlier_call_within_the_window_counts_not_only_the_last() -> None:
    first = call(1, SYSTEM, ("d1", 1000, "done"), ("a", 48, "cur"))
    other = call(2, SYSTEM, ("changed", 1000, "done"), ("b", 48, "cur"))
    again = call(3, SYSTEM, ("d1", 1000, "done"), ("c", 48, "cur"))
    assert bill([first, other, again], OPENAI, Window.SESSION).cache_read_tokens == 1920


def test_without_a_window_only_calls_of_the_same_turn_hit() -> None:
    prompt = [SYSTEM, ("d", 1000, "done")]
    calls = [call(1, *prompt), call(1, *prompt, ("r", 10, "cur")), call(2, *prompt)]
    assert bill(calls, OPENAI, Window.TURN).cache_read_tokens == 1920
    assert bill(calls, OPENAI, Window.SESSION).cache_read_tokens == 3840


def test_weak_calls_are_charged_at_the_weak_models_price_and_have_their_own_cache() -> None:
    prompt = [("w", 2048, "system")]
    calls = [call(1, *prompt), call(1, *prompt, kind="weak-commit", out=5)]
    assert bill(calls, OPENAI, Window.SESSION) == Bill(2048 * 10 + 2048 * 2 + 5 * 8, 4096, 0, 0, 5)
    assert bill(calls, DEEPSEEK, Window.SESSION).cache_read_tokens == 2048


def test_anthropic_without_marks_caches_nothing() -> None:
    calls = [call(1, ("s", 5000, "system")), call(1, ("s", 5000, "system"))]
    assert bill(calls, PLAIN, Window.SESSION) == Bill(100000.0, 10000, 0, 0, 0)


def test_marks_stand_after_examples_repo_and_files() -> None:
    rows = [
        ("a", 1, "system"),
        ("b", 1, "examples"),
        ("c", 1, "readonly"),
        ("d", 1, "repo"),
        ("e", 1, "done"),
        ("f", 1, "done"),
        ("g", 1, "files"),
        ("h", 1, "cur"),
    ]
    assert cost.breakpoints(rows) == [1, 3, 6]
    assert cost.breakpoints([rows[0], rows[2], rows[7]]) == [0, 1]


def test_marked_prompts_are_written_at_a_surcharge_and_read_up_to_a_mark_that_still_matches() -> None:
    head = [("s", 2000, "system"), ("m", 1000, "repo")]
    first = call(1, *head, ("d1", 500, "done"), ("f", 300, "files"), ("q1", 50, "cur"))
    second = call(2, *head, ("d1", 500, "done"), ("d2", 100, "done"), ("f", 300, "files"), ("q2", 60, "cur"))
    # first: 3,800 written, 50 plain. second: 3,000 read (end of the map), 900 written, 60 plain.
    found = bill([first, second], MARKED, Window.SESSION)
    assert (found.cache_read_tokens, found.cache_write_tokens, found.input_tokens) == (3000, 4700, 110)
    assert found.usd == 3000 * 1 + 4700 * 12.5 + 110 * 10


def test_the_gardeners_mark_stands_before_the_current_message_and_before_what_is_recalled() -> None:
    rows = [
        ("s", 1, "system"),
        ("u1", 1, "cur"),
        ("a1", 1, "cur"),
        ("note", 1, "cur"),
        ("ok", 1, "cur"),
        ("u2", 1, "cur"),
        ("r", 1, "reminder"),
    ]
    mark = HistoryMark(frozenset({"note"}))
    assert cost.breakpoints(rows, mark) == [0, 2]
    assert cost.breakpoints([*rows[:3], rows[5]], mark) == [0, 2]
    assert cost.breakpoints([rows[0], *rows[3:6]], mark) == [0]
    assert cost.breakpoints([rows[0], rows[5]], mark) == [0]


def test_a_mark_behind_finished_exchanges_lets_them_be_read() -> None:
    head = [("s", 2000, "system"), ("u1", 500, "cur")]
    first = call(1, *head, ("a1", 40, "cur"), ("u2", 30, "cur"))
    second = call(2, *head, ("a1", 40, "cur"), ("u2", 30, "cur"), ("a2", 100, "cur"), ("u3", 20, "cur"))
    found = bill([first, second], MARKED, Window.SESSION, HistoryMark())
    # first: 2,540 written. second: these read, 130 written.
    assert (found.cache_read_tokens, found.cache_write_tokens, found.input_tokens) == (2540, 2670, 50)
    without = bill([first, second], MARKED, Window.SESSION)
    assert (without.cache_read_tokens, without.cache_write_tokens) == (2000, 2000)


def test_a_write_more_than_20_messages_before_a_mark_is_not_found() -> None:
    def prompt(old: int) -> list[tuple[str, int, str]]:
        return [*((f"u{n}", 100, "cur") for n in range(old)), (f"now{old}", 1, "cur")]

    near = [call(1, *prompt(20)), call(2, *prompt(39))]
    far = [call(1, *prompt(20)), call(2, *prompt(40))]
    assert bill(near, MARKED, Window.SESSION, HistoryMark()).cache_read_tokens == 2000
    assert bill(far, MARKED, Window.SESSION, HistoryMark()).cache_read_tokens == 0


def test_real_prices_of_every_provider_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "prices_of", REAL_PRICES)
    for found in costs([call(1, ("s", 2000, "system"), out=10), call(2, ("s", 2000, "system"))]):
        assert 0 < found.cached.usd <= found.uncached.usd
    openai = cost.prices_of("gpt-4o")
    assert openai.cache_read < openai.input < openai.output
    assert len({provider.name for provider in PROVIDERS}) == len(PROVIDERS)


def test_a_model_without_a_price_is_refused_by_name() -> None:
    with pytest.raises(ReplayError, match="no-such-model"):
        REAL_PRICES("no-such-model")
