"""The chart of a page: every variant told apart, axes in round numbers, nothing of a name as markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from made_replays import made_call, made_result

from aider_gardener.replay.show.chart import chart_of


def texts(chart: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(chart).iter() if each.tag.endswith("text")]


def test_every_variant_is_named_and_told_apart_without_colour() -> None:
    results = [
        made_result([made_call(t, tokens=1000 * t + 50 * v) for t in range(1, 11)], variant=f"v{v}")
        for v in range(8)
    ]
    chart = chart_of(results)
    assert {f"v{n}" for n in range(8)} <= set(texts(chart))
    looks = re.findall(r'stroke="(#\w+)" stroke-width="1.8" stroke-dasharray="([^"]+)"', chart)[:8]
    assert len(set(looks)) == 8 and len({dashes for _, dashes in looks[:6]}) == 6
    assert {"●", "■", "▲", "◆", "▼", "✚"} <= set(texts(chart))


def test_window_and_budget_are_named_and_drawn_where_they_fit() -> None:
    near, far = (texts(chart_of([made_result([made_call(1, tokens=n)])])) for n in (100_000, 3_000))
    assert {"budget of the history alone: 8,000", "window: 128,000", "120k"} <= set(near)
    assert "budget of the history alone: 8,000" in far and "window: 128,000" not in far and "8k" in far


def test_axes_have_round_numbers_and_each_turn_once() -> None:
    calls = [made_call(turn, tokens=1_111 * turn, number=n) for turn in range(1, 114) for n in (1, 2)]
    chart = chart_of([made_result(calls, turns=113)])
    numbers = [each for each in texts(chart) if each.isdecimal()]
    assert numbers[1:] == [str(turn) for turn in range(0, 113, 10)] and numbers[0] == "0"
    assert [each for each in texts(chart) if re.fullmatch(r"\d+k", each)] == [
        f"{n}k" for n in range(20, 121, 20)
    ]
    points = max(re.findall(r'points="([^"]*)"', chart), key=len).split()
    assert len(points) == 113


def test_a_name_is_text_and_a_chat_without_a_request_has_a_chart() -> None:
    assert "a<b>&c: tokens per request" in texts(chart_of([made_result(session="a<b>&c")]))
