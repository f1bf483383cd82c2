"""What each compressor handles is summed over sessions, and told by compressor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aider_gardener.replay.session.history import load_session
from aider_gardener.tokens import default_counter
from bench import handled
from bench.handled import ablate, main, totals

DATA = Path(__file__).resolve().parents[1] / "data" / "sessions"


def test_the_file_holds_each_session_s_own_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handled, "SESSIONS", DATA)
    target = tmp_path / "handled.json"
    assert main(["--json", str(target)]) == 0
    value = json.loads(target.read_text("utf-8"))
    assert set(value["sessions"]) == {path.parent.name for path in DATA.glob("*/session.jsonl")}
    expected = ablate([load_session(DATA / "mini")], default_counter()).record()
    assert value["sessions"]["mini"] == expected


def test_sums_are_over_all_sessions_the_largest_first() -> None:
    one = {"compressors": {"prose": {"tokens": 10, "compressed_tokens": 6}}}
    two = {
        "compressors": {
            "prose": {"tokens": 5, "compressed_tokens": 4},
            "diff": {"tokens": 90, "compressed_tokens": 9},
        }
    }
    assert list(totals({"a": one, "b": two}).items()) == [("diff", [90, 9]), ("prose", [15, 10])]


def test_sessions_are_told_by_compressor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = "".join(f"2024-05-01 10:{i // 60:02}:{i % 60:02} INFO worker job={i} done\n" for i in range(300))
    events = [
        {"kind": "meta", "format": 1, "name": "short"},
        {"kind": "user", "turn": 1, "text": "run it, please"},
        {"kind": "command", "turn": 1, "command": "python worker.py", "output": log, "exit_status": 0},
        {"kind": "reply", "turn": 1, "text": "Done: 300 jobs."},
    ]
    (tmp_path / "short").mkdir()
    path = tmp_path / "short" / "session.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    report = ablate([load_session(path.parent)], default_counter()).record()
    assert report["sessions"] == ["short"] and report["messages"] == 3
    row = report["compressors"]["log: logs"]
    assert row["share"] > 0.9 and row["ratio"] < 0.2
    assert report["line_ratio"] < report["compressed_ratio"] < 0.25
    counted = sum(row["tokens"] for row in report["compressors"].values())
    assert counted == pytest.approx(report["tokens"], rel=0.02)
    assert main([str(tmp_path)]) == main([str(path.parent)]) == 0
    first, second = capsys.readouterr().out.split("1 sessions, ")[1:]
    assert first == second and "log: logs" in first and "in line form" in first


def test_a_folder_without_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path)])
