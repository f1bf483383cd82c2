"""Compressing a log: templates chosen by weight within the budget, written in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aider_gardener.compress.base import Context, unchanged
from aider_gardener.compress.frame import allowance, estimate, framed, plural, touches, untouched
from aider_gardener.compress.logs.excerpt import WHOLE_TOKENS, excerpt, fitted, same
from aider_gardener.compress.logs.metrics import compress_metrics
from aider_gardener.compress.logs.records import LogRecord, families, records, rest_digest
from aider_gardener.compress.logs.templates import Template, flat_json, mine, outlier, slots, time_of
from aider_gardener.compress.places import frame_place, is_library
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.detectors import detect_log
from aider_gardener.reading.lineshape import STAMP
from aider_gardener.reading.output import clip, lines_of

LARGE_SHARE, SMALL_SHARE = 0.05, 0.095
ASKED, ASKED_LIMIT, LINE_WIDTH = 4, 200_000, 1_000
"""Records about the focus that are shown beside the kinds, and how much is searched for them."""

FEW_TEMPLATES = 12
FAMILY_WEIGHT = 10.5
"""Kinds that say the same of different things come first: they stand for what does not fit."""

FIELD_LINES = 4_000
"""Ranges of fields are told from up to this many lines of a kind, evenly chosen."""

SHOWN_TEMPLATES = 400
DIGITS = str.maketrans("0123456789", "abcdefghij")
"""Line numbers as letters: two places are two kinds, unlike two values of a number."""


def compress(text: str, ctx: Context) -> Compressed:
    """A log as its errors, warnings, rare and outlying lines, and one example of each kind of line."""
    kind = ctx.kind or detect_log(text)
    whole = untouched(text, ctx, ContentClass.LOG, kind)
    if whole:
        return whole
    tokens = estimate(text, ctx.count)
    if kind in ("", "output"):
        return _unknown(text, tokens, ctx)
    lines = [line for line in lines_of(text) if line.strip()]
    budget = allowance(tokens, LARGE_SHARE, SMALL_SHARE)
    if kind == "metrics":
        return compress_metrics(text, lines, budget, ctx)
    log = _Log(lines, kind, ctx)
    if tokens <= WHOLE_TOKENS and not any(template.stated for template in log.templates):
        return unchanged(text, ContentClass.LOG, kind)
    summary = log.summary()
    body = log.body(budget - ctx.count(summary) - 12)
    kept = {"errors": log.shown("error"), "warnings": log.shown("warning"), "kinds": len(log.templates)}
    return framed(text, f"{kind}: {summary}", body, ctx, ContentClass.LOG, kind, kept)


def _unknown(text: str, tokens: int, ctx: Context) -> Compressed:
    """An output of no known kind."""
    if tokens <= WHOLE_TOKENS:
        return unchanged(text, ContentClass.LOG, ctx.kind)
    lines = [line for line in lines_of(text) if line.strip()]
    return framed(text, "output", excerpt(lines, tokens, ctx), ctx, ContentClass.LOG, "output", {})


def digest_lines(lines: Sequence[str], budget: int, ctx: Context) -> list[str]:
    """Lines of unknown origin within `budget` tokens: whole if they fit, else as a log's body."""
    shortened = [clip(line, 400) for line in lines]
    if sum(map(len, shortened)) < 40_000 and ctx.count("\n".join(shortened)) <= budget:
        return shortened
    return fitted(lines, budget, ctx)


@dataclass(frozen=True)
class _Item:
    """A piece of the result: where its line stood, how much it weighs, its text, whole and brief."""

    at: float
    weight: float
    lines: tuple[str, ...]
    severity: str = ""
    brief: tuple[str, ...] = ()


class _Log:
    """One log being compressed."""

    def __init__(self, lines: Sequence[str], kind: str, ctx: Context) -> None:
        self.kind, self.ctx = kind, ctx
        self.count_lines = len(lines)
        self.records: list[LogRecord] = records(lines)
        self.lines = [record.line for record in self.records]
        keyed = [_keyed(record) for record in self.records]
        self.templates = mine(keyed, kind)
        self.alike = families(self.templates) if len(self.templates) > FEW_TEMPLATES else []
        self.told = {at for family in self.alike for at in family.members}
        self.chosen: list[_Item] = []

    def summary(self) -> str:
        """Lines, those of the levels that the log states, the time, the kinds; what is not stated is not
        counted."""
        counts = [plural(self.count_lines, "line")]
        for level in ("error", "warning"):
            stated = sum(len(one.at) for one in self.templates if one.stated and one.severity == level)
            counts += [plural(stated, level)] if stated else []
        edge = range(min(200, len(self.lines)))
        first = next((stamp for at in edge if (stamp := time_of(self.shown_line(at)))), "")
        last = next((stamp for at in edge if (stamp := time_of(self.shown_line(-1 - at)))), first)
        span = f", timespan {first}..{last}" if first else ""
        return f"{', '.join(counts)}{span}, {plural(len(self.templates), 'kind')} of line"

    def shown_line(self, at: int) -> str:
        """A line as it is shown: JSON flattened."""
        return flat_json(self.lines[at]) if self.kind == "json-log" else self.lines[at]

    def shown(self, severity: str) -> int:
        return sum(1 for item in self.chosen if item.severity == severity)

    def body(self, budget: int) -> list[str]:
        """The heaviest items that fit into `budget` tokens, in order. Errors that no family tells of may
        take as much again."""
        taken: dict[float, _Item] = {}
        errors_budget = budget
        for item in sorted(self.items(), key=lambda one: (-one.weight, one.at, -len(one.lines[0]))):
            spare = errors_budget if item.severity == "error" and item.at not in self.told else 0
            if item.at in taken or max(budget, spare) < 12:
                continue
            for lines in (item.lines, item.brief):
                cost = self.ctx.count("\n".join(lines)) + 1
                if lines and cost <= max(budget, spare):
                    budget, errors_budget = (
                        (budget - cost, errors_budget) if cost <= budget else (budget, errors_budget - cost)
                    )
                    taken[item.at] = replace(item, lines=lines)
                    break
        self.chosen = sorted(taken.values(), key=lambda one: one.at)
        return [line for item in self.chosen for line in item.lines]

    def items(self) -> list[_Item]:
        found: list[_Item] = []
        edges = {0: 8.5, 1: 4.0, len(self.lines) - 2: 4.0, len(self.lines) - 1: 8.5}
        ranked = sorted(self.templates, key=lambda one: (-_weight(one), one.at[0]))
        for template in ranked[:SHOWN_TEMPLATES]:
            lift = edges.pop(template.at[0], 0.0)
            found.extend(self.template_items(template, lift))
        found.extend(_Item(at, 7.0, (clip(self.shown_line(at), 300),)) for at in self.asked())
        found.extend(_Item(one.at, FAMILY_WEIGHT, (one.told(),), one.severity) for one in self.alike)
        found.extend(
            _Item(at, weight, (clip(self.shown_line(at), 300),))
            for at, weight in edges.items()
            if 0 <= at < len(self.lines)
        )
        return found

    def asked(self) -> list[int]:
        """The first and last records that touch the focus, unless it is everywhere."""
        focus = self.ctx.focus
        if not focus.words and not focus.paths:
            return []
        near = [at for at, line in enumerate(self.lines[:ASKED_LIMIT]) if touches(line[:LINE_WIDTH], focus)]
        return [*near[:ASKED], *near[ASKED:][-1:]] if len(near) <= max(20, len(self.lines) // 20) else []

    def template_items(self, template: Template, least: float) -> list[_Item]:
        at, times = template.at[0], len(template.at)
        record = self.records[at]
        weight = max(least, _weight(template) + (3 if touches(record.line, self.ctx.focus) else 0))
        line = clip(self.shown_line(at).rstrip(), 300 if template.severity else 220)
        items: list[_Item] = []
        brief = clip(line, 140)
        if times > 1:
            told, extra = self.fields(template)
            items.extend(extra)
            how = self.repeats(template)
            brief += f" [{how}]"
            line += f" [{how}{told}]"
        rest = rest_digest(record, 4 if template.severity else 2) if record.rest else []
        whole = (line, *(f"    {part}" for part in rest))
        items.append(_Item(at, weight, whole, template.severity, (brief, *whole[1:2])))
        return items

    def repeats(self, template: Template) -> str:
        """`repeated N times` for lines that differ in noise only, else `N lines like this`."""
        step = max(1, len(template.at) // FIELD_LINES)
        behind = (STAMP.sub("", self.lines[at], count=1) for at in template.at[::step])
        first = same(next(behind))
        noise = self.kind == "strace" or all(same(line) == first for line in behind)
        return f"repeated {len(template.at)} times" if noise else f"{len(template.at)} lines like this"

    def fields(self, template: Template) -> tuple[str, list[_Item]]:
        """The ranges of a template's named fields, and lines with an outlying value."""
        if self.kind == "strace":
            return "", []
        step = max(1, len(template.at) // FIELD_LINES)
        lines = [self.shown_line(at) for at in template.at[::step]]
        told, extra = [], []
        for slot in slots(lines):
            text = slot.told()
            if text:
                told.append(text if step == 1 else f"about {text}")
            if len(lines) >= 6:
                index = outlier(slot)
                if index:
                    at = template.at[index * step]
                    extra.append(_Item(at, 6.5, (clip(self.shown_line(at), 240),)))
        return ("; " + ", ".join(told[:5]) if told else ""), extra[:2]


def _keyed(record: LogRecord) -> str:
    """What tells the kind of a record: its line, and of a traceback where it was raised and as what."""
    if not record.rest:
        return record.line
    places = [place for line in record.rest if (place := frame_place(line)) and not is_library(place)]
    innermost_first = record.rest[-1][:1] in "\t "
    where = (places[0] if innermost_first else places[-1]) if places else ""
    where = where.replace(":", " line ").translate(DIGITS)
    return f"{record.line[:120]} {record.rest[-1].strip()[:80]} {where}"


def _weight(template: Template) -> float:
    """Errors before warnings before the rest; the rare before the frequent, single lines in between."""
    times = len(template.at)
    if template.severity == "error":
        return 10.0
    if template.severity == "warning":
        return 8.0
    if times >= 20:
        return 5.5
    return 5.0 if times == 1 else 4.5
