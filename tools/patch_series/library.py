"""The package's own modules as they go into aider: which a part needs, and their rewritten text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from aider_gardener.errors import PatchError

PACKAGE = Path(__file__).resolve().parents[2] / "aider_gardener"
NAME, HOST = "aider_gardener", "aider_gardener.adapters.aider"
THERE, HOST_THERE = "aider.gardener", "aider.gardener.host"
NOT_TAKEN = frozenset({"", "adapters", "adapters.aider.defaults"})
"""What aider gets a version of its own of."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the package: its dotted name below the package, and its file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def closure(roots: Iterable[str]) -> set[str]:
    """The modules below the roots and all that they import, at once or later, but not for types only.

    Raises PatchError when there is no module at a root.
    """
    waiting = []
    for root in roots:
        below = [name for name in modules() if name == root or name.startswith(root + ".")]
        if not below:
            raise PatchError(f"there is no module {root} in the package: the chain is out of date")
        waiting += below
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += imported(name)
    return seen - NOT_TAKEN


@cache
def imported(name: str) -> frozenset[str]:
    """The modules of the package that a module imports, with the packages they are in."""
    tree = ast.parse(modules()[name].read_text("utf-8"))
    found = set()
    for dotted in dotted_names(tree):
        inside = dotted.removeprefix(NAME).lstrip(".")
        while inside and inside not in modules():
            inside = inside.rpartition(".")[0]
        while inside:
            found.add(inside)
            inside = inside.rpartition(".")[0]
    return frozenset(found)


def dotted_names(tree: ast.Module) -> Iterator[str]:
    """What a module imports from this package, and modules that it names in texts for a late import."""
    for node in running(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(rf"{NAME}(\.\w+)+", str(node.value)):
            names = [str(node.value)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == NAME)


def running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below, but for what stands under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from running(child)


def place_of(name: str) -> str:
    """Where a module goes in aider's repository."""
    path = modules()[name].relative_to(PACKAGE).as_posix()
    return "aider/gardener/" + path.replace("adapters/aider/", "host/")


def text_of(name: str) -> str:
    """A module's text with the names of its imports as they are in aider; nothing else differs."""
    text = modules()[name].read_text("utf-8")
    text = re.sub(rf"\b{re.escape(HOST)}\b", HOST_THERE, text)
    return re.sub(rf"\b{NAME}\b", THERE, text)
