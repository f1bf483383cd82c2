"""The table of patch points: each row once, with its reasons, for the aider that is declared."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from made_tree import SERIES, installed_tree
from patched_aider import patched, run_with

from aider_gardener.adapters.aider import patch_points
from aider_gardener.patches import tree

ALL = (*patch_points.PATCH_POINTS, *patch_points.PROVIDERS)
NEEDED = """
import json
from aider_gardener.adapters.aider.install import needed_points
print(json.dumps([point.name for point in needed_points()]))
"""


def test_every_row_is_there_once() -> None:
    names = [point.name for point in ALL]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", list(patch_points.CALLS))
def test_the_patch_that_retires_a_patch_point_puts_its_call_into_aider(name: str, tmp_path: Path) -> None:
    given = tree.read_files(installed_tree(tmp_path), SERIES.paths())
    number = next(patch.number for patch in SERIES.patches if patch.name == f"{name}.patch")
    before = tree.patched(given, [patch for patch in SERIES.patches if patch.number < number])
    after = tree.patched(given, [patch for patch in SERIES.patches if patch.number <= number])
    assert [is_called(*patch_points.CALLS[name], files) for files in (before, after)] == [False, True]


def is_called(method: str, word: str, files: dict[str, str | None]) -> bool:
    """Whether the method of Coder has `….history.word` or `….tell_history("word", …)` in it."""
    body = next(
        node
        for node in ast.walk(ast.parse(str(files["aider/coders/base_coder.py"])))
        if getattr(node, "name", "") == method
    )
    paths = {ast.unparse(node) for node in ast.walk(body) if isinstance(node, ast.Attribute)}
    calls = [node for node in ast.walk(body) if isinstance(node, ast.Call) and node.args]
    asked = [node for node in calls if ast.unparse(node.func).endswith(("ask_history", "tell_history"))]
    words = {node.args[0].value for node in asked if isinstance(node.args[0], ast.Constant)}
    return word in words or any(path.endswith(f"history.{word}") for path in paths)


def test_an_aider_with_the_series_needs_no_patch_point_that_the_table_says_it_retires(tmp_path: Path) -> None:
    folder = patched(tmp_path, SERIES, SERIES.patches)
    needed = json.loads(run_with(folder, ["-c", NEEDED]))
    assert needed == [point.name for point in patch_points.PATCH_POINTS if not point.retired_by]
