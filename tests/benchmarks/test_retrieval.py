"""Recall alone: what was said before a probe is in the archive, nothing stands, and every way is scored."""

from __future__ import annotations

from pathlib import Path

from aider_gardener.replay.session.session import Probe, Session, SessionEvent
from bench.retrieval import LIMITS, WAYS, main, measured, messages_of, sums


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


def test_the_host_s_commands_are_no_messages() -> None:
    def texts(kind: str, text: str) -> list[str]:
        return [message.content for message in messages_of(SessionEvent(kind=kind, turn=1, text=text))]

    assert texts("user", "/ask why?") == ["why?"]
    assert texts("user", "/add a.py") == []
    assert texts("commit", "fix: it") == []
    ran = list(messages_of(SessionEvent(kind="command", turn=1, command="make", output="gcc: error")))
    assert "make" in ran[0].content and "gcc: error" in ran[0].content


def test_sums_are_over_all_sessions() -> None:
    one = {"probes": 2, "ways": {way: [[2, 1]] * len(LIMITS) for way in WAYS}}
    assert sums({"a": one, "b": one}) == {way: [[4, 2]] * len(LIMITS) for way in WAYS}
    assert one["ways"]["newest"] == [[2, 1]] * len(LIMITS), "the sessions' own figures stay"
