"""Very long texts: what is read of them, and how words are found in them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aider_gardener import shorten
from aider_gardener.compress.message import compress_message
from aider_gardener.messages import LONG_CHARS, ContentClass, Focus, Source, SourceKind
from aider_gardener.reading import seeking
from aider_gardener.reading.excerpt import GAP, MANY_LINES, SEARCHED_CHARS, SHARE_CHARS, excerpt, is_long
from aider_gardener.reading.seeking import seeker
from aider_gardener.reading.segments import segment

LINE = "job {:07d} of the night run went on as it should\n"
LONG = "".join(map(LINE.format, range(LONG_CHARS // len(LINE.format(0)) + 10)))


def with_middle(middle: str) -> str:
    half = len(LONG) // 2
    at = LONG.index("\n", half) + 1
    return LONG[:at] + middle + LONG[at:]


def test_a_text_up_to_the_limit_is_read_whole() -> None:
    text = LONG[:LONG_CHARS]
    assert excerpt(text) is text and not is_long(text) and is_long("\n" * (MANY_LINES + 1))


def test_of_a_very_long_text_both_ends_and_lines_of_trouble_are_read() -> None:
    text = with_middle("ERROR the ledger is gone\nWARN low on ink\n")
    short = excerpt(text)
    lines = short.split("\n")
    assert len(short) <= 3 * SHARE_CHARS and text.startswith(lines[0]) and text.endswith(short[-1_000:])
    at = lines.index("ERROR the ledger is gone")
    assert lines[at - 1] == GAP and lines[at + 1 : at + 3] == ["WARN low on ink", GAP]
    assert set(lines) - {GAP} <= set(text.split("\n"))


def test_errors_are_read_before_warnings_of_which_there_are_too_many() -> None:
    text = with_middle("WARN this disk is slow\n" * (SHARE_CHARS // 10) + "the only error: no ledger\n")
    assert "the only error: no ledger" in excerpt(text)


def test_what_the_user_is_about_is_read_before_warnings_and_short_words_are_not_looked_for() -> None:
    text = with_middle("WARN this disk is slow\n" * (SHARE_CHARS // 10) + "a Banana was here\n")
    assert "a Banana was here" in excerpt(text, Focus(frozenset(("banana", "was"))).telling)
    assert "a Banana was here" not in excerpt(text, Focus(frozenset(("was",))).telling)
    form = compress_message(
        text, Source(SourceKind.COMMAND, "make"), focus=Focus(frozenset(("banana",)))
    ).text
    assert "a Banana was here" in form


@pytest.mark.parametrize("middle", ["", "x" * 300_000 + " the only error " + "x" * 300_000])
def test_segments_of_a_very_long_text_cover_it(middle: str) -> None:
    head = "I ran this command:\n\nmake\n\nAnd got this output:\n\n"
    text = head + with_middle(middle)
    parts = segment(text, Source(SourceKind.COMMAND, "make"))
    assert [(part.start, part.end) for part in parts] == [(0, len(head)), (len(head), len(text))]
    assert parts[0].kind == "wrapper" and parts[1].cls is ContentClass.LOG


def test_words_around_a_paste_that_is_very_long_stay_the_users() -> None:
    paste = "".join(f"2026-03-01 10:00:00 INFO worker {n} took 5 ms\n" for n in range(30_000))
    text = f"Please look at this:\n\n```\n{paste}```\nWhy is it slow?\n"
    parts = segment(text, Source(SourceKind.TYPED))
    assert [part.start for part in parts] == [0, *(part.end for part in parts[:-1])]
    assert parts[-1].end == len(text)
    assert [part.cls for part in parts] == [ContentClass.PROMPT, ContentClass.LOG, ContentClass.PROMPT]
    assert text[parts[2].start :].strip() == "Why is it slow?"


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet="abcdABKİ\u212aé?\n漢", max_size=60),
    st.lists(st.text(alphabet="abcdABKé?\n漢", min_size=2, max_size=6), max_size=8),
    st.lists(st.text(alphabet="abikké?\n漢", min_size=2, max_size=6), max_size=8),
    st.integers(1, 9),
)
@example("aAK\u212aİ", [], ["ak", "kk", "ki", "cd", "dc"], 9)
def test_one_pass_finds_words_where_each_search_finds_them(
    text: str, words: list[str], folded: list[str], block: int
) -> None:
    words = [word for word in words if word not in folded]
    small = text.replace("İ", "i").lower()
    for long in (seeking.LONG_CHARS, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(seeking, "LONG_CHARS", long)
            patch.setattr(seeking, "BLOCK_CHARS", block)
            places = seeker(text, words, folded)
            for read, sought in ((text, words), (small, folded)):
                for word in sought:
                    assert list(places(word)) == [at for at in range(len(text)) if read.startswith(word, at)]


def test_far_before_the_tail_nothing_is_searched() -> None:
    text = LONG + "ERROR far\n" + "z" * SEARCHED_CHARS + "\nERROR near\n" + LONG
    short = excerpt(text)
    assert "ERROR near" in short and "ERROR far" not in short


def test_of_a_very_long_line_what_stands_around_the_word_is_read_as_far_as_it_is_shown() -> None:
    items = "".join(f"<i>{number} is fine</i>" for number in range(40_000))
    text = f"{items}<i>FAILED: no ledger</i>{items}"
    assert "FAILED: no ledger" in shorten(text, command="curl -s localhost").text
