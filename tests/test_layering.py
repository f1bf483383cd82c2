"""Imports point one way: messages <- pure steps <- gardener <- adapters <- replay <- cli; core never imports aider."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "aider_gardener"
FOLDER = Path(__file__).resolve().parent.parent / PACKAGE

WORDS, STEPS, FACADE, HOSTS, REPLAY, TOP = range(6)
LAYERS = {
    "messages": WORDS,
    "errors": WORDS,
    "gardener": FACADE,
    "care": FACADE,  # what the user decides about single entries
    "single": FACADE,
    "settled": FACADE,
    "stored_chat": FACADE,  # the facade over a chat that ended
    "model_asks": FACADE,  # what a model that asks for originals is given
    "compactions": FACADE,  # the part of the facade that changes what is shown
    "throttle": FACADE,  # the same, for one oversized message
    "maintenance": FACADE,
    "autopilot": FACADE,  # figures about a chat over time
    "report": FACADE,  # words and figures about the facade
    "terminal": FACADE,  # the same, drawn
    "adapters": HOSTS,
    "replay": REPLAY,
    "cli": TOP,
    "doctor": TOP,
    "": HOSTS,  # aider_gardener/__init__.py: install() and uninstall(), which fetch the adapter when called
}
"""The layer of each module or sub-package by its first name; what is not named here is a pure step."""

TALKS_TO_AIDER = ("adapters", "replay", "cli", "doctor", "bench")
DOES_INPUT_OUTPUT = (*TALKS_TO_AIDER, "store", "embed", "maintenance", "terminal")
INPUT_OUTPUT = {
    "apsw",
    "sqlite3",
    "socket",
    "subprocess",
    "urllib",
    "http",
    "requests",
    "httpx",
    "shutil",
    "tempfile",
}


def module_name(path: Path) -> str:
    """The dotted name below the package: "store.sqlite", "" for the package itself."""
    parts = path.relative_to(FOLDER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(FOLDER.rglob("*.py"))}


def imports(tree: ast.Module, module: str, *, top_level_only: bool = False) -> Iterator[str]:
    """Full dotted names of all that a module imports, in functions too; relative names are resolved."""
    package = [PACKAGE, *filter(None, module.split("."))]
    if SOURCES[module].name != "__init__.py":
        package = package[:-1]
    for node in tree.body if top_level_only else ast.walk(tree):
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


def first(module: str) -> str:
    name = module.partition(".")[0]
    return "cli" if name.startswith("cli") else name


def layer(module: str) -> int:
    return LAYERS.get(first(module), STEPS)


def parsed(module: str) -> ast.Module:
    return ast.parse(SOURCES[module].read_text("utf-8"))


@pytest.mark.parametrize("module", SOURCES)
def test_imports_point_one_way(module: str) -> None:
    higher = {
        imported
        for imported in imports(parsed(module), module)
        if (target := own(imported)) is not None and layer(target) > layer(module)
    }
    assert not higher, f"{module or PACKAGE} reaches up to {sorted(higher)}"


@pytest.mark.parametrize(
    "module", [module for module in SOURCES if module and first(module) not in TALKS_TO_AIDER]
)
def test_the_core_never_imports_aider(module: str) -> None:
    assert "aider" not in {name.partition(".")[0] for name in imports(parsed(module), module)}


@pytest.mark.parametrize("module", [module for module in SOURCES if first(module) not in DOES_INPUT_OUTPUT])
def test_pure_steps_do_no_input_or_output(module: str) -> None:
    used = {name.partition(".")[0] for name in imports(parsed(module), module)} & INPUT_OUTPUT
    assert not used, (
        f"{module or PACKAGE} imports {sorted(used)}: input and output live in {DOES_INPUT_OUTPUT}"
    )


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    reached: dict[str, set[str]] = {
        module: {
            t for name in imports(parsed(module), module, top_level_only=True) if (t := own(name)) is not None
        }
        - {module}
        for module in SOURCES
    }
    while any(reached.values()):
        leaves = [module for module, targets in reached.items() if not targets]
        assert leaves, f"these import each other in a circle: {sorted(reached)}"
        for leaf in leaves:
            del reached[leaf]
        for targets in reached.values():
            targets.difference_update(leaves)


def test_the_rules_see_what_they_forbid() -> None:
    code = "def f():\n    from aider.coders import Coder\n    import_module('apsw')\n    from . import cli\n"
    found = set(imports(ast.parse(code), "messages"))
    assert found == {"aider.coders.Coder", "apsw", "aider_gardener.cli"}
    assert (
        layer("cli_replay")
        > layer("adapters.aider")
        > layer("gardener")
        > layer("segment")
        > layer("messages")
    )
