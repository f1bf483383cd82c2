"""Work between turns rests as long as it worked, and ends where it may not go on."""

from __future__ import annotations

import time

import pytest

from aider_gardener.gardener.pace import Pace, PutOff


def test_it_rests_as_long_as_it_worked() -> None:
    rests: list[float] = []
    pace = Pace(lambda: True, rests.append)
    ends = time.thread_time() + 0.05
    while time.thread_time() < ends:
        pass
    pace()
    pace()
    assert 0.05 <= rests[0] < 1.0 and rests[1] < 0.04


def test_it_ends_before_a_rest_and_behind_one() -> None:
    rests: list[float] = []
    with pytest.raises(PutOff):
        Pace(lambda: False, rests.append)()
    assert rests == []
    answers = [True, False]
    with pytest.raises(PutOff):
        Pace(lambda: answers.pop(0), rests.append)()
    assert len(rests) == 1
