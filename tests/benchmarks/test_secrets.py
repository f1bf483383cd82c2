"""The labelled secrets are counted by half, and what a half lacks is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import secrets
from bench.secrets import MARK, SNIPPETS, Snippet, main, rates, snippets


@pytest.fixture(scope="module")
def given() -> list[Snippet]:
    return snippets()


def test_each_half_has_secret_and_harmless_ones_and_none_stands_as_it_would_be_in_use(
    given: list[Snippet],
) -> None:
    figures = rates(given)
    assert len({one.id for one in given}) == len(given) == 5_214
    assert all(figures[half]["secrets"] and figures[half]["harmless"] for half in figures)
    assert len({one.kind for one in given if one.secrets}) >= 100
    raw = SNIPPETS.read_text("utf-8")
    for one in given:
        assert all(secret in one.text and MARK not in one.text for secret in one.secrets)
        assert [s for s in one.secrets if len(s) > 4 and json.dumps(s, ensure_ascii=False)[1:-1] in raw] == []


def test_figures_are_written_and_what_is_wrong_is_told(
    given: list[Snippet],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(secrets, "snippets", lambda: given)
    monkeypatch.setattr(secrets, "SPEED_CHARS", 20_000)
    assert main(["--json", str(tmp_path / "now.json"), "--misses", "all"]) == 0
    every = json.loads((tmp_path / "now.json").read_text("utf-8"))["rates"]["all"]
    told = capsys.readouterr().out
    assert f"{every['gone']}/{every['secrets']} gone" in told
    assert all(f"\n{one.id}: " in told for one in given if not one.is_right)
    assert every["gone"] < every["secrets"]
