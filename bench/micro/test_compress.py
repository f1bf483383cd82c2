"""Each compressor at 1 and 10 MB, a test run of 80,000 tokens, classifying and segmenting."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.message import compress_message
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import Focus, Source, TokenCounter
from aider_gardener.reading.classify import dominant_class
from aider_gardener.reading.segments import segment
from aider_gardener.reading.source import infer_source
from bench.inputs import GENERATORS, made
from bench.micro.chats import RAN

TEXT = functools.lru_cache(maxsize=2)(made)
FOCUS = Focus(frozenset({"ledger", "voucher"}), frozenset({"src/ledger.py"}))
RUN_TOKENS = 80_000
LARGE, ROUNDS, ROUNDS_OF_LARGE = 5_000_000, 10, 3


def rounds(chars: int) -> int:
    return ROUNDS if chars < LARGE else ROUNDS_OF_LARGE


@pytest.mark.parametrize("kind", GENERATORS)
def test_compress(benchmark: Any, kind: str, chars: int) -> None:
    text = TEXT(kind, chars)
    cls, name, _write = GENERATORS[kind]
    context = Context(language=name, focus=FOCUS)
    made_of_it = benchmark.pedantic(compress_text, (text, cls, context), rounds=rounds(chars))
    assert len(made_of_it.text) < len(text)


def test_compress_a_test_run_of_80000_tokens(benchmark: Any, quick: bool, count: TokenCounter) -> None:
    chars = 10_000
    while not quick and count(TEXT("pytest", chars)) < RUN_TOKENS:
        chars += 10_000
    text = TEXT("pytest", chars)
    cls, name, _write = GENERATORS["pytest"]
    context = Context(language=name, focus=FOCUS)
    found = benchmark.pedantic(compress_text, (text, cls, context), rounds=20, warmup_rounds=2)
    assert len(found.text) < len(text) / 4


@pytest.mark.parametrize("kind", GENERATORS)
def test_segment_and_classify(benchmark: Any, kind: str, chars: int) -> None:
    text = TEXT(kind, chars)

    def both() -> str:
        source = infer_source("user", text)
        return dominant_class(text, source, segment(text, source)).value

    assert benchmark.pedantic(both, rounds=rounds(chars))


def test_compress_a_message(benchmark: Any, count: TokenCounter) -> None:
    """The output of a failed test run of usual size, as it enters the chat."""
    text = RAN.format(command="python -m pytest -v", output=made("pytest", 12_000))
    source: Source = infer_source("user", text)
    found = benchmark.pedantic(
        lambda: compress_message(text, source, focus=FOCUS, count=count), rounds=50, warmup_rounds=2
    )
    assert len(found.text) < len(text)
