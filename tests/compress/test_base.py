"""What every compressor shares: the marker and the measure of what is shorter."""

from __future__ import annotations

from aider_gardener.compress.base import MARKER, is_shorter, omitted, unchanged
from aider_gardener.messages import ContentClass


def test_a_marker_is_recognised_and_names_the_original() -> None:
    assert omitted("812 lines", "g1f03") == "[… 812 lines; whole: g1f03]"
    assert MARKER.match(omitted("812 lines")) and not MARKER.match("[1, 2, 3]")


def test_shorter_is_in_characters_and_in_tokens() -> None:
    def by_words(text: str) -> int:
        return len(text.split())

    assert is_shorter("one two", "one two three", by_words)
    assert not is_shorter("a b c d", "onelongword", by_words), "fewer characters, more tokens"
    assert not is_shorter("onelongerword", "a b c", by_words), "fewer tokens, more characters"
    assert not is_shorter("same", "same", by_words)


def test_tokens_are_counted_no_further_than_needed() -> None:
    seen: list[int] = []

    def counting(text: str) -> int:
        seen.append(len(text))
        return len(text) // 4

    assert is_shorter("short", "a line of many\n" * 20_000, counting)
    assert sum(seen) < 10_000


def test_unchanged_leaves_nothing_out() -> None:
    found = unchanged("text", ContentClass.LOG)
    assert (found.text, found.cls, found.engine, found.lossless) == ("text", ContentClass.LOG, "", True)
