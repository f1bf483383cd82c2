"""Print the modules and functions that are long enough to ask why. A report: nothing fails because of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("aider_gardener", "tools", "bench")
MODULE_LINES, FUNCTION_LINES = 500, 60
Key = TypeVar("Key")


def main() -> int:
    """Print what is long, the longest first, and how much was looked at; always 0."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    modules = {path: len(path.read_text("utf-8").splitlines()) for path in paths}
    functions = {(path, name): lines for path in paths for name, lines in functions_of(path)}
    for path, lines in longest(modules, MODULE_LINES):
        print(f"{path.relative_to(ROOT).as_posix()}: {lines} lines")
    for (path, name), lines in longest(functions, FUNCTION_LINES):
        print(f"{path.relative_to(ROOT).as_posix()}: {name} has {lines} lines")
    print(f"{len(modules)} modules, {sum(modules.values()):,} lines, {len(functions):,} functions")
    return 0


def functions_of(path: Path) -> Iterator[tuple[str, int]]:
    """Name and lines, docstring included, of each function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def longest(lines: Mapping[Key, int], limit: int) -> list[tuple[Key, int]]:
    """What has more lines than the limit, the longest first."""
    return sorted(((key, count) for key, count in lines.items() if count > limit), key=lambda row: -row[1])


if __name__ == "__main__":
    sys.exit(main())
