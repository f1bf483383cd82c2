"""What each compressor handles is summed over sessions, and said as `gardener compress` says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aider_gardener.replay.measure.ablation import ablate
from aider_gardener.replay.session.history import load_session
from aider_gardener.tokens import default_counter
from bench import handled
from bench.handled import main, totals

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
