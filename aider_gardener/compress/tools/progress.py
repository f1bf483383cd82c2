"""A training that reports as it goes: the last state of every bar, of the epochs the first, the best and the
last, and every line that is no progress.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import MUST, Reading

EPOCH = re.compile(r"^\W{0,4}[Ee]poch[ :=#\[]*(?P<epoch>\d+)")
METRIC = re.compile(
    r"\b(?P<name>[A-Za-z][\w/.-]{0,40})\s?[:=]\s?(?P<value>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w:/])"
)
BETTER_LOW = re.compile(r"loss|err|perplexity|ppl|mse|mae|rmse|wer|cer|fid", re.IGNORECASE)
BETTER_HIGH = re.compile(r"acc|f1|auc|precision|recall|map|bleu|rouge|iou|score|psnr|ssim|r2", re.IGNORECASE)
BAR = re.compile(
    r"\d+%\||\d+%[ |\]\[]|\d+/\d+ \[|[━█▉▏#=>]{4,}|\beta\b|\bit/s|\bs/it|step[ =:]*\d+", re.IGNORECASE
)
TROUBLE = re.compile(
    r"(?i)error|warn|fail|exception|traceback|nan\b|inf\b|out of memory|killed|early stop|diverg|overflow"
)
NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
MOST_OTHERS = 120


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Lines of progress by their shape, the metrics of the epochs, and all else."""
    reading = Reading(gaps=True)
    shapes: dict[str, list[int]] = {}
    epochs: list[int] = []
    others: list[int] = []
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        epoch = EPOCH.match(line)
        if epoch or (BAR.search(line, 0, 400) and not TROUBLE.search(line, 0, 400)):
            shape = re.sub(r"[\s#=>.━█▉▏▌▎▍▋▊╸╺-]+", " ", NUMBERS.sub("0", line[:200]))[:60]
            shapes.setdefault(f"{epoch['epoch'] if epoch else ''}{shape}", []).append(at)
            if epoch:
                epochs.append(at)
        else:
            others.append(at)
    if not epochs:
        return None
    for rows in shapes.values():
        reading.add(rows[-1], lines[rows[-1]], 4.0)
        reading.add(rows[0], lines[rows[0]], 0.5)
    for at in (epochs[0], epochs[-1]):
        reading.add(at, lines[at])
    best = _best(lines)
    for name, (value, at) in best.items():
        reading.add(at, lines[at])
        reading.add(len(lines), f"… best {name}: {value}")
    for number, at in enumerate(others):
        must = number < MOST_OTHERS or bool(TROUBLE.search(lines[at], 0, 400)) or number >= len(others) - 8
        reading.add(at, lines[at], MUST if must and number < 4 * MOST_OTHERS else 3.0)
    numbers = [int(found[1][:9]) for at in epochs if (found := EPOCH.match(lines[at]))]
    reading.summary = f"epochs {min(numbers)}..{max(numbers)}"
    reading.kept = {"epochs": len(set(numbers))}
    return reading


def _best(lines: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Of every metric that says which way is better the best value and its row, validation first."""
    found: dict[str, list[tuple[float, str, int]]] = {}
    for at, line in enumerate(lines):
        for metric in METRIC.finditer(line[:400]):
            if BETTER_LOW.search(metric["name"]) or BETTER_HIGH.search(metric["name"]):
                found.setdefault(metric["name"], []).append((float(metric["value"]), metric["value"], at))
    best: dict[str, tuple[str, int]] = {}
    for name, values in sorted(found.items(), key=lambda pair: "val" not in pair[0])[:6]:
        if len(values) < 2:
            continue
        choose = min if BETTER_LOW.search(name) else max
        _, value, at = choose(values, key=lambda one: one[0])
        best[name] = value, at
    return best
