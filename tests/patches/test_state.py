"""What stands in an installed aider: which patches of the series, and which files nobody of ours wrote."""

from __future__ import annotations

from pathlib import Path

from made_tree import SERIES, installed_tree

from aider_gardener.patches.change import apply
from aider_gardener.patches.state import state_of


def test_every_prefix_applies_and_is_recognised(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    for patch in SERIES.patches:
        assert apply(SERIES, tree, [patch]).patches == (patch,)
    assert state_of(SERIES, tree).applied == SERIES.patches


def test_a_file_that_no_patch_wrote_so_is_told_by_its_name(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    apply(SERIES, tree, list(SERIES.patches[:1]))
    file = tree.root / "aider" / "history.py"
    file.write_text(file.read_text("utf-8") + "# mine\n", "utf-8")
    assert "aider/history.py" in state_of(SERIES, tree).strange
