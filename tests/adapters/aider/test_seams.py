"""The table of seams: each row once, with its reasons and its stand-in, for the aider that is declared."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from made_tree import SERIES, installed_tree
from patched_aider import patched, run_with

from aider_gardener.adapters.aider import seams, wrappers
from aider_gardener.patches.state import with_patches

ALL = (*seams.SEAMS, *seams.PROVIDERS)
CALLS = sorted({call for seam in seams.SEAMS for call in seam.calls}, key=str)
NEEDED = """
import json
from aider_gardener.adapters.aider.install import needed_seams
print(json.dumps([seam.name for seam in needed_seams()]))
"""


@pytest.mark.parametrize("seam", ALL, ids=lambda seam: seam.name)
def test_every_seam_says_why_and_what_retires_it_or_why_nothing_does(seam: seams.Seam) -> None:
    assert seam.reason
    assert bool(seam.calls) != bool(seam.remains)
    for name in seam.retired_by:
        assert SERIES.find(name).is_fix is False


def test_every_row_stands_once_and_names_a_stand_in() -> None:
    names = [seam.name for seam in ALL]
    assert len(set(names)) == len(names)
    assert [seam.make for seam in ALL if not callable(getattr(wrappers, seam.make, None))] == []


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.inside}-{call.method}")
def test_the_patch_that_a_seam_names_puts_the_call_into_aider(call: seams.Call, tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    given = tree.read_all(SERIES.paths())
    numbers = SERIES.find(call.patch).number
    before = with_patches(given, [patch for patch in SERIES.patches if patch.number < numbers], tree)
    after = with_patches(given, [patch for patch in SERIES.patches if patch.number <= numbers], tree)
    assert not is_called(call, before)
    assert is_called(call, after)


def is_called(call: seams.Call, files: dict[str, str | None]) -> bool:
    """Whether the function has `….context.method(…)` in it."""
    owner, _, name = call.inside.partition(".")
    text = files["aider/commands.py" if owner == "Commands" else "aider/coders/base_coder.py"]
    found = next(node for node in ast.parse(str(text)).body if getattr(node, "name", "") == owner)
    body = next(node for node in ast.walk(found) if getattr(node, "name", "") == name)
    calls = {ast.unparse(node.func) for node in ast.walk(body) if isinstance(node, ast.Call)}
    return any(path.endswith(f"context.{call.method}") for path in calls)


def test_an_aider_with_the_series_needs_no_seam_that_the_table_says_it_retires(tmp_path: Path) -> None:
    folder = patched(tmp_path, SERIES, SERIES.patches)
    needed = json.loads(run_with(folder, ["-c", NEEDED]))
    assert needed == [seam.name for seam in seams.SEAMS if seam.remains]


def test_aider_as_released_needs_all() -> None:
    from aider_gardener.adapters.aider.install import needed_seams

    assert needed_seams() == list(seams.SEAMS)
