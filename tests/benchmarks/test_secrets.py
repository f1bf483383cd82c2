"""The labelled secrets are counted by half, and what a half lacks is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import secrets
from bench.secrets import MARK, SNIPPETS, main, rates, snippets


def test_as_many_harmless_as_secret_and_none_as_it_would_be_in_use() -> None:
    given = snippets()
    figures = rates(given)
    assert len({one.id for one in given}) == len(given) == 1_996
    sizes = {half: (figures[half]["secrets"], figures[half]["harmless"]) for half in figures}
    assert sizes["a"] == sizes["b"] == (75, 75) and sizes["c"] == (30, 30)
    assert sizes["d1"] == sizes["d2"] == (65, 20) and sizes["e"] == (60, 30)
    assert sizes["g"] == (70, 60) and sizes["k"] == (82, 80)
    assert sizes["h1"] == (43, 29) and sizes["h2"] == (27, 31)
    assert sizes["l1"] == (58, 45) and sizes["l2"] == (57, 44)
    assert sizes["m1"] == (111, 95) and sizes["m2"] == (64, 40)
    assert sizes["n1"] == (100, 100) and sizes["n2"] == (40, 40) and sizes["n3"] == (20, 20)
    assert sizes["i1"] == (39, 29) and sizes["i2"] == (21, 31)
    assert len({one.kind for one in given if one.secrets}) >= 100
    raw = SNIPPETS.read_text("utf-8")
    for one in given:
        assert all(secret in one.text and MARK not in one.text for secret in one.secrets)
        assert [s for s in one.secrets if len(s) > 4 and json.dumps(s, ensure_ascii=False)[1:-1] in raw] == []


def test_figures_are_written_and_what_is_wrong_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(secrets, "SPEED_CHARS", 20_000)
    assert main(["--json", str(tmp_path / "now.json"), "--misses", "all"]) == 0
    every = json.loads((tmp_path / "now.json").read_text("utf-8"))["rates"]["all"]
    told = capsys.readouterr().out
    assert f"{every['gone']}/{every['secrets']} gone" in told
    assert all(f"\n{one.id}: " in told for one in snippets() if not one.is_right)
    assert every["gone"] < every["secrets"]
