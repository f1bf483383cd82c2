"""The patches as they are: well-formed mails that apply alone, as every prefix, and as git applies them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from made_tree import FIXES, SERIES, contents, installed_tree

from aider_gardener.errors import UsageError
from aider_gardener.patches.change import apply, revert
from aider_gardener.patches.mail import PatchMail
from aider_gardener.patches.state import state_of, with_patches

HERE = SERIES.folder


def with_needs(patch: PatchMail) -> list[PatchMail]:
    numbers = {patch.number}
    for other in reversed(SERIES.patches):
        if other.number in numbers:
            numbers.update(other.needs)
    return [other for other in SERIES.patches if other.number in numbers]


def test_every_patch_is_listed() -> None:
    assert [patch.name for patch in SERIES.patches] == sorted(path.name for path in HERE.glob("*.patch"))


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_is_a_mail_in_upstreams_manner(patch: PatchMail) -> None:
    assert re.match(r"(fix|feat|refactor): [a-z/]", patch.subject)
    assert len(patch.subject) <= 72 and not patch.subject.endswith(".")
    assert len(patch.body) > 400, "the body says what is wrong, how it was measured, and why this way"
    assert max(len(line) for line in patch.body.splitlines()) <= 76
    assert patch.fields["Forwarded"] == "no"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", patch.fields["Last-Update"])


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_brings_a_test_and_keeps_upstreams_style(patch: PatchMail) -> None:
    tests = [change for change in patch.changes if change.path.startswith("tests/basic/test_")]
    added = [line for change in tests for hunk in change.hunks for line in hunk.lines if line[0] == "+"]
    assert any(re.match(r"\+ *def test_\w+", line) for line in added)
    for change in patch.changes:
        if change.path.startswith("aider/gardener/") or not change.path.endswith(".py"):
            continue
        for line in (line for hunk in change.hunks for line in hunk.lines if line[0] == "+"):
            assert len(line.rstrip("\n")) <= 101, line
            assert not re.match(r"\+\s*def .*(->|: (str|int|bool|Any|list|dict)\b)", line), line


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_applies_with_only_what_it_needs(patch: PatchMail, tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    before = contents(tree.root)
    changed = apply(SERIES, tree, with_needs(patch))
    assert patch in changed.patches
    assert state_of(SERIES, tree).applied == tuple(with_needs(patch))
    revert(SERIES, tree, list(SERIES.patches))
    assert contents(tree.root) == before


def test_every_prefix_applies_and_is_recognised(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    for number, patch in enumerate(SERIES.patches, 1):
        apply(SERIES, tree, [patch])
        assert state_of(SERIES, tree).applied == SERIES.patches[:number]


@pytest.mark.parametrize("patch", FIXES, ids=lambda patch: patch.name)
def test_a_fix_needs_nothing(patch: PatchMail) -> None:
    assert patch.needs == ()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_makes_the_same_files_of_the_series(tmp_path: Path) -> None:
    """`git apply` allows no fuzz; the offsets it finds have to be those found here."""
    tree = installed_tree(tmp_path)
    ours = with_patches(state_of(SERIES, tree).pristine, SERIES.patches, tree)
    for patch in SERIES.patches:
        command = ["git", "apply", "--include=aider/*", str(HERE / patch.name)]
        done = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{patch.name}: {done.stderr}"
    assert {path: tree.read(path) for path in ours} == ours


def test_names_that_no_patch_has_are_refused() -> None:
    with pytest.raises(UsageError, match="no patch '9999'"):
        SERIES.chosen(["1,9999"])
    assert SERIES.chosen(["2", FIXES[0].slug]) == FIXES[:2]
    assert SERIES.chosen(upto="0003") == FIXES[:3]
