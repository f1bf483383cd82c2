"""Recall alone: what was said before a probe is in the archive, nothing stands, and every way is scored."""

from __future__ import annotations

from pathlib import Path

from aider_gardener.replay.session.session import Probe, Session, SessionEvent
from bench.retrieval import LIMITS, main, measured


def filler(turn: int) -> str:
    """Many words about nothing, other ones in every turn and line."""
    return "\n".join(
        f"Report {turn}x{n} is written at night and nobody reads it before noon." for n in range(60)
    )


def session() -> Session:
    """A fact in turn 2, others around it, the question in turn 6."""
    said = {
        1: "/ask Let us look at the importer first.",
        2: "The retry limit of the importer is 17, because the gateway drops every tenth request.",
        3: filler(3),
        4: filler(4),
        5: filler(5),
    }
    events = [event for turn, text in said.items() for event in turn_of(turn, text)]
    probe = Probe(
        about_turn=2,
        ask_at_turn=6,
        kind="number",
        question="What is the retry limit of the importer?",
        answer_keys=("17",),
    )
    return Session(name="s", events=tuple(events), sha256="", repo0=None, files=(), probes=(probe,))


def turn_of(turn: int, text: str) -> list[SessionEvent]:
    return [
        SessionEvent(kind="user", turn=turn, text=text),
        SessionEvent(kind="reply", turn=turn, text=f"Noted as number {turn}."),
    ]


def test_a_fact_is_found_by_its_words_and_not_by_being_new(tmp_path: Path) -> None:
    found = measured(session(), tmp_path / "vectors.sqlite", embedder="none")
    assert found["probes"] == 1
    assert found["ways"]["words alone"] == [[1, 1]] * len(LIMITS)
    assert found["ways"]["newest"][0] == [0, 0], "300 tokens of the newest are filler"
    assert found["ways"]["words and meaning"] == found["ways"]["words alone"], "there is no embedder"


def test_an_embedder_that_is_not_there_is_an_error_and_not_measured_as_words(tmp_path: Path) -> None:
    file = tmp_path / "retrieval.json"
    assert main(["--embedder", "nobody-knows-it", "--json", str(file)]) == 1
    assert not file.exists()
