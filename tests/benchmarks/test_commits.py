"""What commit messages are given, counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.commits import ROOT, main


def test_short_forms_are_counted_beside_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "commits.json"
    assert main([str(ROOT / "recorded_sessions" / "till-log"), "--json", str(target)]) == 0
    (row,) = json.loads(target.read_text(encoding="utf-8"))["rows"]
    assert row["commits"] == 10 and 0 < row["short"] < row["full"] / 2
    assert f"| till-log | 10 | {row['full']:,} | {row['short']:,} |" in capsys.readouterr().out
