"""The check before a change: what stands, what would apply, and why nothing can be said."""

from __future__ import annotations

from pathlib import Path

from made_tree import FIXES, SERIES, contents, installed_tree

from aider_gardener.patches.change import apply
from aider_gardener.patches.check import APPLIED, APPLIES, checkup


def test_what_is_applied_and_what_would_apply_are_told_apart_and_nothing_is_touched(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    apply(SERIES, tree, FIXES[:1])
    before = contents(tree.root)
    report = checkup(SERIES, tree, FIXES)
    states = [state for _patch, state in report.rows]
    assert report.problem == ""
    assert states[0] == APPLIED and set(states[1:]) == {APPLIES}
    assert contents(tree.root) == before


def test_of_a_tree_with_changes_of_its_own_nothing_is_said(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    file = tree.root / "aider" / "history.py"
    file.write_text(file.read_text("utf-8") + "# mine\n", "utf-8")
    report = checkup(SERIES, tree, FIXES)
    assert "differs" in report.problem and {state for _, state in report.rows} == {"unknown"}
