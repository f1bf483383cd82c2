"""Charts are drawn without a display, the plot in the format that its name asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_replays import made_call, made_result

from aider_gardener.errors import ReplayError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.show.chart import draw, plot_svg, write_plot


def results(sessions: int = 1, variants: int = 3) -> list[ReplayResult]:
    return [
        made_result(
            [made_call(t, tokens=1000 * t + 50 * v) for t in range(1, 11)], session=f"s{s}", variant=f"v{v}"
        )
        for s in range(sessions)
        for v in range(variants)
    ]


def test_every_variant_is_named_and_told_apart_without_colour() -> None:
    (panel,) = draw(results(variants=8)).axes
    lines = [line for line in panel.lines if len(line.get_xdata()) > 2]
    assert len({(str(line._dash_pattern), line.get_marker()) for line in lines[:6]}) == 6
    assert len({(str(line._dash_pattern), line.get_marker(), line.get_color()) for line in lines}) == 8
    assert {f"v{n}" for n in range(8)} <= {text.get_text() for text in panel.get_legend().get_texts()}


def test_names_of_any_length_leave_the_lines_their_room() -> None:
    name = "s" * 250
    long = [
        made_result([made_call(1)], session=name, variant=f"gardener+{'recall_tokens=0+' * n}")
        for n in range(5)
    ]
    figure = draw(long)
    figure.draw_without_rendering()
    (panel,) = figure.axes
    assert panel.get_legend().get_window_extent().x1 < figure.bbox.x1 < 1.2 * panel.bbox.x1


def test_window_and_budget_are_named_and_drawn_where_they_fit() -> None:
    near = draw([made_result([made_call(1, tokens=100_000)])]).axes[0]
    far = draw([made_result([made_call(1, tokens=3_000)])]).axes[0]
    named = [[text.get_text() for text in panel.get_legend().get_texts()][1:] for panel in (near, far)]
    budget = "budget of the history alone: 8,000"
    assert named == [[budget, "window: 128,000"], [budget]]
    assert near.get_ylim()[1] >= 128_000 > far.get_ylim()[1] >= 8_000


def test_what_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg"):
        write_plot(results(), tmp_path / "p.txt")
    (tmp_path / "d.svg").mkdir()
    with pytest.raises(ReplayError, match="cannot be written"):
        write_plot(results(), tmp_path / "d.svg")


def test_without_matplotlib_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(UsageError, match=r"matplotlib is not installed: uv tool install '\.\[plot\]'"):
        write_plot(results(), tmp_path / "p.svg")


@pytest.mark.parametrize(
    "name",
    ["x\udcff", r"cost $\frac$ a", "空", "a\x1b[31mb"],
    ids=["no UTF-8", "no formula", "Han", "colour"],
)
def test_a_chat_of_any_name_is_drawn_in_the_format_of_the_suffix(
    name: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    for suffix, begins in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".PDF", b"%PDF")):
        path = tmp_path / "new" / f"p{suffix}"
        write_plot([made_result([made_call(1, tokens=3_000)], session=name)], path)
        assert path.read_bytes().startswith(begins)
    assert "tokens per request" in (tmp_path / "new" / "p.svg").read_text(encoding="utf-8")
    assert not recwarn.list


def test_axes_have_round_numbers_and_each_turn_once() -> None:
    calls = [made_call(turn, tokens=1_111 * turn, number=n) for turn in range(1, 114) for n in (1, 2)]
    (panel,) = draw([made_result(calls, turns=113)]).axes
    turns = [tick for tick in panel.get_xticks() if 0 < tick <= 113]
    assert len(set(turns)) == len(turns) > 5 and all(tick % 10 == 0 for tick in turns)
    assert all(tick % 10_000 == 0 for tick in panel.get_yticks())
    assert len(panel.lines[0].get_xdata()) == 113
    assert plot_svg([made_result()]).startswith("<svg"), "no request at all"
