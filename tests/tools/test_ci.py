"""The workflow for a forge runs what .ci/run does, on every Python and system that is supported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
TARGETS = {"lint": ("typecheck", "docs", "lint"), "test-upstream": ("test-upstream",), "test": ("test",)}
"""What each target of .ci/run stands for, with the targets that it needs in their order."""


@pytest.fixture(scope="module")
def job() -> Any:
    return yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["test"]


def steps_on(job: Any, *, windows: bool) -> list[str]:
    """The commands that run there, in their order."""
    other = "runner.os != 'Windows'" if windows else "runner.os == 'Windows'"
    commands = [step["run"] for step in job["steps"] if "run" in step and step.get("if") != other]
    return [line for command in commands for line in command.splitlines()]


def recipe(target: str) -> list[str]:
    """The Python commands of a target of the Makefile, with its variables filled in."""
    text = (ROOT / "Makefile").read_text("utf-8")
    flags = re.search(r"^TEST_FLAGS \?= (.*)$", text, re.M)
    block = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.M)
    assert flags and block
    lines = [line.strip().replace("$(TEST_FLAGS)", flags[1]) for line in block[1].splitlines()]
    return [line.replace("$(BIN)/", "") for line in lines]


def test_every_supported_python_runs_on_every_system(job: Any) -> None:
    matrix = job["strategy"]["matrix"]
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert matrix["python"] == named
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert not any(name.endswith("-latest") for name in matrix["os"])


def test_linux_and_macos_run_the_script(job: Any) -> None:
    assert steps_on(job, windows=False) == [".ci/run"]


def test_windows_runs_the_same_commands_in_the_same_order(job: Any) -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    targets = re.findall(r"^(?:run|beside) ([\w-]+)", script, re.M)
    wanted = [line for name in targets for each in TARGETS[name] for line in recipe(each)]
    run = [line.removeprefix(".venv/Scripts/") for line in steps_on(job, windows=True)]
    assert run[3:] == wanted
    assert "--require-hashes --requirement requirements/dev.lock" in run[1]
    assert run[2].endswith("--no-deps --no-build-isolation --editable .")


def test_actions_are_named_with_their_version_and_may_only_read(job: Any) -> None:
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", name) for name in used)
    assert yaml.safe_load(WORKFLOW.read_text("utf-8"))["permissions"] == {"contents": "read"}
    setup = next(step for step in job["steps"] if "setup-python" in step.get("uses", ""))
    assert setup["with"]["cache-dependency-path"] == "requirements/dev.lock"
