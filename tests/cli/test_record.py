"""`gardener record` takes what it can run."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from aider_gardener.cli.root import main


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("command", [[], ["vim"], ["--", "aiderx"]])
def test_another_program_is_a_usage_error(command: list[str]) -> None:
    found = run("record", *command)
    assert found.exit_code == 2 and len(found.stderr.strip().splitlines()) == 1
    assert "gardener record -- aider-gardener" in found.stderr
