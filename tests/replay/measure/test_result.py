"""A result goes to JSON and back; what two runs may differ in, and texts, are left out unless asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_replays import made_call, made_probe, made_result, made_swap

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import Compaction, DecoyResult, Measured, ReplayResult


def result(**changed: Any) -> ReplayResult:
    found = made_result(
        [made_call(1, [("system", "rules"), ("cur", "why?")]), made_call(2, tokens=9, kind="summary")],
        probes=[made_probe(1, 1, 2)],
        compactions=[Compaction(2, "plan", True, 900, 400, reason="above its mark")],
        measured=Measured(replay_seconds=1.5, plan_seconds=(0.25,), overhead_seconds={2: 0.125}),
    )
    decoys = (DecoyResult(1, "never said", ("47",), False, False),)
    return replace(found, decoys=decoys, swaps=(made_swap(0),), **changed)


def test_it_comes_back_as_it_was() -> None:
    back = ReplayResult.from_json(result().to_json(texts=True))
    assert back == result()
    assert (back.texts, back.swaps) == (result().texts, result().swaps)


def test_what_was_booked_comes_back_and_may_be_missing() -> None:
    found = result()
    call = replace(found.calls[0], shared=((0, 12), (3, 40)), standing_tokens=41, at=1_700_000_000.0)
    assert ReplayResult.from_json(replace(found, calls=(call,)).to_json()).calls == (call,)
    value = found.to_json()
    for row in value["calls"]:
        del row["shared"], row["standing_tokens"], row["at"]
    del value["provenance"]["map_tokens"], value["provenance"]["cache_prompts"]
    back = ReplayResult.from_json(value)
    assert back.calls[0].shared is None and back.provenance.map_tokens is None


def test_texts_and_seconds_are_left_out_unless_asked_for() -> None:
    slow = result(measured=Measured(replay_seconds=99.0))
    assert result().to_json(measured=False) == slow.to_json(measured=False) != result().to_json()
    assert {"texts", "swaps"}.isdisjoint(result().to_json())


def test_tokens_are_those_of_every_call_and_the_largest_prompt_is_of_the_main_model() -> None:
    found = made_result([made_call(1, tokens=5), made_call(1, tokens=70, kind="summary", number=2)])
    assert found.prompt_tokens == 75 and found.largest_prompt == 5
    assert found.tokens_billed == 75 + found.completion_tokens
    assert made_result([]).largest_prompt == 0


@pytest.mark.parametrize("value", [{}, {"session": "s"}, {**result().to_json(), "calls": [{"turn": 1}]}])
def test_foreign_json_is_no_result(value: dict[str, Any]) -> None:
    with pytest.raises(ReplayError, match="not the JSON of a replay result"):
        ReplayResult.from_json(value)
