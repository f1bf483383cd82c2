"""The patches as they are: well-formed mails that apply alone, as every prefix, and as git applies them."""

from __future__ import annotations

import re
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
    body = patch.text.partition("\n\n")[2].partition("\n---\n")[0]
    assert len(body) > 400, "the body says what is wrong, how it was measured, and why this way"
    assert max(len(line) for line in body.splitlines()) <= 76


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_brings_a_test_and_keeps_upstreams_style(patch: PatchMail) -> None:
    added = {path: re.findall(r"^\+(?!\+\+ ).*", diff, re.M) for path, diff in patch.diffs.items()}
    tests = [line for path in added if path.startswith("tests/basic/test_") for line in added[path]]
    assert any(re.match(r"\+ *def test_\w+", line) for line in tests)
    for path, lines in added.items():
        if not path.endswith(".py"):
            continue
        for line in lines:
            assert len(line) <= 101, line
            assert not re.match(r"\+\s*def .*(->|: (str|int|bool|Any|list|dict)\b)", line), line


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_patch_applies_with_only_what_it_needs(patch: PatchMail, tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    before = contents(tree.root)
    assert apply(SERIES, tree, with_needs(patch)).patches == tuple(with_needs(patch))
    assert revert(SERIES, tree, SERIES.patches).patches == tuple(with_needs(patch))
    assert contents(tree.root) == before


@pytest.mark.parametrize("patch", FIXES, ids=lambda patch: patch.name)
def test_a_fix_needs_nothing(patch: PatchMail) -> None:
    assert patch.needs == ()


def test_git_makes_the_same_files_of_the_mails(tmp_path: Path) -> None:
    """What is taken apart by file here is whole there: mails with all that stands around the diffs."""
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
