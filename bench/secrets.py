"""How many secrets of a labelled set are taken out, and how many harmless texts stay as they are.

    python -m bench.secrets [--misses a] [--json FILE]

Expressions were chosen by half "a" of `tests/data/secrets.jsonl`. Half "b" was looked at last, and "c"
was written later by somebody who had not seen them; what they lacked was added then. "d1" and "d2" are
everyday forms of many tools, of which "d1" was looked at first, "e" was written when those went, and "g"
when that went. "h1", "h2" (of hard forms), "i1" and "i2" (of common ones) were written by people who had
not seen the code; by "h1" and "i1" something was added then, by "h2" and "i2" nothing ever. "k" is by
somebody who knew the code, and nothing was added by it either. "l1" and "l2" are by another who had not
seen it; something was added by "l1". So are "m1" and "m2", by one person one after the other; something
was added by both. "n1", "n2" and "n3" are by one person too, the first written before the expressions
were seen; something was added by all three. "o" is by somebody who knew the code, of tools that the
others do not have; two expressions were mended by it. "p1" and "p2" are by another who knew it, of forms
that the tables lacked: "p2" was looked at when "p1" went. "q" was written then, of everyday forms. "r" is
by somebody who had not seen the expressions, of common tools; one was mended by it. So are "s1" and "s2", of
everyday chats, by another; something was added by both. "t" is by somebody who knew the code: compilers,
parsers, tokenizers and settings whose words speak of tokens and keys and hold none, and a few secrets beside
them; one row of the table came of it. "u1" and "u2" are by somebody who knew it, of
programs and languages that the others do not have: "u2" was looked at when "u1" went, and "v", of everyday
forms, was written then; something was added by all three. "w1" and "w2" are by somebody who had not seen
the expressions, "x1" and "x2" by the same one, who had by then: something was added by "x1". "y1", of
everyday terminals, settings and chats, is by somebody who had not seen the tables, "y2" by the same before
what "y1" lacked was added; something was added by both. "z1" and "z2" are by one person who had seen neither
tables nor texts, split by a coin; "z1" was looked at, "z2" never. So are "aa1" and "bb1", by which something
was added, "aa2", never looked at, and "bb2", of which only how many went was looked at, after every addition:
one that they and the older ones had no use for went again, so what "bb2" has now is no figure of unseen
texts. "cc1" and "cc2" are by one person and were measured once they stood; then "cc1" was looked at. What
nothing was added by says what a text of a stranger's loses.
`blind` in the results has the figures from before a half was looked at. A snippet counts as found when none
of its secrets is left, and as harmless when not a byte of it changes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aider_gardener.archive.store.redact import redact
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parents[1]
SNIPPETS = ROOT / "tests" / "data" / "secrets.jsonl"
SESSIONS = ROOT / "recorded_sessions"
RESULTS = Path(__file__).with_name("results") / "secrets.json"
MARK = "{+}"
"""Stands within each secret of the file, so that no scanner takes it for one in use."""
HALVES = (
    *"a b c d1 d2 e g h1 h2 i1 i2 k l1 l2 m1 m2 n1 n2 n3 o p1 p2 q r s1 s2 t u1 u2 v".split(),
    *"w1 w2 x1 x2 y1 y2 z1 z2 aa1 aa2 bb1 bb2 cc1 cc2".split(),
    "all",
)
SPEED_CHARS = 2_000_000


@dataclass(frozen=True)
class Snippet:
    """A text and the strings in it that must go; none in a harmless one."""

    id: str
    kind: str
    half: str
    text: str
    secrets: tuple[str, ...]

    @cached_property
    def is_right(self) -> bool:
        """Whether redaction does with it what it should."""
        left = redact(self.text).text
        return not any(secret in left for secret in self.secrets) if self.secrets else left == self.text


def snippets(path: Path = SNIPPETS) -> list[Snippet]:
    """The labelled set."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        secrets = tuple(secret.replace(MARK, "") for secret in row["secret"])
        found.append(Snippet(row["id"], row["kind"], row["half"], row["text"].replace(MARK, ""), secrets))
    return found


def rates(given: list[Snippet]) -> dict[str, dict[str, Any]]:
    """By half and for all: how many secrets and harmless texts there are, and how many are treated right."""
    right = {one.id: one.is_right for one in given}
    found: dict[str, dict[str, Any]] = {}
    for half in HALVES:
        some = [one for one in given if half in (one.half, "all")]
        secret, harmless = [one for one in some if one.secrets], [one for one in some if not one.secrets]
        found[half] = {
            "secrets": len(secret),
            "gone": sum(right[one.id] for one in secret),
            "harmless": len(harmless),
            "unchanged": sum(right[one.id] for one in harmless),
        }
    return found


def recorded_text(chars: int) -> str:
    """Code and logs of the recorded sessions, at most so many characters."""
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in _recorded())[:chars]


def _recorded() -> Iterator[Path]:
    for path in sorted(SESSIONS.rglob("*")):
        if path.is_file() and path.suffix in (".jsonl", ".py", ".ts", ".go", ".rs", ".md"):
            yield path


def seconds_a_megabyte() -> float:
    """Processor seconds for a megabyte of recorded code and logs that were not read before."""
    text = recorded_text(SPEED_CHARS)
    redact("password = 'hunter22'")  # expressions that are compiled once
    began = time.process_time()
    redact(text)
    return round((time.process_time() - began) * 1_000_000 / len(text), 3)


def table(figures: dict[str, dict[str, Any]]) -> str:
    """A row for each half."""
    return "\n".join(
        f"{half:>6}  {row['gone']}/{row['secrets']} gone, {row['unchanged']}/{row['harmless']} same"
        for half, row in figures.items()
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", choices=HALVES, help="print what is wrong of a half")
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    options = parser.parse_args(arguments)
    given = snippets()
    value: dict[str, Any] = {"rates": rates(given), "seconds_a_megabyte": seconds_a_megabyte()}
    print(table(value["rates"]))
    print(f"{value['seconds_a_megabyte']} s for a megabyte")
    for one in given:
        if options.misses in (one.half, "all") and not one.is_right:
            print(f"{one.id}: {redact(one.text).text!r}")
    if options.json:
        value = {"command": "python -m bench.secrets", "made_on": made_on(), **value}
        held = json.loads(options.json.read_text(encoding="utf-8")) if options.json.is_file() else {}
        value = {name: held[name] for name in ("blind",) if name in held} | value
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
