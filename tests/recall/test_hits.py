"""What /recall shows of what was found: one hit a message, an excerpt where the words stand, no bare heading."""

from __future__ import annotations

from unicodedata import east_asian_width

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import ContentClass
from aider_gardener.recall.hits import CODE_LINES, EXCERPT_CHARS, as_text, excerpt, hits, wrapped
from aider_gardener.recall.recall import Recalled


def passage(text: str, *words: str, entry_id: str = "g1", code: bool = False, end: int = -1) -> Recalled:
    end = len(text) if end < 0 else end
    return Recalled(entry_id, 1, "reply", ContentClass.PROSE, text, 0, end, 0.5, is_code=code, words=words)


def none(_id: str) -> str | None:
    return None


def test_the_marks_around_an_edit_are_no_part_of_an_excerpt() -> None:
    text = "app.py\n```python\n<<<<<<< SEARCH\n    return 'hello'\n=======\n    return 'hi'\n>>>>>>> REPLACE\n```"
    made = excerpt(passage(text, "return", code=True), none)
    assert made.splitlines() == ["    return 'hello'", "    return 'hi'"]


def test_passages_of_one_message_are_one_hit_in_the_order_of_the_best() -> None:
    found = [passage("a"), passage("b", entry_id="g2"), passage("c"), passage("d", entry_id="g3")]
    made = hits(found, none)
    assert [hit.best.entry_id for hit in made] == ["g1", "g2", "g3"]
    assert [item.text for item in made[0].passages] == ["a", "c"]


def test_a_heading_comes_with_what_follows_it() -> None:
    whole = "**B: the stall**\n\n- H6: a long write transaction holds the lock for eleven seconds."
    for head in ("**B: the stall**", "## Stall\n", "The reasons:"):
        made = excerpt(passage(head, end=16), lambda _id: whole)
        assert "eleven seconds" in made, head
    assert excerpt(passage("## Stall"), none) == "## Stall"


def test_a_long_passage_is_cut_where_the_words_stand_together() -> None:
    text = (
        "timeout. " + "padding words go here " * 40 + "the busy timeout of the reaper is 5 s. " + "more " * 90
    )
    made = excerpt(passage(text, "busy", "timeout", "reaper"), none)
    assert "the busy timeout of the reaper is 5 s." in made
    assert made.startswith("… ") and made.endswith(" …") and len(made) <= EXCERPT_CHARS + 4


def test_where_words_are_written_without_spaces_it_is_cut_there_too() -> None:
    text = "天気の話です。" * 60 + "決済の再試行は 45 秒おきです。" + "後の話は別です。" * 60
    made = excerpt(passage(text, "決済", "再試", "試行"), none)
    assert "決済の再試行は 45 秒おきです。" in made and len(made) <= EXCERPT_CHARS + 4
    assert len(excerpt(passage("45 " + "天気の話です。" * 60), none)) > EXCERPT_CHARS


def test_code_keeps_its_lines() -> None:
    text = "def a():\n    pass\n\ndef reap():\n    wait(busy)\n    return 5\n\ndef b():\n    pass"
    assert excerpt(passage(text, "reap", "busy", code=True), none).splitlines() == [
        "def reap():",
        "    wait(busy)",
        "    return 5",
    ]


@given(st.text(max_size=900), st.lists(st.sampled_from(["a", "lock", "0"]), max_size=3), st.booleans())
def test_an_excerpt_is_short_whatever_was_said(text: str, words: list[str], code: bool) -> None:
    made = excerpt(passage(text, *words, code=code), lambda _id: text)
    assert len(made) <= EXCERPT_CHARS * CODE_LINES
    assert code or "\n" not in made


def test_hits_are_numbered_dated_and_those_of_other_chats_marked() -> None:
    found = hits([passage("one thing", "thing"), passage("x = 1\ny = 2", entry_id="g2", code=True)], none)
    shown = as_text(found, session="another", columns=60)
    at = ""
    assert shown == (
        f"1 another chat, turn 1, {at}reply, g1\n  one thing\n"
        f"2 another chat, turn 1, {at}reply, g2\n  x = 1\n  y = 2"
    )
    assert "another chat" not in as_text(found, session="", columns=60)
    shared = hits([found[0].best._replace(author="ana", host="cecli")], none)
    assert as_text(shared, session="another", columns=60).startswith("1 in cecli, by ana, turn 1, ")


@given(st.text(st.sampled_from("ab 中"), max_size=80), st.integers(2, 20))
def test_lines_fit_their_columns_and_lose_only_the_spaces_where_they_are_broken(text: str, room: int) -> None:
    lines = list(wrapped(text, room))
    assert all(sum(2 if east_asian_width(each) == "W" else 1 for each in line) <= room for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    if (
        "  " not in text
        and not text.startswith(" ")
        and all(len(word) <= room // 2 for word in text.split(" "))
    ):
        assert " ".join(lines) == text, "no word is broken that fits"
