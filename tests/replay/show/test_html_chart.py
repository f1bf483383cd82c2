"""The geometry of the charts: nothing is lost in columns, paths stay within the plot."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.show.html_chart import (
    COLUMNS,
    MARK_SPACE,
    NARROW,
    WIDE,
    ChartFrame,
    chart_of,
    columns_of,
    shown_of,
    ticks,
    top_of,
    turn_ticks,
)
from aider_gardener.replay.show.html_detail import LAYERS, LayeredRequest, ReplayDetail

names = st.sampled_from([name for name, _ in LAYERS])
requests = st.builds(
    lambda turn, call, layers: LayeredRequest(turn, call, sum(layers.values()), layers),
    st.integers(1, 2_000),
    st.integers(1, 4),
    st.dictionaries(names, st.integers(1, 90_000), min_size=1),
)
details = st.builds(
    lambda found, turns: ReplayDetail(
        tuple(found), tuple(Compaction(turn, "plan", True, 9, 4) for turn in turns), (), (), ()
    ),
    st.lists(requests, max_size=300, unique_by=lambda one: (one.turn, one.call)),
    st.lists(st.integers(1, 2_500), max_size=30),
)


@settings(max_examples=30, deadline=None)
@given(details, details, st.sampled_from([WIDE, NARROW]))
def test_every_request_falls_into_one_column_and_paths_stay_inside(
    one: ReplayDetail, other: ReplayDetail, frame: ChartFrame
) -> None:
    columns = columns_of([one, other])
    assert len(columns.keys) <= COLUMNS
    keys = [key for column in columns.keys for key in column]
    assert keys == sorted({(r.turn, r.call) for d in (one, other) for r in d.requests})
    top = top_of(max((r.tokens for d in (one, other) for r in d.requests), default=0))
    for detail in (one, other):
        chart = chart_of(detail, columns, top, frame)
        largest = max((r.tokens for r in detail.requests), default=0)
        assert max((r.tokens for r in shown_of(detail, columns) if r), default=0) == largest
        floor, end = frame.height - frame.bottom, frame.width - frame.right
        for _, path in chart.layers:
            assert all(frame.top <= float(y) <= floor for y in re.findall(r"V([\d.]+)", path))
            assert all(frame.left <= float(x) <= end for x in re.findall(r"[HM]([\d.]+)", path))
        assert all(frame.top < y < floor for _, y in chart.labels)
        assert all(mark.y - MARK_SPACE // 2 >= chart.ceiling for mark in chart.marks)
        assert [mark.turn for mark in chart.marks] == sorted(event.turn for event in detail.compactions)


def test_a_layer_that_is_absent_in_between_leaves_a_gap() -> None:
    found = [LayeredRequest(turn, 1, 10, {"log": 10} if turn != 2 else {"code": 10}) for turn in (1, 2, 3)]
    detail = ReplayDetail(tuple(found), (), (), (), ())
    chart = chart_of(detail, columns_of([detail]), 10, WIDE)
    paths = dict(chart.layers)
    assert paths["log"].count("M") == 2 and paths["code"].count("M") == 1


def test_a_mark_stands_at_the_first_request_from_its_turn_on() -> None:
    detail = ReplayDetail(
        tuple(LayeredRequest(turn, 1, 10, {"log": 10}) for turn in (1, 5, 9)),
        (
            Compaction(4, "plan", True, 9, 4),
            Compaction(99, "llm", False, 9, 4),
            Compaction(4, "plan", True, 4, 3),
        ),
        (),
        (),
        (),
    )
    chart = chart_of(detail, columns_of([detail]), 10, WIDE)
    width = (WIDE.width - WIDE.left - WIDE.right) / 3
    assert [round((mark.x - WIDE.left) / width) for mark in chart.marks] == [1, 1, 2]
    first, second, third = (mark.y for mark in chart.marks)
    assert first == third == second + MARK_SPACE
    assert chart.ceiling == second - MARK_SPACE // 2 < 0


@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_marks_stand_apart_as_long_as_there_is_room(frame: ChartFrame) -> None:
    detail = ReplayDetail(
        tuple(LayeredRequest(turn, 1, 10, {"log": 10}) for turn in range(1, 91)),
        tuple(Compaction(turn, "plan", True, 9, 4) for turn in range(20, 80, 2)),
        (),
        (),
        (),
    )
    marks = chart_of(detail, columns_of([detail]), 10, frame).marks
    for number, mark in enumerate(marks):
        for other in marks[:number]:
            assert max(abs(mark.x - other.x), abs(mark.y - other.y)) >= MARK_SPACE >= 16


@given(st.integers(0, 10**9))
def test_the_axis_ends_at_a_round_number_not_far_above(tokens: int) -> None:
    top = top_of(tokens)
    assert tokens <= top <= max(1_000, tokens * 1.7)
    assert next(number for number, _ in ticks(top, WIDE)) == 0 and ticks(top, WIDE)[-1] == (top, WIDE.top)


def test_ticks_name_few_turns() -> None:
    detail = ReplayDetail(
        tuple(LayeredRequest(turn, 1, 10, {"log": 10}) for turn in range(1, 1_000)), (), (), (), ()
    )
    assert 6 <= len(turn_ticks(columns_of([detail]), WIDE)) <= 12
    assert 3 <= len(turn_ticks(columns_of([detail]), NARROW)) <= 6
