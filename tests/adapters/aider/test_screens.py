"""What a person sees of a real `aider-gardener` in a terminal of 80 columns and 24 lines, with aider's own line
editor: each answer fits the screen, numbers pick."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.model_server import ModelServer, keep_prices

from .conftest import EDIT

pytest.importorskip("pexpect", reason="aider installs it on systems with pseudo-terminals")
pytest.importorskip("pyte", reason="pyte is not installed: pip install 'aider-gardener[dev]'")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminal for pexpect")

from terminal import LINES, Terminal  # noqa: E402  # reason: what it imports may be missing

EDITED = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'goodbye'")
REPLIES = [
    "The port of the staging box is 48213, and the lamp on it is green. " * 12,
    "## Retries\n\nThe client waits 4.5 s after the third attempt on kestrel, then it gives up for good. "
    * 9,
    "The nightly export reads by column position, so columns may only be appended. " * 12,
    EDITED,
]


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose aider has its list of prices, which it would fetch else."""
    home = tmp_path_factory.mktemp("home")
    keep_prices(home)
    return home


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(REPLIES) as started:
        yield started


@pytest.fixture
def seen(repository: Path, prices: Path, server: ModelServer) -> Iterator[Terminal]:
    command = [sys.executable, "-m", "aider_gardener.adapters.aider.cli", "--model", "gpt-4o"]
    quiet = ["--no-check-update", "--no-show-release-notes", "--no-analytics", "--no-gitignore"]
    environ = {"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "any", "HOME": str(prices)}
    environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    terminal = Terminal([*command, *quiet, "app.py"], cwd=repository, environ=environ)
    try:
        terminal.wait(lambda: terminal.last == ">")
        yield terminal
    finally:
        terminal.close()


def answer_to(terminal: Terminal, line: str, until: str) -> list[str]:
    """What is printed for a line, the line itself with it."""
    lines = terminal.type(line, until).splitlines()
    at = max(number for number, text in enumerate(lines) if text.startswith("> " + line[:30]))
    return lines[at:]


def test_an_hour_on_one_screen_at_a_time(seen: Terminal, repository: Path, server: ModelServer) -> None:
    assert "gardener on, archive .aider.gardener" in seen.said
    for question in ("what is the port?", "how long do retries wait?", "what of the export?"):
        answer_to(seen, f"/ask {question}", "Cost: ")

    pressure = answer_to(seen, "/context-pressure", "Nothing to do.")
    assert len(pressure) <= LINES and pressure[2].startswith("Prompt: ")
    assert any(line.startswith("OK. The history has ") for line in pressure[-5:])

    found = answer_to(seen, "/recall how long do retries wait", "nothing was added.")
    assert len(found) <= LINES
    assert any("The client waits 4.5 s" in line for line in found), found
    assert not any(line.strip() == "## Retries" for line in found)
    seen.type("say goodbye instead", "You can use /undo")
    assert "goodbye" in (repository / "app.py").read_text(encoding="utf-8")
    messages = [message for body in server.main_requests() for message in body["messages"]]
    assert {key for message in messages for key in message} == {"role", "content"}
    seen.type("/clear", "still")
    answer_to(seen, "/recall how long do retries wait", "[none]")
    assert "Added " in seen.type("1", "tokens to the chat.")

    said = answer_to(seen, "/why 1", "gardener restore")
    assert any(line.startswith("now ") for line in said)
