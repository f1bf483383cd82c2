"""Floor by floor: every import points down, none runs in a circle, and the core knows neither host nor files.

Every import counts, those inside functions and under TYPE_CHECKING too. A room without a floor fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

PACKAGE = "aider_gardener"
FOLDER = Path(__file__).resolve().parent.parent / PACKAGE
ROOMS, FILES = 12, 6
"""How many folders and modules stand at the top of the package at most."""

FLOORS = (
    ("messages", "errors", "tokens", "settings"),
    ("reading",),
    ("compress", "plan"),
    ("archive",),
    ("recall",),
    ("notes", "tables"),
    ("gardener",),
    ("adapters",),
    ("",),  # aider_gardener/__init__.py: install() and uninstall(), which fetch the adapter when called
    ("patches", "replay"),
    ("cli",),
)
"""Rooms from the ground up. Those of one floor do not import each other, but for the words at the ground."""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

UPWARD: set[tuple[str, str]] = set()
"""Imports that point up or sideways and are known to, as (module, what it imports)."""

TALKS_TO_HOSTS = ("adapters", "replay", "patches", "cli")
DOES_INPUT_OUTPUT = (
    *TALKS_TO_HOSTS, "archive.store", "archive.shared", "recall.embed", "gardener.upkeep", "tables",
)  # fmt: skip
INPUT_OUTPUT = {
    "apsw", "sqlite3", "psycopg", "socket", "subprocess", "urllib", "http", "requests", "httpx", "shutil", "tempfile",
}  # fmt: skip


def module_name(path: Path) -> str:
    """The dotted name below the package: "archive.store.sqlite", "" for the package itself."""
    parts = path.relative_to(FOLDER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(FOLDER.rglob("*.py"))}


def imports(tree: ast.Module, module: str) -> Iterator[str]:
    """Full dotted names of all that a module imports, wherever it does; relative names are resolved."""
    package = [PACKAGE, *filter(None, module.split("."))]
    if SOURCES[module].name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            full = ".".join(filter(None, [base, node.module]))
            yield from (f"{full}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (
                a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
            )


def own(imported: str) -> str | None:
    """The module of ours that an imported name belongs to, below the package; None for other packages."""
    if imported != PACKAGE and not imported.startswith(PACKAGE + "."):
        return None
    name = imported[len(PACKAGE) + 1 :]
    while name and name not in SOURCES:
        name = name.rpartition(".")[0]
    return name


def room(module: str) -> str:
    return module.partition(".")[0]


@cache
def arrows(module: str) -> frozenset[str]:
    """The other modules of the package that a module imports."""
    tree = ast.parse(SOURCES[module].read_text("utf-8"))
    return frozenset(target for name in imports(tree, module) if (target := own(name)) is not None) - {module}


def may_import(module: str, target: str) -> bool:
    """Whether the floors allow it. KeyError for a room that has none."""
    here, there = FLOOR[room(module)], FLOOR[room(target)]
    return there < here or room(module) == room(target) or here == there == 0


def circles(graph: Mapping[str, Iterable[str]]) -> set[frozenset[str]]:
    """The sets of nodes that all reach each other, of two and more."""
    reach = {node: set(targets) for node, targets in graph.items()}
    changed = True
    while changed:
        changed = False
        for seen in reach.values():
            more = set().union(*(reach[other] for other in seen)) - seen if seen else set()
            if more:
                seen |= more
                changed = True
    return {
        frozenset(other for other in reach[node] if node in reach[other])
        for node in reach
        if node in reach[node]
    }


def within(module: str, places: Iterable[str]) -> bool:
    return any(module == place or module.startswith(place + ".") for place in places)


def test_imports_point_down() -> None:
    found = {
        (module, target) for module in SOURCES for target in arrows(module) if not may_import(module, target)
    }
    assert sorted(found - UPWARD) == [], "these reach up"
    assert sorted(UPWARD - found) == [], "these are mended: take them off the list"


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = circles({module: arrows(module) for module in SOURCES})
    assert {tuple(sorted(circle)) for circle in found} == set(), "these run in a circle"


def test_the_rooms_can_be_counted_on_two_hands_or_little_more() -> None:
    tops = {path.relative_to(FOLDER).parts[0] for path in SOURCES.values()}
    assert len([top for top in tops if not top.endswith(".py")]) <= ROOMS
    assert len([top for top in tops if top.endswith(".py")]) <= FILES


@pytest.mark.parametrize("module", [name for name in SOURCES if name and room(name) not in TALKS_TO_HOSTS])
def test_the_core_never_imports_the_host_or_its_provider(module: str) -> None:
    tree = ast.parse(SOURCES[module].read_text("utf-8"))
    assert not {"aider", "litellm"} & {name.partition(".")[0] for name in imports(tree, module)}


@pytest.mark.parametrize("module", [name for name in SOURCES if not within(name, DOES_INPUT_OUTPUT)])
def test_pure_steps_do_no_input_or_output(module: str) -> None:
    tree = ast.parse(SOURCES[module].read_text("utf-8"))
    used = {name.partition(".")[0] for name in imports(tree, module)} & INPUT_OUTPUT
    assert not used, (
        f"{module or PACKAGE} imports {sorted(used)}: input and output live in {DOES_INPUT_OUTPUT}"
    )


def test_the_rules_see_what_they_forbid() -> None:
    code = (
        "if TYPE_CHECKING:\n    from aider_gardener.cli import root\n"
        "def f():\n    from aider.coders import Coder\n    import_module('apsw')\n    from . import errors\n"
    )
    found = set(imports(ast.parse(code), "messages"))
    assert found == {"aider_gardener.cli.root", "aider.coders.Coder", "apsw", "aider_gardener.errors"}
    assert may_import("cli.root", "adapters.aider.cli") and not may_import("plan.view", "gardener.gardener")
    assert not may_import("compress.line", "plan.view") and may_import("settings", "errors")
    assert circles({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["d"]}) == {frozenset("bc"), frozenset("d")}
    with pytest.raises(KeyError):
        may_import("shed", "messages")
