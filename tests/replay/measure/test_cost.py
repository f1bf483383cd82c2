"""Costs at prompt-cache prices, against figures worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from aider_gardener.errors import ReplayError
from aider_gardener.plan.usage import Prices
from aider_gardener.replay.measure import cost
from aider_gardener.replay.measure.cost import MARKS, NONE, PREFIX, PROVIDERS, Bill, Provider, costs
from aider_gardener.replay.measure.result import ModelCall
from aider_gardener.replay.measure.sharing import SentBefore

OPENAI = Provider("O", "big", "small", PREFIX, unit_tokens=128)
DEEPSEEK = Provider("D", "big", "big", PREFIX, minimum_tokens=64, unit_tokens=64)
PLAIN = Provider("A", "big", "small", NONE)
MARKED = Provider("A+", "big", "small", MARKS)
TABLE = {"big": Prices(10.0, 40.0, 1.0, 12.5), "small": Prices(2.0, 8.0, 0.5, 2.5)}


REAL_PRICES = cost.prices_of


@pytest.fixture(autouse=True)
def own_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "prices_of", lambda model: TABLE[model])


def call(turn: int, *messages: tuple[str, int, str], kind: str = "main", out: int = 0) -> ModelCall:
    tokens = sum(message[1] for message in messages)
    return ModelCall(turn, 1, kind, "m", tokens, out, tuple(messages))


SYSTEM = ("s", 1000, "system")


def bill(calls: Sequence[ModelCall], provider: Provider, *, cold: bool = False) -> Bill:
    """The bill of calls; of those made by hand whole messages are shared."""
    if not any(one.shared for one in calls):
        before = SentBefore({row[0]: ("user", row[0]) for one in calls for row in one.prompt})
        calls = [replace(one, shared=before.add(one.kind, one.prompt, lambda _text: 0)) for one in calls]
    return cost.bill(calls, provider, cold=cold)


def test_a_prefix_below_the_minimum_is_not_cached() -> None:
    calls = [call(1, SYSTEM, ("a", 10, "cur")), call(2, SYSTEM, ("b", 10, "cur"))]
    assert bill(calls, OPENAI) == Bill(20200.0, 2020, 0, 0, 0)
    assert bill(calls, DEEPSEEK).cache_read_tokens == 960, "its minimum is one block"


def test_prefix_is_cached_in_steps_of_128_for_openai_and_64_for_deepseek() -> None:
    calls = [
        call(1, SYSTEM, ("d1", 350, "done"), ("a", 10, "cur")),
        call(2, SYSTEM, ("d1", 350, "done"), ("b", 10, "cur"), out=3),
    ]
    # 1,350 tokens are shared: 10 steps of 128 are 1,280, 21 units of 64 are 1,344.
    assert bill(calls, OPENAI) == Bill(13600 + 80 * 10 + 1280 + 120, 1360 + 80, 1280, 0, 3)
    assert bill(calls, DEEPSEEK).cache_read_tokens == 1344


def test_without_a_window_only_calls_of_the_same_turn_hit() -> None:
    prompt = [SYSTEM, ("d", 1000, "done")]
    calls = [call(1, *prompt), call(1, *prompt, ("r", 10, "cur")), call(2, *prompt)]
    assert bill(calls, OPENAI, cold=True).cache_read_tokens == 1920
    assert bill(calls, OPENAI).cache_read_tokens == 3840


def test_weak_calls_are_charged_at_the_weak_models_price_and_have_their_own_cache() -> None:
    prompt = [("w", 2048, "system")]
    calls = [call(1, *prompt), call(1, *prompt, kind="weak-commit", out=5)]
    assert bill(calls, OPENAI) == Bill(2048 * 10 + 2048 * 2 + 5 * 8, 4096, 0, 0, 5)
    assert bill(calls, DEEPSEEK).cache_read_tokens == 2048


@pytest.mark.parametrize(
    ("prompt", "marks"),
    [
        ("system examples readonly repo done done files cur", [1, 3, 6]),
        ("system readonly cur", [0, 1]),
        ("system cur", [0]),
        ("system bases done diffs files cur", [0, 1, 3]),
        ("system bases repo done files cur", [0, 2, 3]),
        ("system bases files cur", [0, 1]),
    ],
    ids=str,
)
def test_marks_stand_where_the_host_and_the_gardener_would_set_them(prompt: str, marks: list[int]) -> None:
    """After examples, map and files; in a prompt that only grows behind head, bases and history."""
    made = call(1, *((str(at), 1, part) for at, part in enumerate(prompt.split())))
    assert cost.breakpoints(made) == marks
    assert cost.breakpoints(replace(made, marks=(0, 2))) == [0, 2], "where it was sent with some, these"


def test_marked_prompts_are_written_at_a_surcharge_and_read_up_to_a_mark_that_still_matches() -> None:
    head = [("s", 2000, "system"), ("m", 1000, "repo")]
    first = call(1, *head, ("d1", 500, "done"), ("f", 300, "files"), ("q1", 50, "cur"))
    second = call(2, *head, ("d1", 500, "done"), ("d2", 100, "done"), ("f", 300, "files"), ("q2", 60, "cur"))
    # first: 3,800 written, 50 plain. second: 3,000 read (end of the map), 900 written, 60 plain.
    found = bill([first, second], MARKED)
    assert (found.cache_read_tokens, found.cache_write_tokens, found.input_tokens) == (3000, 4700, 110)
    assert found.usd == 3000 * 1 + 4700 * 12.5 + 110 * 10


def test_a_write_more_than_20_messages_before_a_mark_is_not_found() -> None:
    def marked(turn: int, old: int) -> ModelCall:
        made = call(turn, *((f"u{n}", 100, "cur") for n in range(old)), (f"now{old}", 1, "cur"))
        return replace(made, marks=(old - 1,))

    assert bill([marked(1, 20), marked(2, 39)], MARKED).cache_read_tokens == 2000
    assert bill([marked(1, 20), marked(2, 40)], MARKED).cache_read_tokens == 0


def booked(*turns: list[str], kinds: str = "m", ats: Sequence[float | None] = ()) -> list[ModelCall]:
    """A call a turn of messages of these texts, a token a character, the first the system's, as the replay
    books them; `kinds` has "m" for the main model and "w" for a weak one, again and again."""
    said: dict[str, tuple[str, str]] = {}
    sent, calls = SentBefore(said), []
    for turn, texts in enumerate(turns, 1):
        rows = [(text, len(text), "cur" if at else "system") for at, text in enumerate(texts)]
        said.update({text: ("user", text) for text in texts})
        kind = "main" if kinds[(turn - 1) % len(kinds)] == "m" else "weak-commit"
        shared = sent.add(kind, rows, len)
        made = call(turn, *rows, kind=kind)
        at = ats[turn - 1] if ats else None
        calls.append(replace(made, shared=shared, at=at))
    return calls


def test_after_the_time_to_live_nothing_is_read() -> None:
    prompt = ["s" * 2048]
    near, far = booked(prompt, prompt, ats=(0.0, 300.0)), booked(prompt, prompt, ats=(0.0, 301.0))
    assert bill(near, OPENAI).cache_read_tokens == 2048
    assert bill(far, OPENAI).cache_read_tokens == 0
    assert bill(far, replace(OPENAI, ttl_seconds=600)).cache_read_tokens == 2048
    marked = [bill(calls, MARKED).cache_read_tokens for calls in (near, far)]
    assert marked == [2048, 0]


def test_a_later_call_that_shares_less_is_read_when_the_one_that_shares_more_is_too_old() -> None:
    long, short = ["s" * 2048, "a" * 2048], ["s" * 2048, "b" * 2048]
    calls = booked(long, short, [*long, "c"], ats=(0.0, 250.0, 400.0))
    assert calls[2].shared == ((1, 2048), (0, 4096))
    assert bill(calls, OPENAI).cache_read_tokens == 2048 + 2048


def test_real_prices_of_every_provider_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "prices_of", REAL_PRICES)
    for found in costs([call(1, ("s", 2000, "system"), out=10), call(2, ("s", 2000, "system"))]):
        assert 0 < found.cached.usd <= found.uncached.usd
    for provider in PROVIDERS:
        price = cost.prices_of(provider.main)
        assert price.cache_read < price.input <= price.cache_write, provider.name
    openai = cost.prices_of("gpt-4o")
    assert openai.cache_read < openai.input < openai.output
    assert len({provider.name for provider in PROVIDERS}) == len(PROVIDERS)


def test_a_model_without_a_price_is_refused_by_name() -> None:
    with pytest.raises(ReplayError, match="no-such-model"):
        REAL_PRICES("no-such-model")
