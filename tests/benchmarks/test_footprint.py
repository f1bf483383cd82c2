"""What a chat takes on the machine, measured in processes of its own."""

from __future__ import annotations

import os

import pytest

from bench import footprint


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell a process what it used")
def test_each_way_is_a_row(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ways = dict(list(footprint.WAYS.items())[:2])
    monkeypatch.setattr(footprint, "WAYS", ways)
    monkeypatch.setattr(footprint, "WAIT_SECONDS", 0)
    assert footprint.main(["--runs", "1"]) == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == list(ways)
    assert all(float(row[1]) > 50 and float(row[3]) > 0 for row in rows)
    assert float(rows[1][2]) < 60  # nothing large is loaded before it is needed
