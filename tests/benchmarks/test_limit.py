"""The limit of a run and its net tokens: what of a prompt stood in the last one, wherever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_replays import made_result

from aider_gardener.plan.usage import Prices
from aider_gardener.replay.measure import cost
from aider_gardener.replay.measure.cost import Provider, bill, shared_tokens
from aider_gardener.replay.measure.result import ModelCall
from aider_gardener.replay.measure.sharing import Row, SentBefore
from bench import limit
from bench.limit import Limit, net_tokens, standing_tokens

TABLE = {"big": Prices(10.0, 40.0, 1.0, 12.5), "small": Prices(2.0, 8.0, 0.5, 2.5)}
PROVIDERS = [Provider("P", "big", "small", each, minimum_tokens=1) for each in (cost.PREFIX, cost.MARKS, "")]
PREFIX, MARKED = PROVIDERS[0], PROVIDERS[1]


@pytest.fixture(autouse=True)
def own_prices_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cost, limit):
        monkeypatch.setattr(module, "prices_of", lambda model: TABLE[model])
    monkeypatch.setattr("litellm.encode", lambda model, text: text)


def rows(*texts: str) -> list[Row]:
    """Messages of which the text is the hash, a token a character."""
    return [(text, len(text), "cur" if at else "system") for at, text in enumerate(texts)]


def run(*prompts: Sequence[str], kinds: str = "m", ats: Sequence[float | None] = ()) -> Limit:
    """A replay of such prompts; `kinds` has "w" for those of a weak model, again and again."""
    said = {text: ("user", text) for prompt in prompts for text in prompt}
    sent, calls = SentBefore(said), []
    for number, prompt in enumerate(prompts):
        kind = "main" if kinds[number % len(kinds)] == "m" else "weak-commit"
        shared = sent.add(kind, rows(*prompt), len)
        call = ModelCall(number + 1, 1, kind, "m", sum(map(len, prompt)), 0, tuple(rows(*prompt)), shared)
        calls.append(replace(call, at=ats[number] if ats else None))
    texts = {sha: text for sha, (_, text) in said.items()}
    return Limit(replace(made_result(), calls=tuple(calls), texts=texts))


def stands(prompt: Sequence[str], last: Sequence[str]) -> int:
    return standing_tokens(rows(*prompt), rows(*last), {text: text for text in (*prompt, *last)}, len)


def test_a_message_that_stands_again_counts_whole_wherever_it_stands() -> None:
    assert stands(["b", "a"], ["a", "b"]) == 2
    assert stands(["a", "a"], ["a"]) == 1, "what stood once counts once"


def test_of_a_changed_message_the_lines_that_stood_count() -> None:
    assert stands(["one\ntwo"], ["two", "x"]) == len("one\ntwo") // 2
    assert stands(["one\none"], ["one\ntwo"]) == len("one\none") // 2
    assert stands(["one\ntwo"], ["two\none"]) == len("one\ntwo")
    assert stands(["new"], ["old"]) == 0


def test_the_limit_reads_what_stands_again_wherever_it_stands() -> None:
    one, two = "a\n" * 600, "b\n" * 600
    found = run(["s", one, two], ["s", two, one])
    assert bill(found.calls, PREFIX).cache_read_tokens == 1
    assert (found.bill(PREFIX).cache_read_tokens, found.bill(PREFIX).usd) == (2401, 2401 * 1.0 + 2401 * 10.0)


def test_the_limit_writes_only_what_the_next_call_reads() -> None:
    found = run(["s" * 100], ["s" * 100, "n" * 50], ["s" * 100, "n" * 50]).bill(MARKED)
    assert (found.cache_write_tokens, found.cache_read_tokens, found.input_tokens) == (150, 250, 0)


def test_net_tokens_count_a_tenth_of_what_is_read() -> None:
    found = run(["s" * 1000], ["s" * 1000, "n" * 50])
    assert net_tokens(found.calls) == found.net_tokens() == 1150
    assert net_tokens(found.calls, "weak-commit") == 0


TEXTS = st.lists(st.sampled_from(["a", "b", "aa\n", "ab\nc", "x\n" * 40, "x\n" * 30, "y" * 70]), max_size=6)


@given(
    prompts=st.lists(TEXTS.map(lambda texts: ["s", *texts]), max_size=7),
    kinds=st.text("mw", min_size=1, max_size=4),
    pauses=st.lists(st.sampled_from([1.0, 200.0, 400.0]), min_size=7, max_size=7),
)
def test_no_bill_is_below_the_limit_of_its_own_prompts(
    prompts: list[list[str]], kinds: str, pauses: list[float]
) -> None:
    found = run(*prompts, kinds=kinds, ats=list(accumulate(pauses)))
    for provider in PROVIDERS:
        least, again = found.bill(provider), found.standing(provider)
        for one, most in zip(found.calls, again, strict=True):
            assert shared_tokens(one, found.calls, provider) <= most
        for cold in (False, True):
            paid = bill(found.calls, provider, cold=cold)
            assert paid.usd >= least.usd - 1e-6
            assert paid.cache_read_tokens <= least.cache_read_tokens
    assert net_tokens(found.calls) >= found.net_tokens()
