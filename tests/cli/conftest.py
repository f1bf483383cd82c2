"""Archives for the commands: one made by hand, and what a real chat of the adapter's tests has left."""

from __future__ import annotations

from pathlib import Path

import pytest
from adapters.aider.conftest import Driver, clean_after, drive, gardened, model, repository
from click.testing import CliRunner, Result
from made_entries import entry

from aider_gardener.archive.store import open_store
from aider_gardener.cli.root import main
from aider_gardener.messages import ContentClass

__all__ = ["clean_after", "drive", "gardened", "model", "repository"]

SAID = ("The quokka lives in the attic.", "Noted: in the attic.", "ERROR pool: 47 connections are in use")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The folder of an archive that holds SAID, of one session."""
    store = open_store(tmp_path / "archive")
    store.open_session("s", project=str(tmp_path), started_at=1.0)
    for seq, text in enumerate(SAID):
        cls = ContentClass.LOG if "ERROR" in text else ContentClass.PROSE
        new = entry(seq, "assistant" if seq == 1 else "user", text, cls=cls)
        store.add(new, chunks=[(0, len(text))])
    store.close()
    return tmp_path / "archive"


def gardener(*words: str) -> Result:
    """What `gardener` with these words prints, and its exit code."""
    return CliRunner().invoke(main, words)


def five_turns(driver: Driver, first: str) -> Driver:
    """A chat of five turns, which has to be compacted above 600 tokens; the first reply begins so."""
    driver.ask("/ask tell me the port", reply=first + " More words follow it." * 30)
    for number in range(4):
        driver.ask(f"/ask question {number}", reply=f"Answer {number}. " + "words of prose. " * 60)
    assert driver.coder.gardener.state.plans
    return driver
