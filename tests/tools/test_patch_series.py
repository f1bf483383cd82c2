"""The diffs that are made here are those that git reads, applies and counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_tree import FIXES, SERIES
from patch_series.diff import Change, changes, diffstat, edit, new_file
from patch_series.readme import notes_on_fixes, patch_table

from aider_gardener.errors import PatchError
from aider_gardener.patches.git import apply, copied
from aider_gardener.patches.tree import Tree

TREE = Tree(Path("unused"), "1", is_source=True)
PATH = "aider/x.py"
LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "\n", "    c\n", "-- d\n", "+e\n", "@@ f\n", "g\x0ch\n"]), max_size=12
)


@given(LINES, LINES)
@settings(max_examples=30, deadline=None)
def test_an_edit_makes_the_new_text_and_backwards_the_old_one(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    if not before or not after or before == after:
        return
    diff = edit(PATH, before, after, "100644")
    with copied(TREE, {PATH: before}) as copy:
        assert apply(copy, diff) == "" and copy.read(PATH) == after
        assert apply(copy, diff, "--reverse") == "" and copy.read(PATH) == before


@given(st.text(st.sampled_from("ab \n\x0c+-"), max_size=40))
@settings(max_examples=30, deadline=None)
def test_a_new_file_comes_out_as_it_went_in(text: str) -> None:
    with copied(TREE, {}) as copy:
        assert apply(copy, new_file(PATH, text)) == "" and copy.read(PATH) == text
        assert apply(copy, new_file(PATH, text), "--reverse") == "" and copy.read(PATH) is None


def test_lines_are_counted_by_file() -> None:
    diff = edit(PATH, "a\nb\n", "a\n++ c\n-- d\n", "100644") + new_file("aider/y.py", "x\n")
    assert changes("a mail\n\n---\n" + diff) == [Change(PATH, 2, 1), Change("aider/y.py", 1, 0)]
    assert diffstat(changes(diff)).splitlines() == [
        " aider/x.py | 3", " aider/y.py | 1", " 2 files changed, 3 insertions(+), 1 deletions(-)"
    ]  # fmt: skip
    with pytest.raises(PatchError, match="not a diff"):
        changes("words\n")


def test_what_the_page_says_of_each_fix_stands_beside_its_mail() -> None:
    notes = notes_on_fixes(SERIES.folder.parent)
    assert notes.keys() == {patch.slug for patch in FIXES}
    for patch, row in zip(FIXES, patch_table(FIXES, notes).splitlines()[2:], strict=True):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert cells[2] == notes[patch.slug]["evidence"] and cells[5] == notes[patch.slug]["seam"]
    with pytest.raises(PatchError, match=r"neither 0001-.* nor fixes\.yml"):
        patch_table(FIXES, {})
