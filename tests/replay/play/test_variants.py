"""Variants by name, settings changed in the name, and what baselines make of past messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import Job, replay_all
from aider_gardener.replay.play.variants import BAG_HEAD, bag, mask, variant_named, without_older_outputs


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
        ("gardener+embedder=glove", "embedder must be one of use, none"),
        ("gardener+recall_tokens=lots", "recall_tokens='lots' is not a int"),
        ("gardener+low_mark=lots", "low_mark='lots' is not a float"),
        ("gardener+low_mark=2", "low_mark must be a number from 0.05 to 0.95"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        variant_named(name)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def output(command: str, text: str) -> dict[str, str]:
    return {
        "role": "user",
        "content": f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{text}\n",
    }


def test_only_the_last_outputs_stay() -> None:
    past = [output(f"make {n}", "line\n" * 40) for n in range(4)]
    past.insert(2, {"role": "user", "content": "and now?"})
    sent = without_older_outputs(past, 2)
    assert [m["content"] for m in sent if m][2:] == [m["content"] for m in past[2:]]
    assert "make 0" in sent[0]["content"] and "line" not in sent[0]["content"]  # type: ignore[index]
    assert past[0]["content"].count("line") == 40, "the chat itself is untouched"


def test_a_mask_is_never_longer_than_what_it_masks() -> None:
    short = output("ls", "a")["content"]
    assert len(mask(short)) <= len(short)


def words(text: str) -> int:
    return len(text.split())


def test_a_bag_is_the_newest_names_and_numbers_sorted_within_the_limit() -> None:
    past = [
        {"role": "user", "content": "please set retry_limit to 48213 in src/app.py, thanks"},
        {"role": "assistant", "content": "Done: maxRetries is 17 now."},
    ]
    head = words(BAG_HEAD)
    assert bag(past, 100, words) == BAG_HEAD + "17 48213 maxRetries retry_limit src/app.py"
    assert bag(past, head + 2, words) == BAG_HEAD + "17 maxRetries"
    assert bag(past, head, words) == ""
    assert bag([], 100, words) == ""


MINI = Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini"
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
