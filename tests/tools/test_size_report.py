"""The report of sizes tells what is long, and fails on nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import size_report


def test_only_what_is_long_is_told_the_longest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "short.py").write_text("def f():\n    pass\n", "utf-8")
    (folder / "long.py").write_text("def g():\n" + "    pass\n" * 60 + "\n" * 450, "utf-8")
    (folder / "longer.py").write_text("\n" * 600, "utf-8")
    monkeypatch.setattr(size_report, "ROOT", tmp_path)
    assert size_report.main() == 0
    assert capsys.readouterr().out.splitlines() == [
        "bench/longer.py: 600 lines",
        "bench/long.py: 511 lines",
        "bench/long.py: g has 61 lines",
        "3 modules, 1,113 lines, 2 functions",
    ]
