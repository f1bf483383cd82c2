"""Trees of aider for tests, made from the installed one: only the files that the series touches."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

from aider_gardener.patches.series import Series, read_series
from aider_gardener.patches.tree import Tree, tree_at

SERIES = read_series()
FIXES = [patch for patch in SERIES.patches if patch.is_fix]


def installed_tree(folder: Path, series: Series = SERIES) -> Tree:
    """Something like site-packages, with aider as it was installed here."""
    spec = importlib.util.find_spec("aider")
    assert spec is not None and spec.origin is not None
    packages = Path(spec.origin).parent.parent
    root = folder / "site-packages"
    (root / f"aider_chat-{importlib.metadata.version('aider-chat')}.dist-info").mkdir(parents=True)
    for path in ["aider/__init__.py", *series.upstream.files]:
        if path.startswith("aider/") and not path.startswith("aider/website/"):
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((packages / path).read_bytes())
    return tree_at(root)


def contents(root: Path) -> dict[str, bytes]:
    """Every file below the root but those the tool keeps for itself."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".gardener-patches" not in path.parts
    }
