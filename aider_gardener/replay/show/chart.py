"""Charts by matplotlib: a plot of tokens per request over the turns, a line a variant; and for a page what
those tokens were, a panel a variant."""

from __future__ import annotations

import importlib.util
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from aider_gardener.errors import ReplayError, UsageError
from aider_gardener.replay.measure.result import Compaction, ModelCall, ReplayResult
from aider_gardener.replay.play.layers import LAYERS

SUFFIXES = (".svg", ".png", ".pdf")

STYLES: tuple[tuple[str, Any, str], ...] = (
    ("#0072B2", "solid", "o"),
    ("#D55E00", (0, (6, 2)), "s"),
    ("#009E73", (0, (2, 1.5)), "^"),
    ("#7B3294", (0, (6, 1.5, 1, 1.5)), "D"),
    ("#8C510A", (0, (1, 1)), "v"),
    ("#333333", (0, (8, 2, 2, 2, 2, 2)), "X"),
)
"""Colour (told apart with any colour vision), line style and marker of each variant in turn."""

COLOURS = dict(
    zip(
        LAYERS,
        ("#b9c0c8", "#8fa7bf", "#6f93b5", "#f0c75e", "#e08e45", "#4cae7f", "#9ccf9c", "#7d86d8", "#b79be0",
         "#d5b3e6", "#d9605b", "#c8a383", "#6fc0c6", "#c9cf72"),
        strict=True,
    )
)  # fmt: skip
HATCHES = ("", "--", "||", "//", "\\\\", "..", "++", "xx", "oo", "**", "/", "\\", "-", "|")
"""Of each layer, in their order: layers differ without colour."""

COLUMNS = 240
"""At most so many requests are drawn of a chat; of more each column is the largest of several."""

STYLE = {"font.size": 9, "svg.hashsalt": "gardener", "svg.fonttype": "none"}
"""Of matplotlib: text of an SVG stays text, and its ids are the same each time."""

WINDOW_SHOWN_FROM = 0.45
"""The window is drawn to scale if some prompt reaches this share of it, else only named."""


def tokens_by_turn(result: ReplayResult) -> tuple[list[int], list[int]]:
    """Turns and the tokens of the largest request of the main model in each."""
    largest: dict[int, int] = {}
    for call in result.main_calls():
        largest[call.turn] = max(largest.get(call.turn, 0), call.prompt_tokens)
    turns = sorted(largest)
    return turns, [largest[turn] for turn in turns]


NO_MATPLOTLIB = "matplotlib is not installed; try: pip install 'aider-gardener[plot]'"


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
    if not results:
        raise ReplayError("there is no result to plot")
    import matplotlib

    same_each_time = {"Date": None} if path.suffix.lower() == ".svg" else None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(STYLE):
            draw(results).savefig(path, dpi=150, metadata=same_each_time)
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def panels_of(count: int, inches: float) -> tuple[Any, Sequence[Any]]:
    """A figure of panels below one another, each so high: matplotlib's own Figure class, so no global state
    and no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.6 + inches * count), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(count, 1, squeeze=False)[:, 0])


def draw(results: Sequence[ReplayResult]) -> Any:
    """A panel a session."""
    sessions = list(dict.fromkeys(result.session for result in results))
    variants = list(dict.fromkeys(result.variant for result in results))
    figure, panels = panels_of(len(sessions), 4.2)
    for panel, session in zip(panels, sessions, strict=True):
        draw_session(panel, [r for r in results if r.session == session], variants)
    return figure


def draw_session(panel: Any, results: Sequence[ReplayResult], variants: Sequence[str]) -> None:
    """One panel: the lines, named at their right ends, the window and the budget."""
    ends = []
    for result in results:
        turns, tokens = tokens_by_turn(result)
        if not turns:
            continue
        number = variants.index(result.variant)
        colour = STYLES[number % len(STYLES)][0]
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
        )
        ends.append((turns[-1], tokens[-1], result.variant, colour))
    last_turn = max((result.turns for result in results), default=1)
    largest = max((result.largest_prompt for result in results), default=0) or 1
    top = draw_limits(panel, results, largest, results[0].provenance.window_tokens)
    panel.set_ylim(0, top * 1.04)
    panel.set_xlim(0, last_turn + 0.5)
    name_ends(panel, ends, top)
    panel.set_title(f"{results[0].session}: tokens per request", loc="left", fontweight="bold")
    panel.set_xlabel("turn", loc="left")
    plain_axes(panel)


def plain_axes(panel: Any) -> None:
    """Tokens in thousands, and no frame but the axes."""
    panel.yaxis.set_major_formatter(lambda value, _: f"{value / 1000:,.0f}k" if value else "0")
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def draw_limits(panel: Any, results: Sequence[ReplayResult], top: int, window: int) -> float:
    """Lines for the window and the history budget, named below the panel where no line runs.

    Returns the highest value that has to be seen.
    """
    highest = float(top)
    lines = []
    if window and top >= WINDOW_SHOWN_FROM * window:
        highest = max(highest, float(window))
        lines.append(limit_line(panel, window, f"window: {window:,}", (0, (1, 3))))
    elif window:
        lines.append(panel.plot([], [], label=f"window: {window:,}, above the plot", linestyle="none")[0])
    for budget in sorted({result.provenance.history_tokens for result in results}):
        if budget:
            highest = max(highest, float(budget))
            lines.append(limit_line(panel, budget, f"budget of the history alone: {budget:,}", (0, (4, 3))))
    if lines:
        panel.legend(
            handles=lines,
            loc="upper right",
            bbox_to_anchor=(1.0, -0.06),
            ncol=len(lines),
            frameon=False,
            fontsize=8,
            borderaxespad=0.2,
        )
    return highest


def limit_line(panel: Any, tokens: int, name: str, style: Any) -> Any:
    """A thin line across the panel, behind the others."""
    return panel.axhline(tokens, color="#555555", linestyle=style, linewidth=1.1, zorder=1, label=name)


def name_ends(panel: Any, ends: Sequence[tuple[int, int, str, str]], top: float) -> None:
    """Write each variant's name right of its line's end, moved apart where they'd overlap."""
    apart = top * 0.052
    placed = float("-inf")
    for turn, tokens, variant, colour in sorted(ends, key=lambda end: end[1]):
        placed = max(placed + apart, float(tokens))
        panel.annotate(
            variant,
            (turn, tokens),
            xytext=(1.015, placed),
            textcoords=("axes fraction", "data"),
            va="center",
            ha="left",
            color=colour,
            annotation_clip=False,
            fontweight="bold",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
        )


def layers_svg(results: Sequence[ReplayResult], link: Callable[[str, int], str]) -> str:
    """The SVG of one session's requests, stacked by what they were made of: a panel a variant, axes alike.
    Each compaction is a numbered mark, a link to what `link` gives for the variant and its number, from
    1."""
    import matplotlib

    top = max((result.largest_prompt for result in results), default=0) or 1
    keys = sorted({key for result in results for key in requests_of(result)})
    size = max(1, math.ceil(len(keys) / COLUMNS))
    column_of = {key: at // size for at, key in enumerate(keys)}
    with matplotlib.rc_context({**STYLE, "hatch.linewidth": 0.3}):
        figure, panels = panels_of(len(results), 2.3)
        drawn: dict[str, Any] = {}
        for panel, result in zip(panels, results, strict=True):
            drawn |= draw_layers(panel, result, column_of)
            draw_marks(panel, result, column_of, top, link)
            panel.set_ylim(0, top * 1.04)
            panel.set_xlim(0, max(column_of.values(), default=0) + 1)
            ticks = range(0, len(keys), max(size, len(keys) // 12))
            panel.set_xticks([column_of[keys[at]] for at in ticks], [str(keys[at][0]) for at in ticks])
            panel.set_title(f"{result.variant}: tokens per request", loc="left", fontweight="bold", pad=26)
            plain_axes(panel)
        if drawn:
            panels[-1].set_xlabel("turn", loc="left")
            in_order = [name for name in LAYERS if name in drawn]
            figure.legend(
                [drawn[name] for name in in_order],
                [LAYERS[name] for name in in_order],
                loc="outside lower left",
                ncol=3,
                frameon=False,
                fontsize=8,
            )
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def requests_of(result: ReplayResult) -> dict[tuple[int, int], ModelCall]:
    """The calls of the main model by turn and place among those of the turn."""
    places: Counter[int] = Counter()
    found = {}
    for call in result.main_calls():
        found[call.turn, places[call.turn]] = call
        places[call.turn] += 1
    return found


def draw_layers(panel: Any, result: ReplayResult, column_of: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    """Stack the layers of a variant's requests; what was drawn, by layer."""
    largest: dict[int, ModelCall] = {}
    for key, call in requests_of(result).items():
        column = column_of[key]
        if column not in largest or call.prompt_tokens > largest[column].prompt_tokens:
            largest[column] = call
    edges = range(max(column_of.values(), default=0) + 2)
    floor = [0] * len(edges)
    drawn = {}
    for number, name in enumerate(LAYERS):
        heights = [largest[at].layers.get(name, 0) if at in largest else 0 for at in edges]
        if not any(heights):
            continue
        roof = [low + high for low, high in zip(floor, heights, strict=True)]
        drawn[name] = panel.fill_between(
            edges, floor, roof, step="post", facecolor=COLOURS[name], hatch=HATCHES[number],
            edgecolor="#00000040", linewidth=0.2,
        )  # fmt: skip
        floor = roof
    return drawn


def draw_marks(
    panel: Any,
    result: ReplayResult,
    column_of: Mapping[tuple[int, int], int],
    top: int,
    link: Callable[[str, int], str],
) -> None:
    """A mark above the panel for each compaction, round for a plan and square for a model, in two rows."""
    for number, event in enumerate(in_turn(result.compactions), 1):
        column = next((at for (turn, _), at in column_of.items() if turn >= event.turn), None)
        if column is None:
            column = max(column_of.values(), default=0)
        panel.axvline(column, color="#555555", linewidth=0.6, linestyle="dotted")
        panel.text(
            column,
            top * (1.1 if number % 2 else 1.2),
            str(number),
            url=f"#{link(result.variant, number)}",
            ha="center",
            va="center",
            fontsize=6,
            clip_on=False,
            bbox={
                "boxstyle": "circle,pad=0.3" if event.by == "plan" else "square,pad=0.3",
                "facecolor": "white",
                "linestyle": "solid" if event.applied else "dashed",
                "linewidth": 0.8,
                "url": f"#{link(result.variant, number)}",
            },
        )


def in_turn(events: Sequence[Compaction]) -> list[Compaction]:
    """Compactions in the order of their turns, as they are numbered."""
    return sorted(events, key=lambda event: event.turn)
