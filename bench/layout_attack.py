"""Are files read right from a prompt that only grows, whatever happens to them?

    python -m bench.layout_attack [--sequences N] [--seed S]

Each sequence is a chat of a few prompts; between them files are edited, emptied, renamed, added, dropped and
made read-only, the history grows or is compacted, the cache goes cold, edits fail to match. After
each prompt every file is put together from it as a reader would, and the laws of the layout are tried. Ends
with status 1 where a file is read wrongly or a law is broken.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.plan.layout import DIFF_SHARE, GARBAGE_SHARE, File, Layout
from aider_gardener.plan.repo_map import MapNow

LINES = (
    "x = 1",
    "",
    "    return x",
    "    return the_total(order, lines)",
    "    total = sum(line.price for line in lines)",
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
    broken: int = 0
    """Prompts that broke another law (`_broken`)."""


def attack(sequences: int, seed: int = 1, prompts: int = 6) -> Tried:
    """Try so many sequences of so many prompts."""
    chance = random.Random(seed)
    found = Tried()
    for _ in range(sequences):
        one = sequence(chance, prompts)
        found = Tried(*(getattr(found, name) + getattr(one, name) for name in found.__dataclass_fields__))
    return found


def sequence(chance: random.Random, prompts: int) -> Tried:
    """Try one sequence."""
    files = {f"{name}.py": File(f"{name}.py", _text(chance)) for name in "abc"[: chance.randint(0, 3)]}
    history: list[int] = []
    layout, wrong, moved, broken = Layout(), 0, 0, 0
    for prompt in range(prompts):
        for _ in range(chance.randint(0, 3)):
            _change(chance, files)
        history = history[chance.randint(1, 3) :] if chance.random() < 0.2 else history
        history = [*history, *range(prompt * 10, prompt * 10 + chance.randint(0, 4))]
        cold = chance.random() < 0.05
        whole = [name for name in files if chance.random() < 0.1]
        given = list(files.values())
        last = layout
        layout = last.next(given, MapNow(), history, cold=cold, whole=whole)
        wrong += len(layout.wrong(given))
        moved += _moved(last, layout, asked=cold or not _goes_on(last, history, given), whole=whole)
        broken += _broken(layout, given, whole)
    return Tried(1, prompts, wrong, moved, broken)


def _goes_on(last: Layout, history: Sequence[int], files: Sequence[File]) -> bool:
    """Whether nothing that was sent has gone: no prompt, no message, no file or its role."""
    roles = {file.name: file.read_only for file in files}
    stand = all(roles.get(name) is each.file.read_only for name, each in last.last.items())
    return last.begun and stand and tuple(history[: len(last.history)]) == last.history


def _moved(last: Layout, layout: Layout, *, asked: bool, whole: Sequence[str]) -> bool:
    """Whether what was sent before stands otherwise, though nobody `asked` and there cannot be too much
    garbage: what changes adds half of its text to it at most, or the old copy."""
    if layout.laid == last.laid:
        stood = layout.updates[: len(last.updates)] == last.updates
        return not (stood and (layout.bases, layout.gathered) == (last.bases, last.gathered))
    texts = {name: each.file.text for name, each in layout.last.items()}
    changed = {name for name, each in last.last.items() if name in whole or each.file.text != texts.get(name)}
    most = last.garbage + sum(
        max(len(last.since_whole[name][0].file.text), len(texts.get(name, ""))) for name in changed
    )
    return not asked and most <= GARBAGE_SHARE * sum(map(len, texts.values()))


def _broken(layout: Layout, files: Sequence[File], whole: Sequence[str]) -> bool:
    """Whether one of these does not hold: what is shown is in the chat, in the role that it has; not more
    garbage than files; diffs of at most half a file, and none where it must be whole; the same again adds
    nothing."""
    again = layout.next(files, MapNow(), layout.history)
    laws = (
        {name: each.file for name, each in layout.last.items()} == {file.name: file for file in files},
        layout.garbage <= GARBAGE_SHARE * sum(len(file.text) for file in files),
        all(sum(map(len, layout.diffs(file.name))) <= DIFF_SHARE * len(file.text) for file in files),
        not any(map(layout.diffs, whole)),
        (again.sent, again.updates, again.laid) == (layout.sent, layout.updates, layout.laid),
    )
    return not all(laws)


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
        files[name] = file._replace(read_only=not file.read_only)
    elif what == 2:
        files[name] = file._replace(text=_text(chance))
    else:
        lines = file.text.split("\n")
        at = chance.randint(0, len(lines))
        lines[at : at + chance.randint(0, 2)] = [chance.choice(LINES) for _ in range(chance.randint(0, 2))]
        files[name] = file._replace(text="\n".join(lines))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    found = attack(options.sequences, options.seed)
    print(
        f"{found.sequences:,} sequences, {found.prompts:,} prompts: {found.wrong} files read wrongly,"
        f" {found.moved} prompts that changed what was sent before, {found.broken} that broke another law"
    )
    return 1 if found.wrong or found.moved or found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
