"""Applying and reverting: exact, whole, harmless to repeat, and only in a tree that is known."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from made_tree import FIXES, SERIES, contents, installed_tree

from aider_gardener.errors import PatchError
from aider_gardener.patches.change import apply, revert
from aider_gardener.patches.series import Series
from aider_gardener.patches.swap import FOLDER


def test_applying_twice_and_reverting_twice_change_nothing(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    released = contents(tree.root)
    assert apply(SERIES, tree, FIXES).patches == tuple(FIXES)
    patched = contents(tree.root)
    assert patched != released
    assert apply(SERIES, tree, FIXES).files == ()
    assert contents(tree.root) == patched
    assert revert(SERIES, tree, FIXES).patches == tuple(FIXES)
    assert contents(tree.root) == released and not (tree.root / FOLDER).exists()
    assert revert(SERIES, tree, FIXES).files == ()
    assert contents(tree.root) == released


def test_patches_come_out_in_any_order(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    released = contents(tree.root)
    for patch in reversed(FIXES):
        apply(SERIES, tree, [patch])
    for patch in [*FIXES[1::2], *FIXES[::2]]:
        revert(SERIES, tree, [patch])
    assert contents(tree.root) == released


def test_the_released_files_are_kept(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    released = contents(tree.root)
    apply(SERIES, tree, FIXES)
    kept = tree.root / FOLDER / "released"
    for path in SERIES.upstream.files:
        if path.startswith("aider/") and (kept / path).exists():
            assert (kept / path).read_bytes() == released[path]
    assert (kept / "aider" / "history.py").exists()


def test_a_tree_with_changes_of_its_own_is_refused(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    file = tree.root / "aider" / "history.py"
    file.write_text(file.read_text("utf-8") + "# mine\n", "utf-8")
    before = contents(tree.root)
    with pytest.raises(PatchError, match=r"aider/history.py differs .*restore"):
        apply(SERIES, tree, FIXES)
    with pytest.raises(PatchError, match="differs"):
        revert(SERIES, tree, FIXES)
    assert contents(tree.root) == before


def test_another_release_is_refused(tmp_path: Path) -> None:
    tree = dataclasses.replace(installed_tree(tmp_path), version="0.87.0")
    with pytest.raises(PatchError, match=r"aider 0\.87\.0; the patches are for 0\.86\.2"):
        apply(SERIES, tree, FIXES)


def test_an_older_version_of_the_series_can_be_reverted(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    released = contents(tree.root)
    text = FIXES[0].text.replace("it may have been cleared since it was restored", "an older wording")
    older = Series(SERIES.folder, SERIES.upstream, (dataclasses.replace(FIXES[0], text=text), *FIXES[1:]))
    assert text != FIXES[0].text
    apply(older, tree, list(older.patches))
    with pytest.raises(PatchError, match="older version"):
        apply(SERIES, tree, FIXES)
    revert(SERIES, tree, list(SERIES.patches))
    assert contents(tree.root) == released
