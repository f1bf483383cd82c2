"""The chart of a page: tokens per request over the turns of a chat, a line a variant, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import count

from aider_gardener.replay.measure.result import ReplayResult

STYLES = (
    ("#0072B2", "none", "●"),
    ("#D55E00", "9 3", "■"),
    ("#009E73", "3 2.5", "▲"),
    ("#7B3294", "9 2.5 2 2.5", "◆"),
    ("#8C510A", "1.5 1.5", "▼"),
    ("#333333", "12 3 3 3 3 3", "✚"),
)
"""Colour (told apart with any colour vision), dashes and marker of each variant in turn."""
GREY, LIGHT = "#555555", "#dddddd"
WINDOW_SHOWN_FROM = 0.45
"""The window is drawn if some prompt reaches this share of it."""
LEFT, RIGHT, TOP, BOTTOM, WIDTH = 52, 888, 32, 330, 900
"""Where lines are drawn, in the chart's own units, of which a letter has about 7."""
NAME_WIDTH, ROW_HEIGHT = 278, 20
"""The room of a name below, three beside each other."""


def chart_of(results: Sequence[ReplayResult]) -> str:
    """The results of one chat: a line a variant, the budget, and the window where some prompt comes near it;
    axes in round numbers."""
    turns, limits = results[0].turns, limits_of(results)
    most = max(*(result.largest_prompt for result in results), *(tokens for tokens, _ in limits.values()), 1)

    def across(turn: float) -> float:
        return LEFT + (RIGHT - LEFT) * turn / (turns + 0.5)

    def up(tokens: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * tokens / (1.04 * most)

    drawn = [text(LEFT, 16, f"{results[0].session}: tokens per request", weight="bold")]
    for tokens in round_numbers(most, 8):
        drawn += [line([(LEFT, up(tokens)), (RIGHT, up(tokens))], LIGHT, "none", 0.8)]
        drawn += [text(LEFT - 6, up(tokens) + 4, f"{tokens / 1000:g}k" if tokens else "0", anchor="end")]
    for turn in round_numbers(turns, 12):
        drawn += [text(across(turn), BOTTOM + 16, str(turn), anchor="middle")]
    drawn += [text(LEFT, BOTTOM + 34, "turn")]
    drawn += [
        line([(LEFT, up(limit)), (RIGHT, up(limit))], GREY, dashes, 1.2) for limit, dashes in limits.values()
    ]
    named: list[tuple[str, str, str, str]] = []
    for number, result in enumerate(results):
        colour = STYLES[number % len(STYLES)][0]
        _, dashes, marker = STYLES[(number + number // len(STYLES)) % len(STYLES)]
        points = [(across(turn), up(tokens)) for turn, tokens in tokens_by_turn(result).items()]
        every = max(1, len(points) // 10)
        drawn += [line(points, colour, dashes, 1.8)]
        drawn += [
            text(x, y + 4, marker, anchor="middle", colour=colour) for x, y in points[number % every :: every]
        ]
        named += [(result.variant, colour, dashes, marker)]
    named += [(name, GREY, dashes, "") for name, (_, dashes) in limits.items()]
    for number, (name, colour, dashes, marker) in enumerate(named):
        x, y = LEFT + NAME_WIDTH * (number % 3), BOTTOM + 56 + ROW_HEIGHT * (number // 3)
        drawn += [line([(x, y - 4), (x + 40, y - 4)], colour, dashes, 1.8)]
        drawn += [text(x + 20, y, marker, anchor="middle", colour=colour), text(x + 46, y, name)]
    height = BOTTOM + 46 + ROW_HEIGHT * -(-len(named) // 3)
    size = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *drawn, "</svg>"])


def limits_of(results: Sequence[ReplayResult]) -> dict[str, tuple[int, str]]:
    """The budgets of the history, and the window where some prompt comes near it, each with its dashes."""
    budgets = sorted({result.provenance.history_tokens for result in results} - {0})
    found = {f"budget of the history alone: {budget:,}": (budget, "6 4") for budget in budgets}
    window = results[0].provenance.window_tokens
    if window and max(result.largest_prompt for result in results) >= WINDOW_SHOWN_FROM * window:
        found[f"window: {window:,}"] = (window, "1.5 4")
    return found


def tokens_by_turn(result: ReplayResult) -> dict[int, int]:
    """The tokens of the largest request of the main model in each turn."""
    largest: dict[int, int] = {}
    for call in result.main_calls():
        largest[call.turn] = max(largest.get(call.turn, 0), call.prompt_tokens)
    return largest


def round_numbers(most: int, steps: int) -> range:
    """Round numbers from 0 to `most`, in at most so many steps."""
    sizes = (size * 10**zeros for zeros in count() for size in (1, 2, 5))
    return range(0, most + 1, next(size for size in sizes if most <= steps * size))


def line(points: Sequence[tuple[float, float]], colour: str, dashes: str, width: float) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    look = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"'
    return f'<polyline points="{places}" {look}/>'


def text(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#1c2126", weight: str = "normal"
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}"'
    return f"<text {place}>{escape(words)}</text>"
