"""Failures of one cause as one: their ids as ranges, and what their values run from and to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from aider_gardener.compress.testruns.run import Failure
from aider_gardener.reading.output import clip

SLOT = "\0"
NUMBER = re.compile(r"\d+")
VALUE = re.compile(
    r"(?<!\w)'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|\b0x[0-9a-fA-F]+\b|(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\d+"
)
SEVERAL = re.compile(r"\0(?:, \0)+")
NUMERIC = re.compile(r"-?\d+(?:\.\d+)?")
VARIANT = re.compile(r"\[.*\]|\(.*\)(?=$|\[)")
GO = re.compile(r"^((?:Test|Fuzz|Benchmark|Example)\w*)/([^ (]*)")

WHOLE_IDS = 4
"""So many ids of one cause are written in full, one a line."""

LISTED_IDS = 12
"""So many are listed by what they differ in, the rest as ranges."""

MOST_PARTS = 40
ID_CHARS = 160
BOUNDARIES = "[(/:>›#."

MOST_VALUES = 6
"""So many different strings stand for a place in a message where failures of one cause differ."""

KINDS_OF_ONE_TEST = 8
"""A test that fails in one place in more ways than that is one cause."""


def masked(line: str) -> tuple[str, list[str]]:
    """The line with a slot for each number and quoted string, and what stood there."""
    return VALUE.sub(SLOT, line), VALUE.findall(line)


def function_of(name: str) -> str:
    """The test without the parameters, subtest or case that its id names."""
    if "::" in name:
        path, _, test = name.partition("::")
        return path + "::" + re.split(r"[\[ ]", test, maxsplit=1)[0]
    go = GO.match(name)
    if go:
        return go[1] + name[go.end() :]
    return VALUE.sub(SLOT, VARIANT.sub("", name) if "(" in name or "[" in name else name)


def variant_of(name: str) -> str:
    """The parameters, subtest or case of an id; the last part of an id without."""
    go = GO.match(name)
    if go:
        return clip(go[2], ID_CHARS)
    found = VARIANT.search(name.partition("::")[2] or name)
    if found and len(found.group()) < ID_CHARS:
        return found.group()
    return clip(re.split(r" [>›] |::", name)[-1], ID_CHARS // 2)


def headline(failure: Failure) -> str:
    """The first line of the message that says something."""
    return next((line.strip() for line in failure.message if line.strip()), "")


def _kind(failure: Failure) -> tuple[str, ...]:
    place = failure.where[-1] if failure.where else ""
    lines = [headline(failure)] if place else [line.strip() for line in failure.message[:12]]
    if not lines or not lines[0]:
        return (failure.outcome, place, failure.id)
    return (
        failure.outcome, place, function_of(failure.id),
        *(SEVERAL.sub(SLOT, masked(line[:600])[0]) for line in lines),
    )  # fmt: skip


def grouped(failures: Sequence[Failure]) -> list[list[Failure]]:
    """The failures by cause, in the order of their first.

    Of one cause are those with the same message and place, and those of one test whose messages differ in
    numbers and quoted strings only, or at one place in more than KINDS_OF_ONE_TEST ways.
    """
    tests: dict[tuple[str, ...], set[str]] = {}
    ways: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    kinds = [_kind(one) for one in failures]
    causes = [one.cause() for one in failures]
    for one, cause, kind in zip(failures, causes, kinds, strict=True):
        tests.setdefault(cause, set()).add(function_of(one.id))
        ways.setdefault(kind[:3], set()).add(kind)
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for one, cause, kind in zip(failures, causes, kinds, strict=True):
        many = kind[1] and len(ways[kind[:3]]) > KINDS_OF_ONE_TEST
        key = ("cause", *cause) if len(tests[cause]) > 1 else kind[:3] if many else kind
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def named(ids: Sequence[str]) -> str:
    """Several ids in one line: what they have in common, and by what they differ, numbers as ranges.

    `test_total[0-411]`, `test_split[{1..7}-{1..59}]` where all combinations occur,
    `test_duty[AT, BE, … 8 more]`.
    """
    ids = list(dict.fromkeys(ids))
    if len(ids) == 1:
        return clip(ids[0], 2 * ID_CHARS)
    head = shared_start(ids)
    head = head[: max((head.rfind(mark) for mark in BOUNDARIES), default=-1) + 1]
    head += " " if head and all(one[len(head) :].startswith(" ") for one in ids) else ""
    rests = [one[len(head) :] for one in ids]
    tail = shared_start([rest[::-1] for rest in rests])[::-1]
    closing = {"[": "]", "(": ")"}.get(head[-1:], " (")
    cut = tail.find(closing)
    tail = tail[cut:] if cut >= 0 else ""
    variants = [rest[: len(rest) - len(tail)] for rest in rests]
    parts = variants if len(variants) <= LISTED_IDS else _ranges(variants)
    most = MOST_PARTS if len({function_of(one) for one in ids}) > 1 else LISTED_IDS
    return f"{head}{_listed(parts, most, len(variants))}{tail}"


def shared_start(texts: Sequence[str]) -> str:
    """The longest start that all texts have."""
    low, high = min(texts), max(texts)
    same = next(
        (at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low)
    )
    return low[:same]


def _listed(parts: Sequence[str], most: int, total: int = 0) -> str:
    """The first parts, the last, and how many there are beside them where no range stands for several."""
    shown = [clip(part, ID_CHARS) for part in parts]
    if len(shown) <= most + 1:
        return ", ".join(shown)
    more = f"{len(shown) - most} more" if total in (0, len(shown)) else "more"
    return ", ".join([*shown[: most - 1], f"… {more}", shown[-1]])


def _ranges(variants: Sequence[str]) -> list[str]:
    """The variants with those that differ in numbers only taken together."""
    shapes: dict[str, list[tuple[int, ...]]] = {}
    for variant in variants:
        numbers = NUMBER.findall(variant)
        plain = all(number == str(int(number)) for number in numbers if len(number) < 15)
        if plain and all(len(number) < 15 for number in numbers):
            shapes.setdefault(NUMBER.sub(SLOT, variant), []).append(tuple(map(int, numbers)))
        else:
            shapes.setdefault(variant, []).append(())
    parts: list[str] = []
    for shape, rows in shapes.items():
        parts.extend(_shape_ranges(shape, rows))
    return parts


def _shape_ranges(shape: str, rows: Sequence[tuple[int, ...]]) -> list[str]:
    if len(rows) == 1 or not rows[0]:
        return [_filled(shape, rows[0])]
    columns = [sorted(set(column)) for column in zip(*rows, strict=True)]
    varying = [at for at, column in enumerate(columns) if len(column) > 1]
    if not varying:
        return [_filled(shape, rows[0])]
    if len(varying) == 1:
        last = varying[0]
        return [
            _filled(shape, [span if at == last else str(column[0]) for at, column in enumerate(columns)])
            for span in _spans(columns[last], "-")
        ]
    combinations = 1
    for column in columns:
        combinations *= len(column)
    if combinations == len(set(rows)) and all(_whole(column) for column in columns):
        return [_filled(shape, [_braced(column) for column in columns])]
    last = varying[-1]
    by_rest: dict[tuple[int, ...], set[int]] = {}
    for row in rows:
        by_rest.setdefault((*row[:last], *row[last + 1 :]), set()).add(row[last])
    return [
        _filled(shape, [*map(str, rest[:last]), span, *map(str, rest[last:])])
        for rest, numbers in by_rest.items()
        for span in _spans(sorted(numbers), "..")
    ]


def _whole(column: Sequence[int]) -> bool:
    return column[-1] - column[0] == len(column) - 1


def _braced(column: Sequence[int]) -> str:
    return str(column[0]) if len(column) == 1 else f"{{{column[0]}..{column[-1]}}}"


def _spans(numbers: Sequence[int], mark: str) -> list[str]:
    """Runs of neighbouring numbers: 1, 2, 3, 7 as `1-3` and `7`."""
    starts = [0, *(at + 1 for at, (low, high) in enumerate(pairwise(numbers)) if high != low + 1)]
    spans = [numbers[at:end] for at, end in zip(starts, [*starts[1:], len(numbers)], strict=True)]
    told = [str(span[0]) if len(span) == 1 else f"{span[0]}{mark}{span[-1]}" for span in spans]
    return told if mark == "-" else [f"{{{one}}}" if mark in one else one for one in told]


def _filled(shape: str, values: Sequence[object]) -> str:
    pieces = shape.split(SLOT)
    return "".join(piece + (str(values[at]) if at < len(values) else "") for at, piece in enumerate(pieces))


def value_ranges(lines: Sequence[str]) -> str:
    """Lines that differ in values only, as one with what the values run over; "" for other lines."""
    made = [masked(line) for line in lines]
    shape = made[0][0]
    if any(one != shape for one, _ in made) or not made[0][1]:
        return ""
    told = [
        _spread(list(dict.fromkeys(column))) for column in zip(*(values for _, values in made), strict=True)
    ]
    return _filled(shape, told)


def _spread(values: Sequence[str]) -> str:
    if len(values) == 1:
        return values[0]
    if all(NUMERIC.fullmatch(value) for value in values):
        ordered = sorted(values, key=float)
        return f"{ordered[0]}..{ordered[-1]}"
    return "{" + _listed(values, MOST_VALUES) + "}"
