"""Words in common: paraphrased probes have none with their turn, and the shares are what they say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aider_gardener.replay.measure.probes import key_pattern, texts_of_turn
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session, SessionEvent, load_probes
from bench import overlap
from bench.overlap import Asked, Shares, figures, main, of_prompts, shared_words, shares_of, telling_words

EIGHTHS = 8
"""Of each eighth of a session's probes, in their order, the first one is paraphrased."""
SESSIONS = sorted(path.parent.name for path in overlap.RECORDED.glob("*/session.jsonl"))


def session(*turns: tuple[str, str], repo0: Path | None = None) -> Session:
    """A session of prompts and replies, a turn each."""
    events = [
        SessionEvent(kind=kind, turn=turn, text=text)
        for turn, pair in enumerate(turns, 1)
        for kind, text in zip(("user", "reply"), pair, strict=True)
    ]
    return Session(name="s", events=tuple(events), sha256="", repo0=repo0)


@pytest.mark.parametrize("name", SESSIONS)
def test_the_first_probe_of_each_eighth_is_asked_again_in_other_words(name: str) -> None:
    recorded = load_session(overlap.RECORDED / name)
    own, again = recorded.probes, load_probes(overlap.RECORDED / name / overlap.PARAPHRASED)
    chosen = [own[at * len(own) // EIGHTHS] for at in range(EIGHTHS)]
    assert [replace(probe, question="") for probe in again] == [replace(one, question="") for one in chosen]
    for probe in again:
        said = "\n".join(texts_of_turn(recorded, probe.about_turn))
        assert not shared_words(probe.question, said), probe.question
        assert not any(key_pattern(key).search(probe.question) for key in probe.answer_keys), probe.question
        assert len(telling_words(probe.question)) >= 3, f"says next to nothing: {probe.question}"


@pytest.mark.parametrize(
    ("question", "text", "shared"),
    [
        ("When was the parser started?", "It starts by itself.", {"started"}),
        ("Did you run it?", "Running now.", {"run"}),
        ("Is it running?", "a run", {"running"}),
        ("What is user_name for?", "the userName", {"username", "user", "name"}),
        ("¿Qué avería tenía la rueda?", "La averia de las ruedas.", {"averia", "rueda"}),
        ("What would you use it for?", "What would you use it for?", set()),
        ("Where is house N7?", "n7 is warm", {"n7"}),
        ("Which limit?", "No bound was set.", set()),
    ],
)
def test_words_are_shared_by_their_stems_and_common_ones_are_none(
    question: str, text: str, shared: set[str]
) -> None:
    assert shared_words(question, text) == shared


def test_a_share_is_taken_of_the_turn_and_of_what_stands_beside_the_answer() -> None:
    far = " ".join(f"w{number}x" for number in range(20))
    one = session(("the importer gives up", f"its retry limit is 17, {far} gateway"))
    asked = Asked("Which retry limit has the gateway today?", 1, ("17",))
    assert shares_of(one, asked) == Shares(turn=3 / 4, beside=2 / 4)
    assert shares_of(one, Asked("What was it?", 1, ("17",))) is None


def test_a_prompt_needs_the_older_turns_whose_facts_its_reply_uses_again(tmp_path: Path) -> None:
    (tmp_path / "a_module.py").write_text("in_the_file = 1\n", encoding="utf-8")
    settled = "Settle port_number, in_the_file, a_module.py, by_editor, b_module.py, typed_again."
    turns = [
        ("/ask begin", f"{settled}\n\nof_block.py\n```\nin_a_block = 2\n```"),
        ("a note on other_fact", "noted"),
        ("go on", "said_lately"),
        ("well", "yes"),
        ("/ask finish typed_again", f"{settled} in_a_block of_block.py other_fact"),
        ("/run ls", "said_lately"),
    ]
    whole = session(*turns, repo0=tmp_path)
    edited = SessionEvent(kind="file", turn=4, path="b_module.py", text="by_editor = 3")
    found = list(of_prompts(replace(whole, events=(*whole.events, edited))))
    assert found == [
        Asked("finish typed_again", 1, ("port_number",)),
        Asked("finish typed_again", 2, ("other_fact",)),
    ], "files, their paths, code blocks and what is typed now need no memory; a command asks nothing"


def test_a_new_chat_remembers_nothing() -> None:
    turns = [("go", "port_number"), ("on", "and"), ("further", "still"), ("what was it", "port_number")]
    whole = session(*turns)
    assert [asked.about_turn for asked in of_prompts(whole)] == [1]
    cleared = (*whole.events[:4], SessionEvent(kind="restart", turn=2), *whole.events[4:])
    assert list(of_prompts(replace(whole, events=cleared))) == []


def test_figures_are_means_and_count_questions_that_share_nothing() -> None:
    assert figures([Shares(0.5, 0.25), Shares(0.5, 0.0), Shares(0.0, 0.0), Shares(0.0, 0.0)]) == {
        "questions": 4, "turn": 0.25, "beside": 0.0625, "nothing_shared": 2,
    }  # fmt: skip
    assert figures([]) == {"questions": 0, "turn": None, "beside": None, "nothing_shared": 0}


def test_the_command_writes_figures_of_every_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    rows = [
        {"kind": "meta", "format": 1},
        {"kind": "user", "turn": 1, "text": "the port of staging_box is 48213"},
        {"kind": "user", "turn": 2, "text": "thanks"},
    ]
    probe = {"about_turn": 1, "ask_at_turn": 2, "kind": "number", "answer_keys": ["48213"]}
    (folder / "session.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "probes.json").write_text(json.dumps([{**probe, "question": "Which port?"}]), encoding="utf-8")
    monkeypatch.setattr(overlap, "RECORDED", tmp_path)
    out = tmp_path / "out.json"
    assert main(["--json", str(out)]) == 1
    assert overlap.PARAPHRASED in capsys.readouterr().err
    again = [{**probe, "question": "Where does the trial machine listen?"}]
    (folder / overlap.PARAPHRASED).write_text(json.dumps(again), encoding="utf-8")
    assert main(["--json", str(out)]) == 0
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["all"] == written["sessions"]["small"]
    assert [written["all"][name]["turn"] for name in overlap.SETS] == [1.0, 0.0, None]
    assert written["kind"] == "overlap" and "commit" in written["provenance"]
