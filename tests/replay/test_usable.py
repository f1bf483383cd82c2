"""Usable length ends where the window overflows or recall falls for good."""

from __future__ import annotations

from aider_gardener.replay.measure.summary import UsableLength, recall_by_turn, usable_length

from .made import made_call, made_probe, made_result


def probes(*met: tuple[int, bool]) -> list:
    return [made_probe(n, 1, ask, supported=ok) for n, (ask, ok) in enumerate(met, 1)]


def test_a_session_that_ends_first_gives_a_lower_bound() -> None:
    found = usable_length(made_result([made_call(10, tokens=500)]))
    assert found == UsableLength(10, "") and str(found) == "≥ 10"


def test_the_window_ends_it_before_the_turn_that_does_not_fit() -> None:
    calls = [made_call(turn, tokens=turn * 100) for turn in range(1, 11)]
    assert usable_length(made_result(calls, window_tokens=700)) == UsableLength(7, "window")
    assert usable_length(made_result(calls), window_tokens=0).turns == 10


def test_recall_ends_it_where_it_falls_for_good() -> None:
    asked = probes((1, True), (2, True), (3, True), (4, True), (5, True), (6, False), (7, False), (8, False))
    # 5/5, 5/6 = 83 %, then 5/7 and 5/8.
    assert usable_length(made_result(probes=asked)) == UsableLength(6, "recall")


def test_recall_that_recovers_does_not_end_it() -> None:
    good = [(turn, True) for turn in range(6, 10)]
    asked = probes((1, True), (2, True), (3, True), (4, False), (5, False), *good, (10, True))
    assert usable_length(made_result(probes=asked)) == UsableLength(10, "")


def test_recall_too_low_from_the_first_gives_an_upper_bound() -> None:
    found = usable_length(made_result(probes=probes(*((turn, False) for turn in range(4, 10)))))
    assert found == UsableLength(7, "recall", at_most=True) and str(found) == "≤ 7"


def test_a_few_probes_say_nothing() -> None:
    assert recall_by_turn(probes((1, False), (2, False), (3, True), (4, True))) == {}


def test_present_may_stand_in_for_supported() -> None:
    asked = [made_probe(n, 1, n, supported=False) for n in range(1, 7)]
    assert usable_length(made_result(probes=asked), supported=False).ended_by == ""
    assert usable_length(made_result(probes=asked)).ended_by == "recall"
