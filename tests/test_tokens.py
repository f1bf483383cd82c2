"""Counting tokens: cached, in pieces, and safe on any text."""

from __future__ import annotations

import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener import tokens
from aider_gardener.tokens import PIECE_CHARS, approximate, counter, default_counter, pieces


class Encoder:
    """Counts words, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> int:
        self.asked.append(text)
        return len(text.split())


def test_a_text_is_counted_once() -> None:
    encode = Encoder()
    count = counter(encode)
    assert count("one two") == count("one two") == 2 and encode.asked == ["one two"]
    assert count("") == 0


def test_a_long_run_is_estimated_and_never_encoded() -> None:
    encode = Encoder()
    run = "x" * 2_000
    assert counter(encode)(f"before {run} after") == 2 + approximate(run)
    assert run not in "".join(encode.asked)


def test_a_long_run_of_white_space_is_counted_by_its_beginning() -> None:
    asked: list[str] = []
    assert counter(lambda text: asked.append(text) or len(text))(f"before{' ' * 3_000}after") == 3_011
    assert max(map(len, asked)) < 500


@given(st.text(st.characters(exclude_categories=()), max_size=200), st.integers(1, 50))
def test_pieces_make_up_the_text(text: str, size: int) -> None:
    found = pieces(text, size)
    assert "".join(found) == text and all(0 < len(piece) <= size for piece in found)


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_can_be_counted(text: str) -> None:
    assert counter(lambda clean: len(clean.encode()))(text) >= 0
    assert (approximate(text) > 0) == bool(text)


def test_a_long_text_is_the_sum_of_its_pieces() -> None:
    encode = Encoder()
    assert counter(encode)("one two three\n" * 1_000) == 3_000
    assert len(encode.asked) > 1
    assert max(map(len, encode.asked)) <= PIECE_CHARS


def test_a_long_text_is_counted_once_and_not_kept() -> None:
    class Text(str):
        """A text that can be watched."""

    encode = Encoder()
    count = counter(encode)
    text = Text("word " * 1_000)
    kept = weakref.ref(text)
    total, asked = count(text), len(encode.asked)
    assert count("word " * 1_000) == total == 1_000 and len(encode.asked) == asked > 1
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
