"""Patches are applied and taken out whole or not at all, wherever aider is and whenever it is interrupted."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from made_tree import FIXES, SERIES, contents, installed_tree, newer_tree, rewrite

from aider_gardener.errors import PatchError, UsageError
from aider_gardener.patches import tree
from aider_gardener.patches.series import Patch

EDIT = "diff --git a/aider/x.py b/aider/x.py\n--- a/aider/x.py\n+++ b/aider/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
NEW = (
    "diff --git a/aider/y.py b/aider/y.py\nnew file mode 100644\nindex 0000000..3e75765\n"
    "--- /dev/null\n+++ b/aider/y.py\n@@ -0,0 +1 @@\n+new\n"
)
PATCH = Patch("0001-x.patch", EDIT + NEW)
BEFORE = {"aider/x.py": "a\nb\nc\n", "aider/y.py": None}
AFTER = {"aider/x.py": "a\nB\nc\n", "aider/y.py": "new\n"}


def hold(root: Path, patches: list[Patch] | tuple[Patch, ...]) -> list[str]:
    return tree.turn_into(root, tree.state_of(SERIES, root), patches)


def test_what_is_applied_comes_out_again() -> None:
    assert tree.patched(BEFORE, [PATCH]) == AFTER
    assert tree.patched(AFTER, [PATCH], "--reverse") == BEFORE
    moved = {"aider/x.py": "1\n2\n3\na\nb\nc\n4\n"}
    assert tree.patched(moved, [Patch("0001-x.patch", EDIT.replace("-1,3 +1,3", "-2,3 +2,3"))]) == {
        "aider/x.py": "1\n2\n3\na\nB\nc\n4\n"
    }


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"aider/x.py": "a\nb\nC\n", "aider/y.py": None}, "patch failed: aider/x.py:1"),
        ({"aider/x.py": "a\r\nb\r\nc\r\n", "aider/y.py": None}, "patch failed: aider/x.py:1"),
        ({"aider/x.py": "a\nb\nc\n", "aider/y.py": "mine\n"}, "aider/y.py: already exists"),
        ({"aider/x.py": None, "aider/y.py": None}, "aider/x.py: No such file"),
    ],
    ids=["a line differs", "other line ends", "is there already", "is missing"],
)
def test_what_does_not_fit_is_told_and_how_to_get_aiders_own_file(
    files: dict[str, str | None], fault: str
) -> None:
    with pytest.raises(PatchError, match=rf"0001-x\.patch does not apply: {fault}.*pip install"):
        tree.patched(files, [PATCH])


def test_a_file_is_not_removed_with_lines_that_the_patch_does_not_know() -> None:
    with pytest.raises(PatchError, match=r"aider/y\.py:1"):
        tree.patched({"aider/y.py": "new\nmine\n"}, [PATCH], "--reverse")


def test_a_repository_around_and_the_users_settings_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    settings = "[core]\n\tautocrlf = true\n[apply]\n\tignoreWhitespace = change\n"
    (tmp_path / ".gitconfig").write_text(settings, "utf-8")
    (tmp_path / ".gitattributes").write_text("* text eol=crlf\n", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "inner"))
    assert tree.patched(BEFORE, [PATCH]) == AFTER
    with pytest.raises(PatchError, match="patch failed"):
        tree.patched(BEFORE, [Patch("0001-x.patch", EDIT.replace(" a\n-b", " a \n-b"))])


def test_without_git_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PatchError, match="applied by git, which cannot be run"):
        tree.patched(BEFORE, [PATCH])


def test_prefixes_apply_and_are_recognised_and_each_fix_comes_out(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    released = contents(root)
    for number in (3, len(FIXES), 12, len(SERIES.patches)):
        assert hold(root, SERIES.patches[:number])
        assert tree.state_of(SERIES, root).applied == SERIES.patches[:number]
    assert not hold(root, SERIES.patches)
    without = [patch for patch in SERIES.patches if patch not in FIXES[1::3]]
    hold(root, without)
    assert list(tree.state_of(SERIES, root).applied) == without
    hold(root, [])
    assert contents(root) == released


def test_lines_of_the_users_own_stay(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    history = root / "aider" / "history.py"
    history.write_text(history.read_text("utf-8") + "# mine\n", "utf-8")
    before = contents(root)
    assert "aider/history.py" in hold(root, SERIES.patches)
    assert history.read_text("utf-8").endswith("# mine\n")
    hold(root, [])
    assert contents(root) == before


def test_one_patch_that_does_not_fit_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    root = newer_tree(tmp_path)
    rewrite(root, "aider/history.py", "keep = []", "kept = []")
    before, state = contents(root), tree.state_of(SERIES, root)
    faults = {patch.slug: tree.fault(SERIES, state, patch) for patch in FIXES}
    assert "history.py" in faults.pop("whole-head") and not any(faults.values())
    with pytest.raises(PatchError, match="whole-head"):
        hold(root, FIXES)
    assert contents(root) == before


def test_a_change_that_is_interrupted_leaves_the_tree_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = installed_tree(tmp_path)
    before, real, left = contents(root), tree.put, [3]

    def put(path: Path, text: str | None) -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        real(path, text)

    monkeypatch.setattr(tree, "put", put)
    with pytest.raises(KeyboardInterrupt):
        hold(root, SERIES.patches)
    assert left[0] < 0 and contents(root) == before


def test_a_file_that_cannot_be_written_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    kept = tmp_path / "commands.py"
    os.replace(root / "aider" / "commands.py", kept)
    os.symlink(kept, root / "aider" / "commands.py")
    before = contents(root)
    with pytest.raises(PatchError, match=r"commands\.py cannot be written: a symbolic link"):
        hold(root, SERIES.patches)
    assert contents(root) == before


def test_a_file_keeps_its_mode_and_its_line_ends(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    (root / "aider" / "history.py").chmod(0o640)
    hold(root, SERIES.patches)
    assert (root / "aider" / "history.py").stat().st_mode & 0o777 == 0o640
    (root / "aider" / "z.py").write_bytes(b"a\r\nb\n")
    assert tree.read_files(root, ["aider/z.py"]) == {"aider/z.py": "a\r\nb\n"}
    (root / "aider" / "z.py").write_bytes(b"\xff")
    with pytest.raises(PatchError, match=r"z\.py cannot be read"):
        tree.read_files(root, ["aider/z.py"])


def test_an_environment_is_found_by_its_folder_and_has_no_tests(tmp_path: Path) -> None:
    root = installed_tree(tmp_path / "venv" / "lib" / "python3.11")
    assert tree.find_tree(tmp_path / "venv") == root.resolve()
    assert tree.read_files(root, ["tests/basic/test_coder.py", "aider/website/x.md"]) == {}
    with pytest.raises(UsageError, match="no aider in"):
        tree.find_tree(tmp_path)


def test_in_a_source_tree_there_are_tests_too(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    assert tree.read_files(tmp_path, ["tests/basic/test_coder.py"]) == {"tests/basic/test_coder.py": None}


@pytest.mark.skipif(os.name != "posix", reason="there are no FIFOs")
def test_a_fifo_in_a_files_place_hangs_nothing(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    (root / "aider" / "history.py").unlink()
    os.mkfifo(root / "aider" / "history.py")
    with pytest.raises(PatchError, match=r"history\.py cannot be read"):
        tree.state_of(SERIES, root)
