"""Variants by name, and settings changed in the name."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.variants import Job, variant_named
from aider_gardener.replay.session.history import load_session

MINI = load_session(Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini")
TIGHT = 300


def test_settings_behind_a_plus_override_those_of_the_variant() -> None:
    found = variant_named("gardener+recall_tokens=1_000+embedder=none+status_line=yes")
    assert found.settings == {"recall_tokens": 1_000, "embedder": "none", "status_line": "full"}
    assert found.name == "gardener+recall_tokens=1_000+embedder=none+status_line=yes"
    assert variant_named("gardener").settings == {}, "the variant itself is as it was"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("best+recall_tokens=0", "unknown variant 'best'"),
        ("stock+recall_tokens=0", "stock has no settings of the gardener's to change"),
        ("gardener+recal_tokens=0", "'recal_tokens=0' is no setting=value; settings: "),
        ("gardener+embedder", "'embedder' is no setting=value"),
        ("gardener+embedder=glove:6B", "embedder must be one of use, none"),
        ("gardener+recall_tokens=lots", "recall_tokens='lots' is not a whole number"),
        ("gardener+keep_turns=20000", "keep_turns must be a number from 0 to "),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        variant_named(name)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_settings_in_the_name_reach_the_gardener_and_the_provenance() -> None:
    name = "gardener+recall_tokens=0+embedder=none"
    result = replay_job(Job(MINI, name, history_tokens=TIGHT, texts=True))
    assert result.provenance.settings == {"recall_tokens": 0, "embedder": "none"} and result.variant == name
    assert not [text for text in result.texts.values() if "in case it helps with the next message" in text]
