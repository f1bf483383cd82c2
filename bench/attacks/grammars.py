"""Which grammars a text can end the process with.

    python -m bench.attacks.grammars [--languages NAME ...] [--json FILE]

Each language gets a process of its own, which parses texts of deep nesting: every unit of the linear attack
and openings of many languages repeated up to 5,000 times, staircases of indentation, and random mixtures.
A process that a signal ends tells the text that it was at.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from aider_gardener.compress.code.tree import GRAMMARS
from bench.attacks.linear import UNITS
from bench.provenance import made_on

RESULTS = Path(__file__).resolve().parent.parent / "results" / "attacks" / "grammars.json"
OPENINGS = (
    "<a>", "<b><", "{%", "<<A\n", "<<~A\n", "#{", '"#{', "`${", 'R"x(', 'r#"', 'f"{', "f'{", "%w(", "%{",
    "do\n", "begin\n", "if x\n", "let x = \n", "case x of\n", "where\n", "1. ", "* ", "(*", "/*", "{-",
    "--[[", "--[=[", "'''", '"""', '$"{', '@"', "<?php ", "<script>", "<%", "{{", "@{", "$(", "${", "? ",
    "[a,", "(a,",
)  # fmt: skip
STEPS = ("if x:\n", "a:\n", "- a\n", "do\n", "let\n", "where\n", "case x of\n", "<a>\n", "begin\n")
TIMES, DEPTHS = (260, 1_100, 5_000), (70, 130, 260, 600, 1_100)
MIXTURES, PIECES, MOST_CHARS = 150, 12, 30_000
MICROSECONDS = 100_000
"""A parse may take so long: what overruns a buffer does so early."""


def texts(seed: int = 5) -> Iterator[str]:
    """Texts of deep nesting, the same for every language."""
    rng = random.Random(seed)
    units = (*UNITS, *OPENINGS)
    for unit in units:
        yield from (unit * times + "\nx\n" for times in TIMES)
    for depth in DEPTHS:
        yield from ("".join(" " * row + step for row in range(depth)) for step in STEPS)
    for _ in range(MIXTURES):
        yield "".join(rng.choice(units) * rng.choice((1, 2, 5, 70, 300)) for _ in range(PIECES))


def parse_all(language: str) -> None:
    """Parse every text; its number is printed before it is parsed."""
    import warnings

    from grep_ast.tsl import get_parser

    warnings.simplefilter("ignore")
    parser = get_parser(language)
    parser.timeout_micros = MICROSECONDS
    for number, text in enumerate(texts()):
        print(number, flush=True)
        try:
            parser.parse(text[:MOST_CHARS].encode("utf-8", "replace"))
        except ValueError:
            parser.reset()
    print("held", flush=True)


def outcome(language: str) -> str:
    """ "held", or what ended the process and the text that it was at."""
    call = [sys.executable, "-m", "bench.attacks.grammars", "--parse", language]
    made = subprocess.run(call, capture_output=True, text=True)
    last = made.stdout.split()[-1:] or ["start"]
    if made.returncode == 0 and last == ["held"]:
        return "held"
    return f"ended by {-made.returncode} at text {last[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="*", default=sorted(GRAMMARS))
    parser.add_argument("--parse", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.parse:
        parse_all(options.parse)
        return
    began = time.monotonic()
    found = {language: outcome(language) for language in options.languages}
    made = {
        "command": "python -m bench.attacks.grammars",
        "made_on": made_on(),
        "texts": sum(1 for _ in texts()),
        "languages": len(found),
        "held": sum(told == "held" for told in found.values()),
        "not": {language: told for language, told in found.items() if told != "held"},
        "minutes": round((time.monotonic() - began) / 60, 1),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(made["not"]), f"{made['held']} of {made['languages']} held", file=sys.stderr)


if __name__ == "__main__":
    main()
