"""Compress the same texts with this package and with each peer, in one run, and keep what came of it.

    python -m bench.peers.run --python ENVIRONMENT/bin/python [--rounds N] [--json FILE] [--only NAME,...]

For each text and compressor: tokens left (cl100k), facts kept of those that stand in the original,
median milliseconds. A third figure, head and tail of the text cut to the tokens of ours, shows
what no compressor at all would keep.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aider_gardener.compress import Context, compress_text
from aider_gardener.messages import ContentClass, TokenCounter
from aider_gardener.reading.facts import Fact
from aider_gardener.tokens import default_counter
from bench.peers.texts import Text, kept, texts
from bench.provenance import made_on

FORMAT = 1
RESULTS = Path(__file__).resolve().parents[1] / "results" / "peers.json"
WORKER = Path(__file__).with_name("headroom_worker.py")
OURS, HEADROOM, HEAD_TAIL = "gardener", "headroom-ai", "head and tail"
PACKAGES = (HEADROOM,)

PEER_KINDS: dict[ContentClass, str] = {ContentClass.ERROR: "log", ContentClass.EDIT: "diff"}
"""Which of the peer's compressors takes a class that it has no word for; the others have the same name."""

Result = dict[str, Any]
Compress = Callable[[Text], tuple[str, list[float]]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", required=True, help="the Python of the environment that has the peers")
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds of each  [default: 7]")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--only", default="", help="names of texts, apart by commas")
    options = parser.parse_args(argv)
    wanted = [name.strip() for name in options.only.split(",") if name.strip()]
    chosen = [text for text in texts() if not wanted or text.name in wanted]
    count = default_counter()
    with peer(options.python) as ask:
        rows = []
        for text in chosen:
            rows.append(measured(text, ask, options.rounds, count))
            print(line(rows[-1]), flush=True)
        value = {
            "format": FORMAT,
            "kind": "peers",
            "provenance": {**made_on(), "tokenizer": "cl100k_base", "peers": versions(options.python)},
            "rounds": options.rounds,
            "texts": rows,
        }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json.name}")
    return 0


def versions(python: str) -> dict[str, str]:
    """The peers' versions in their environment."""
    code = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
    done = subprocess.run([python, "-c", code, *PACKAGES], check=True, capture_output=True, text=True)
    return dict(zip(PACKAGES, done.stdout.split(), strict=True))


@contextmanager
def peer(python: str) -> Iterator[Callable[[Text, int], Mapping[str, Any]]]:
    """A function that asks the worker in the peers' environment; it has no home, no keys, no network use."""
    with tempfile.TemporaryDirectory() as home:
        quiet = {"HOME": home, "USERPROFILE": home, "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
        worker = subprocess.Popen(
            [python, str(WORKER)],
            env={**kept, **quiet},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert worker.stdin and worker.stdout

        def ask(text: Text, rounds: int) -> Mapping[str, Any]:
            kind = PEER_KINDS.get(text.cls, text.cls.value)
            asked = {"kind": kind, "text": text.text, "rounds": rounds}
            worker.stdin.write(json.dumps(asked) + "\n")  # type: ignore[union-attr] # reason: asserted above
            worker.stdin.flush()  # type: ignore[union-attr] # reason: the same
            answered = worker.stdout.readline()  # type: ignore[union-attr] # reason: the same
            if not answered:
                raise SystemExit(f"the peer's process ended at {text.name}; try it with --only")
            found: Mapping[str, Any] = json.loads(answered)
            return found

        try:
            yield ask
        finally:
            worker.stdin.close()
            worker.wait()


def measured(
    text: Text, ask: Callable[[Text, int], Mapping[str, Any]], rounds: int, count: TokenCounter
) -> Result:
    """One text under all compressors."""
    looked_for = text.facts()
    shown, seconds = ours(text, rounds)
    found = {OURS: result(shown, seconds, looked_for, count)}
    answered = ask(text, rounds)
    if "error" in answered:
        found[HEADROOM] = {"error": answered["error"]}
    else:
        found[HEADROOM] = result(answered["text"], answered["seconds"], looked_for, count)
    cut = head_and_tail(text.text, found[OURS]["tokens"], count)
    found[HEAD_TAIL] = result(cut, [], looked_for, count)
    return {
        "name": text.name,
        "class": text.cls.value,
        "tokens": count(text.text),
        "facts": len(looked_for),
        "results": found,
    }


def ours(text: Text, rounds: int) -> tuple[str, list[float]]:
    context = Context(language=text.kind if text.cls is ContentClass.CODE else "")
    shown, seconds = compress_text(text.text, text.cls, context).text, []
    for _round in range(rounds):
        began = time.perf_counter()
        compress_text(text.text, text.cls, context)
        seconds.append(time.perf_counter() - began)
    return shown, seconds


def result(shown: str, seconds: Sequence[float], looked_for: Sequence[Fact], count: TokenCounter) -> Result:
    """Tokens left, facts kept, median milliseconds where there were timed rounds."""
    held = kept(looked_for, shown)
    return {
        "tokens": count(shown),
        "kept": sum(found for found, _total in held.values()),
        "kept_by_kind": {kind: [found, total] for kind, (found, total) in held.items()},
        **({"ms": round(1000 * statistics.median(seconds), 2)} if seconds else {}),
    }


def head_and_tail(text: str, tokens: int, count: TokenCounter) -> str:
    """The first and last lines of a text, as many as have half the tokens each."""
    lines = text.split("\n")
    ends: list[list[str]] = [[], []]
    for end, source in zip(ends, (iter(lines), reversed(lines)), strict=True):
        left = tokens // 2
        for each in source:
            left -= count(each) + 1
            if left < 0:
                break
            end.append(each)
    return "\n".join([*ends[0], *reversed(ends[1])])


def line(row: Result) -> str:
    """A text's figures in one line."""
    parts = [f"{row['name']} ({row['tokens']:,} tokens, {row['facts']} facts):"]
    for name, found in row["results"].items():
        if "error" in found:
            parts.append(f"{name} failed: {found['error']};")
            continue
        share = 100 * found["tokens"] / max(1, row["tokens"])
        took = f", {found['ms']:.1f} ms" if "ms" in found else ""
        parts.append(f"{name} {share:.1f} %, {found['kept']} kept{took};")
    return " ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
