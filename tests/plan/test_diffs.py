"""Diffs that are read by their lines alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.diffs import HUNK, NO_NEWLINE, apply, diff, hunks

LINES = st.lists(st.text("ab \u2028\x85\r+-@\\", max_size=3), max_size=40)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXTS, TEXTS)
def test_a_diff_gives_the_new_text_or_there_is_none(old: str, new: str) -> None:
    made = diff(old, new)
    assert made is None or apply(old, made) == new


@given(TEXTS, st.data())
def test_what_a_hunk_replaces_stands_exactly_once(old: str, data: st.DataObject) -> None:
    lines = old.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    made = diff(old, "\n".join([*lines[:at], "something new", *lines[at:]]))
    for before, _after in hunks(made or ""):
        searched, wanted = f"\n{old}", f"\n{before}"
        starts = [at for at in range(len(searched)) if searched.startswith(wanted, at)]
        assert len(starts) == 1 or (not before.endswith("\n") and old.endswith(before))


@given(TEXTS, TEXTS)
def test_no_line_of_a_diff_is_anything_but_a_hunk_a_mark_and_a_line(old: str, new: str) -> None:
    made = diff(old, new) or ""
    lines = made.split("\n")[:-1]
    assert not made or made.endswith("\n")
    assert all(line == HUNK or line[:1] in (" ", "-", "+") or f"{line}\n" == NO_NEWLINE for line in lines)


@given(TEXTS, TEXTS, TEXTS)
def test_made_for_another_text_it_is_refused_or_its_lines_stand_there_once(
    old: str, new: str, other: str
) -> None:
    made = diff(old, new) or ""
    try:
        apply(other, made)
    except ValueError:
        return
    assert all(before and before in other for before, _after in hunks(made))


def test_it_reads_as_a_unified_diff_without_line_numbers() -> None:
    old = "".join(f"line {n}\n" for n in range(9))
    assert diff(old, old.replace("line 4", "other")) == (
        "@@\n line 1\n line 2\n line 3\n-line 4\n+other\n line 5\n line 6\n line 7\n"
    )
    made = diff("one\ntwo", "one\ntwo\nthree") or ""
    assert (
        made == "@@\n one\n-two\n\\ No newline at end of file\n+two\n+three\n\\ No newline at end of file\n"
    )


def test_more_context_is_taken_where_less_is_ambiguous_and_none_where_all_is() -> None:
    block = "a\nb\nc\nd\ne\n"
    old = f"first\n{block}x\n{block}second\n{block}x\n{block}"
    made = diff(old, old.replace("x\n", "y\n", 1)) or ""
    assert made.count(" first\n") == 1, "nine lines of context are the same at both places"
    assert diff("same\n" * 100, "same\n" * 50 + "other\n" + "same\n" * 50) is None
    assert diff("", "new\n") is None and diff("old\n", "") is None and diff("a\n", "a\n") is None


def test_there_is_none_where_looking_at_all_pairs_of_like_lines_would_block_the_turn() -> None:
    def changed(count: int) -> tuple[str, str]:
        lines = [f"step {step}\n" for step in Random(1).choices(range(300), k=count)]
        return "".join(lines), "".join(["first\n", *lines[1:-1], "last\n"])

    few, many = changed(6_000), changed(20_000)
    assert apply(few[0], diff(*few) or "") == few[1]
    assert diff(*many) is None, "some 67 times 67 pairs of each of 300 lines"


@pytest.mark.parametrize(
    ("old", "made"),
    [
        ("a\nb\n", "@@\n-c\n+d\n"),
        ("a\na\n", "@@\n-a\n+d\n"),
        ("a\nb\n", "-a\n+b\n"),
        ("a\nb\n", "@@\n-b\n+c\n@@\n-a\n+c\n"),
        ("a", "@@\n\\ No newline at end of file\n"),
        ("a\n", "@@\nxfoo\n-a\n+b\n"),
        ("ab\nb\n", "@@\n-b\n\\ No newline at end of file\n+c\n"),
    ],
)
def test_one_that_does_not_fit_is_refused(old: str, made: str) -> None:
    with pytest.raises(ValueError, match="hunk"):
        apply(old, made)
