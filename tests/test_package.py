"""The package as it is installed: light to import, typed, with both commands, declaring what it uses."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

from aider_gardener.cli.root import MODULES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

IMPORT_AND_WATCH = """
import json, sys
events = []
def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "sqlite3.", "os.", "shutil.", "tempfile.", "urllib.")):
        if event not in {"os.listdir", "os.scandir"}:  # what finds modules looks into folders
            events.append(event)
    elif event == "open" and not str(args[0]).endswith((".py", ".pyc", ".so", ".pyd")):
        events.append(f"open {args[0]}")
sys.addaudithook(watch)
import aider_gardener
seen = list(events)
print(json.dumps({"events": seen, "modules": sorted(sys.modules)}))
"""

HEAVY = frozenset(
    "aider litellm openai matplotlib numpy apsw sqlite3 rich click tree_sitter grep_ast yaml jinja2 asyncio"
    " platformdirs psutil tenacity requests".split()
)

STARTED = ("aider_gardener",)
"""Modules that begin something beside the commands: what users import."""


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def test_importing_does_no_input_or_output_and_loads_nothing_heavy(root: Path) -> None:
    command = [sys.executable, "-B", "-c", IMPORT_AND_WATCH]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    assert found["events"] == [] and not HEAVY & set(found["modules"])


def test_the_package_is_marked_as_typed(root: Path) -> None:
    assert (root / "aider_gardener" / "py.typed").is_file()


def test_the_version_has_one_source(root: Path, project: dict[str, Any]) -> None:
    """pyproject.toml takes it from the package, and a release has a heading in the changelog."""
    assert "version" in project["dynamic"]
    version = importlib.import_module("aider_gardener").__version__
    assert f"\n## {version} " in (root / "CHANGELOG.md").read_text("utf-8")


def test_the_commands_are_declared_and_can_be_called(project: dict[str, Any]) -> None:
    assert project["scripts"].keys() == {"aider-gardener", "gardener"}
    for target in project["scripts"].values():
        module, _, attribute = target.partition(":")
        assert callable(getattr(importlib.import_module(module), attribute))


@pytest.fixture(scope="module")
def wheel(root: Path) -> set[str]:
    """The files of the wheel, by their places in it."""
    return {
        Path(file.distribution_path).as_posix() for file in WheelBuilder(str(root)).recurse_included_files()
    }


def test_the_wheel_holds_the_package_and_the_patches_and_nothing_else(root: Path, wheel: set[str]) -> None:
    assert {name.partition("/")[0] for name in wheel} == {"aider_gardener"}
    names = {path.name for path in (root / "patches").glob("*.patch")}
    series = {name for name in wheel if name.startswith("aider_gardener/patches/series/")}
    expected = {"README.md", *names}
    assert {name.removeprefix("aider_gardener/patches/series/") for name in series} == expected


def test_every_module_of_the_wheel_is_used_by_what_users_start(
    wheel: set[str], root: Path, project: dict[str, Any]
) -> None:
    """What only tests, tools or benchmarks use stands with them."""
    modules = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): root / name
        for name in wheel
        if name.endswith(".py")
    }
    commands = [target.partition(":")[0] for target in project["scripts"].values()]
    commands += [f"aider_gardener.cli.{name}" for name in MODULES.values()]
    waiting = [*STARTED, *commands, *(name for name in modules if name.endswith(".__main__"))]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        while name and name not in reached:
            if name in modules:
                reached.add(name)
                waiting += named(modules[name])
            name = name.rpartition(".")[0]
    assert sorted(modules.keys() - reached) == []


def named(path: Path) -> Iterator[str]:
    """What of the package a module imports, or names in a text for a late import."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"aider_gardener(\.\w+)+", str(node.value)):
            yield str(node.value)
        elif (
            isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "part"
        ):  # of the server's plug-in
            yield from (
                f"aider_gardener.archive.postgres.{word.value}"
                for word in node.args
                if isinstance(word, ast.Constant)
            )


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def declared(project: dict[str, Any], *extras: str) -> set[str]:
    listed = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    names = {re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0] for lines in listed for line in lines}
    return {normal(name) for name in names}


def _is_for_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"


@functools.cache
def imported(root: Path) -> set[str]:
    """Top names of all that the package's modules import beside itself and the standard library, but for
    types alone."""
    names: set[str] = set()
    for path in (root / "aider_gardener").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        tree.body = [each for each in tree.body if not _is_for_types(each)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"aider_gardener", "tomllib"}  # Python 3.11 brings the last


def provided(distribution: str) -> set[str]:
    """Top names of the modules that a distribution brings; its own of one that another Python needs."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return {distribution}
    return {
        file.parts[0].partition(".")[0]
        for file in files
        if file.suffix in {".py", ".so", ".pyd"} and file.parts[0] != ".."
    }


def test_what_is_imported_is_declared(root: Path, project: dict[str, Any]) -> None:
    """What an extra brings is imported where it is asked for."""
    assert imported(root) - set().union(*map(provided, declared(project, "mcp", "plot", "postgres"))) == set()


def test_every_aider_that_was_tried_is_allowed_and_none_older_and_no_newer_one_is_shut_out(
    project: dict[str, Any],
) -> None:
    from aider_gardener.adapters.aider.patch_points import TRIED

    asked = map(Requirement, project["dependencies"])
    allowed = next(one.specifier for one in asked if one.name == "aider-chat")
    assert list(allowed.filter(TRIED)) == list(TRIED)
    assert list(allowed.filter(["0.82.3", "0.83.0", "0.83.1"])) == []
    assert all(allowed.contains(newer, prereleases=True) for newer in ("0.86.3.dev27+g1a2b3c", "0.87.0"))


def test_what_is_declared_is_imported(root: Path, project: dict[str, Any]) -> None:
    used = imported(root)
    unused = {name for name in declared(project) if not provided(name) & used}
    assert unused == set()


def test_the_lock_names_every_dependency_with_hashes_and_no_address(
    root: Path, project: dict[str, Any]
) -> None:
    lock = (root / "requirements" / "dev.lock").read_text("utf-8")
    pins = dict(re.findall(r"^([a-z0-9][\w.-]*)==(\S+)", lock, re.MULTILINE))
    assert declared(project, "mcp", "plot", "postgres") <= {normal(pin) for pin in pins}
    assert "://" not in lock
    requirements = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    assert [text.splitlines()[0] for text in requirements if "--hash=sha256:" not in text] == []


ONE_MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/|(?:pypi|npmjs|pythonhosted)\.(?:org|com|io)\b")


def test_files_name_no_machine_and_no_registry(root: Path) -> None:
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", ":!recorded_sessions", ":!tests/data"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git repository: nothing says which files are the project's")
    assert [
        f"{name}:{number}: {line.strip()[:80]}"
        for name in listed.stdout.splitlines()
        if (root / name).is_file()
        for number, line in enumerate((root / name).read_text("utf-8", "replace").splitlines(), 1)
        if ONE_MACHINE.search(line) and not line.startswith("ONE_MACHINE")
    ] == []
