"""Answers of several pieces: the recorded questions can be asked, and count only when every piece is found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.errors import GardenerError
from aider_gardener.replay.measure.probes import key_pattern
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from bench.retrieval import ROOT, messages_of
from bench.several import KINDS, QUESTIONS, SeveralProbe, load_several, measured, tally

SESSIONS = sorted(path.parent.name for path in (ROOT / "recorded_sessions").glob("*/session.jsonl"))
SAID = {
    1: "The retry limit of the importer is 17, because the gateway drops every tenth request.",
    2: "Lunch is soup.",
    3: "From today the importer's retry limit is 23: the gateway was replaced on Monday.",
    4: "The exporter has a retry limit of 41, nobody knows why.",
}


def recorded(name: str) -> tuple[Session, list[SeveralProbe]]:
    session = load_session(ROOT / "recorded_sessions" / name)
    return session, load_several(QUESTIONS / f"{name}.json", session)


def probe(**changed: Any) -> dict[str, Any]:
    """A probe that the made session answers, as JSON."""
    return {
        "ask_at_turn": 9,
        "kind": "updated",
        "question": "What is the retry limit of the importer, and what was it?",
        "pieces": [{"about_turn": 1, "answer_keys": ["17"]}, {"about_turn": 3, "answer_keys": ["23"]}],
        "decoys": [{"about_turn": 4, "answer_keys": ["41"]}],
        **changed,
    }


def made(folder: Path, *probes: dict[str, Any]) -> tuple[Path, Session]:
    """A file with these probes, and a session of eight turns: four texts, then many words about nothing."""
    rows: list[dict[str, Any]] = [{"kind": "meta", "format": 1}]
    for turn in range(1, 9):
        filler = "\n".join(f"Report {turn}x{n} is written at night and read at noon." for n in range(90))
        rows.append({"kind": "user", "turn": turn, "text": SAID.get(turn, filler)})
    (folder / "session.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    path = folder / "several.json"
    path.write_text(json.dumps(probes), encoding="utf-8")
    return path, load_session(folder)


def test_the_recorded_questions_can_be_asked() -> None:
    found = {name: recorded(name)[1] for name in SESSIONS}
    probes = [one for several in found.values() for one in several]
    assert len(probes) == 80 and {len(several) for several in found.values()} == {8}
    assert all(len({one.about_turn for one in probe.pieces}) >= 2 for probe in probes)
    kinds = Counter(one.kind for one in probes)
    assert set(kinds) == set(KINDS) and min(kinds.values()) >= 8
    assert sum(bool(one.decoys) for one in probes) >= 40


@pytest.mark.parametrize("name", SESSIONS)
def test_each_piece_stands_in_what_enters_the_archive(name: str) -> None:
    session, probes = recorded(name)
    for one in (piece for probe in probes for piece in (*probe.pieces, *probe.decoys)):
        events = session.turn(one.about_turn)
        kept = "\n".join(message.content for event in events for message in messages_of(event))
        assert all(key_pattern(key).search(kept) for key in one.answer_keys), one


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pieces": [{"about_turn": 1, "answer_keys": ["23"]}] * 2}, "different turns, in order, not [1, 1]"),
        ({"decoys": [{"about_turn": 2, "answer_keys": ["41"]}]}, "the key '41' was not said in turn 2"),
        ({"decoys": [{"about_turn": 3, "answer_keys": ["23"]}]}, "at another turn than the pieces"),
        ({"ask_at_turn": 7}, "asked between turns 8 and 9, not at 7"),
        ({"kind": "riddle"}, "unknown kind 'riddle'"),
        ({"question": "Was it 17 or 23?"}, "gives away the key '17'"),
        ({"pieces": [{"about_turn": 1}]}, "needs ask_at_turn, kind, question and pieces"),
        ({"pieces": [{"about_turn": 1, "answer_keys": "17"}]}, "must be a list of texts"),
    ],
)
def test_a_wrong_probe_is_named_in_one_line(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(GardenerError) as caught:
        load_several(*made(tmp_path, probe(), probe(**changed)))
    text = str(caught.value)
    assert said in text and "several.json: probe 2" in text and "\n" not in text


def test_a_probe_counts_only_when_every_piece_is_supported(tmp_path: Path) -> None:
    unlike = [{"about_turn": 1, "answer_keys": ["17"]}, {"about_turn": 2, "answer_keys": ["soup"]}]
    path, session = made(tmp_path, probe(), probe(pieces=unlike, decoys=[]))
    rows = measured(session, load_several(path, session), tmp_path / "vectors.sqlite", embedder="none")
    found = [row["ways"]["words alone"][0] for row in rows]
    assert found == [[[1, 1], [1]], [[1, 0], []]], "nothing in the question leads to the soup"
    assert tally(rows).asked == (2, 4, 1)
    assert tally(rows).supported["words alone"][0] == (1, 3, 1)
