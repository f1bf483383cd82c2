"""A history within the host's own limit is the host's: every prompt is stock's, byte for byte."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aider_gardener import install, uninstall
from aider_gardener.adapters.aider import layout
from aider_gardener.settings import Settings

from .conftest import EDIT, Begin, MakeDriver, ScriptedModel

Step = tuple[str, tuple[str, ...]]
"""What is typed, and the model's replies to it."""
OUTPUT = "\n".join(f"10:00:{n:02} INFO step {n} took {n * 7} ms" for n in range(30))


def chat(seed: int, turns: int = 12) -> list[Step]:
    """A chat of questions, edits (one that fails first), commands, an undo and a clear, by chance."""
    chance = random.Random(seed)
    steps: list[Step] = []
    said = "hello"
    for number in range(turns):
        kinds = "ask ask order edit edit miss run test" + (" undo clear" if number > 5 else "")
        kind = chance.choice(kinds.split())
        now = f"hello {number}"
        good = EDIT.format(path="app.py", old=f"    return '{said}'", new=f"    return '{now}'")
        bad = EDIT.format(path="app.py", old="no such line", new="x")
        words = f"about topic {number}, in {chance.randint(2, 40)} words: " + "word " * chance.randint(2, 40)
        if kind == "ask":
            steps.append((f"/ask what do you know {words}?", (f"Answer {number}. {words}",)))
        elif kind == "order":
            steps.append((f"now tell me {words}", (f"As before, {words}",)))
        elif kind == "edit":
            steps.append((f"say {now}", (good,)))
            said = now
        elif kind == "miss":
            steps.append((f"say {now}", (bad, good)))
            said = now
        elif kind == "undo":
            steps.append(("/undo", ()))
            break  # what the file holds then depends on what was undone
        else:
            steps.append(({"run": "/run make all", "test": "/test make check", "clear": "/clear"}[kind], ()))
    return [*steps, ("/ask and what now?", ("Done.",)), ("go on", ("Fine.",))]


@pytest.fixture
def still(begin: Begin, monkeypatch: pytest.MonkeyPatch, repository: Path) -> str:
    """Commits have the same hash in every run; the commit to begin at."""
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "2026-01-01T00:00:00Z")
    monkeypatch.setattr("aider.commands.run_cmd", lambda *_a, **_o: (0, OUTPUT))
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, check=True)
    return found.stdout.decode().strip()


def prompts(
    steps: Sequence[Step],
    drive: MakeDriver,
    model: ScriptedModel,
    repository: Path,
    start: str,
    **options: Any,
) -> list[list[dict[str, Any]]]:
    """Every request of the main model in a chat that begins at the given commit."""
    subprocess.run(["git", "reset", "-q", "--hard", start], cwd=repository, check=True)
    subprocess.run(["git", "clean", "-qfd"], cwd=repository, check=True)
    model.requests.clear()
    driver = drive(**options)
    for typed, replies in steps:
        model.replies[:] = replies
        driver.type(typed)
    return list(model.requests)


@pytest.mark.parametrize("cache_prompts", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_prompts_are_stocks_byte_for_byte(
    seed: int, cache_prompts: bool, drive: MakeDriver, model: ScriptedModel, repository: Path, still: str
) -> None:
    options = {
        "cache_prompts": cache_prompts,
        "model_name": "claude-sonnet-4-5" if cache_prompts else "gpt-4o",
    }
    steps = chat(seed)
    stock = prompts(steps, drive, model, repository, still, **options)
    install(Settings(embedder="none", history_tokens=4_000))
    try:
        gardened = prompts(steps, drive, model, repository, still, **options)
    finally:
        uninstall()
    assert len(stock) >= 4
    assert gardened == stock


@pytest.mark.parametrize(("history_tokens", "is_compacted"), [(4_000, False), (300, True)])
def test_the_history_gets_a_cache_mark_only_once_something_is_compacted(
    begin: Begin, history_tokens: int, is_compacted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    compacted: list[bool] = []
    mark_history = layout.mark_history

    def mark(chunks: Any) -> None:
        compacted.append(bool(driver.coder.gardener.state.chat.levels))
        mark_history(chunks)

    monkeypatch.setattr(layout, "mark_history", mark)
    driver = begin(
        embedder="none",
        history_tokens=history_tokens,
        files="aider",
        cache_prompts=True,
        model_name="claude-sonnet-4-5",
    )
    for number in range(8):
        driver.ask(f"/ask question {number}", reply=f"Answer {number}. " + "words of prose. " * 30)
    assert bool(driver.coder.gardener.state.plans) == is_compacted
    assert bool(compacted) == is_compacted
    assert all(compacted)
    assert len(compacted) < len(driver.model.requests)


def test_an_output_stands_whole_in_the_prompt_that_follows_and_short_from_the_turn_after(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "\n".join(f"10:{n // 60:02}:{n % 60:02} INFO worker {n % 5} took batch {n}" for n in range(900))
    monkeypatch.setattr("aider.commands.run_cmd", lambda *_a, **_o: (0, output))
    driver = begin(embedder="none")
    driver.ask("/ask before we start")
    driver.type("/run make all")
    driver.ask("/ask what does that say?")
    assert output in driver.model.last_prompt()
    driver.ask("/ask and what follows from it?")
    assert output not in driver.model.last_prompt()
    assert "INFO worker" in driver.model.last_prompt()
