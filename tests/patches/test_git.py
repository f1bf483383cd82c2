"""git applies a diff wholly and exactly or not at all, wherever the copy lies and whatever its user has set."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from aider_gardener.errors import PatchError
from aider_gardener.patches.git import apply, copied
from aider_gardener.patches.tree import Tree

TREE = Tree(Path("unused"), "1", is_source=True)
BEFORE = {"aider/x.py": "a\nb\nc\n", "aider/y.py": None}
AFTER = {"aider/x.py": "a\nB\nc\n", "aider/y.py": "new\n"}
EDIT = "diff --git a/aider/x.py b/aider/x.py\n--- a/aider/x.py\n+++ b/aider/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
NEW = (
    "diff --git a/aider/y.py b/aider/y.py\nnew file mode 100644\nindex 0000000..3e75765\n"
    "--- /dev/null\n+++ b/aider/y.py\n@@ -0,0 +1 @@\n+new\n"
)


def test_what_is_applied_comes_out_again() -> None:
    with copied(TREE, BEFORE) as copy:
        assert apply(copy, EDIT + NEW) == ""
        assert copy.read_all(AFTER) == AFTER
        assert apply(copy, EDIT + NEW, "--reverse") == ""
        assert copy.read_all(BEFORE) == BEFORE
    assert not copy.root.exists()


def test_lines_that_have_moved_are_found() -> None:
    with copied(TREE, {"aider/x.py": "1\n2\n3\n" + "a\nb\nc\n" + "4\n"}) as copy:
        assert apply(copy, EDIT.replace("-1,3 +1,3", "-2,3 +2,3")) == ""
        assert copy.read("aider/x.py") == "1\n2\n3\na\nB\nc\n4\n"


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"aider/x.py": "a\nb\nC\n", "aider/y.py": None}, "patch failed: aider/x.py:1"),
        ({"aider/x.py": "a\r\nb\r\nc\r\n", "aider/y.py": None}, "patch failed: aider/x.py:1"),
        (
            {"aider/x.py": "a\nb\nc\n", "aider/y.py": "mine\n"},
            "aider/y.py: already exists in working directory",
        ),
        ({"aider/x.py": None, "aider/y.py": None}, "aider/x.py: No such file or directory"),
    ],
    ids=["a line differs", "other line ends", "is there already", "is missing"],
)
def test_what_does_not_fit_changes_no_file(files: dict[str, str | None], fault: str) -> None:
    with copied(TREE, files) as copy:
        assert apply(copy, EDIT + NEW) == fault
        assert copy.read_all(files) == files


def test_a_file_is_not_removed_with_lines_that_the_patch_does_not_know() -> None:
    with copied(TREE, {"aider/y.py": "new\nmine\n"}) as copy:
        assert apply(copy, NEW, "--reverse") == "patch failed: aider/y.py:1"
        assert copy.read("aider/y.py") == "new\nmine\n"


@pytest.mark.parametrize("diff", [EDIT.replace("1,3 +1,3", "1,9 +1,9"), "no diff\n"])
def test_what_is_no_whole_diff_is_refused(diff: str) -> None:
    with copied(TREE, BEFORE) as copy:
        assert "patch" in apply(copy, diff)
        assert copy.read_all(BEFORE) == BEFORE


def test_a_repository_around_and_the_users_settings_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitconfig").write_text(
        "[core]\n\tautocrlf = true\n[apply]\n\tignoreWhitespace = change\n", "utf-8"
    )
    (tmp_path / ".gitattributes").write_text("* text eol=crlf\n", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "inner"))
    with copied(TREE, BEFORE) as copy:
        assert copy.root.parent == tmp_path / "inner"
        assert apply(copy, EDIT + NEW) == ""
        assert {path: copy.read(path) for path in AFTER} == AFTER
        assert apply(copy, EDIT.replace("a\n-b", "a \n-b"), "--reverse").startswith("patch failed")


def test_without_git_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with copied(TREE, BEFORE) as copy, pytest.raises(PatchError, match="applied by git, which cannot be run"):
        apply(copy, EDIT)
