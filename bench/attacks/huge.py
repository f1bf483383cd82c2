"""Huge outputs in a chat: what one takes of a turn and of the memory, and whether all of it is there later.

    python -m bench.attacks.huge [--only NAME ...] [--scale 1.0] [--json FILE]

Each text enters a chat of its own, in a process of its own, as a `/run` prints it, with a sentence and a
token of GitHub's form in its middle. Seconds are the gardener's own, by the clock and of the processor
(`cpu`: on a machine that others use too, these tell more): in the turn that brings the text and in the next
one; then of the index, which goes on between turns; then of recall, for an ordinary question and for hostile
ones. Memory is what the process took beside the text, at most, as a multiple of it (Linux only): in the turn,
and later, when the index is made and asked; what this comparison needs is left out.
`restored`: the archive gives the text byte for byte, but for the token. `secret`: the token's bytes are
nowhere in the archive's files.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.redact import placeholder
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.throttle import throttle_outputs
from aider_gardener.settings import Settings
from aider_gardener.tokens import default_counter
from bench.attacks.results import keep, parser_of

LIMIT_SECONDS = 900
NEEDLE = "The quartzite shipment 48151623 left Narvik without its manifest."
SECRET = "ghp_" + "Zq8rT2mWx5Kc9Ld3Bv7N" + "p4Hs6Jf1Yg0A"
FILLER = "We moved the cache of step {0} behind the reader, and its size is {0} pages now. " * 3
TURNS_BEFORE = 30
QUERIES = {
    "ordinary": "Where did the quartzite shipment leave from?",
    "1e999": "1e999",
    "long": " ".join(f"why{n} is" for n in range(10_000))[:10_000],
    "digits": "0123456789" * 20,
    "letters": "a b c d e f 1 2 3 4 5 6 7 8 9 0",
}
REPEATS = 5


def log(rng: random.Random) -> Iterator[str]:
    """Lines of a service's log; every fourth holds a word that a secret's name could have."""
    while True:
        name = rng.choice(
            ["Importer", "AuthFilter", "Mailer", "Ledger", "Router", "Index", "Sweeper", "Pool"]
        )
        told = (
            f"job {rng.randrange(10**6)} for user u{rng.randrange(5_000)} took {rng.random() * 1000:.2f} ms"
        )
        told += f", cacheKey={rng.randrange(10**6):x}" if rng.random() < 0.125 else ""
        if rng.random() < 0.001:
            told = f"failed: order {rng.randrange(10**6)} has no price in ledger_{rng.randrange(99)}.py"
        level = (
            "ERROR" if told.startswith("failed") else rng.choice(["INFO", "INFO", "INFO", "DEBUG", "WARN"])
        )
        at = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}.{rng.randrange(1000):03}"
        yield f"2026-11-25T{at}Z {level} [worker-{rng.randrange(16)}] com.acme.orders.{name} - {told}\n"


def one_line_json(rng: random.Random) -> Iterator[str]:
    yield "["
    while True:
        number = rng.randrange(10**9)
        record = {
            "id": number,
            "name": f"user {number % 9_973}",
            "email": f"u{number % 99_991}@example.com",
            "tokenCount": number % 9_000,
            "tags": ["a", "b"],
            "url": f"https://shop.example/{number % 1_000_003}",
        }
        yield json.dumps(record) + ", "


def hexadecimal(rng: random.Random) -> Iterator[str]:
    while True:
        yield rng.randbytes(50_000).hex()


def spaces(_rng: random.Random) -> Iterator[str]:
    while True:
        yield " " * 100_000


def minified(rng: random.Random) -> Iterator[str]:
    words = "call this.props key token auth Object prototype length push null window state apply".split()
    while True:
        one, other = rng.choice(words), rng.choice(words)
        yield f"function f{rng.randrange(9_999)}(e,t){{var n=e.{one},r=t[{rng.randrange(99)}];"
        yield f"return n&&r.{other}?e.{one}({rng.randrange(999)},n):void 0}}"


def cjk(rng: random.Random) -> Iterator[str]:
    while True:
        yield "".join(chr(0x4E00 + rng.randrange(3_000)) for _ in range(29)) + "。"
        yield "\n" if rng.random() < 0.1 else ""


def distinct_words(rng: random.Random) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield "".join(rng.choice("aeiou") + rng.choice("bcdfghkmnprst") for _ in range(4)) + f"{number:x} "


def settings(rng: random.Random) -> Iterator[str]:
    """The worst for a search for secrets: each line assigns to a name that could be one's."""
    while True:
        name = rng.choice(["cache_key", "token_count", "auth_mode", "partition_key", "pass_rate", "api_url"])
        yield f"{name}_{rng.randrange(99)} = {rng.randrange(10**6)}\n"


TEXTS: dict[str, tuple[Callable[[random.Random], Iterator[str]], float]] = {
    "log, 1.9 MB": (log, 1.9),
    "log, 20 MB": (log, 20),
    "JSON on one line, 50 MB": (one_line_json, 50),
    "hex, 50 MB": (hexadecimal, 50),
    "spaces, 50 MB": (spaces, 50),
    "minified JS, 20 MB": (minified, 20),
    "CJK, 10 MB": (cjk, 10),
    "distinct words, 20 MB": (distinct_words, 20),
    "settings, 20 MB": (settings, 20),
}
"""What is printed, in pieces without an end, and how many megabytes of it."""


def text_of(name: str, scale: float) -> str:
    """A text with the needle and the secret in its middle."""
    make, megabytes = TEXTS[name]
    pieces, middle = make(random.Random(name)), f"\n{NEEDLE}\ngithub: {SECRET}\n"
    half = int(megabytes * scale * 500_000)
    return "".join([*_of_size(pieces, half), middle, *_of_size(pieces, half)])


def _of_size(pieces: Iterable[str], size: int) -> Iterator[str]:
    made = 0
    for piece in pieces:
        yield piece
        made += len(piece.encode())
        if made >= size:
            return


def child(path: Path) -> None:
    """Play one chat with the text of a file; prints a figure a line, as far as it comes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        for key, value in _figures(path.read_text("utf-8"), Path(directory)):
            print("\n" + json.dumps({key: value}), flush=True)


def _figures(text: str, directory: Path) -> Iterator[tuple[str, Any]]:
    store = open_store(directory)
    archive = Archive(store, session="s", project="p", count=default_counter(), clock=time.time)
    gardener = Gardener(Settings(), archive)
    done: list[dict[str, Any]] = []

    def say(asked: str, message: str = "") -> tuple[float, float]:
        """One turn, as an adapter plays it; its seconds, by the clock and of the processor."""
        nonlocal done
        began, worked = time.perf_counter(), time.process_time()
        gardener.enter_turn(asked)
        cur = [{"role": "user", "content": message or asked}]
        added = gardener.sync(done, cur)
        if throttle_outputs(gardener.state, added) or gardener.compact_if_due() is not None:
            done, cur = list(gardener.state.chat.done), list(gardener.state.chat.cur)
        gardener.map_note(lambda: "")
        gardener.recall_note(asked, "")
        done = [*done, *cur, {"role": "assistant", "content": FILLER.format(len(done))}]
        gardener.sync(done, [])
        gardener.leave_turn()
        return round(time.perf_counter() - began, 3), round(time.process_time() - worked, 3)

    for turn in range(TURNS_BEFORE):
        say(f"What does step {turn} need?")
    yield "ordinary_turn_seconds", min(say(f"And step {turn}?") for turn in range(5))[0]
    message = f"I ran this command:\n\nprint-it\n\nAnd got this output:\n\n{text}\n"
    del text
    size, began = len(message.encode()), resident()
    yield "characters", len(message)
    seconds, cpu = say("/run print-it", message)
    yield "turn_seconds", seconds
    yield "turn_cpu_seconds", cpu
    yield "memory_x", round((resident(most=True) - began) / size, 2)
    yield "next_turn_seconds", say("What did it print in the end?")[0]
    big = max(gardener.state.chat.entries.values(), key=lambda entry: len(entry.content))
    expected = big.content.replace(SECRET, placeholder(SECRET, "token"))
    yield "restored", store.original(big.id) == expected and len(big.content) >= len(message)
    del expected
    resident()  # what was needed to compare is not the gardener's
    worked = time.process_time()
    while store.work_off(100):
        pass
    yield "index_cpu_seconds", round(time.process_time() - worked, 1)
    found = gardener.recall(QUERIES["ordinary"])
    yield "needle_found", any("Narvik" in item.text for item in found)
    taken: dict[str, float] = {}
    for name, query in QUERIES.items():
        for repeat in range(REPEATS):
            worked = time.process_time()
            gardener.recall(f"{query} {repeat}")
            taken[name] = max(taken.get(name, 0.0), round(time.process_time() - worked, 3))
        yield "recall_cpu_seconds", taken
    yield "memory_later_x", round((resident(most=True) - began) / size, 2)
    store.close()
    files = [path.read_bytes() for path in directory.rglob("*") if path.is_file()]
    yield "files_x", round(sum(map(len, files)) / size, 2)
    yield "secret_gone", not any(SECRET.encode() in held for held in files)


def resident(*, most: bool = False) -> int:
    """Bytes of this process in memory now, or the most since they were asked for last."""
    status = Path("/proc/self/status").read_text("ascii")
    if not most:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    word = "VmHWM:" if most else "VmRSS:"
    return 1024 * int(status.split(word)[1].split()[0])


def in_child(name: str, scale: float) -> dict[str, Any]:
    """The figures of one text, as many as came within the limit."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "text")
        path.write_text(text_of(name, scale), "utf-8")
        words = [sys.executable, "-m", "bench.attacks.huge", "--child", str(path)]
        try:
            done = subprocess.run(words, stdout=subprocess.PIPE, timeout=LIMIT_SECONDS, check=True)
            said, cut = done.stdout, {}
        except subprocess.TimeoutExpired as error:
            said, cut = error.stdout or b"", {"cut_after_seconds": LIMIT_SECONDS}
    found: dict[str, Any] = {}
    for line in said.decode().split("\n"):
        found |= json.loads(line) if line.startswith("{") else {}
    return found | cut


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", default=list(TEXTS), choices=list(TEXTS), metavar="NAME")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    found: dict[str, dict[str, Any]] = {}
    for name in options.only:
        found[name] = in_child(name, options.scale)
        print(f"{name:24}", *(f"{key} {value}" for key, value in found[name].items()), flush=True)
    keep("huge", {"scale": options.scale, "texts": found}, options.json)


if __name__ == "__main__":
    main()
