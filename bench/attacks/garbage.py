"""What readers, compressors and the search for secrets raise on garbage that looks like the output of tools.

    python -m bench.attacks.garbage [--inputs N] [--seed N] [--corpus FOLDER ...] [--json FILE]

Each input is a recorded output (or a part of one) with lines dropped, doubled, cut, joined and swapped for
lines of others, with runs of blanks, fences, ANSI codes and brackets put in. One call is made with each,
without the guard that the product has around it: what is raised is counted by its class and place, and so is
what takes more than 5 s of processor time. A call that does not end within two minutes ends the run with its
traceback.
"""

from __future__ import annotations

import faulthandler
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from aider_gardener.archive.passages import chunk
from aider_gardener.archive.store.redact import redact
from aider_gardener.compress import shapes
from aider_gardener.compress.base import Context
from aider_gardener.compress.line import line_form
from aider_gardener.compress.registry import BY_CLASS
from aider_gardener.compress.shapes import reports_failure
from aider_gardener.messages import ContentClass, Focus, Source, SourceKind
from aider_gardener.notes.rules import decisions_in, lifted_in, rules_in
from aider_gardener.reading.classify import classify
from aider_gardener.reading.segments import segment
from bench.attacks.linear import KINDS, UNITS, entry_of
from bench.attacks.results import keep, parser_of, place_of
from bench.inputs import RECORDED

LINES = 60
SLOW_SECONDS, HANG_SECONDS, WATCHED = 5.0, 120, 200
"""More processor time for one input counts as a fault; so long for WATCHED inputs together ends the run."""
FOCUS = Focus(frozenset({"error", "total", "test_a"}), frozenset({"src/main.py", "tests/test_a.py"}))
Call = Callable[[str], object]


def calls() -> dict[str, Call]:
    """Compressors by class and kind, the line form, readers by source, notes and secrets, each without a
    guard."""
    found: dict[str, Call] = {}
    for cls in ContentClass:
        for kind in KINDS.get(cls, ("",)):
            language = kind if cls is ContentClass.CODE else ""
            ctx = Context(kind, language, FOCUS)
            found[f"{cls.value} {kind}".strip()] = partial(
                _compressed, BY_CLASS.get(cls, shapes.compress), ctx
            )
    for origin in SourceKind:
        found[f"read {origin.value}"] = partial(_read, Source(origin, "make test"))
    found["notes"] = _noted
    found["secrets"] = redact
    return found


def _compressed(compressor: Callable[[str, Context], object], ctx: Context, text: str) -> object:
    return compressor(text, ctx)


def _read(source: Source, text: str) -> object:
    parts = segment(text, source)
    assert "".join(text[part.start : part.end] for part in parts) == text
    return line_form(text, source, segments=parts), chunk(text, parts), classify(text)


def _noted(text: str) -> object:
    entry = entry_of(text, Source(SourceKind.TYPED))
    return rules_in(text), lifted_in(text), decisions_in(text), reports_failure(text), entry


def mutated(texts: Sequence[str], rng: random.Random) -> str:
    """A new text from the given ones."""
    lines = rng.choice(texts).split("\n")
    at = rng.randrange(len(lines))
    lines = lines[at : at + rng.randint(1, LINES)]
    for _ in range(rng.choice((0, 1, 2, 4, 16))):
        lines = rng.choice(CHANGES)(lines, texts, rng) or [""]
    return rng.choice(("\n", "\n", "\n", "\n", "\r\n", "\r", "")).join(lines)


def _drop(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + rng.randint(1, 8) :]


def _double(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return lines[: at + 1] + lines[at : at + 1] * rng.choice((1, 3, 40)) + lines[at + 1 :]


def _cut(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    place = rng.randint(0, len(lines[at]))
    return [*lines[:at], rng.choice((lines[at][:place], lines[at][place:])), *lines[at + 1 :]]


def _swap(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    others = rng.choice(texts).split("\n")
    start = rng.randrange(len(others))
    return lines[:at] + others[start : start + rng.randint(1, 6)] + lines[at:]


def _put(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    place = rng.randint(0, len(lines[at]))
    run = rng.choice(UNITS) * rng.choice((1, 2, 5, 60, 400))
    return [*lines[:at], lines[at][:place] + run + lines[at][place:], *lines[at + 1 :]]


def _only(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    return [rng.choice(UNITS) * rng.choice((1, 3, 40)) for _ in range(rng.randint(1, LINES))]


def _squeeze(lines: list[str], texts: Sequence[str], rng: random.Random) -> list[str]:
    change = rng.choice((str.upper, str.strip, str.split, lambda line: "\t" + line, lambda line: line[:40]))
    return [" ".join(made) if isinstance(made := change(line), list) else made for line in lines]


CHANGES = (_drop, _double, _cut, _swap, _put, _put, _only, _squeeze)


def attack(inputs: int, texts: Sequence[str], seed: int) -> tuple[Counter[str], dict[str, str]]:
    """How often what was raised where, and the shortest input for each."""
    rng = random.Random(seed)
    table = list(calls().items())
    raised: Counter[str] = Counter()
    shortest: dict[str, str] = {}
    for number in range(inputs):
        if number % WATCHED == 0:
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        text = mutated(texts, rng)
        name, call = table[number % len(table)]
        began, key = time.process_time(), ""
        try:
            call(text)
        except Exception as error:  # reason: what is raised is the result
            key = f"{name}: {type(error).__name__} in {place_of(error)}"
        if time.process_time() - began > SLOW_SECONDS:
            key = f"{name}: more than {SLOW_SECONDS:g} s"
        if key:
            raised[key] += 1
            if len(text) < len(shortest.get(key, text + " ")):
                shortest[key] = text
    faulthandler.cancel_dump_traceback_later()
    return raised, shortest


def texts_in(folders: Sequence[Path]) -> list[str]:
    """The files below the folders as text, at most 200,000 characters of each."""
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path.read_bytes().decode("utf-8", "surrogateescape")[:200_000] for path in files]


def main() -> None:
    parser = parser_of(__doc__, inputs=100_000, seed=1)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    began = time.monotonic()
    raised, shortest = attack(options.inputs, texts_in([RECORDED, *options.corpus]), options.seed)
    for key, times in raised.most_common():
        print(times, key, repr(shortest[key][:200]), flush=True)
    found = {
        "inputs": options.inputs,
        "folders of texts": 1 + len(options.corpus),
        "raised": dict(raised),
        "minutes": round((time.monotonic() - began) / 60, 1),
    }
    keep("garbage", found, options.json)


if __name__ == "__main__":
    main()
