"""`gardener mcp` and `gardener hook` as they are called."""

from __future__ import annotations

import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aider_gardener.cli.root import main


def test_without_the_sdk_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "mcp":
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    result = CliRunner().invoke(main, ["mcp"])
    assert result.exit_code == 2
    assert (
        result.stderr == "gardener: gardener mcp needs an extra: uv tool install '.[mcp]' in the checkout\n"
    )


def test_a_project_that_is_no_folder_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["mcp", "--project", str(tmp_path / "none")])
    assert result.exit_code == 2 and "none is no folder; name that of the project" in result.stderr


def test_hook_has_a_page_of_help_and_no_other_call_of_it_has_an_exit_code() -> None:
    command = [sys.executable, "-m", "aider_gardener.cli", "hook"]
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert "It ends with 0 whatever happens" in shown.stdout
    nothing = subprocess.run(
        [*command, "Stop", "more"], input="{}", capture_output=True, text=True, check=True
    )
    assert nothing.stdout == nothing.stderr == ""
