"""The chart of a page, drawn without a display."""

from __future__ import annotations

from made_replays import made_call, made_result

from aider_gardener.replay.show.chart import draw, plot_svg


def test_every_variant_is_named_and_told_apart_without_colour() -> None:
    calls = [made_call(turn, tokens=1000 * turn) for turn in range(1, 11)]
    (panel,) = draw([made_result(calls, variant=f"v{number}") for number in range(8)]).axes
    lines = [line for line in panel.lines if len(line.get_xdata()) > 2]
    assert len({(str(line._dash_pattern), line.get_marker()) for line in lines[:6]}) == 6
    assert len({(str(line._dash_pattern), line.get_marker(), line.get_color()) for line in lines}) == 8
    assert {f"v{n}" for n in range(8)} <= {text.get_text() for text in panel.get_legend().get_texts()}


def test_window_and_budget_are_named_and_drawn_where_they_fit() -> None:
    near = draw([made_result([made_call(1, tokens=100_000)])]).axes[0]
    far = draw([made_result([made_call(1, tokens=3_000)])]).axes[0]
    named = [[text.get_text() for text in panel.get_legend().get_texts()][1:] for panel in (near, far)]
    budget = "budget of the history alone: 8,000"
    assert named == [[budget, "window: 128,000"], [budget]]
    assert near.get_ylim()[1] >= 128_000 > far.get_ylim()[1] >= 8_000


def test_axes_have_round_numbers_and_each_turn_once() -> None:
    calls = [made_call(turn, tokens=1_111 * turn, number=n) for turn in range(1, 114) for n in (1, 2)]
    (panel,) = draw([made_result(calls, turns=113)]).axes
    turns = [tick for tick in panel.get_xticks() if 0 < tick <= 113]
    assert len(set(turns)) == len(turns) > 5 and all(tick % 10 == 0 for tick in turns)
    assert all(tick % 10_000 == 0 for tick in panel.get_yticks())
    assert len(panel.lines[0].get_xdata()) == 113
    assert plot_svg([made_result()]).startswith("<svg"), "no request at all"
