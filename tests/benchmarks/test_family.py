"""The family of marks: one change of the default each, summed by half of the sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from family_table import family as table_of

from aider_gardener.errors import GardenerError
from aider_gardener.replay.play.variants import variant_named
from bench import family
from bench.goals import CHOSEN_ON, HELD_OUT, PRICES
from bench.grid import run
from bench.grid.cells import Cell

ROW: dict[str, Any] = {
    "recall": [4, 3, 2], "carry_over": [3, 9], "carry_lines": [1, 5], "tokens_billed": 100,
    "usd": {name: [1.0, 2.0] for name in PRICES},
}  # fmt: skip


def cells() -> list[tuple[str, Cell]]:
    """Two sessions, one in each half, under two variants."""
    return [
        (half, Cell(Path("x"), half, "sha", 3, variant, None))
        for half in (CHOSEN_ON, HELD_OUT)
        for variant in ("gardener", "gardener+low_mark=0.2")
    ]


def test_every_variant_exists_and_changes_one_thing_at_most() -> None:
    for name in family.FAMILY:
        assert variant_named(name).name == name
        assert name.count("+") <= 1


def test_figures_are_summed_by_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "kept", lambda _cell: {"row": ROW, "provenance": {"commit": "c", "model": "m"}})
    value = family.collected(cells() * 2)
    assert [row["variant"] for row in value["rows"]] == ["gardener", "gardener+low_mark=0.2"]
    assert value["rows"][0][CHOSEN_ON]["facts"] == [6, 18]
    assert value["provenance"] == {"commit": "c"}
    lines = list(table_of(value))
    assert len([line for line in lines if "6 of 18" in line]) == 4


def test_a_missing_replay_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "kept", lambda _cell: None)
    with pytest.raises(GardenerError, match="was not replayed; run the same command again"):
        family.collected(cells())
