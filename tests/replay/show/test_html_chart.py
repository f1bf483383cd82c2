"""The geometry of the charts: nothing is lost in columns, paths stay within the plot."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.show.html_chart import (
    BOTTOM,
    COLUMNS,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    chart_of,
    columns_of,
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
@given(details, details)
def test_every_request_falls_into_one_column_and_paths_stay_inside(
    one: ReplayDetail, other: ReplayDetail
) -> None:
    columns = columns_of([one, other])
    assert len(columns.keys) <= COLUMNS
    keys = [key for column in columns.keys for key in column]
    assert keys == sorted({(r.turn, r.call) for d in (one, other) for r in d.requests})
    top = top_of(max((r.tokens for d in (one, other) for r in d.requests), default=0))
    for detail in (one, other):
        chart = chart_of(detail, columns, top)
        largest = max((r.tokens for r in detail.requests), default=0)
        assert max((r.tokens for r in chart.columns if r), default=0) == largest
        for _, path in chart.layers:
            assert all(TOP <= float(y) <= HEIGHT - BOTTOM for y in re.findall(r"V([\d.]+)", path))
            assert all(LEFT <= float(x) <= WIDTH - RIGHT for x in re.findall(r"[HM]([\d.]+)", path))
        assert [mark.turn for mark in chart.marks] == sorted(event.turn for event in detail.compactions)


def test_a_layer_that_is_absent_in_between_leaves_a_gap() -> None:
    found = [LayeredRequest(turn, 1, 10, {"log": 10} if turn != 2 else {"code": 10}) for turn in (1, 2, 3)]
    detail = ReplayDetail(tuple(found), (), (), (), ())
    chart = chart_of(detail, columns_of([detail]), 10)
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
    marks = chart_of(detail, columns_of([detail]), 10).marks
    width = (WIDTH - LEFT - RIGHT) / 3
    assert [round((mark.x - LEFT) / width) for mark in marks] == [1, 1, 2]
    assert [mark.row for mark in marks] == [0, 1, 0]


@given(st.integers(0, 10**9))
def test_the_axis_ends_at_a_round_number_not_far_above(tokens: int) -> None:
    top = top_of(tokens)
    assert tokens <= top <= max(1_000, tokens * 1.7)
    assert next(number for number, _ in ticks(top)) == 0 and ticks(top)[-1] == (top, TOP)


def test_ticks_name_few_turns() -> None:
    detail = ReplayDetail(
        tuple(LayeredRequest(turn, 1, 10, {"log": 10}) for turn in range(1, 1_000)), (), (), (), ()
    )
    assert 6 <= len(turn_ticks(columns_of([detail]))) <= 12
