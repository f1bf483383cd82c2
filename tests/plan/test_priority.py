"""What an entry is worth: its class, its age, whether it is spoken of, whether it was looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entries import entry

from aider_gardener.messages import ContentClass, Entry, Focus, Source, SourceKind
from aider_gardener.plan.priority import BASE, MENTION_POINTS, focus_words, parts, priority

NOTHING = Focus()
CLASSES = st.sampled_from(list(ContentClass))


def said(cls: ContentClass = ContentClass.PROSE, text: str = "some words", turn: int = 1) -> Entry:
    return entry(0, "user", text, turn=turn, cls=cls)


@given(CLASSES, st.integers(0, 400), st.text(max_size=80), st.integers(0, 3))
def test_it_is_the_sum_of_its_parts_between_0_and_100(
    cls: ContentClass, turn: int, text: str, accesses: int
) -> None:
    row = replace(said(cls, text), access_count=accesses)
    focus = Focus(focus_words([text]))
    points = priority(row, turn=turn, focus=focus)
    assert 0.0 <= points <= 100.0
    assert points == pytest.approx(min(100.0, max(0.0, sum(parts(row, turn=turn, focus=focus).values()))))


@given(CLASSES, st.integers(1, 200))
def test_no_entry_gains_by_getting_older(cls: ContentClass, turn: int) -> None:
    row = said(cls)
    assert priority(row, turn=turn + 1, focus=NOTHING) <= priority(row, turn=turn, focus=NOTHING)


def test_what_is_recent_is_worth_more_and_half_of_that_is_gone_after_three_turns() -> None:
    row = replace(said(turn=1), access_count=1)  # looked at: it does not go stale
    now, later = (parts(row, turn=turn, focus=NOTHING)["recency"] for turn in (1, 4))
    assert later == pytest.approx(now / 2)
    assert now > 0


def test_what_nobody_looked_at_goes_stale_for_forty_turns_and_no_further() -> None:
    stale = [parts(said(), turn=1 + age, focus=NOTHING)["staleness"] for age in (0, 20, 40, 80)]
    assert stale == [0.0, pytest.approx(-7.5), pytest.approx(-15.0), pytest.approx(-15.0)]
    looked_at = replace(said(), access_count=1)
    assert parts(looked_at, turn=81, focus=NOTHING)["staleness"] == 0.0


def test_an_edit_is_worth_what_code_is_where_its_file_is_not_sent() -> None:
    edit = said(ContentClass.EDIT, "app.py\n<<<<<<< SEARCH")
    assert parts(edit, turn=1, focus=NOTHING)["class"] == BASE[ContentClass.CODE]
    sent = Focus(paths=frozenset({"app.py"}))
    assert parts(edit, turn=1, focus=sent)["class"] == BASE[ContentClass.EDIT]


def test_what_the_user_had_put_in_is_worth_what_the_users_own_words_are() -> None:
    note = replace(said(ContentClass.LOG), source=Source(SourceKind.STUB))
    assert parts(note, turn=1, focus=NOTHING)["class"] == BASE[ContentClass.PROMPT]


def test_what_the_host_wrote_itself_is_worth_next_to_nothing_whatever_it_says() -> None:
    notice = replace(said(ContentClass.ERROR, "committed app.py"), source=Source(SourceKind.NOTICE))
    assert priority(notice, turn=1, focus=Focus(frozenset({"committed"}))) == 5.0


def test_the_focus_is_of_words_that_tell_something() -> None:
    assert focus_words(["Please use the RingBuffer of 48213", "and 1,024 ok"]) == {
        "ringbuffer",
        "48213",
        "1,024",
    }
    assert focus_words(["alphabet beta", "delta gammarays"], limit=2) == {"alphabet", "gammarays"}


@given(st.frozensets(st.text("abcd", min_size=3, max_size=6), max_size=60), st.text("abcd ", max_size=60))
def test_the_share_of_the_focus_that_stands_in_a_text(words: frozenset[str], text: str) -> None:
    def points(text: str) -> float:
        return parts(said(text=text), turn=1, focus=Focus(words))["mentions"]

    assert 0.0 <= points(text) <= MENTION_POINTS
    assert points(text + " " + " ".join(words)) == (MENTION_POINTS if words else 0.0)
    if not any(word in text for word in words):
        assert points(text) == 0.0
