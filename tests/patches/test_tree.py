"""Where aider is, which release it is, and which files belong there."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_tree import installed_tree

from aider_gardener.errors import PatchError
from aider_gardener.patches.tree import find_tree, tree_at


def test_an_environment_is_found_by_its_folder(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path / "venv" / "lib" / "python3.11")
    assert find_tree(tmp_path / "venv").root == tree.root.resolve()
    assert not tree.is_source
    assert not tree.holds("tests/basic/test_coder.py")


def test_a_source_tree_tells_its_version_and_holds_tests_too(tmp_path: Path) -> None:
    (tmp_path / "aider").mkdir()
    (tmp_path / "aider" / "__init__.py").write_text('__version__ = "0.86.2.dev"\n', "utf-8")
    tree = tree_at(tmp_path)
    assert (tree.version, tree.is_source) == ("0.86.2.dev", True)
    assert tree.holds("tests/basic/test_coder.py")


def test_a_file_keeps_its_line_ends_and_must_be_text(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"a\r\nb\n")
    (tmp_path / "y.py").write_bytes(b"\xff")
    assert tree_at(tmp_path).read_all(["x.py", "z.py"]) == {"x.py": "a\r\nb\n", "z.py": None}
    with pytest.raises(PatchError, match=r"y\.py cannot be read"):
        tree_at(tmp_path).read("y.py")
