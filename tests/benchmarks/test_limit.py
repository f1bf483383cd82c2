"""The limit of a run and its net tokens: what of a prompt stood in the last one, wherever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_replays import made_result

from aider_gardener.replay.measure.cost import shared_tokens
from aider_gardener.replay.measure.result import ModelCall, ReplayResult
from aider_gardener.replay.measure.sharing import Row, SentBefore
from bench.limit import PLAIN, limit_net_tokens, net_tokens, standing, standing_tokens


@pytest.fixture(autouse=True)
def own_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litellm.encode", lambda model, text: text)


def rows(*texts: str) -> list[Row]:
    """Messages of which the text is the hash, a token a character."""
    return [(text, len(text), "cur" if at else "system") for at, text in enumerate(texts)]


def run(*prompts: Sequence[str], kinds: str = "m", ats: Sequence[float | None] = ()) -> ReplayResult:
    """A replay of such prompts; `kinds` has "w" for those of a weak model, again and again."""
    said = {text: ("user", text) for prompt in prompts for text in prompt}
    sent, calls = SentBefore(said), []
    for number, prompt in enumerate(prompts):
        kind = "main" if kinds[number % len(kinds)] == "m" else "weak-commit"
        shared = sent.add(kind, rows(*prompt), len)
        call = ModelCall(number + 1, 1, kind, "m", sum(map(len, prompt)), 0, tuple(rows(*prompt)), shared)
        calls.append(replace(call, at=ats[number] if ats else None))
    texts = {sha: text for sha, (_, text) in said.items()}
    return replace(made_result(), calls=tuple(calls), texts=texts)


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
    assert [*standing(found)] == [0, 2401] and shared_tokens(found.calls[1], found.calls, PLAIN) == 1
    assert limit_net_tokens(found) == round(2401 + 240.1)


def test_net_tokens_count_a_tenth_of_what_is_read() -> None:
    found = run(["s" * 1000], ["s" * 1000, "n" * 50])
    assert net_tokens(found.calls) == limit_net_tokens(found) == 1150
    assert net_tokens(found.calls, "weak-commit") == 0


TEXTS = st.lists(st.sampled_from(["a", "b", "aa\n", "ab\nc", "x\n" * 40, "x\n" * 30, "y" * 70]), max_size=6)


@given(
    prompts=st.lists(TEXTS.map(lambda texts: ["s", *texts]), max_size=7),
    kinds=st.text("mw", min_size=1, max_size=4),
    pauses=st.lists(st.sampled_from([1.0, 200.0, 400.0]), min_size=7, max_size=7),
)
def test_nothing_is_below_the_limit_of_its_own_prompts(
    prompts: list[list[str]], kinds: str, pauses: list[float]
) -> None:
    found = run(*prompts, kinds=kinds, ats=list(accumulate(pauses)))
    for one, most in zip(found.calls, standing(found), strict=True):
        assert shared_tokens(one, found.calls, PLAIN) <= most <= one.prompt_tokens
    assert net_tokens(found.calls) >= limit_net_tokens(found)
