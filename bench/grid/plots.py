"""What memory costs: probes supported over tokens, and facts carried over, over dollars, by variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.replay.show.chart import STYLE, STYLES
from bench.grid.cells import ABLATIONS
from bench.grid.means import FACTS, PROBES, Key, Measure, Row, complete, dollars, ordinary, total

PROVIDER = "OpenAI"
PLAIN = "#555555"
"""The colour of variants without a budget: each is one point with its name beside it."""

MORE_STYLES: tuple[tuple[str, Any, str], ...] = (
    ("#CC79A7", (0, (3, 1.5)), "P"),
    ("#56B4E9", (0, (5, 1, 1, 1, 1, 1)), "<"),
    ("#B8860B", (0, (1, 2)), ">"),
    ("#000000", (0, (4, 4)), "*"),
)
LABELLED = ("gardener", "tail-search")
"""Curves whose points have their budgets beside them; the others have theirs in the same order."""

NAME_WIDTH, LINE_POINTS = 4.6, 11
"""What a letter of a name takes across and a line up, in points."""
CHANGED = "+"
"""In the name of a variant that is another one with other settings: it is drawn only if it has a curve."""

READABLE = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4}
"""Behind a label, so that a line below it does not cross it out."""

CURVES = ("gardener", "gardener-as-order", "tail-search", "tail")
"""Drawn in this order, each in its own style; other variants that have several budgets follow."""

Place = Callable[[Sequence[Row]], float]
FIGURES: tuple[tuple[str, str, Place, str, Measure], ...] = (
    (
        "pareto-tokens",
        "tokens billed, millions (all sessions)",
        lambda rows: total(rows, "tokens_billed") / 1_000_000,
        "probes supported, %",
        PROBES,
    ),
    (
        "pareto-cost",
        f"dollars at {PROVIDER} prices, its prompt cache kept (all sessions)",
        lambda rows: dollars(rows, PROVIDER),
        "facts carried over, %",
        FACTS,
    ),
)
"""Name of the file; the axis across, a point's place on it; the axis upwards, what is measured there."""


def write(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw both plots of the results as SVG, the same bytes for the same results."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, axis, place, upwards, measure in FIGURES:
        path = folder / f"{name}.svg"
        with matplotlib.rc_context(STYLE):
            draw(ordinary(rows), axis, place, upwards, measure).savefig(path, metadata={"Date": None})
        made.append(path)
    return made


def draw(rows: Sequence[Row], axis: str, place: Place, upwards: str, measure: Measure) -> Any:
    """The figure: curves of the variants that have budgets, points of the others."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    found = complete(rows)
    panel.set_xlim(0, 1.12 * max(place(own) for own in found.values()))
    panel.set_ylim(0, 108)
    names = curves_of(found)
    for number, variant in reversed(list(enumerate(names))):  # the first one stands before the others
        draw_curve(panel, variant, found, place, measure, number)
    draw_points(panel, found, place, measure)
    sessions = {row["session"] for row in rows}
    panel.set_title(f"{len(sessions)} recorded sessions", loc="left", fontsize=9)
    panel.set_xlabel(axis)
    panel.set_ylabel(upwards)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    if curves_of(found):
        lines, labels = panel.get_legend_handles_labels()
        figure.legend(
            lines[::-1], labels[::-1], loc="outside lower center", ncols=4, frameon=False,
            title="beside the points: the history budget in thousands of tokens",
        )  # fmt: skip
    return figure


def curves_of(found: Mapping[Key, Sequence[Row]]) -> list[str]:
    """The variants that were run at several budgets."""
    names = [variant for variant, budget in found if budget is not None]
    several = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return sorted(several, key=lambda name: CURVES.index(name) if name in CURVES else len(CURVES))


def draw_curve(
    panel: Any, variant: str, found: Mapping[Key, Sequence[Row]], place: Place, measure: Measure, number: int
) -> None:
    """One variant over its budgets."""
    styles = (*STYLES, *MORE_STYLES)
    colour, line, marker = styles[number % len(styles)]
    budgets = sorted(budget for name, budget in found if name == variant and budget is not None)
    points = [(place(found[variant, b]), measure.share(found[variant, b]).value) for b in budgets]
    across, up = zip(*points, strict=True)
    panel.plot(across, up, color=colour, linestyle=line, marker=marker, markersize=5, label=variant)
    if variant in LABELLED:
        for budget, at in zip(budgets, points, strict=True):
            beside = {"textcoords": "offset points", "color": colour, "fontsize": 8}
            panel.annotate(f"{budget / 1000:g}", at, (4, -10), **beside)


def draw_points(panel: Any, found: Mapping[Key, Sequence[Row]], place: Place, measure: Measure) -> None:
    """The variants without a budget, each with its name, none over another. Parts left out have a table."""
    curves = set(curves_of(found))
    scale = panel.figure.dpi / 72
    taken: list[Box] = []
    points = {}
    for (variant, _budget), rows in found.items():
        at = (place(rows), measure.share(rows).value)
        across, up = (float(part) / scale for part in panel.transData.transform(at))
        taken.append((across - 4, up - 4, across + 4, up + 4))
        if variant not in curves and CHANGED not in variant and variant not in ABLATIONS:
            panel.plot(*at, marker="x", color=PLAIN, markersize=7, linestyle="none")
            points[variant] = (at, (across, up))
    for name, (at, spot) in points.items():
        beside, box = free_place(name, spot, taken)
        taken.append(box)
        text = {"textcoords": "offset points", "color": PLAIN, "fontsize": 8, "bbox": READABLE, "zorder": 5}
        panel.annotate(name, at, beside, **text)


Box = tuple[float, float, float, float]


def free_place(name: str, spot: tuple[float, float], taken: Sequence[Box]) -> tuple[tuple[float, float], Box]:
    """The offset in points at which a point's name covers nothing, and the box that it takes there: right of
    the point or left of it, above or below, ever further off."""
    width = NAME_WIDTH * len(name)
    sides = ((6.0, 4.0), (6.0, -12.0), (-6.0 - width, 4.0), (-6.0 - width, -12.0))
    for step in range(len(taken) + 1):
        for across, up in sides:
            offset = (across, up + (LINE_POINTS * step if up > 0 else -LINE_POINTS * step))
            left, low = spot[0] + offset[0], spot[1] + offset[1]
            box = (left, low, left + width, low + LINE_POINTS)
            if not any(overlap(box, other) for other in taken):
                return offset, box
    return offset, box


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
