"""Time by size of every function that reads a text, on texts made to be slow: repeated units, nests, runs.

    python -m bench.attacks.linear [--units N] [--only WORD] [--sizes 10000 100000] [--json FILE]

Each call runs in a process of its own that the system ends after a limit of processor seconds, whatever
code it is in. A text is tried at the smallest size first; where that says that a megabyte may take more
than LIMIT_SECONDS, it is tried at the larger sizes too. `slope` is that of log time to log size.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count, islice
from typing import Any

from aider_gardener.archive.passages import chunk
from aider_gardener.archive.store.words import query_words
from aider_gardener.compress.base import Context
from aider_gardener.compress.line import line_form
from aider_gardener.compress.message import compress_message
from aider_gardener.compress.quoting import quoted
from aider_gardener.compress.registry import compress_text
from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass, Entry, Source, SourceKind
from aider_gardener.notes.names import mine
from aider_gardener.notes.rules import decisions_in, spoken_words, typed_words
from aider_gardener.reading import classify, segments, speech
from aider_gardener.reading.excerpt import excerpt
from aider_gardener.reading.lineshape import shape_counts
from bench.attacks.results import in_child, keep, parser_of

ROOMS = ("reading", "compress", "notes", "recall", "archive")
LIMIT_SECONDS, MEGABYTE = 2.0, 1_000_000
SLOPE = 1.2
NOISE_SECONDS = 0.02
"""Less than that is the cost of any call, of which no slope is told."""

Call = Callable[[str], object]

PARAMETERS: dict[str, Callable[[str], object]] = {
    "text": str,
    "content": str,
    "sentence": str,
    "line": lambda text: text.replace("\n", " "),
    "lines": lambda text: text.split("\n"),
    "solid": lambda text: [line for line in text.split("\n") if line.strip()][:480],
    "ctx": lambda text: Context(),
    "cls": lambda text: ContentClass.PROSE,
    "kind": lambda text: "",
    "role": lambda text: "user",
    "entry_id": lambda text: "g0123456789",
    "found": lambda text: [],
    "asked": lambda text: frozenset({"asked"}),
    "told": lambda text: [],
    "columns": lambda text: 80,
    "texts": lambda text: text.split("\n"),
    "ids": lambda text: text.split("\n"),
    "name": str,
    "left": str,
    "right": lambda text: text[::-1],
    "room": lambda text: 200,
    "facts": lambda text: [],
    "chosen": lambda text: set(),
    "wanted": lambda text: set(text[:200].lower().split()[:5]),
    "names": lambda text: set(text[:200].lower().split()[:5]),
    "cosine": lambda text: 0.5,
    "focus": lambda text: Context().focus,
    "count": lambda text: Context().count,
    "mark": lambda text: ",",
    "size": lambda text: 200,
    "chars": lambda text: 200,
    "language": lambda text: "python",
    "segments": lambda text: (),
    "parts": lambda text: segments.segment(text),
    "counts": lambda text: shape_counts(text.split("\n")),
    "source": lambda text: Source(),
    "start": lambda text: 0,
    "end": len,
    "begin": lambda text: 0,
    "stop": len,
    "short": excerpt,
    "budget": lambda text: 1_000,
    "notes": lambda text: quoted(text.split("\n")),
    "taken": lambda text: set(range(0, text.count("\n"), 3)),
    "engine": lambda text: "records",
    "shown": str,
    "limit": lambda text: 200,
    "entry": lambda text: entry_of(text, Source(SourceKind.TYPED)),
    "points": lambda text: 1.0,
    "entries": lambda text: [replace(entry_of(text, Source(SourceKind.TYPED)), seq=2)],
    "words": lambda text: query_words(text[:2_000]),
    "similarity": lambda text: 0.5,
    "beside": lambda text: False,
}
"""What each parameter of a public function is given, made from the text."""

ELSEWHERE = {
    "archive.store.search.add_chunks": "writes to a database",
    "archive.store.search.put_body": "writes to a database",
    "archive.store.search.encode": "no reading: bytes of a text",
}
"""Public functions with a text that are not called, and why."""

KINDS: dict[ContentClass, tuple[str, ...]] = {
    ContentClass.CODE: ("", "python", "bash", "javascript", "rust", "markdown"),
    ContentClass.EDIT: ("", "search-replace", "udiff", "patch", "whole-file"),
}  # fmt: skip

UNITS = (
    " ", "\t", "\n", "\r", "\x0b", "\u2028", ".", "-", "=", "_", "*", "#", "|", "`", "'", '"', "(", "[",
    "{", "<", ">", "/", "\\", ":", ",", "!", "?", "~", "+", "^", "@", "$", "%", "&", "0", "1", "a", "A",
    "E", "é", "e\u0301", "漢", "か", "\U0001f600", "\x1b[0m", "\x1b", "\x1b]", "\x00", "… ", " \n", "\n ",
    "\n\n", "\r\n", "+\n", "-\n", "|-", "- ", "a ", " a", "a\n", "a.", ".a", "a/", "/a", "a:", ": ",
    "::", "a::", "1.", "1:", "1 ", "a1", "A1", "a_", "a-", "aA", "A_", "()", "[]", "{}", "<>", "(a",
    "[a", '"a', "'a", "`a", "a=", "=a", "a,", "a;", "{a", "\\\"", "[[", "](", "![", "**", "*a", "> ",
    "# ", "1\n", "\n-", "\n1.", "\n#", "\n>", "\n|", "\n\t", "[…", "at ", "│ ", "├─", "✓ ", "e.g.",
    "no ", "not ", "use ", "E  ", "x.py:1", "$( ", "<<", "<a>", "&a;", "```\n", "~~~\n", "| a ", "|\n",
    "- a\n", "a: b\n", "a=b\n", "{\n", "[\n", "a,b\n", "\t\n", "@@ ", "+a\n-b\n", "=== ", "--- \n",
    "ok 1\n", "_ _", "a.b.", "1,2", "0x1", "(1:1)", ":1:1", "\n  at ", "\\n", "%s", "://",
)  # fmt: skip
ALPHABET = (
    "".join(map(chr, range(32, 127))) + "\t\n\r\x0b\x0c\x1b\x00\u2028\u0301\u200d\u00a0éßñ漢かआ😀…–“”‘’│├✓✗"
)
OPEN_CLOSE = ("()", "[]", "{}", "<>", '""', "''", "``", "“”")
Family = tuple[str, Callable[[int], str]]


def families(units: int, seed: int = 1) -> Iterator[Family]:
    """Names and makers of texts of a given size: the units above, `units` random ones, nests and mixtures."""
    rng = random.Random(seed)
    drawn = ["".join(rng.choices(ALPHABET, k=rng.randint(1, 4))) for _ in range(units)]
    for unit in (*UNITS, *drawn):
        yield f"run {unit!r}", partial(_run, unit)
    for pair in OPEN_CLOSE:
        yield f"nest {pair}", partial(_nest, pair)
        yield f"nest {pair} by line", partial(_nest, (pair[0] + "\n", pair[1] + "\n"))
    yield "errors of many kinds", errors
    yield "settings that are passwords", settings
    for row in ROWS:
        yield f"rows {row!r}", partial(rows, row)
    for number in range(units // 4):
        few = "".join(rng.choices(ALPHABET, k=rng.randint(2, 6)))
        yield f"mixture {few!r}", partial(_mixture, few, number)
        before = "".join(rng.choices(ALPHABET, k=6))
        yield f"behind {before!r} run {few[:3]!r}", partial(_behind, before, few[:3])


def settings(size: int) -> str:
    """Lines of a file of settings, each second of which sets a password."""
    return "".join(f"user{n} = ada\npassword{n} = gartentor{n}x\n" for n in range(size // 44))


ROWS = (
    "INSERT INTO users (id, password, token) VALUES ({0}, 'g{1}', 'x');\n",
    "{0},password,g{1},token\n",
    '{{"id": {0}, "password": "g{1}", "token": "t{1}"}}\n',
    "- id: {0}\n  password: g{1}\n  api_token: t{1}\n",
    "DB_PASSWORD_{0}=g{1}\nAPI_TOKEN_{0}=t{1}\n",
    "10:22:07 INFO auth: login of user {0} token=t{1} ok\n",
    "<password>g{1}</password><token>t{1}</token>\n",
    "def check_password_{0}(self, password, token): return login(password, token)\n",
)
"""Lines that name secrets: {0} is a number, {1} letters and digits."""


def rows(row: str, size: int) -> str:
    rng, chars = random.Random(size), "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    lines = (row.format(number, "".join(rng.choices(chars, k=12))) for number in count())
    return "".join(islice(lines, size // len(row) + 1))[:size]


def errors(size: int) -> str:
    """A compiler's errors of 26 kinds, each line of its kind with another name."""
    lines = (f"a{n % 97}.c:{n}:1: error: kind{chr(97 + n % 26)}x 'u_{n}' bad thing\n" for n in count())
    found, length = [], 0
    while length < size:
        found.append(next(lines))
        length += len(found[-1])
    return "".join(found)[:size]


def _run(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _nest(pair: tuple[str, str] | str, size: int) -> str:
    deep = size // (len(pair[0]) + len(pair[1]))
    return pair[0] * deep + pair[1] * deep


def _mixture(few: str, seed: int, size: int) -> str:
    return "".join(random.Random(seed).choices(few, k=size))


def _behind(before: str, unit: str, size: int) -> str:
    return before + _run(unit, size - len(before))


def public_functions() -> dict[str, Callable[..., object]]:
    """Every public function of the rooms that takes a `text` or `content`: str, by its dotted name."""
    found: dict[str, Callable[..., object]] = {}
    for room in ROOMS:
        package = importlib.import_module(f"aider_gardener.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            held = importlib.import_module(module.name)
            for name, value in vars(held).items():
                if name.startswith("_") or getattr(value, "__module__", "") != module.name:
                    continue
                if callable(value) and not inspect.isclass(value) and takes_text(value):
                    found[f"{module.name.removeprefix('aider_gardener.')}.{name}"] = value
    return found


def takes_text(function: Callable[..., object]) -> bool:
    parameters = inspect.signature(function).parameters
    return any(
        name in parameters and parameters[name].annotation in ("str", str) for name in ("text", "content")
    )


def arguments(function: Callable[..., object], text: str) -> dict[str, object]:
    """What a function is given beside its defaults. KeyError for a parameter that the table lacks."""
    given = inspect.signature(function).parameters.values()
    return {one.name: PARAMETERS[one.name](text) for one in given if one.default is one.empty}


def calls() -> dict[str, Call]:
    """Everything that is measured, by name."""
    found: dict[str, Call] = {}
    for name, function in public_functions().items():
        if name not in (*ELSEWHERE, "compress.registry.compress_text"):
            found[name] = partial(_public, inspect.unwrap(function))
    for cls in ContentClass:
        for kind in KINDS.get(cls, ("",)):
            language = kind if cls is ContentClass.CODE else ""
            found[f"compress_text {cls.value} {kind}".rstrip()] = partial(_compress, cls, kind, language)
    for origin in ORIGINS:
        found[f"message {origin.kind.value}"] = partial(_message, origin)
    found["entry"] = _entry_read
    found["sentence"] = _sentence
    return found


ORIGINS = (
    Source(SourceKind.TYPED),
    Source(SourceKind.REPLY),
    Source(SourceKind.COMMAND, "make"),
    Source(SourceKind.WEB, "page"),
    Source(SourceKind.UNKNOWN),
)


def _public(function: Callable[..., object], text: str) -> object:
    with suppress(UsageError):  # the right answer to what is no word of a command
        return function(**arguments(function, text))
    return None


def _compress(cls: ContentClass, kind: str, language: str, text: str) -> object:
    return compress_text(text, cls, Context(kind, language))


def _message(source: Source, text: str) -> object:
    parts = segments.segment(text, source)
    return (
        compress_message(text, source, segments=parts),
        line_form(text, source, segments=parts),
        chunk(text, parts),
    )


def entry_of(text: str, source: Source) -> Entry:
    """An entry that a chat would have of a text."""
    parts = segments.segment(text, source)
    cls = classify.dominant_class(text, source, parts)
    return Entry("g0123456789", "s", 1, 1, "user", text, source, cls, parts, len(text) // 4)


def _entry_read(text: str) -> object:
    """What the notes read of an entry."""
    entry = entry_of(text, Source(SourceKind.TYPED))
    return typed_words(entry), mine(entry), decisions_in(spoken_words(entry))


def _sentence(text: str) -> object:
    return speech.masked(text[:2_000]), speech.decides(text[:2_000])


def seconds(call: Call, text: str, limit_seconds: float) -> float | str:
    """Processor seconds of one call in a process of its own; what it raised and where, or "over"."""

    def work() -> float:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, limit_seconds)
        began = time.process_time()
        call(text)
        return time.process_time() - began

    told: float | str | None = in_child(work)
    return "over" if told is None else told


def measured(call: Call, make: Callable[[int], str], sizes: list[int]) -> dict[str, Any]:
    """Seconds by size; the larger sizes only where the smaller ones let fear for a megabyte."""
    times: dict[str, float | str] = {}
    for size in sorted(sizes):
        taken = seconds(call, make(size), 2 * LIMIT_SECONDS)
        times[str(size)] = round(taken, 4) if isinstance(taken, float) else taken
        if not isinstance(taken, float):
            break
        if taken * MEGABYTE / size < LIMIT_SECONDS:
            break
    return {"seconds": times, "slope": slope(times)}


def slope(times: dict[str, float | str]) -> float | None:
    """Of log time to log size, between the last two sizes that took long enough to tell."""
    told = [(int(size), taken) for size, taken in times.items() if isinstance(taken, float)]
    long = [(size, taken) for size, taken in told if taken >= NOISE_SECONDS]
    if len(long) < 2:
        return None
    (small, short), (large, most) = long[-2:]
    return round(math.log(most / short) / math.log(large / small), 2)


def is_bad(row: dict[str, Any]) -> bool:
    """Whether a measurement breaks the promise: an error, over the limit, or both slow and steep."""
    last = list(row["seconds"].items())[-1]
    if isinstance(last[1], str):
        return True
    return bool(last[1] * MEGABYTE / max(int(last[0]), 1) > LIMIT_SECONDS) and (
        int(last[0]) >= MEGABYTE or (row["slope"] or 0) > SLOPE
    )


def attack(names: list[str], units: int, sizes: list[int], seed: int) -> list[dict[str, Any]]:
    """A row for each function and family that was promoted or failed."""
    table, rows = calls(), []
    for name in names:
        call = table[name]
        print(name, file=sys.stderr, flush=True)
        call("def warm(): pass\n" * 40)
        for family, make in families(units, seed):
            row = {"call": name, "family": family, **measured(call, make, sizes)}
            if len(row["seconds"]) > 1 or is_bad(row):
                rows.append(row)
                if is_bad(row):
                    print(name, family, row["seconds"], row["slope"], flush=True)
    return rows


def weight(row: dict[str, Any]) -> tuple[bool, float]:
    """Rank of a row: those without an end first, then by seconds for a character."""
    size, taken = list(row["seconds"].items())[-1]
    return (isinstance(taken, str), -float(size) if isinstance(taken, str) else taken / int(size))


def main() -> None:
    parser = parser_of(__doc__, units=60, seed=1)
    parser.add_argument("--only", default="", help="functions whose name holds this")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    names = [name for name in calls() if options.only in name]
    began = time.monotonic()
    rows = sorted(attack(names, options.units, options.sizes, options.seed), key=weight, reverse=True)
    found = {
        "functions": len(names),
        "families": sum(1 for _ in families(options.units, options.seed)),
        "bad": sum(map(is_bad, rows)),
        "minutes": round((time.monotonic() - began) / 60, 1),
        "worst": rows[:20],
    }
    keep("linear", found, options.json)


if __name__ == "__main__":
    main()
