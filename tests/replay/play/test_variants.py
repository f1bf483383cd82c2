"""Variants by name, settings changed in the name, and what baselines make of past messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import Job, replay_all
from aider_gardener.replay.play.variants import LEAD_CHARS, leading_sentences, variant_named


def test_settings_behind_a_plus_override_those_of_the_variant() -> None:
    found = variant_named("gardener-no-recall+recall_tokens=1_000+embedder=none+status_line=yes")
    assert found.settings == {"recall_tokens": 1_000, "embedder": "none", "status_line": True}
    assert found.name == "gardener-no-recall+recall_tokens=1_000+embedder=none+status_line=yes"
    assert variant_named("gardener").settings == {}, "the variant itself is as it was"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("best+recall_tokens=0", "unknown variant 'best'"),
        ("tail+recall_tokens=0", "tail has no settings of the gardener's to change"),
        ("gardener+recal_tokens=0", "'recal_tokens=0' is no setting=value; settings: "),
        ("gardener+embedder", "'embedder' is no setting=value"),
        ("gardener+embedder=glove:6B", "embedder must be one of use, none"),
        ("gardener+recall_tokens=lots", "recall_tokens='lots' is not a int"),
        ("gardener+keep_turns=20000", "keep_turns must be a number from 0 to "),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        variant_named(name)
    assert said in str(refused.value) and "\n" not in str(refused.value)


MINI = Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini"
TIGHT = 300
NAMES = (
    "stock-lead",
    "gardener-no-compress",
    "gardener-no-forms",
    "gardener-as-order",
    "gardener+recall_tokens=0+embedder=none",
)


@pytest.fixture(scope="module")
def results() -> dict[str, ReplayResult]:
    return dict(
        zip(NAMES, replay_all([Job(MINI, name, history_tokens=TIGHT) for name in NAMES]), strict=True)
    )


def test_without_compressors_no_compressed_form_is_shown(results: dict[str, ReplayResult]) -> None:
    found = results["gardener-no-compress"]
    assert any(event.by == "plan" for event in found.compactions)
    shown = {swap.after for swap in found.swaps}
    assert "compressed" not in shown and shown & {"line", "hidden"}


def test_without_forms_nothing_is_cut_to_a_line(results: dict[str, ReplayResult]) -> None:
    found = results["gardener-no-forms"]
    assert any(event.by == "plan" for event in found.compactions)
    shown = {swap.after for swap in found.swaps}
    assert shown <= {"full", "hidden"} and "hidden" in shown
    whole = {swap.after for swap in results["gardener+recall_tokens=0+embedder=none"].swaps}
    assert whole & {"compressed", "line"}, "the gardener itself shows some of them shorter here"


def test_as_an_order_a_question_recalls_less(results: dict[str, ReplayResult]) -> None:
    def recalled(name: str) -> int:
        return sum(len(one.text) for one in results[name].quoted)

    assert 0 <= recalled("gardener-as-order") < recalled("gardener-no-compress")


def test_a_lead_summary_has_the_first_sentences_of_the_newest_messages() -> None:
    asked = "# USER\nFix the lock. It hangs.\n# ASSISTANT\nThe lock waits for ever:\nsee a.py\n# USER\n\n"
    messages = [{"content": "Summarize."}, {"content": asked}]
    assert leading_sentences(messages) == "Fix the lock.\nThe lock waits for ever:"
    long = "".join(f"# USER\n{number} {'x' * 200}. More.\n" for number in range(40))
    found = leading_sentences([{"content": long}])
    assert LEAD_CHARS - 250 < len(found) <= LEAD_CHARS and found.splitlines()[-1].startswith("39 ")


def test_a_lead_summary_takes_the_place_of_the_history(results: dict[str, ReplayResult]) -> None:
    llm = [event for event in results["stock-lead"].compactions if event.by == "llm"]
    assert llm and all(event.applied and event.tokens_after < event.tokens_before for event in llm)
    assert not [said for said in results["stock-lead"].notices if "placeholder" in said]


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
