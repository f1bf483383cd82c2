"""Each module that does something has its test: of its name, or of the name of the folder that it is in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from test_layering import SOURCES

TESTS = Path(__file__).resolve().parent


def does_something(tree: ast.Module) -> bool:
    """Whether any function of a module has a body: no Protocol and no plain data."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_empty(node)
        for node in ast.walk(tree)
    )


def is_empty(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has nothing but words and an ellipsis."""
    return all(
        isinstance(line, ast.Pass) or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for line in function.body
    )


def places(module: str) -> list[Path]:
    """Where the test of a module may stand: its own name first, then that of each folder below the room."""
    parts = module.split(".")
    own = [TESTS.joinpath(*parts[:-1], f"test_{parts[-1]}.py")]
    return own + [TESTS.joinpath(*parts[:at], f"test_{parts[at]}.py") for at in range(len(parts) - 2, 0, -1)]


@pytest.mark.parametrize("module", [name for name in SOURCES if name])
def test_each_module_has_its_test(module: str) -> None:
    if not does_something(ast.parse(SOURCES[module].read_text("utf-8"))):
        return
    wanted = places(module)
    assert any(place.is_file() for place in wanted), f"write {wanted[0].relative_to(TESTS.parent)}"


def test_a_test_may_have_the_name_of_the_module_or_of_its_folder() -> None:
    found = [place.relative_to(TESTS).as_posix() for place in places("compress.testruns.jest")]
    assert found == ["compress/testruns/test_jest.py", "compress/test_testruns.py"]
    assert [place.name for place in places("tokens")] == ["test_tokens.py"]
    assert does_something(ast.parse("def f():\n    return 1")) and not does_something(
        ast.parse("class A:\n    def f(self):\n        ...")
    )
