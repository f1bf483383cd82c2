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
CALLS = sorted({call for point in patch_points.PATCH_POINTS for call in point.calls}, key=str)
NEEDED = """
import json
from aider_gardener.adapters.aider.install import needed_points
print(json.dumps([point.name for point in needed_points()]))
"""


@pytest.mark.parametrize("point", ALL, ids=lambda point: point.name)
def test_every_patch_point_says_why_and_what_retires_it_or_why_nothing_does(
    point: patch_points.PatchPoint,
) -> None:
    assert point.reason
    assert bool(point.calls) != bool(point.remains)
    for name in point.retired_by:
        assert SERIES.find(name).is_fix is False


def test_every_row_is_there_once() -> None:
    names = [point.name for point in ALL]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.inside}-{call.word}")
def test_the_patch_that_a_patch_point_names_puts_the_call_into_aider(
    call: patch_points.ProviderCall, tmp_path: Path
) -> None:
    given = tree.read_files(installed_tree(tmp_path), SERIES.paths())
    numbers = SERIES.find(call.patch).number
    before = tree.patched(given, [patch for patch in SERIES.patches if patch.number < numbers])
    after = tree.patched(given, [patch for patch in SERIES.patches if patch.number <= numbers])
    assert not is_called(call, before)
    assert is_called(call, after)


def is_called(call: patch_points.ProviderCall, files: dict[str, str | None]) -> bool:
    """Whether the function has `….history.word` or `….tell_history("word", …)` in it."""
    owner, _, name = call.inside.partition(".")
    text = files["aider/commands.py" if owner == "Commands" else "aider/coders/base_coder.py"]
    found = next(node for node in ast.parse(str(text)).body if getattr(node, "name", "") == owner)
    body = next(node for node in ast.walk(found) if getattr(node, "name", "") == name)
    paths = {ast.unparse(node) for node in ast.walk(body) if isinstance(node, ast.Attribute)}
    calls = [node for node in ast.walk(body) if isinstance(node, ast.Call) and node.args]
    asked = [node for node in calls if ast.unparse(node.func).endswith(("ask_history", "tell_history"))]
    words = {node.args[0].value for node in asked if isinstance(node.args[0], ast.Constant)}
    return call.word in words or any(path.endswith(f"history.{call.word}") for path in paths)


def test_an_aider_with_the_series_needs_no_patch_point_that_the_table_says_it_retires(tmp_path: Path) -> None:
    folder = patched(tmp_path, SERIES, SERIES.patches)
    needed = json.loads(run_with(folder, ["-c", NEEDED]))
    assert needed == [point.name for point in patch_points.PATCH_POINTS if point.remains]


def test_aider_as_released_needs_all() -> None:
    from aider_gardener.adapters.aider.install import needed_points

    assert needed_points() == list(patch_points.PATCH_POINTS)
