"""The rules of the code that no linter checks: names, reasons beside ignores, nothing of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(
    path for folder in ("aider_gardener", "tools", "bench") for path in (ROOT / folder).rglob("*.py")
)

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "misc", "common"}
CODES = r"type:\s*ignore(?:\[[^\]]*\])?|noqa(?::\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?"
IGNORED = re.compile(rf"#\s*(?:{CODES})(?P<reason>.*)")
ONE_MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/|(?:pypi|npmjs|pythonhosted)\.(?:org|com|io)\b")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_modules_are_named_for_what_they_do() -> None:
    assert [name(path) for path in SOURCES if path.stem in EMPTY_NAMES] == []


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_ignore_has_its_reason_in_sight(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    bare = [
        number
        for number, line in enumerate(lines, 1)
        if (found := IGNORED.search(line))
        and not re.search(r"\w{3}", found["reason"])
        and not any("reason" in near for near in lines[max(0, number - 4) : number])
    ]
    assert bare == [], f"{name(path)}: lines {bare} ignore a check without a word why"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_nothing_swallows_every_error_silently(path: Path) -> None:
    """`except Exception` that does not raise again needs a word why beside it; a bare `except:` never passes."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    wrong = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = set(re.findall(r"\w+", ast.unparse(node.type))) if node.type else set()
        near = "\n".join(lines[max(0, node.lineno - 2) : node.lineno + 2])
        explained = "#" in near or isinstance(node.body[-1], ast.Raise)
        if node.type is None or (caught & {"Exception", "BaseException"} and not explained):
            wrong.append(node.lineno)
    assert wrong == [], f"{name(path)}: lines {wrong} catch everything without a reason"


def test_files_name_no_machine_and_no_registry() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git repository: nothing says which files are the project's")
    wrong = []
    for listed_name in listed.stdout.splitlines():
        path = ROOT / listed_name
        if listed_name.startswith(("recorded_sessions/", "tests/data/")) or not path.is_file():
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if ONE_MACHINE.search(line) and "ONE_MACHINE" not in line:
                wrong.append(f"{listed_name}:{number}: {line.strip()[:80]}")
    assert wrong == []


def test_no_unfinished_marks_are_left() -> None:
    mark = re.compile(r"#\s*(?:TODO|FIXME|XXX|HACK)\b")
    assert [f"{name(path)}" for path in SOURCES if mark.search(path.read_text("utf-8"))] == []
