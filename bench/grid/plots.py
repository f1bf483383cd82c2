"""What recall costs: the share of supported probes over tokens and over dollars, a curve for each variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.replay.plot import STYLE, STYLES
from bench.grid.means import Key, Row, complete, mean, mean_share

PROVIDER = "OpenAI"
PLAIN = "#555555"
"""The colour of variants without a budget: each is one point with its name beside it."""

CURVES = ("gardener", "gardener-no-recall", "gardener-no-vectors", "tail", "bag", "clear3")
"""Drawn in this order, each in its own style; other variants that have several budgets follow."""

Figure = tuple[str, str, Callable[[Sequence[Row]], float]]
FIGURES: tuple[Figure, ...] = (
    (
        "pareto-tokens",
        "tokens billed, thousands (mean of a session)",
        lambda rows: mean([row["tokens_billed"] for row in rows]) / 1000,
    ),
    (
        "pareto-cost",
        f"dollars at {PROVIDER} prices, its prompt cache kept (mean of a session)",
        lambda rows: mean([row["usd"][PROVIDER][0] for row in rows]),
    ),
)
"""Name of the file, the axis, what a point's place on it is."""


def write(value: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw both plots of the results as SVG, the same bytes for the same results."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, axis, place in FIGURES:
        path = folder / f"{name}.svg"
        with matplotlib.rc_context(STYLE):
            draw(value["rows"], axis, place).savefig(path, metadata={"Date": None})
        made.append(path)
    return made


def draw(rows: Sequence[Row], axis: str, place: Callable[[Sequence[Row]], float]) -> Any:
    """The figure: curves of the variants that have budgets, points of the others."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    found = complete(rows)
    for number, variant in enumerate(curves_of(found)):
        draw_curve(panel, variant, found, place, number)
    draw_points(panel, found, place)
    sessions = sorted({row["session"] for row in rows})
    panel.set_title(f"recorded sessions: {', '.join(sessions)}", loc="left")
    panel.set_xlabel(axis)
    panel.set_ylabel("probes supported, % (mean of a session)")
    panel.set_xlim(left=0)
    panel.set_ylim(0, 104)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    if curves_of(found):
        panel.legend(loc="lower right", title="history budget in thousands beside the points", frameon=True)
    return figure


def curves_of(found: Mapping[Key, Sequence[Row]]) -> list[str]:
    """The variants that were run at several budgets."""
    names = [variant for variant, budget in found if budget is not None]
    several = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return sorted(several, key=lambda name: CURVES.index(name) if name in CURVES else len(CURVES))


def draw_curve(panel: Any, variant: str, found: Mapping[Key, Sequence[Row]], place: Any, number: int) -> None:
    """One variant over its budgets, the budget beside each point of the first two curves."""
    colour, line, marker = STYLES[number % len(STYLES)]
    budgets = sorted(budget for name, budget in found if name == variant and budget is not None)
    points = [(place(found[variant, b]), mean_share(found[variant, b]) or 0.0) for b in budgets]
    across, up = zip(*points, strict=True)
    panel.plot(across, up, color=colour, linestyle=line, marker=marker, markersize=5, label=variant)
    if variant in CURVES and CURVES.index(variant) in (0, 3):
        for budget, at in zip(budgets, points, strict=True):
            beside = {"textcoords": "offset points", "color": colour, "fontsize": 8}
            panel.annotate(f"{budget / 1000:g}", at, (4, -10), **beside)


def draw_points(panel: Any, found: Mapping[Key, Sequence[Row]], place: Any) -> None:
    """The variants without a budget, each with its name."""
    curves = set(curves_of(found))
    for (variant, _budget), rows in found.items():
        if variant not in curves:
            at = (place(rows), mean_share(rows) or 0.0)
            panel.plot(*at, marker="x", color=PLAIN, markersize=7, linestyle="none")
            panel.annotate(variant, at, (6, 4), textcoords="offset points", color=PLAIN, fontsize=8)
