"""The contract of imports: they point down from floor to floor, none runs in a circle, and the core knows no host:
it runs where neither aider nor litellm can be imported.

Every import counts, those inside functions and under TYPE_CHECKING too. A room without a floor fails.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "aider_gardener"
FOLDER = Path(__file__).resolve().parent.parent / PACKAGE
FLOORS = (
    "messages errors tokens settings phrases files terminal", "reading", "compress plan", "archive", "recall", "notes tables",
    "gardener",
    "adapters", PACKAGE, "patches replay", "cli",
)  # fmt: skip
"""Rooms from the ground up. Those of one floor do not know each other, but for the words at the ground.
The package itself, `install`, fetches the adapter when called."""
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}

TALKS_TO_HOSTS = ("adapters", "replay", "patches", "cli", PACKAGE)
DOES_INPUT_OUTPUT = (
    *TALKS_TO_HOSTS, "archive.store", "archive.postgres", "recall.embed", "gardener.upkeep", "tables", "terminal",
)  # fmt: skip
HOSTS = {"aider", "litellm"}
INPUT_OUTPUT = {
    "apsw", "sqlite3", "psycopg", "socket", "subprocess", "urllib", "http", "requests", "httpx", "shutil", "tempfile",
}  # fmt: skip


def module_name(path: Path) -> str:
    """The dotted name below the package: "archive.store.sqlite"; that of the package itself is its own."""
    return (
        ".".join(path.relative_to(FOLDER).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        or PACKAGE
    )


def imports(code: str) -> Iterator[str]:
    """Full dotted names of all that a module's code imports, wherever it does."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (str(given.value) for given in node.args if isinstance(given, ast.Constant))


def own(imported: str) -> str:
    """The module of ours that an imported name stands in."""
    name = imported.removeprefix(f"{PACKAGE}.")
    while name not in all_imports():
        name = name.rpartition(".")[0] or PACKAGE
    return name


def room(name: str) -> str:
    return name.partition(".")[0]


@cache
def all_imports() -> dict[str, set[str]]:
    """What each module of the package imports."""
    return {module_name(path): set(imports(path.read_text("utf-8"))) for path in FOLDER.rglob("*.py")}


@cache
def own_imports() -> dict[str, set[str]]:
    """The modules of ours that each imports."""
    found = all_imports().items()
    return {one: {own(name) for name in names if room(name) == PACKAGE} - {one} for one, names in found}


def may_import(module: str, target: str) -> bool:
    here, there = FLOOR[room(module)], FLOOR[room(target)]
    return there < here or room(module) == room(target) or here == there == 0


def test_imports_point_down() -> None:
    found = [(one, target) for one, targets in own_imports().items() for target in targets]
    assert [pair for pair in found if not may_import(*pair)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    TopologicalSorter(own_imports()).prepare()  # CycleError names them


@pytest.mark.parametrize(("met", "places"), [(HOSTS, TALKS_TO_HOSTS), (INPUT_OUTPUT, DOES_INPUT_OUTPUT)])
def test_hosts_and_input_and_output_are_met_in_their_places_only(
    met: set[str], places: tuple[str, ...]
) -> None:
    inside = tuple(f"{place}." for place in places)
    elsewhere = {one: names for one, names in all_imports().items() if not f"{one}.".startswith(inside)}
    assert [one for one, names in elsewhere.items() if met & set(map(room, names))] == []


def test_every_way_to_import_is_seen_and_what_points_up_is_told() -> None:
    code = "if TYPE_CHECKING:\n    import a.b\ndef f():\n    from c.d import e\n    import_module('f')\n"
    assert set(imports(code)) == {"a.b", "c.d.e", "f"}
    assert may_import("cli.root", "adapters.aider.cli") and not may_import("plan.view", "gardener.gardener")
    assert not may_import("compress.line", "plan.view") and may_import("settings", "errors")


NO_HOST = """
import importlib, pkgutil, sys

HOSTS = {"aider", "litellm"}

class NoHost:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HOSTS:
            raise ImportError(f"the core asked for {name}")

sys.meta_path.insert(0, NoHost())

import aider_gardener

for room in sys.argv[1:]:
    package = importlib.import_module(f"aider_gardener.{room}")
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), package.__name__ + "."):
        importlib.import_module(found.name)

assert not HOSTS & set(sys.modules)
"""


def test_every_room_of_the_core_is_imported_without_a_host(root: Path) -> None:
    """That a chat is held so too say the tests of the plain adapter."""
    rooms = sorted(set(map(room, all_imports())) - {*TALKS_TO_HOSTS})
    command = [sys.executable, "-c", NO_HOST, *rooms]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
