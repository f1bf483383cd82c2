"""The plot of tokens per request over the turns, a line a variant, by matplotlib."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from aider_gardener.errors import ReplayError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.terminal import visible

SUFFIXES = (".svg", ".png", ".pdf")

STYLES: tuple[tuple[str, object, str], ...] = (
    ("#0072B2", "solid", "o"),
    ("#D55E00", (0, (6, 2)), "s"),
    ("#009E73", (0, (2, 1.5)), "^"),
    ("#7B3294", (0, (6, 1.5, 1, 1.5)), "D"),
    ("#8C510A", (0, (1, 1)), "v"),
    ("#333333", (0, (8, 2, 2, 2, 2, 2)), "X"),
)
"""Colour (told apart with any colour vision), line style and marker of each variant in turn."""

STYLE = {"font.size": 9, "svg.hashsalt": "gardener", "svg.fonttype": "none", "text.parse_math": False}
"""Of matplotlib: text of an SVG stays text, its ids are the same each time, and a name is no formula."""

WINDOW_SHOWN_FROM = 0.45
"""The window is drawn if some prompt reaches this share of it."""


NO_MATPLOTLIB = "matplotlib is not installed: uv tool install '.[plot]' in the checkout"


def check_suffix(path: Path) -> None:
    """UsageError unless the plot can be written in the format that the name asks for, and drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--plot {path}: name it with one of {', '.join(SUFFIXES)}")
    if not can_draw():
        raise UsageError(f"--plot {path}: {NO_MATPLOTLIB}")


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def write_plot(results: Sequence[ReplayResult], path: Path) -> None:
    """Draw all results, one panel per session, and write them to `path` by its suffix.

    No display is needed. ReplayError if the file can't be written, UsageError for another suffix.
    """
    check_suffix(path)
    same_each_time = {"Date": None} if path.suffix.lower() == ".svg" else None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _save(results, path, dpi=150, metadata=same_each_time)
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def plot_svg(results: Sequence[ReplayResult]) -> str:
    out = StringIO()
    _save(results, out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _save(results: Sequence[ReplayResult], target: object, **options: Any) -> None:
    import matplotlib

    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of each letter of a name that the font lacks
        draw(results).savefig(target, **options)


def draw(results: Sequence[ReplayResult]) -> Any:
    """A panel a session: matplotlib's own Figure class, so no global state and no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sessions = list(dict.fromkeys(result.session for result in results))
    figure = Figure(figsize=(9, 0.6 + 4.2 * len(sessions)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(sessions), 1, squeeze=False)[:, 0]
    for panel, session in zip(panels, sessions, strict=True):
        draw_session(panel, [result for result in results if result.session == session])
    return figure


def tokens_by_turn(result: ReplayResult) -> tuple[list[int], list[int]]:
    """Turns and the tokens of the largest request of the main model in each."""
    largest: dict[int, int] = {}
    for call in result.main_calls():
        largest[call.turn] = max(largest.get(call.turn, 0), call.prompt_tokens)
    return list(largest), list(largest.values())


def draw_session(panel: Any, results: Sequence[ReplayResult]) -> None:
    """One panel: a line a variant, the budget, and the window where some prompt comes near it; axes in round
    numbers."""
    from matplotlib.ticker import MaxNLocator

    for number, result in enumerate(results):
        turns, tokens = tokens_by_turn(result)
        colour, _, _ = STYLES[number % len(STYLES)]
        _, style, marker = STYLES[(number + number // len(STYLES)) % len(STYLES)]
        every = max(1, len(turns) // 10)
        panel.plot(
            turns,
            tokens,
            color=colour,
            linestyle=style,
            marker=marker,
            markersize=4,
            markevery=(number % every, every),
            linewidth=1.6,
            label=result.variant,
        )
    window, largest = results[0].provenance.window_tokens, max(result.largest_prompt for result in results)
    limits = {
        f"budget of the history alone: {budget:,}": (budget, (0, (4, 3)))
        for budget in sorted({result.provenance.history_tokens for result in results})
        if budget
    }
    if window and largest >= WINDOW_SHOWN_FROM * window:
        limits[f"window: {window:,}"] = (window, (0, (1, 3)))
    for name, (limit, style) in limits.items():
        panel.axhline(limit, color="#555555", linestyle=style, linewidth=1.1, zorder=1, label=name)
    for columns in range(4, 0, -1):
        legend = panel.legend(
            loc="upper left", bbox_to_anchor=(0.06, -0.06), ncol=columns, frameon=False, fontsize=8
        )
        if legend.get_window_extent().width < 0.85 * panel.figure.bbox.width:
            break
    panel.set_ylim(0, 1.04 * max(largest, *(limit for limit, _ in limits.values()), 1))
    panel.set_xlim(0, results[0].turns + 0.5)
    panel.set_title(f"{visible(results[0].session)[:60]}: tokens per request", loc="left", fontweight="bold")
    panel.set_xlabel("turn", loc="left")
    round_numbers = {"steps": [1, 2, 5, 10], "integer": True}
    panel.xaxis.set_major_locator(MaxNLocator(12, **round_numbers))
    panel.yaxis.set_major_locator(MaxNLocator(8, **round_numbers))
    panel.yaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value else "0")
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
