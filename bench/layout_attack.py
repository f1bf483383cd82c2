"""Are files read right from a prompt that only grows, whatever happens to them?

    python -m bench.layout_attack [--sequences N] [--seed S]

Each sequence is a chat of a few prompts; between them files are edited, emptied, renamed, added, dropped and
made read-only, the history grows or is compacted, the cache goes cold, edits fail to match. After each prompt
every file is put together from it as a reader would. Ends with status 1 where one is read wrongly.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aider_gardener.plan.layout import File, Layout
from aider_gardener.plan.repo_map import MapNow

LINES = (
    "x = 1",
    "",
    "    return x",
    "def f():",
    "}",
    "same",
    "same",
    "a\u2028b",
    "tab\t",
    "+plus",
    "-minus",
    "@@",
)


@dataclass(frozen=True)
class Tried:
    """What came of an attack."""

    sequences: int = 0
    prompts: int = 0
    wrong: int = 0
    moved: int = 0
    """Prompts that changed what was sent before, though nothing asked for it."""


def attack(sequences: int, seed: int = 1, prompts: int = 6) -> Tried:
    """Try so many sequences of so many prompts."""
    chance = random.Random(seed)
    found = Tried()
    for _ in range(sequences):
        one = _sequence(chance, prompts)
        found = Tried(*(getattr(found, name) + getattr(one, name) for name in found.__dataclass_fields__))
    return found


def _sequence(chance: random.Random, prompts: int) -> Tried:
    files = {f"{name}.py": File(f"{name}.py", _text(chance)) for name in "abc"[: chance.randint(0, 3)]}
    history: list[int] = []
    layout, wrong, moved = Layout(), 0, 0
    for prompt in range(prompts):
        known = set(files)
        for _ in range(chance.randint(0, 3)):
            _change(chance, files)
        history = history[chance.randint(1, 3) :] if chance.random() < 0.2 else history
        history = [*history, *range(prompt * 10, prompt * 10 + chance.randint(0, 4))]
        cold = chance.random() < 0.05
        whole = [name for name in files if chance.random() < 0.1]
        given = list(files.values())
        last, layout = layout, layout.next(given, MapNow(), history, cold=cold, whole=whole)
        wrong += len(layout.wrong(given))
        same = layout.laid == last.laid
        moved += same and (layout.bases, layout.gathered) != (last.bases, last.gathered)
        moved += same and layout.updates[: len(last.updates)] != last.updates
        wrong += any(each.name not in files for each in layout.sent if known - set(files))
    return Tried(1, prompts, wrong, moved)


def _text(chance: random.Random) -> str:
    lines = [chance.choice(LINES) for _ in range(chance.choice((0, 1, 5, 40)))]
    return "\n".join(lines) + chance.choice(("", "\n"))


def _change(chance: random.Random, files: dict[str, File]) -> None:
    name = f"{chance.choice('abcd')}.py"
    file = files.get(name)
    what = chance.randrange(8)
    if file is None:
        files[name] = File(name, _text(chance), chance.random() < 0.2)
    elif what == 0:
        del files[name]
    elif what == 1:
        files[name] = replace(file, read_only=not file.read_only)
    elif what == 2:
        files[name] = replace(file, text=_text(chance))
    else:
        lines = file.text.split("\n")
        at = chance.randint(0, len(lines))
        lines[at : at + chance.randint(0, 2)] = [chance.choice(LINES) for _ in range(chance.randint(0, 2))]
        files[name] = replace(file, text="\n".join(lines))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    found = attack(options.sequences, options.seed)
    print(
        f"{found.sequences:,} sequences, {found.prompts:,} prompts: {found.wrong} files read wrongly,"
        f" {found.moved} prompts that changed what was sent before"
    )
    return 1 if found.wrong or found.moved else 0


if __name__ == "__main__":
    sys.exit(main())
