"""How much of a prompt rests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import rest
from bench.rest import RESULTS, VARIANTS, main

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


def test_a_session_is_measured_under_every_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "VARIANTS", ("stock", "tail-search"))
    monkeypatch.setattr(rest, "MARKED_VARIANTS", ("tail-search",))
    target = tmp_path / "rest.json"
    assert main([str(MINI), "--json", str(target)]) == 0
    value = json.loads(target.read_text(encoding="utf-8"))
    assert [(row["variant"], row["usd"] > 0) for row in value["marked"]] == [("tail-search", True)]
    rows = value["rows"]
    assert [row["variant"] for row in rows] == ["stock", "tail-search"]
    assert all(0 < row["main_net_tokens"] <= row["net_tokens"] for row in rows)


def test_committed_figures_hold_what_is_said_of_them() -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    net = {v: sum(row["net_tokens"] for row in rows if row["variant"] == v) for v in VARIANTS}
    assert net["gardener-append"] < net["gardener"] < min(net["gardener-aider-order"], net["stock-fixed"])
    for name in {row["session"] for row in rows}:
        of = {row["variant"]: row["net_tokens"] for row in rows if row["session"] == name}
        assert max(of["gardener-append"], of["gardener"]) < of["gardener-aider-order"]
