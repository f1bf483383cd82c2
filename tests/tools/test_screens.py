"""Pictures of screens, and the terminal that they are taken from."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("pexpect", reason="aider installs it on systems with pseudo-terminals")
pytest.importorskip("pyte", reason="pyte is not installed: pip install 'aider-gardener[dev]'")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminal for pexpect")

import screens  # noqa: E402  # reason: what it imports may be missing
from terminal import Terminal  # noqa: E402

ECHO = "while True:\n    said = input('> ')\n    print('\\n'.join(f'{n} {said}' for n in range(30)))"


def test_a_terminal_shows_what_a_person_sees_and_remembers_what_scrolled_away(tmp_path: Path) -> None:
    terminal = Terminal([sys.executable, "-c", ECHO], cwd=tmp_path, environ={}, seconds=120)
    try:
        terminal.wait(lambda: terminal.last == ">")
        lines = terminal.type("hello", "29 hello").splitlines()
        assert lines[0] == "> hello" and lines[1] == "0 hello"
        assert len(terminal.screen) == 24 and "0 hello" not in terminal.screen
        assert terminal.said[-1] == ">" and terminal.said[-2] == "29 hello"
    finally:
        terminal.close()


def test_what_is_never_seen_raises_with_the_screen(tmp_path: Path) -> None:
    terminal = Terminal([sys.executable, "-c", "print('only this')"], cwd=tmp_path, environ={}, seconds=120)
    with pytest.raises(TimeoutError, match="only this"):
        terminal.wait(lambda: "more" in terminal.said)


def test_a_picture_holds_the_answer_alone() -> None:
    rule = "─" * 80
    said = ["> /gardener", "old", "> /gardener", "", "It is on.", rule, ">"]
    assert screens.since(said, "> /gardener") == ["> /gardener", "", "It is on."]


def test_a_picture_fetches_nothing() -> None:
    made = screens.svg(["> /recall <x>", "a & b"], "/recall")
    assert "@font-face" not in made and "url(http" not in made and "&lt;x&gt;" in made
