"""Counting tokens: cached, in pieces, and safe on any text."""

from __future__ import annotations

import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener import tokens
from aider_gardener.tokens import PIECE_CHARS, approximate, counter, default_counter, pieces


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    def encode(text: str) -> int:
        asked.append(text)
        return len(text.split())

    count = counter(encode)
    assert count("one two") == count("one two") == 2 and asked == ["one two"]
    assert count("") == 0


def test_a_long_run_is_estimated_and_never_encoded() -> None:
    asked: list[str] = []

    def encode(text: str) -> int:
        asked.append(text)
        return 1

    run = "x" * 2_000
    assert counter(encode)(f"before {run} after") == 2 + approximate(run)
    assert run not in "".join(asked)


@given(st.text(st.characters(exclude_categories=()), max_size=200), st.integers(1, 50))
def test_pieces_make_up_the_text(text: str, size: int) -> None:
    found = pieces(text, size)
    assert "".join(found) == text and all(0 < len(piece) <= size for piece in found)


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_can_be_counted(text: str) -> None:
    assert counter(lambda clean: len(clean.encode()))(text) >= 0
    assert (approximate(text) > 0) == bool(text)


def test_a_long_text_is_the_sum_of_its_pieces() -> None:
    asked: list[str] = []

    def encode(text: str) -> int:
        asked.append(text)
        return len(text.split())

    assert counter(encode)("one two three\n" * 1_000) == 3_000
    assert len(asked) > 1
    assert max(map(len, asked)) <= PIECE_CHARS


def test_a_long_text_is_counted_once_and_not_kept() -> None:
    class Text(str):
        """A text that can be watched."""

    asked: list[str] = []

    def encode(text: str) -> int:
        asked.append(text)
        return 1

    count = counter(encode)
    text = Text("word " * 1_000)
    kept = weakref.ref(text)
    total = count(text)
    assert count("word " * 1_000) == total == len(asked) > 1
    del text
    assert kept() is None


@settings(deadline=None)  # litellm is imported with the first
@given(st.text(max_size=200))
def test_without_a_model_the_tokens_are_those_of_the_encoding_that_litellm_ships(text: str) -> None:
    from litellm.litellm_core_utils.default_encoding import encoding

    clean = text.encode("utf-8", "replace").decode()
    assert default_counter()(text) == len(encoding.encode(clean, disallowed_special=()))


def test_what_marks_the_end_of_a_text_for_a_model_is_text_here() -> None:
    assert default_counter()("hello world") == 2
    assert default_counter()("<|endoftext|>") > 1


def test_without_the_encoding_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    assert default_counter.__wrapped__() is approximate
