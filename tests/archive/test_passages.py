"""Passages: complete, in order, along the structure."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.archive.passages import LINE_CHARS, PASSAGE_CHARS, chunk
from aider_gardener.messages import ContentClass, Segment


def passages(content: str, cls: ContentClass = ContentClass.PROSE) -> list[str]:
    return [content[start:end] for start, end in chunk(content, (Segment(0, len(content), cls),))]


def test_paragraphs_and_items_are_passages() -> None:
    first, second = (
        "A paragraph that says one thing, at some length." * 2,
        "Another one that says the next thing." * 2,
    )
    item = "- an item of a list that is long enough to stand alone, really"
    assert passages(f"{first}\n\n{second}\n{item}") == [first, second, item]


def test_a_heading_stays_with_what_follows() -> None:
    text = (
        "**Options**\n\nThe first of them is to do nothing, which is cheap but does not help anybody at all."
    )
    assert passages(text) == [text]


def test_logs_are_cut_at_line_ends() -> None:
    lines = [f"2024-03-0{n % 9} worker {n} claimed job {n * 7} and finished it in {n} ms" for n in range(40)]
    found = passages("\n".join(lines), ContentClass.LOG)
    assert len(found) > 5
    assert [line for passage in found for line in passage.splitlines()] == lines


def test_one_long_line_is_cut() -> None:
    found = passages("x" * 5_000)
    assert "".join(found) == "x" * 5_000
    assert max(map(len, found)) <= LINE_CHARS


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=3_000),
    st.sampled_from(list(ContentClass)),
    st.integers(0, 3_000),
)
def test_nothing_but_white_space_is_missed_and_no_segment_crossed(
    content: str, cls: ContentClass, border: int
) -> None:
    border = min(border, len(content))
    parts = (Segment(0, border, cls), Segment(border, len(content), ContentClass.PROSE))
    found = chunk(content, parts)
    assert not any(start < border < end for start, end in found)
    assert all(one[1] <= two[0] for one, two in pairwise(found))
    covered = "".join("".join(content[start:end].split()) for start, end in found)
    assert covered == "".join(content.split())
    assert all(end - start <= PASSAGE_CHARS + 2 * LINE_CHARS for start, end in found)
