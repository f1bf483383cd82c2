"""`gardener sessions check`: every fault with its file and line; sound sessions pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aider_gardener import files
from aider_gardener.cli.sessions import sessions
from aider_gardener.errors import SessionError
from aider_gardener.replay.session.check import check_folder

ROOT = Path(__file__).resolve().parents[3]
RECORDED = sorted(path.parent for path in (ROOT / "recorded_sessions").glob("*/session.jsonl"))

META = {"kind": "meta", "format": 1, "recorded_with": "aider-chat 0.86.2", "files": []}
USER = {"kind": "user", "turn": 1, "text": "hello, the port is 8081"}
REPLY = {"kind": "reply", "turn": 1, "text": "hi"}


def made(folder: Path, *rows: Any, probes: Any = None, meta: Any = META) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in [meta, *rows]]
    (folder / "session.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if probes is not None:
        (folder / "probes.json").write_text(json.dumps(probes), encoding="utf-8")
    return folder


@pytest.mark.parametrize("folder", RECORDED, ids=lambda path: path.name)
def test_the_sessions_that_come_with_it_are_sound(folder: Path) -> None:
    assert [str(fault) for fault in check_folder(folder) if fault.serious] == []


def probe(**changes: Any) -> dict[str, Any]:
    return {
        "about_turn": 1,
        "ask_at_turn": 2,
        "kind": "number",
        "question": "which port?",
        "answer_keys": ["8081"],
    } | changes


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([USER, '{"kind": "reply", "tur'], "session.jsonl:3: is truncated or not JSON"),
        ([USER, "[" * 99_999], "session.jsonl:3: is truncated or not JSON (nested too deep)"),
        ([USER, "[1]"], "session.jsonl:3: is not a JSON object"),
        ([USER, {**REPLY, "kind": "answer"}], "session.jsonl:3: unknown event kind 'answer'"),
        ([USER, {"kind": "reply", "turn": 1}], "session.jsonl:3: a reply event needs the text `text`"),
        ([USER, {**REPLY, "turn": 3}], "session.jsonl:3: turn 3 follows turn 1"),
        ([{**REPLY}, USER], "session.jsonl:2: a reply event stands before the user event of turn 1"),
        ([USER, USER], "session.jsonl:3: turn 1 has two user events"),
        ([USER, {"kind": "confirm", "turn": 2, "question": "?"}], "turn 2 has no user event"),
        (
            [USER, {"kind": "file", "turn": 1, "path": "../x", "text": ""}],
            "session.jsonl:3: the path '../x' leads out",
        ),
        ([], "session.jsonl: holds no user event"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, rows: list[Any], says: str) -> None:
    faults = [str(fault) for fault in check_folder(made(tmp_path / "s", *rows))]
    assert any(says in fault for fault in faults), faults


def test_a_recording_or_a_file_of_its_tree_that_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "s", USER, REPLY)
    large = (folder / "session.jsonl").stat().st_size
    monkeypatch.setattr(files, "RECORDING_BYTES", large)
    (folder / "repo0").mkdir()
    (folder / "repo0" / "x").write_bytes(bytes(large + 1))
    with pytest.raises(SessionError, match=r"x: cannot be read \(larger than"):
        check_folder(folder)
    monkeypatch.setattr(files, "RECORDING_BYTES", large - 1)
    assert any("cannot be read (larger than" in str(fault) for fault in check_folder(folder))


@pytest.mark.parametrize(
    ("meta", "says"),
    [
        ({**META, "format": 2}, "session.jsonl:1: unknown format 2"),
        ({**META, "kind": "user"}, "session.jsonl:1: the first line must be the meta event"),
        ({**META, "recorded_with": ""}, "session.jsonl:1: `recorded_with` is missing"),
        ({**META, "files": ["a.py"]}, "session.jsonl:1: the chat begins with a.py, which is not in repo0"),
    ],
)
def test_a_faulty_head_is_named(tmp_path: Path, meta: Any, says: str) -> None:
    (tmp_path / "s" / "repo0").mkdir(parents=True)
    assert any(says in str(fault) for fault in check_folder(made(tmp_path / "s", USER, REPLY, meta=meta)))


@pytest.mark.parametrize(
    ("probes", "says"),
    [
        ([probe(), probe(answer_keys=["9090"])], "probe 2: '9090' was not said in turn 1"),
        ([probe(question="is it 8081?")], "probe 1: the question holds its own answer '8081'"),
        ([probe(ask_at_turn=1)], "probe 1: asked at turn 1 about 1"),
        ([probe(ask_at_turn=9)], "probe 1: asked at turn 9 about 1"),
        ([probe(answer_keys=[])], "probe 1: has no answer keys"),
        ([{"about_turn": 1}], "probes.json: a probe needs"),
        ({}, "probes.json: must be a JSON list"),
    ],
)
def test_faulty_probes_are_named(tmp_path: Path, probes: Any, says: str) -> None:
    assert any(says in str(fault) for fault in check_folder(made(tmp_path / "s", USER, REPLY, probes=probes)))


def test_what_looks_like_a_secret_is_noted_but_no_fault(tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA2cD4"
    folder = made(tmp_path / "s", {**USER, "text": secret}, REPLY)
    found = CliRunner().invoke(sessions, ["check", str(folder)])
    assert found.exit_code == 0 and "session.jsonl:2: note: looks like a secret" in found.stderr
    assert secret not in found.output


def test_the_command_ends_with_1_on_a_fault_and_lists_all_as_json(tmp_path: Path) -> None:
    good, bad = made(tmp_path / "good", USER, REPLY), made(tmp_path / "bad", USER, {"kind": "x", "turn": 1})
    found = CliRunner().invoke(sessions, ["check", str(good), str(bad), "--json"])
    assert found.exit_code == 1
    value = json.loads(found.stdout)
    assert value[str(good)] == [] and "session.jsonl:3" in value[str(bad)][0]
    assert CliRunner().invoke(sessions, ["check", str(tmp_path)]).exit_code == 1
