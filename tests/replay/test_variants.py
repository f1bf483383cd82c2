"""Variants by name, and settings changed in the name."""

from __future__ import annotations

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.replay.play.variants import variant_named


def test_settings_behind_a_plus_override_those_of_the_variant() -> None:
    found = variant_named("gardener-no-recall+recall_tokens=1_000+embedder=none+llm_fallback=yes")
    assert found.settings == {"recall_tokens": 1_000, "embedder": "none", "llm_fallback": True}
    assert found.name == "gardener-no-recall+recall_tokens=1_000+embedder=none+llm_fallback=yes"
    assert variant_named("gardener").settings == {}, "the variant itself is as it was"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("best+recall_tokens=0", "unknown variant 'best'"),
        ("tail+recall_tokens=0", "tail has no settings of the gardener's to change"),
        ("gardener+recal_tokens=0", "'recal_tokens=0' is no setting=value; settings: "),
        ("gardener+embedder", "'embedder' is no setting=value"),
        ("gardener+embedder=glove", "embedder must be one of minilm, none"),
        ("gardener+recall_tokens=lots", "recall_tokens='lots' is not a int"),
        ("gardener+low_mark=lots", "low_mark='lots' is not a float"),
        ("gardener+low_mark=2", "low_mark must be a number from 0.05 to 0.95"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        variant_named(name)
    assert said in str(refused.value) and "\n" not in str(refused.value)
