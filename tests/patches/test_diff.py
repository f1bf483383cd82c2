"""Diffs are read whole and applied exactly, forwards and backwards."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.errors import PatchError
from aider_gardener.patches.diff import lines_of, new_file, parse_changes

LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "\n", "    c\n", "-- d\n", "+e\n", "@@ f\n", "g\x0ch\n"]), max_size=12
)


def diff_text(old: list[str], new: list[str], path: str = "aider/x.py") -> str:
    body = "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=3))
    return f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n{body}"


@given(LINES, LINES, LINES)
@settings(max_examples=80, deadline=None)
def test_applying_makes_the_new_text_and_reversing_the_old_one(
    head: list[str], old: list[str], new: list[str]
) -> None:
    if not old or not new or old == new:
        return
    (change,) = parse_changes(lines_of(diff_text(old, new)))
    assert change.apply("".join(old)) == "".join(new)
    assert change.reverse().apply("".join(new)) == "".join(old)
    # an anchor keeps the place unique when lines were added above
    anchored = ["# anchor\n", *old], ["# anchor\n", *new]
    (change,) = parse_changes(lines_of(diff_text(*anchored)))
    if change.hunks[0].old()[0] == "# anchor\n" and len(change.hunks) == 1:
        assert change.apply("".join([*head, *anchored[0]])) == "".join([*head, *anchored[1]])


@given(st.text(st.sampled_from("ab \n\x0c+-"), max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_new_file_comes_out_as_it_went_in(text: str) -> None:
    (change,) = parse_changes(lines_of(new_file("aider/y.py", text)))
    assert change.is_new
    assert change.apply(None) == text
    assert change.reverse().apply(text) is None


def test_a_context_line_that_differs_is_refused() -> None:
    old, new = ["a\n", "b\n", "c\n"], ["a\n", "B\n", "c\n"]
    (change,) = parse_changes(lines_of(diff_text(old, new)))
    with pytest.raises(PatchError, match="near line 1"):
        change.apply("a\nb\nC\n")


def test_a_file_that_is_there_already_is_not_overwritten() -> None:
    (change,) = parse_changes(lines_of(new_file("aider/y.py", "x\n")))
    with pytest.raises(PatchError, match="there already"):
        change.apply("mine\n")


def test_a_file_is_not_removed_with_lines_that_the_patch_does_not_know() -> None:
    (change,) = parse_changes(lines_of(new_file("aider/y.py", "x\n")))
    with pytest.raises(PatchError, match="does not know"):
        change.reverse().apply("x\nmine\n")


@pytest.mark.parametrize(
    "text",
    [
        "diff --git a/x b/y\nrename from x\nrename to y\n",
        "diff --git a/x b/x\nGIT binary patch\n",
        "diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n",
    ],
    ids=["rename", "binary", "outside of the tree", "hunk too short"],
)
def test_what_is_no_plain_whole_diff_is_refused(text: str) -> None:
    with pytest.raises(PatchError):
        parse_changes(lines_of(text))
