"""Many files change together or not at all, also when the process is killed in between."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from made_tree import contents

from aider_gardener.patches import swap as module
from aider_gardener.patches.swap import is_interrupted, recover, swap

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
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("before\n", "utf-8")
    return folder


def test_a_failed_swap_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    seen = set()
    for step in range(60):
        root = small_tree(tmp_path / str(step))
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
