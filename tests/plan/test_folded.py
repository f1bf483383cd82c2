"""Folded entries read as before, and what is remembered of an entry does not keep its text."""

from __future__ import annotations

import gc
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import ContentClass, Entry, Segment, Source, SourceKind, entry_id
from aider_gardener.plan.folded import FOLDED_CHARS, Folded, fold, remembered


def entry(text: str) -> Entry:
    parts = (Segment(0, len(text), ContentClass.LOG),)
    source = Source(SourceKind.COMMAND, "make")
    return Entry(entry_id("user", text), "s", 1, 0, "user", text, source, ContentClass.LOG, parts, 9)


@given(st.text(min_size=1, max_size=20).map(lambda unit: unit * FOLDED_CHARS) | st.just("\ud800" * 9_000))
def test_a_folded_entry_is_what_it_was(text: str) -> None:
    whole = entry(text)
    folded = fold(whole)
    assert isinstance(folded, Folded) and folded == whole and whole == folded
    assert hash(folded) == hash(whole) and (folded.content, folded.size) == (text, len(text))
    assert replace(folded, pinned=True) == replace(whole, pinned=True) != whole
    assert fold(folded) is folded


def test_a_short_entry_stays_as_it_is() -> None:
    short = entry("x" * (FOLDED_CHARS - 1))
    assert fold(short) is short and short.size == FOLDED_CHARS - 1


def test_a_folded_text_takes_little() -> None:
    folded = fold(entry("2026-11-03 INFO worker-3 job done\n" * 6_000))
    held = [value for value in vars(folded).values() if isinstance(value, (str, bytes))]
    assert sum(len(value) for value in held) < 10_000 and folded.size == 204_000


def test_what_was_read_is_remembered_and_the_text_is_not() -> None:
    class Text(str):
        pass

    asked: list[str] = []

    @remembered(2)
    def first_word(one: Entry) -> str:
        asked.append(one.id)
        return one.content.split()[0]

    one, two, three = (entry(f"{word} " * 3) for word in ("one", "two", "three"))
    assert [first_word(each) for each in (one, one, two, one)] == ["one", "one", "two", "one"]
    assert asked == [one.id, two.id]
    first_word(three)
    first_word(two)
    assert asked == [one.id, two.id, three.id, two.id], "the one asked for longest ago was dropped"
    other = replace(one, content=Text("other words here"), id="g1")
    first_word(other)
    del other
    assert not [text for text in gc.get_objects() if isinstance(text, Text)]
