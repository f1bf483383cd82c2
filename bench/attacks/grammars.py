"""Which grammars a text can end the process with, or hold it for ever.

    python -m bench.attacks.grammars [--languages NAME ...] [--json FILE]

Each language gets a process of its own, which parses texts of deep nesting: every unit of the linear attack
and openings of many languages repeated up to 5,000 times, staircases of indentation, random mixtures, and
chains of a few signs within an error. A process that a signal ends, or that a text holds for seconds though a
parse may take a tenth of one, tells the text that it was at. What the product does not parse is left out.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import subprocess
import sys
import time
from collections.abc import Iterator

from aider_gardener.compress.code.tree import GRAMMARS, endless
from bench.attacks.linear import UNITS
from bench.attacks.results import keep, parser_of

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
HELD_SECONDS = 5
"""A parse that takes so long all the same is one that nothing ends."""
CHAINS, LINKS = 20_000, 45
"""So many texts of so many times a few of the SIGNS, within others."""
SIGNS = (
    *"|-#&;(){}[]<>$`'\"\\=*?!~@%^+,./: \n", "a", "4", "a=", "$(", "((", "))", "[[", "]]", "<<", "&&", "||",
    ";;", "if ", "then ", "case ", "in ", "for ", "do ", "end ", "while ", "function ", "0x", "++", "--",
    "==", "->", "=>", "::", "let ", "fn ", "def ", "class ", "import ", "<a>", "</a>", "int ", "return ",
    "new ", "of ", "begin ", "else ", "?.", "..", "<a,", "@a ",
)  # fmt: skip
BROKEN = ("|#\n| ", "#\n| ", "]\n", "a | ", "")


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
    yield "|#\n| aa|" + "a|" * LINKS + "4]"
    for _ in range(CHAINS):
        begin, link, end = ("".join(rng.choices(SIGNS, k=rng.randint(1, most))) for most in (6, 3, 4))
        yield rng.choice(BROKEN) + begin + link * LINKS + end


def parse_all(language: str) -> None:
    """Parse every text; its number is printed before it is parsed."""
    import warnings

    from grep_ast.tsl import get_parser

    warnings.simplefilter("ignore")
    parser = get_parser(language)
    parser.timeout_micros = MICROSECONDS
    for number, text in enumerate(texts()):
        text = text[:MOST_CHARS]
        if endless(text, language):
            continue
        print(number, flush=True)
        faulthandler.dump_traceback_later(HELD_SECONDS, exit=True)
        try:
            parser.parse(text.encode("utf-8", "replace"))
        except ValueError:
            parser.reset()
    faulthandler.cancel_dump_traceback_later()
    print("done", flush=True)


def outcome(language: str) -> str:
    """ "done", or what ended the process and the text that it was at."""
    call = [sys.executable, "-m", "bench.attacks.grammars", "--parse", language]
    made = subprocess.run(call, capture_output=True, text=True)
    last = made.stdout.split()[-1:] or ["start"]
    if made.returncode == 0 and last == ["done"]:
        return "done"
    return f"{'held for ever' if made.returncode > 0 else f'ended by {-made.returncode}'} at text {last[0]}"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--languages", nargs="*", default=sorted(GRAMMARS))
    parser.add_argument("--parse", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.parse:
        parse_all(options.parse)
        return
    began = time.monotonic()
    outcomes = {language: outcome(language) for language in options.languages}
    found = {
        "texts": sum(1 for _ in texts()),
        "languages": len(outcomes),
        "done": sum(told == "done" for told in outcomes.values()),
        "not": {language: told for language, told in outcomes.items() if told != "done"},
        "minutes": round((time.monotonic() - began) / 60, 1),
    }
    keep("grammars", found, options.json)


if __name__ == "__main__":
    main()
