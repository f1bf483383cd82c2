"""How much of a prompt rests."""

from __future__ import annotations

import json
from pathlib import Path

from bench.rest import BUDGETS, RESULTS, VARIANTS, main

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


def test_a_session_is_measured_under_every_variant(tmp_path: Path) -> None:
    target = tmp_path / "rest.json"
    assert main([str(MINI), "--map-tokens", "1024", "--json", str(target)]) == 0
    rows = json.loads(target.read_text(encoding="utf-8"))["rows"]
    assert [row["variant"] for row in rows] == list(VARIANTS)
    assert len({row["limit_net_tokens"] for row in rows}) == 1
    assert all(1 <= row["maps"] <= row["prompts_with_map"] for row in rows)
    maps = {row["variant"]: row["maps"] for row in rows}
    assert maps["gardener"] <= maps["stock-fixed"] and maps["gardener-stable"] <= maps["stock-fixed"]


def test_committed_figures_hold_what_is_said_of_them() -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    assert {row["map_tokens"] for row in rows} == set(BUDGETS)
    for tokens in BUDGETS:
        net = {
            variant: sum(
                r["net_tokens"] for r in rows if (r["variant"], r["map_tokens"]) == (variant, tokens)
            )
            for variant in VARIANTS
        }
        assert net["gardener-stable"] < net["gardener"] < net["stock-fixed"]
