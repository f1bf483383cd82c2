"""The patches as they are: well-formed mails that apply alone, as every prefix, and as git applies them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from made_tree import BY_SLUG, FIXES, SERIES, contents, installed_tree

from aider_gardener.errors import PatchError
from aider_gardener.patches import series, tree
from aider_gardener.patches.series import Patch

HERE = SERIES.folder


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_says_why_and_brings_a_test_in_upstreams_manner(patch: Patch) -> None:
    """How long its lines are, and how many, test_form.py looks at."""
    assert re.fullmatch(r"(fix|feat|refactor): [a-z/].*[^.]", patch.subject)
    body = patch.text.partition("\n\n")[2].partition("\n---\n")[0]
    assert len(body) > 400, "the body says what is wrong, how it was measured, and why this way"
    added = {path: re.findall(r"^\+(?!\+\+ ).*", diff, re.M) for path, diff in patch.diffs.items()}
    tests = [line for path in added if path.startswith("tests/basic/test_") for line in added[path]]
    assert any(re.match(r"\+ *def test_\w+", line) for line in tests)
    code = [line for path in added if path.endswith(".py") for line in added[path]]
    typed = re.compile(r"\+\s*def .*(->|: (str|int|bool|Any|list|dict)\b)")
    assert [line for line in code if typed.match(line)] == [], "aider's own have no types"


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_applies_with_only_what_it_needs(patch: Patch, tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    before = contents(root)
    assert tree.turn_into(root, tree.state_of(SERIES, root), SERIES.needed(patch))
    state = tree.state_of(SERIES, root)
    assert list(state.applied) == SERIES.needed(patch)
    tree.turn_into(root, state, [])
    assert contents(root) == before


def test_a_fix_needs_nothing_and_one_about_the_interface_those_before_it() -> None:
    assert all(SERIES.needed(patch) == [patch] for patch in FIXES)
    assert SERIES.needed(BY_SLUG["token-details"]) == [BY_SLUG["token-details"]]
    stack = [patch for patch in SERIES.patches if not patch.is_alone]
    assert [SERIES.needed(patch) for patch in stack] == [stack[: n + 1] for n in range(len(stack))]


def test_a_subject_is_one_line_without_its_mark() -> None:
    text = "From: A <a@example.com>\nSubject: [PATCH 1/9] fix: a line\n that goes on\n\nText.\n---\n"
    patch = Patch("0017-a-name.patch", text)
    assert (patch.number, patch.slug, patch.subject) == (17, "a-name", "fix: a line that goes on")


def test_a_series_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match=r"no patches in .*install the package anew"):
        series.read_series(tmp_path)
    (tmp_path / "0001-x.patch").write_bytes(b"\xff")
    with pytest.raises(PatchError, match=r"cannot be read.*install the package anew"):
        series.read_series(tmp_path)


def test_git_makes_the_same_files_of_the_mails(tmp_path: Path) -> None:
    """What is taken apart by file here is whole there: mails with all that stands around the diffs."""
    root = installed_tree(tmp_path)
    ours = tree.patched(tree.read_files(root, SERIES.paths()), SERIES.patches)
    for patch in SERIES.patches:
        command = ["git", "apply", "--include=aider/*", str(HERE / patch.name)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{patch.name}: {done.stderr}"
    assert tree.read_files(root, ours) == ours
