"""Compressing builds: every error by message with all its places, each kind of warning once.

Diagnostics are written one by one while there is room, else those that say the same together with all
their places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from aider_gardener.compress import logs
from aider_gardener.compress.base import Context
from aider_gardener.compress.builds.diagnostics import DETAIL, FRAME, BuildReport, Diagnostic, labels, report
from aider_gardener.compress.frame import allowance, estimate, fitting, framed, plural, touches, untouched
from aider_gardener.compress.logs.compressor import digest_lines
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.alarms import alarming
from aider_gardener.reading.detectors import detect_build
from aider_gardener.reading.output import clip, lines_of, unwrapped

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|\b\d+\b")
VARIABLE = re.compile(QUOTED.pattern + r"|\S*\d\S*")
PLACE = re.compile(r"^(.*?)(?::(\d+(?::\d+)?)|\((\d+(?:,\d+)*)\)|:\[(\d+,\d+)\])$")
SHAPE_CHARS = 600
"""So much of a message tells its kind."""

RAW_CHARS = 900
"""The width of a line that is shown as it was written."""

FEW_SITES = 24
"""The most places told of one message where not all can be."""

LARGE_SHARE, SMALL_SHARE = 0.045, 0.18
FLOORS = ((1_000, 0.7, 100), (3_000, 0.4, 45), (10_000, 0.25, 12))
"""Below a size in tokens: the share that errors may take, at so many tokens each, so that in a short output
the place of every error is still told."""

ERRORS_LARGE_SHARE, ERRORS_SMALL_SHARE = 0.09, 0.24
"""The share that errors may take at 50,000 and at 3,000 tokens before places are left out."""

MOST_ALARMS, MOST_ENDS = 24, 60
"""So many lines that tell of trouble in words only, and of how the build ended, stay whatever they cost."""

LAST_IDLE = re.compile(
    r"\[Help 1\]|: (?:error|warning|note)|^\s*\d+ (?:error|warning)|complete log of this run"
)

Maker = Callable[[Sequence[Diagnostic], Focus], list[str]]

WARNINGS = ((300, True), (200, True), (240, False), (160, False), (120, False), (100, False))
"""Width of the example of a kind of warning, and whether the places of the others are told."""


def in_detail(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    """Each error on its line, with up to four of its labels."""
    lines = []
    for one in errors:
        lines.append(clip(one.line(), RAW_CHARS if one.raw else 500))
        lines.extend("    " + clip(text, 200) for text in labels(one)[:4])
    return lines


def in_lines(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    """Each error on its line; labels only for those in focus."""
    lines = []
    for one in errors:
        lines.append(clip(one.line(), RAW_CHARS if one.raw else 400))
        if touches(one.line(), focus):
            lines.extend("    " + clip(text, 200) for text in labels(one)[:2])
    return lines


def with_places(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    """Errors of one message together: the message once, then each place as the tool wrote it."""
    lines = []
    for group in _groups(errors, exact=True):
        if len(group) == 1:
            lines.append(clip(group[0].line(), RAW_CHARS if group[0].raw else 400))
        else:
            lines.append(_heading(group, 400))
            lines.extend(f"  {one.place}" for one in group)
    return lines


def with_sites(
    errors: Sequence[Diagnostic], focus: Focus, *, width: int, names: bool, columns: bool
) -> list[str]:
    """Errors of one code and shape together: `  file:line:column, …` for each file; with `names` the
    quoted parts by which they differ, without `columns` the lines only. Those in focus stand alone."""
    lines: list[str] = []
    near = [one for one in errors if touches(one.line(), focus)][:12]
    near = near if not columns or not names or len(errors) > FEW_SITES else []
    lines.extend(clip(one.line(), 400) for one in near)
    for group in _groups([one for one in errors if one not in near], exact=False):
        if len(group) == 1:
            lines.append(clip(group[0].line(), width))
            continue
        lines.append(_heading(group, width))
        lines.extend(f"  {path}:{told}" for path, told in _by_file(group, names, columns).items())
    return lines


def by_code(errors: Sequence[Diagnostic], focus: Focus) -> list[str]:
    """All places by code and file, lines only, below the folder that all files share; one message a code."""
    shared = _shared_folder(one.place for one in errors)
    lines = [f"(paths below {shared})"] if shared else []
    lines += [clip(one.line(), 300) for one in errors if touches(one.line(), focus)][:8]
    lines += [clip(one.raw, 300) for one in errors if one.raw]
    kinds: dict[str, list[Diagnostic]] = {}
    for one in errors:
        if one.raw:
            continue
        kinds.setdefault(one.code or QUOTED.sub("\0", one.message), []).append(one)
    for group in kinds.values():
        if len(group) == 1:
            lines.append(clip(group[0].line(), 200))
            continue
        lines.append(_heading(group, 100))
        files = _by_file(group, names=False, columns=False)
        lines.append("  " + " ".join(f"{path.removeprefix(shared)}:{told}" for path, told in files.items()))
    return lines


def some_sites(errors: Sequence[Diagnostic], focus: Focus, *, most: int) -> list[str]:
    """As with_sites, but of each message at most `most` places, the others counted by file."""
    lines = []
    for group in _groups(errors, exact=False):
        lines.append(_heading(group, 200) if len(group) > 1 else clip(group[0].line(), 200))
        if len(group) == 1:
            continue
        lines.extend(f"  {path}:{told}" for path, told in _by_file(group[:most], False, False).items())
        if len(group) > most:
            rest = Counter(split(one.place)[0] for one in group[most:])
            told = ", ".join(f"{path} ×{times}" for path, times in rest.most_common(12))
            lines.append(f"  … {len(group) - most} more in {plural(len(rest), 'file')}: {told}")
    return lines


def kinds_of(found: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    """The findings by code, those without one by the shape of their message."""
    kinds: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in found:
        key = (one.code, "") if one.code else ("", _shape(one.message))
        kinds.setdefault(key, []).append(one)
    return list(kinds.values())


def _shape(message: str) -> str:
    """What findings of one kind have in common: for npm the first words, else all but names and numbers."""
    if message.startswith(("npm warn ", "npm WARN ")):
        return " ".join(message.split()[:3])
    return VARIABLE.sub("\0", message[:SHAPE_CHARS])[:120]


def example_lines(
    kinds: Sequence[Sequence[Diagnostic]], focus: Focus, *, width: int, sites: bool
) -> list[str]:
    """One example of each kind with the count of the others; with `sites` the lines they stand on."""
    lines = []
    for kind in kinds:
        one = next((one for one in kind if touches(one.line(), focus)), kind[0])
        files = _by_file([other for other in kind if other.place], names=False, columns=False)
        more = f" [{len(kind)} of this kind" + (f" in {len(files)} files]" if len(files) > 1 else "]")
        lines.append(clip(one.line(), width) + (more if len(kind) > 1 else ""))
        if sites and len(kind) > 1 and files:
            lines.append("  " + " ".join(f"{path}:{told}" for path, told in files.items()))
    return lines


def _groups(errors: Sequence[Diagnostic], *, exact: bool) -> list[list[Diagnostic]]:
    groups: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for one in errors:
        shape = one.message if exact or one.raw else QUOTED.sub("\0", one.message)
        groups.setdefault((one.severity, one.code, shape), []).append(one)
    return list(groups.values())


def _heading(group: Sequence[Diagnostic], width: int) -> str:
    first = group[0]
    if first.raw:
        return f"{clip(first.raw, width)} [{len(group)} times]"
    code = f" {first.code}" if first.code else ""
    return f"{first.severity}{code} ×{len(group)}: {clip(first.message, width)}"


def _by_file(group: Sequence[Diagnostic], names: bool, columns: bool) -> dict[str, str]:
    """The places of a group by file: `12:3, 15:9`, or `12,15` without columns."""
    first = QUOTED.findall(group[0].message) if group else []
    files: dict[str, dict[str, None]] = {}
    for one in group:
        path, position = split(one.place)
        position = position.replace(",", ":") if columns else re.split("[:,]", position)[0]
        parts = QUOTED.findall(one.message) if names else []
        own = [part for part, other in zip(parts, first, strict=False) if part != other]
        files.setdefault(path, {})[" ".join([position, *own]).strip()] = None
    return {path: (", " if columns else ",").join(sites) for path, sites in files.items()}


def _shared_folder(places: Iterable[str]) -> str:
    """The folder that all files are below, with its slash, or "" where naming it saves nothing."""
    files = {split(place)[0] for place in places}
    first, last = min(files, default=""), max(files, default="")
    same = next((at for at, (one, two) in enumerate(zip(first, last, strict=False)) if one != two), 0)
    shared = first[:same].rpartition("/")[0]
    return shared + "/" if len(files) > 1 and len(shared) > 8 else ""


def split(place: str) -> tuple[str, str]:
    """A place as (file, `line:column`); ("file", "") where it has no line."""
    found = PLACE.match(place)
    if not found:
        return place, ""
    return found.group(1), found.group(2) or found.group(3) or found.group(4)


COMPLETE: tuple[Maker, ...] = (
    in_detail,
    in_lines,
    with_places,
    partial(with_sites, width=300, names=True, columns=True),
    partial(with_sites, width=240, names=False, columns=True),
    partial(with_sites, width=160, names=False, columns=False),
    by_code,
)
"""How errors are written, from the most to the least detail; each tells every place."""

IN_PART: tuple[Maker, ...] = (
    partial(some_sites, most=80),
    partial(some_sites, most=FEW_SITES),
    partial(some_sites, most=8),
    lambda errors, focus: example_lines(kinds_of(errors), focus, width=160, sites=False),
)
"""The same for a flood of errors of which not every place can be told."""


def compress(text: str, ctx: Context) -> Compressed:
    """A build or linter run as totals, every error with its places, and one example a kind of warning."""
    kind = ctx.kind or detect_build(text) or "build"
    whole = untouched(text, ctx, ContentClass.LOG, kind)
    if whole:
        return whole
    lines = lines_of(text)
    if kind in ("tsc", "eslint"):
        lines = unwrapped(lines)
    told = report(lines)
    tokens = estimate(text, ctx.count)
    errors = sum(1 for one in told.found if one.severity == "error")
    floor = next(
        (min(round(tokens * share), each * errors) for size, share, each in FLOORS if tokens < size), 0
    )
    budget = max(allowance(tokens, LARGE_SHARE, SMALL_SHARE), floor)
    summary = f"{kind}: {_summary(told)}"
    most = allowance(tokens, ERRORS_LARGE_SHARE, ERRORS_SMALL_SHARE)
    if not (told.found or told.totals or told.outcome):
        return logs.compress(text, ctx)
    alarms, told.other = _alarms(told.other)
    ends = _ends(told, lines)
    body, kept = build_lines(told, budget - ctx.count("\n".join([summary, *alarms])) - 12, ctx, most)
    body = [*alarms, *body]
    body += [line for line in ends if line not in body]
    return framed(text, summary, body, ctx, ContentClass.LOG, kind, kept)


def _alarms(other: Sequence[str]) -> tuple[list[str], list[str]]:
    """Of the lines that no parser knew those that tell of trouble, each once, and the rest."""
    found = dict.fromkeys(line for line in other if alarming(line) and not FRAME.match(line))
    shown = list(found)[:MOST_ALARMS]
    return [clip(line, 400) for line in shown], [line for line in other if line not in found]


def _ends(told: BuildReport, lines: Sequence[str]) -> list[str]:
    """How the build ended: what its tools said last, and the last line."""
    ends = [clip(line, 600) for line in told.outcome]
    if len(ends) > MOST_ENDS:
        ends = [*ends[: MOST_ENDS // 2], *ends[-MOST_ENDS // 2 :]]
    row = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), 0)
    last = lines[row]
    known = {one.raw or one.message for one in told.found} | set(told.totals)
    told_already = last in ends or last.strip() in known or any(one.at == row for one in told.found[-1:])
    if told_already or DETAIL.match(last) or LAST_IDLE.search(last):
        return ends
    return [*ends, clip(last, 300)]


def build_lines(
    told: BuildReport, budget: int, ctx: Context, errors_budget: int = 0
) -> tuple[list[str], dict[str, int]]:
    """The body of a compressed build within `budget` tokens, and counts of what it keeps.

    Where the places of all errors don't fit, the errors alone may have up to `errors_budget` tokens.
    """
    errors = _distinct([one for one in told.found if one.severity == "error"])
    warnings = _distinct([one for one in told.found if one.severity == "warning"])
    kinds = kinds_of(warnings)
    least = ctx.count("\n".join(example_lines(kinds, ctx.focus, width=WARNINGS[-1][0], sites=False)))
    shown = _errors(errors, budget - min(least, budget // 2), errors_budget, ctx)
    left = budget - ctx.count("\n".join(shown))
    variants = [
        partial(example_lines, kinds, ctx.focus, width=width, sites=sites) for width, sites in WARNINGS
    ]
    body = [*shown, *(fitting(variants, left, ctx.count) if kinds else ())]
    left = budget - ctx.count("\n".join(body))
    if told.other and left > 40:
        body = [*digest_lines(told.other, left // 2 if told.found else left, ctx), *body]
    return body, {"errors": len(errors), "kinds of warning": len(kinds)}


def _errors(errors: Sequence[Diagnostic], budget: int, errors_budget: int, ctx: Context) -> list[str]:
    """The errors in the first form that fits; in the tersest complete one as long as that is affordable."""
    if not errors:
        return []
    shown = fitting([partial(make, errors, ctx.focus) for make in COMPLETE], budget, ctx.count)
    if ctx.count("\n".join(shown)) <= max(budget, errors_budget):
        return shown
    return fitting([partial(make, errors, ctx.focus) for make in IN_PART], budget, ctx.count)


def _summary(told: BuildReport) -> str:
    """Counts of what was read with its place or code, none where nothing was, and the tool's own totals."""
    known = _distinct([one for one in told.found if not one.raw])
    errors = sum(1 for one in known if one.severity == "error")
    warnings = len(known) - errors
    counts = [plural(number, word) for number, word in ((errors, "error"), (warnings, "warning")) if number]
    totals = "; ".join(clip(total, 200) for total in dict.fromkeys(told.totals[-4:]))
    return "; ".join(part for part in (", ".join(counts), totals) if part) or "output"


def _distinct(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings without exact repeats (a header included twice, a hook that ran twice)."""
    return list({(one.place, one.code, one.message): one for one in reversed(found)}.values())[::-1]
