"""Baselines and ablations that take something away, on the small session."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.baselines import BAG_HEAD
from aider_gardener.replay.play.jobs import Job, replay_all

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"
TIGHT = 300
NAMES = ("bag", "gardener-no-compress", "gardener+recall_tokens=0+embedder=none")


@pytest.fixture(scope="module")
def results() -> dict[str, ReplayResult]:
    return dict(
        zip(NAMES, replay_all([Job(MINI, name, history_tokens=TIGHT) for name in NAMES]), strict=True)
    )


def test_the_bag_stands_in_place_of_the_past_within_its_limit(results: dict[str, ReplayResult]) -> None:
    bags = {sha for sha, text in results["bag"].texts.items() if text.startswith(BAG_HEAD)}
    for call in results["bag"].main_calls():
        past = [(sha, tokens) for sha, tokens, part in call.prompt if part == "done"]
        assert len(past) in (0, 2) or call.turn == 4, (
            "the edit of a reflected turn moves that turn's own messages"
        )
        assert sum(tokens for sha, tokens in past if sha in bags) <= TIGHT + 10
    assert bags


def test_without_compressors_no_compressed_form_is_shown(results: dict[str, ReplayResult]) -> None:
    assert any(event.by == "plan" for event in results["gardener-no-compress"].compactions)
    assert not [text for text in results["gardener-no-compress"].texts.values() if "; whole: g" in text]


def test_settings_in_the_name_reach_the_gardener_and_the_provenance(results: dict[str, ReplayResult]) -> None:
    result = results["gardener+recall_tokens=0+embedder=none"]
    assert result.provenance.settings == {"recall_tokens": 0, "embedder": "none"}
    assert not [text for text in result.texts.values() if "in case it helps with the next message" in text]
    assert result.variant == "gardener+recall_tokens=0+embedder=none"


def test_decoys_are_scored_with_the_probes(results: dict[str, ReplayResult]) -> None:
    for result in results.values():
        assert result.decoys
        assert not [one for one in result.decoys if one.kind == "never said" and one.supported]
        assert ReplayResult.from_json(result.to_json(texts=True)) == result
