"""What memory costs: probes supported over tokens, and facts carried over, over dollars, by variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.replay.show.chart import STYLE, STYLES
from bench.grid.cells import ABLATIONS
from bench.grid.means import FACTS, PROBES, Key, Measure, Row, complete, dollars, ordinary, total

PROVIDER = "OpenAI"
MORE_STYLES: tuple[tuple[str, Any, str], ...] = (
    ("#CC79A7", (0, (3, 1.5)), "P"),
    ("#56B4E9", (0, (5, 1, 1, 1, 1, 1)), "<"),
    ("#B8860B", (0, (1, 2)), ">"),
    ("#000000", (0, (4, 4)), "*"),
)
LABELLED = "gardener"
"""The curve whose points have their budgets beside them; the others have theirs in the same order."""
CHANGED = "+"
"""In the name of a variant that is another one with other settings: it is drawn only if it has a curve."""
FIRST = ("gardener", "gardener-as-order", "tail-search", "tail")
"""Drawn in this order, each in its own style; others follow."""

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
    panel: Any = figure.subplots()
    found = complete(rows)
    panel.set_xlim(0, 1.12 * max(place(own) for own in found.values()))
    panel.set_ylim(0, 108)
    for (variant, points), style in zip(drawn(found), (*STYLES, *MORE_STYLES), strict=False):
        colour, line, marker = style
        across = [place(found[variant, budget]) for budget in points]
        up = [measure.share(found[variant, budget]).value for budget in points]
        panel.plot(
            across,
            up,
            color=colour,
            linestyle=line if points[1:] else "none",
            marker=marker,
            markersize=5,
            label=variant,
        )
        for budget, at in zip(points, zip(across, up, strict=True), strict=True):
            if variant == LABELLED:
                beside = {"textcoords": "offset points", "color": colour, "fontsize": 8}
                panel.annotate(f"{(budget or 0) / 1000:g}", at, (-4, 7), **beside)
    sessions = {row["session"] for row in rows}
    panel.set_title(f"{len(sessions)} recorded sessions", loc="left", fontsize=9)
    panel.set_xlabel(axis)
    panel.set_ylabel(upwards)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    budgets = "beside the points: the history budget in thousands of tokens"
    figure.legend(loc="outside lower center", ncols=5, frameon=False, title=budgets)
    return figure


def drawn(found: Mapping[Key, Sequence[Row]]) -> list[tuple[str, list[int | None]]]:
    """The variants and their budgets, least first: those with several, then those with none. Parts left out
    have a table."""
    budgets: dict[str, list[int | None]] = {
        name: [] for name in FIRST if any(name == key[0] for key in found)
    }
    for variant, budget in sorted(found, key=lambda key: key[1] or 0):
        budgets.setdefault(variant, []).append(budget)
    curves: dict[str, list[int | None]] = {
        name: [one for one in given if one is not None] for name, given in budgets.items()
    }
    shown = {name: points for name, points in curves.items() if len(points) > 1}
    others = [name for name in budgets if name not in shown and CHANGED not in name and name not in ABLATIONS]
    return [*shown.items(), *((name, budgets[name][:1]) for name in others)]
