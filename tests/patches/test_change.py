"""Applying and reverting: exact, whole, harmless to repeat, and only in a tree that is known."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from made_tree import FIXES, SERIES, contents, installed_tree

from aider_gardener.errors import PatchError
from aider_gardener.patches.change import apply, revert
from aider_gardener.patches.check import checkup
from aider_gardener.patches.series import Series
from aider_gardener.patches.swap import FOLDER, is_interrupted, recover, swap
from aider_gardener.patches.tree import find_tree

CHANGES = {"a/edited.py": "after\n", "a/gone.py": None, "b/c/new.py": "new\n", "new.py": "new too\n"}
KILLED = """
import json, os, sys
from pathlib import Path
from aider_gardener.patches import swap
left = int(sys.argv[2])
def stop(real):
    def step(*args, **kwargs):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return real(*args, **kwargs)
    return step
os.replace = stop(os.replace)
swap.put = stop(swap.put)
Path.unlink = stop(Path.unlink)
swap.swap(Path(sys.argv[1]), json.loads(sys.argv[3]))
"""


def small_tree(folder: Path) -> Path:
    for path in ("a/edited.py", "a/gone.py"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("before\n", "utf-8")
    return folder


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
    report = checkup(SERIES, tree, FIXES)
    assert "differs" in report.problem and {state for _, state in report.rows} == {"unknown"}


def test_another_release_is_refused(tmp_path: Path) -> None:
    tree = dataclasses.replace(installed_tree(tmp_path), version="0.87.0")
    with pytest.raises(PatchError, match=r"aider 0\.87\.0; the patches are for 0\.86\.2"):
        apply(SERIES, tree, FIXES)


def test_an_older_version_of_the_series_can_be_reverted(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    released = contents(tree.root)
    text = FIXES[0].text.replace("summarize_end() drops the summary", "an older wording")
    older = Series(SERIES.folder, SERIES.upstream, (dataclasses.replace(FIXES[0], text=text), *FIXES[1:]))
    assert text != FIXES[0].text
    apply(older, tree, list(older.patches))
    with pytest.raises(PatchError, match="older version"):
        apply(SERIES, tree, FIXES)
    revert(SERIES, tree, list(SERIES.patches))
    assert contents(tree.root) == released


def test_an_environment_is_found_by_its_folder(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path / "venv" / "lib" / "python3.11")
    assert find_tree(tmp_path / "venv").root == tree.root.resolve()
    assert not tree.is_source
    assert not tree.holds("tests/basic/test_coder.py")


def test_a_failed_swap_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aider_gardener.patches import swap as module

    root = small_tree(tmp_path)
    before = contents(root)
    calls = iter([None, None, KeyboardInterrupt()])
    real = module.put

    def put(*arguments: object) -> None:
        if (error := next(calls, None)) is not None:
            raise error
        real(*arguments)  # type: ignore[arg-type]  # reason: only passed on

    monkeypatch.setattr(module, "put", put)
    with pytest.raises(KeyboardInterrupt):
        swap(root, CHANGES)
    assert contents(root) == before and not is_interrupted(root)


def test_a_kill_at_any_step_leaves_a_tree_that_becomes_whole_again(tmp_path: Path) -> None:
    import json

    seen = set()
    for step in range(60):
        root = small_tree_in(tmp_path / str(step))
        before = contents(root)
        command = [sys.executable, "-c", KILLED, str(root), str(step), json.dumps(CHANGES)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        interrupted = is_interrupted(root)
        recovered = recover(root)
        assert recovered == interrupted
        after = contents(root)
        wholly = {path: text.encode() for path, text in CHANGES.items() if text is not None}
        assert after in (before, wholly), f"killed at step {step}: {sorted(after)}"
        seen.add((done.returncode, interrupted, after == before))
        if done.returncode == 0:
            break
        swap(root, CHANGES)
        assert contents(root) == wholly
    assert {(9, False, True), (9, True, True), (0, False, False)} <= seen


def small_tree_in(folder: Path) -> Path:
    folder.mkdir()
    return small_tree(folder)
