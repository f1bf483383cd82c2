"""What the measurement of confidence counts: uses as the archive does, and an order that goes by them."""

from __future__ import annotations

import json

import pytest
from made_entries import entry, words
from test_layering import FOLDER

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.retention import CONFIDENCE_GAIN, confidence
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Focus, Message
from aider_gardener.recall.ranking import Passage, in_order
from bench.confidence import AS_IT_IS, RESULTS, SPEEDS, WEIGHTS, WORTHS, Uses, ordered, sums
from bench.goals import CHOSEN_ON, HELD_OUT

HOUR = 3_600.0


def test_uses_are_counted_as_the_archive_counts_them() -> None:
    store = open_store(None)
    at = HOUR
    archive = Archive(store, session="s", project="p", count=words, clock=lambda: at)
    stored = archive.add(Message("user", "the pool"), turn=1, seq=0, focus=Focus())
    uses = Uses(HOUR)
    for hour in (5.0, 30.0):
        at = hour * HOUR
        store.touch([stored.id], at)
        uses.use(stored, at)
    (held,), ours = store.holdings(), uses.held(stored)
    assert (ours.uses, ours.used_at) == (held.uses, held.used_at) == (2, 30 * HOUR)
    assert (
        ours.confidence == pytest.approx(held.confidence) == pytest.approx(1.0 - 25 * 0.005 + CONFIDENCE_GAIN)
    )


def test_the_order_goes_by_worth_as_far_as_the_weight_says() -> None:
    passages = [Passage(entry(at, "user", f"text {at}", turn=1), 0, 6, f"text {at}") for at in range(2)]
    scores = [0.5, 0.4]
    assert [at for at, _ in ordered(lambda _: 0.3, 0.5, passages, scores)] == [
        at for at, _ in in_order(passages, scores)
    ]
    turned = ordered(lambda one: float(one.seq == 1), 1.0, passages, scores)
    assert [at for at, _ in turned] == [1, 0] and turned[0][1] > turned[1][1]


def test_what_was_never_used_loses_half_a_point_in_a_hundred_an_hour() -> None:
    held = Uses(HOUR).held(entry(0, "user", "text", turn=2))
    assert confidence(held, 12 * HOUR) == pytest.approx(0.95) and held.uses == 0


def test_sums_are_over_the_halves_of_the_sessions() -> None:
    found = sums({"a": {AS_IT_IS: [2, 1]}, "b": {AS_IT_IS: [3, 2]}, "c": {AS_IT_IS: [1, 1]}})
    assert found == {AS_IT_IS: {CHOSEN_ON: [3, 2], HELD_OUT: [3, 2]}}


def test_the_committed_results_have_every_way_and_session() -> None:
    value = json.loads(RESULTS.read_text("utf-8"))
    folder = FOLDER.parent / "recorded_sessions"
    assert set(value["sessions"]) == {path.parent.name for path in folder.glob("*/session.jsonl")}
    assert len(value["sums"]) == 1 + len(SPEEDS) * len(WORTHS) * len(WEIGHTS)
    assert value["sums"] == sums(value["sessions"])
