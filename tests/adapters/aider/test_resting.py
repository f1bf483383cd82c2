"""Nothing is embedded while a program of the user's runs: commands, tests, linters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aider_gardener.adapters.aider import link

from .conftest import EDIT, MakeDriver


class Counting:
    """Stands where a backlog does, and counts the pauses that have no `resume` yet."""

    def __init__(self) -> None:
        self.pauses = 0

    def pause(self) -> None:
        self.pauses += 1

    def resume(self) -> None:
        self.pauses -= 1

    def stop(self) -> None:
        """Nothing runs."""


@pytest.fixture
def paused(gardened: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """How many pauses held while each program ran."""
    backlog, during = Counting(), dict[str, int]()

    def run(command: str, *_args: object, **_options: object) -> tuple[int, str]:
        during[command] = backlog.pauses
        return 0, "done"

    gardened()
    monkeypatch.setattr("aider.commands.run_cmd", run)
    monkeypatch.setattr("aider.coders.base_coder.run_cmd", run)
    monkeypatch.setattr("aider.linter.run_cmd_subprocess", run)
    monkeypatch.setitem(link.state.backlogs, "one", backlog)
    monkeypatch.setattr(link.state, "background", False)
    yield during
    assert backlog.pauses == 0, "each pause has its resume"
    link.state.backlogs.pop("one", None)


@pytest.mark.parametrize("typed", ["/run make", "!make", "/test make"])
def test_it_rests_while_a_command_runs(drive: MakeDriver, paused: dict[str, int], typed: str) -> None:
    drive().type(typed)
    assert paused == {"make": 1}


def test_it_rests_while_a_reply_is_linted_and_tested(drive: MakeDriver, paused: dict[str, int]) -> None:
    driver = drive(auto_lint=True, lint_cmds={"python": "lint"}, auto_test=True, test_cmd="make test")
    driver.coder.io.confirm_ask = lambda *_a, **_o: True  # even to a command that the model suggests
    edit = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'hi'")
    driver.ask("Say hi.", reply=edit + "\n```bash\nmake suggested\n```\n")
    assert paused == {"lint app.py": 1, "make suggested": 1, "make test": 1}


def test_it_rests_while_files_are_linted(drive: MakeDriver, paused: dict[str, int]) -> None:
    drive(lint_cmds={"python": "lint"}).type("/lint app.py")
    assert paused == {"lint app.py": 1}


def test_a_command_that_is_interrupted_ends_the_rest(
    drive: MakeDriver, paused: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_args: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("aider.commands.run_cmd", run)
    driver = drive()
    with pytest.raises(KeyboardInterrupt):
        driver.coder.commands.cmd_run("make")
