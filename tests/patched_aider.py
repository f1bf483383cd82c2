"""aider as it is installed here, with patches of the series: for tests that run in a process of their own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aider_gardener.patches import tree
from aider_gardener.patches.series import Patch, Series

ROOT = Path(__file__).resolve().parent.parent


def patched(folder: Path, series: Series, patches: Sequence[Patch]) -> Path:
    """A folder with a copy of the package, patched; without its documentation."""
    spec = importlib.util.find_spec("aider")
    assert spec is not None and spec.origin is not None
    installed = Path(spec.origin).parent
    shutil.copytree(installed, folder / "aider", ignore=shutil.ignore_patterns("website", "__pycache__"))
    (folder / "aider_chat-0.dist-info").mkdir()  # so that it counts as installed, which has no tests
    for path, text in tree.patched(tree.read_files(folder, series.paths()), patches).items():
        if text is not None:
            (folder / path).write_text(text, "utf-8", newline="")
    return folder


def run_with(folder: Path, program: Sequence[str], *, beside: Sequence[Path] = ()) -> str:
    """What Python prints, with that aider before the installed one. Fails where it fails."""
    paths = [folder, *beside, ROOT, ROOT / "tests"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *program], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout
