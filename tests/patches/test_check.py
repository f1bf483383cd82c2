"""The check before a change: what stands, what would apply, and why nothing can be said."""

from __future__ import annotations

from pathlib import Path

from made_tree import FIXES, SERIES, contents, installed_tree, newer_tree, rewrite

from aider_gardener.patches.change import apply
from aider_gardener.patches.check import APPLIED, APPLIES, FAILS, UNKNOWN, checkup


def test_what_is_applied_and_what_would_apply_are_told_apart_and_nothing_is_touched(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    apply(SERIES, tree, FIXES[:1])
    before = contents(tree.root)
    report = checkup(SERIES, tree, FIXES)
    states = [state for _patch, state in report.rows]
    assert report.problem == ""
    assert states[0] == APPLIED and set(states[1:]) == {APPLIES}
    assert contents(tree.root) == before


def test_patches_are_tried_on_a_newer_aider_and_it_is_told_that_it_is_one(tmp_path: Path) -> None:
    tree = newer_tree(tmp_path)
    before = contents(tree.root)
    report = checkup(SERIES, tree, FIXES)
    assert "0.86.3.dev1; the patches are for 0.86.2" in report.problem
    assert {state for _, state in report.rows} == {APPLIES}
    assert contents(tree.root) == before


def test_a_patch_that_does_not_fit_a_newer_aider_is_told_and_the_others_too(tmp_path: Path) -> None:
    tree = newer_tree(tmp_path)
    rewrite(tree, "aider/history.py", "keep = []", "kept = []")
    states = {patch.slug: state for patch, state in checkup(SERIES, tree, FIXES).rows}
    assert states.pop("whole-head") == FAILS
    assert set(states.values()) == {APPLIES}


def test_of_files_that_are_no_text_nothing_is_said(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    (tree.root / "aider" / "history.py").write_bytes(b"\xff")
    report = checkup(SERIES, tree, FIXES)
    assert "cannot be read" in report.problem and {state for _, state in report.rows} == {UNKNOWN}
