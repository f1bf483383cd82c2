"""What is said when a recorded session cannot be read, and what is read when it can."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aider_gardener import files
from aider_gardener.errors import SessionError
from aider_gardener.replay.measure.probes import key_pattern, texts_of_turn
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import load_probes, load_summaries

MINI = Path(__file__).parents[2] / "data" / "sessions" / "mini"
RECORDED = sorted(
    path.parent for path in (Path(__file__).parents[3] / "recorded_sessions").glob("*/session.jsonl")
)
META = {"kind": "meta", "format": 1, "name": "x"}


def folder(tmp_path: Path, *lines: str) -> Path:
    (tmp_path / "session.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_reads_events_probes_summaries_and_tree() -> None:
    session = load_session(MINI)
    assert session.name == "mini"
    assert session.turn_count == 8
    assert session.files == ("greeting.py",)
    assert session.auto_lint
    assert session.repo0 == MINI / "repo0"
    assert [event.kind for event in session.turn(2)] == ["user", "command", "confirm"]
    assert session.of_kind("command", 2)[0].exit_status == 1
    assert len(session.probes) == 4
    assert session.probes[0].answer_keys == ("31 characters",)
    assert len(session.summaries) == 2
    assert [event.at for event in session.of_kind("user")] == [None] * 8


def test_hash_changes_with_any_file(tmp_path: Path) -> None:
    copy = tmp_path / "mini"
    shutil.copytree(MINI, copy)
    same = load_session(copy).sha256
    assert same == load_session(MINI).sha256
    (copy / "repo0" / "README.md").write_text("other", encoding="utf-8")
    assert load_session(copy).sha256 != same


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "session.jsonl:1: the first line must be the meta event"),
        (['{"kind": "meta", "format": 9}'], "unknown format 9"),
        ([json.dumps(META), '{"kind": "user", "turn": 1, "te'], "session.jsonl:2: is truncated"),
        ([json.dumps(META), '{"kind": "user", "turn": "a", "text": ""}'], "`turn` must be a whole number"),
        ([json.dumps(META), '{"kind": "reply", "turn": 1}'], "a reply event needs the text `text`"),
        ([json.dumps(META), '{"kind": "user", "turn": 1, "text": "x", "at": "noon"}'], "jsonl:2: could not"),
        ([json.dumps(META), '{"kind": "command", "turn": 1, "text": "x"}'], "needs the text `command`"),
        ([json.dumps(META), "[" * 99_999], "session.jsonl:2: is truncated or not JSON (max"),
        ([json.dumps(META), "[1]"], "session.jsonl:2: is not a JSON object"),
        ([json.dumps(META), '{"kind": "answer", "turn": 1, "text": ""}'], "unknown event kind 'answer'"),
        ([json.dumps(META), '{"kind": "file", "turn": 1, "path": "../x"}'], "the path '../x' leads out"),
    ],
)
def test_bad_recordings_are_refused_in_one_line(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(SessionError) as refused:
        load_session(folder(tmp_path, *lines))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_recording_or_a_file_of_its_tree_that_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = folder(tmp_path, json.dumps(META))
    large = (made / "session.jsonl").stat().st_size
    monkeypatch.setattr(files, "RECORDING_BYTES", large)
    (made / "repo0").mkdir()
    (made / "repo0" / "x").write_bytes(bytes(large + 1))
    with pytest.raises(SessionError, match=r"x: cannot be read \(larger than"):
        load_session(made)
    monkeypatch.setattr(files, "RECORDING_BYTES", large - 1)
    with pytest.raises(SessionError, match=r"session\.jsonl: cannot be read \(larger than"):
        load_session(made)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_the_probes_of_our_sessions_were_said_where_they_claim(path: Path) -> None:
    session = load_session(path)
    for probe in session.probes:
        assert 1 <= probe.about_turn < probe.ask_at_turn <= session.turn_count + 1
        said = "\n".join(texts_of_turn(session, probe.about_turn))
        for key in probe.answer_keys:
            assert key_pattern(key).search(said) and not key_pattern(key).search(probe.question), probe
        assert probe.answer_keys


def test_missing_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"session\.jsonl: cannot be read \(No such file"):
        load_session(tmp_path)


def test_bad_probes_and_summaries_are_refused(tmp_path: Path) -> None:
    bad = tmp_path / "probes.json"
    for text, said in (
        ("{", "not JSON"),
        ("{}", "must be a JSON list"),
        ('[{"kind": "x"}]', "needs"),
    ):
        bad.write_text(text, encoding="utf-8")
        with pytest.raises(SessionError, match=said):
            load_probes(bad)
    bad.write_text("[1]", encoding="utf-8")
    with pytest.raises(SessionError, match="list of texts"):
        load_summaries(bad)
