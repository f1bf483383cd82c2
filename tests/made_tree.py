"""Trees of aider for tests, made from the installed one: only the files that the series touches."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from aider_gardener.patches.series import read_series

SERIES = read_series()
BY_SLUG = {patch.slug: patch for patch in SERIES.patches}
FIXES = [patch for patch in SERIES.patches if patch.subject.startswith("fix:")]


def installed_tree(folder: Path) -> Path:
    """Something like site-packages, with aider as it was installed here."""
    spec = importlib.util.find_spec("aider")
    assert spec is not None and spec.origin is not None
    packages = Path(spec.origin).parent.parent
    root = folder / "site-packages"
    (root / "aider_chat-0.dist-info").mkdir(parents=True)
    for path in ["aider/__init__.py", *SERIES.paths()]:
        if path.startswith("aider/") and (packages / path).exists():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((packages / path).read_bytes())
    return root


def newer_tree(folder: Path) -> Path:
    """aider as a later version may be: all lines further down, changes beside the patches'."""
    tree = installed_tree(folder)
    for path in contents(tree):
        text = (tree / path).read_text("utf-8")
        (tree / path).write_text("# A line of the newer version\n" * 7 + text, "utf-8", newline="")
    rewrite(tree, "aider/history.py", "min_split = 4", "min_split = 5")
    rewrite(tree, "aider/commands.py", "Added {num_lines}", "Added all {num_lines}")
    return tree


def rewrite(root: Path, path: str, old: str, new: str) -> None:
    """Change the one place of a file where the old words stand."""
    text = (root / path).read_text("utf-8")
    assert text.count(old) == 1
    (root / path).write_text(text.replace(old, new), "utf-8", newline="")


def contents(root: Path) -> dict[str, bytes]:
    """Every file below the root."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
