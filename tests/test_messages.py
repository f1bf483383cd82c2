"""The words of the design: ids of originals, what a plan saves, what is remembered of an entry."""

from __future__ import annotations

import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import (
    ContentClass,
    Entry,
    Plan,
    Segment,
    Source,
    SourceKind,
    content_hash,
    content_key,
    entry_id,
    remembered,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=50)


@given(st.sampled_from(["user", "assistant"]), ANY_TEXT)
def test_any_content_has_an_id(role: str, content: str) -> None:
    found = entry_id(role, content)
    assert found.startswith("g") and content_hash(role, content).startswith(found[1:])
    assert entry_id(role, content) == found


def test_an_id_is_the_same_in_every_version_of_the_gardener() -> None:
    assert entry_id("user", "hello") == "g87ce46134"


def test_a_plan_knows_what_it_saves() -> None:
    assert Plan((), "because", 900, 300).tokens_saved == 600


def command_output(text: str) -> Entry:
    parts = (Segment(0, len(text), ContentClass.LOG),)
    source = Source(SourceKind.COMMAND, "make")
    return Entry(entry_id("user", text), "s", 1, 0, "user", text, source, ContentClass.LOG, parts, 9)


def test_what_was_read_is_remembered_and_the_text_is_not() -> None:
    class Text(str):
        """A text that can be watched."""

    asked: list[str] = []

    @remembered(2, key=content_key)
    def first_word(one: Entry) -> str:
        asked.append(one.id)
        return one.content.split()[0]

    one, two, three = (command_output(f"{word} " * 3) for word in ("one", "two", "three"))
    assert [first_word(each) for each in (one, one, two, one)] == ["one", "one", "two", "one"]
    assert asked == [one.id, two.id]
    first_word(three)
    first_word(two)
    assert asked == [one.id, two.id, three.id, two.id], "the one asked for longest ago was dropped"
    text = Text("other words here")
    kept = weakref.ref(text)
    first_word(replace(one, content=text, id="g1"))
    del text
    assert kept() is None


def test_threads_may_ask_at_once() -> None:
    doubled = remembered(2, key=int)(lambda number: 2 * number)
    numbers = [number % 5 for number in range(20_000)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: [doubled(number) for number in numbers], range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert found == [[2 * number for number in numbers]] * 4
