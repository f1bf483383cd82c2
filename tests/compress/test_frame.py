"""The frame of terminal output: how much may be kept, what fits, and the line above it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from made_entries import words

from aider_gardener.compress.base import MARKER, Context
from aider_gardener.compress.frame import (
    SMALL_TOKENS,
    allowance,
    cut,
    estimate,
    fitting,
    framed,
    plural,
    touches,
    untouched,
)
from aider_gardener.messages import ContentClass, Focus


def test_the_allowance_grows_with_the_text_and_its_share_falls() -> None:
    assert allowance(SMALL_TOKENS, 0.05, 0.2) == SMALL_TOKENS
    assert allowance(3_000, 0.05, 0.2) == 600 and allowance(50_000, 0.05, 0.2) == 2_500
    sizes = [200, 3_000, 10_000, 50_000, 200_000, 1_000_000]
    kept = [allowance(size, 0.05, 0.2) for size in sizes]
    assert kept == sorted(kept)
    shares = [most / size for most, size in zip(kept, sizes, strict=True)]
    assert all(one > other for one, other in pairwise(shares))


def test_small_texts_and_our_own_are_left_alone() -> None:
    ctx = Context(count=words)
    for text in ("a few words", "[… 812 lines; whole: g1f03]\nand a body\n" + "more words\n" * 900):
        found = untouched(text, ctx, ContentClass.LOG, "app-log")
        assert found is not None and found.text == text and found.lossless
    assert untouched("word " * 9_000, ctx, ContentClass.LOG, "app-log") is None


def test_a_framed_text_begins_with_a_marker() -> None:
    body = ["one", "", "two"]
    found = framed(
        "line\n" * 99, "3  kinds", body, Context(entry_id="g1"), ContentClass.LOG, "x", {"errors": 2}
    )
    head, *rest = found.text.split("\n")
    assert MARKER.match(head) and head == "[… 3 kinds; 100 lines; whole: g1]"
    assert rest == ["one", "two"] and found.kept == {"errors": 2} and not found.lossless


def test_the_most_detailed_variant_that_fits_is_taken() -> None:
    made: list[int] = []

    def of(count: int) -> list[str]:
        made.append(count)
        return ["a word"] * count

    variants = [lambda n=n: of(n) for n in (50, 10, 3, 1)]
    assert fitting(variants, 20, words) == ["a word"] * 10 and made == [50, 10]
    assert fitting(variants, 0, words) == ["a word"], "the last one, whatever it takes"


def test_what_is_cut_is_counted() -> None:
    lines = [f"line {n} of a list" for n in range(100)]
    shown = cut(lines, 30, words)
    assert shown[-1] == f"[… {101 - len(shown)} more of 100 lines]" and shown[:-1] == lines[: len(shown) - 1]
    assert cut(lines[:2], 500, words) == lines[:2]


def test_the_tokens_of_a_long_text_are_estimated() -> None:
    text = "four words a line\n" * 20_000
    assert estimate(text, words) == pytest.approx(80_000, rel=0.02)
    assert estimate("one two", words) == 2


def test_a_line_touches_the_focus_by_path_or_longer_word() -> None:
    focus = Focus(frozenset({"ledger", "key"}), frozenset({"src/rates.py"}))
    assert touches("the Ledger is closed", focus) and touches("at src/rates.py:3", focus)
    assert not touches("a key of it", focus) and not touches("the ledger", Focus())


def test_nouns_are_counted() -> None:
    assert (plural(1, "error"), plural(2, "error"), plural(0, "line")) == ("1 error", "2 errors", "0 lines")
