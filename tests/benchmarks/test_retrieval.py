"""Recall alone: what was said before a probe is in the archive, nothing stands, and every way is scored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aider_gardener.replay.measure.probes import key_pattern
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session, SessionEvent
from bench.retrieval import (
    LIMITS,
    QUESTIONS,
    ROOT,
    SEVERAL_LIMITS,
    load_several,
    main,
    measured,
    measured_several,
    messages_of,
)


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


def test_a_question_counts_only_when_every_piece_is_supported(tmp_path: Path) -> None:
    said = replace(session(), events=(*session().events, *turn_of(5, "17")))
    (retry,) = said.probes
    other = replace(retry, about_turn=1, answer_keys=("importer first",))
    unlike = replace(retry, about_turn=1, answer_keys=("never said",))
    asked = [(retry, other), (retry, unlike)]
    found = measured_several(said, asked, tmp_path / "vectors.sqlite", embedder="none")
    assert (found["questions"], found["pieces"]) == (2, 4)
    assert found["ways"]["words alone"] == [[3, 1]] * len(SEVERAL_LIMITS)
    assert found["ways"]["newest"][0] == [0, 0], "a bare number of a later turn is no answer"


@pytest.mark.parametrize("path", sorted(QUESTIONS.glob("*.json")), ids=lambda path: path.stem)
def test_the_questions_of_several_pieces_can_be_answered(path: Path) -> None:
    """Two to four pieces of different turns, said long enough before; no key is given away."""
    recorded = load_session(ROOT / "recorded_sessions" / path.stem)
    questions = load_several(path)
    assert len(questions) == 8
    for pieces in questions:
        turns, question, asked = [one.about_turn for one in pieces], pieces[0].question, pieces[0].ask_at_turn
        assert 2 <= len(turns) <= 4 and turns == sorted(set(turns)), question
        assert turns[-1] + 5 <= asked <= recorded.turn_count + 1, question
        for one in pieces:
            events = recorded.turn(one.about_turn)
            kept = "\n".join(message.content for event in events for message in messages_of(event))
            for key in one.answer_keys:
                assert key_pattern(key).search(kept) and not key_pattern(key).search(question), key


def test_an_embedder_that_is_not_there_is_an_error_and_not_measured_as_words(tmp_path: Path) -> None:
    file = tmp_path / "retrieval.json"
    assert main(["--embedder", "nobody-knows-it", "--json", str(file)]) == 1
    assert not file.exists()
