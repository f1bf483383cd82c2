"""One mutant's trial: the tests of its module in a process of their own, with the fault in place.

The process is a fork of this one, so that what takes long to load (aider, litellm, numpy, and of the package
what does not import the module) is there. The fault is put in as the module is imported; no file is written,
and the checkout may be worked in meanwhile. What a test starts as another program does not see it.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType

KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"
ARGUMENTS = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--benchmark-disable")
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Outcome:
    """How a trial ended, the test that failed, and the seconds it took."""

    outcome: str
    test: str
    seconds: float


class Faulty(importlib.abc.MetaPathFinder):
    """Finds one module, with another tree in the place of its own."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        tree, file = self.tree, str(self.path)

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return compile(tree, file, "exec")

        return importlib.util.spec_from_file_location(fullname, file, loader=Loader(fullname, file))


class FirstFailure:
    """A plugin of pytest that remembers the first test that fails, or the file that cannot be imported."""

    def __init__(self) -> None:
        self.test = ""

    def pytest_runtest_logreport(self, report: object) -> None:
        self._note(report)

    def pytest_collectreport(self, report: object) -> None:
        self._note(report)

    def _note(self, report: object) -> None:
        if getattr(report, "failed", False) and not self.test:
            self.test = str(getattr(report, "nodeid", ""))


def trial(fault: Faulty, tests: Sequence[str], *, root: Path, seconds: float) -> Outcome:
    """Run the tests with a fault; after so many seconds they are ended."""

    def run(tell: Callable[[str], None]) -> int:
        import pytest

        sys.meta_path.insert(0, fault)
        import_anew(dependents(fault.name, imports(root / fault.name.partition(".")[0])))
        same_examples()
        first = FirstFailure()
        ended = 0
        for test in tests:  # one by one: the first mostly decides, and the others are not even imported
            ended = ended or int(pytest.main([*ARGUMENTS, "--rootdir", str(root), str(root / test)], [first]))
        tell(first.test)
        return ended

    return in_a_fork(run, seconds)


@lru_cache(maxsize=4)
def imports(package: Path) -> dict[str, frozenset[str]]:
    """What each module of a package may import of it, inside functions too, by the names that stand there."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        named = set[str]()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                named |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        found[name] = frozenset(named)
    return found


def dependents(module: str, graph: Mapping[str, Collection[str]]) -> set[str]:
    """A module and all that import it, directly or not."""
    found, new = {module}, {module}
    while new:
        new = {name for name, named in graph.items() if not new.isdisjoint(named)} - found
        found |= new
    return found


def import_anew(modules: Collection[str]) -> None:
    """Have modules imported anew where they are asked for next, and packages now."""
    for name in modules:
        if sys.modules.pop(name, None) is not None:
            above, _dot, own = name.rpartition(".")
            if hasattr(sys.modules.get(above), own):
                delattr(sys.modules[above], own)  # `from above import own` looks there first
    for name in sorted(modules):
        if any(held.startswith(f"{name}.") for held in sys.modules):
            package = importlib.import_module(name)
            for held in [held for held in sys.modules if held.rpartition(".")[0] == name]:
                setattr(package, held.rpartition(".")[2], sys.modules[held])


def same_examples() -> None:
    """Let hypothesis take the same examples in each trial, keep none, and look for no simpler one."""
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", database=None, derandomize=True, phases=phases)
    settings.load_profile("mutants")


def in_a_fork(run: Callable[[Callable[[str], None]], int], seconds: float) -> Outcome:
    """Run a function in a fork that prints nothing; 0 means that the mutant survived."""
    began = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.close(reading)
        code = 70
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            code = run(lambda text: void(os.write(writing, text.encode())))
        finally:
            os._exit(code)
    os.close(writing)
    status = None
    while status is None and time.monotonic() - began < seconds:
        ended, found = os.waitpid(child, os.WNOHANG)
        status = found if ended else None
        if status is None:
            time.sleep(POLL_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what its tests have started and left
    if status is None:
        os.waitpid(child, 0)
    test = read_all(reading)
    outcome = TIMED_OUT if status is None else KILLED if status else SURVIVED
    return Outcome(outcome, test, round(time.monotonic() - began, 2))


def void(_value: object) -> None:
    return None


def read_all(descriptor: int) -> str:
    """What was written into a pipe whose writers are gone."""
    os.set_blocking(descriptor, False)
    try:
        return os.read(descriptor, 65_536).decode()
    except BlockingIOError:
        return ""
    finally:
        os.close(descriptor)
