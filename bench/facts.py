"""What a reader needs of an output, and what of it a compressed form keeps.

    python -m bench.facts [FOLDER ...] [--each] [--bare] [--json FILE]

A folder holds index.json: for each output its file, the command, the classes that would be right, `facts`
(strings that an engineer needs to go on; a list holds alternatives) and `must_not` (strings that would be
false). A fact is kept if it stands in the compressed form, white space aside. Beside the compressor stands
plain head and tail of the text at the same size. `--bare` hides the command.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.compress import compress_message
from aider_gardener.messages import Source, SourceKind, TokenCounter
from bench.provenance import made_on

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "facts"
RESULTS = Path(__file__).resolve().parent / "results" / "facts.json"
LARGE_TOKENS = 2_500
"""Outputs above and below are summed apart."""


@dataclass(frozen=True)
class Output:
    """One output with what is known of it."""

    path: Path
    command: str
    classes: tuple[str, ...]
    facts: tuple[tuple[str, ...], ...]
    must_not: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode("utf-8", "replace")

    @property
    def half(self) -> str:
        """ "a" or "b", by the name alone: constants are chosen on a, b is reported apart."""
        return "ab"[sum(self.path.name.encode()) % 2]

    def lost(self, text: str) -> list[str]:
        """The facts that do not stand in the text."""
        held = flat(text)
        return [fact[0] for fact in self.facts if not any(flat(one) in held for one in fact)]

    def false(self, text: str) -> list[str]:
        """What stands in the text and would be false."""
        held = flat(text)
        return [one for one in self.must_not if flat(one) in held]


@dataclass(frozen=True)
class Found:
    """One output compressed: what it kept, lost and told falsely, and its tokens."""

    output: Output
    lost: list[str]
    false: list[str]
    right: bool
    before: int
    after: int
    seconds: float
    peer_lost: int
    """Facts lost by head and tail of the same size."""


def flat(text: str) -> str:
    """The text without any white space."""
    return re.sub(r"\s+", "", text)


def outputs_in(folder: Path) -> Iterator[Output]:
    """The outputs that a folder's index.json names. Raises OSError or ValueError for a folder without one."""
    for entry in json.loads((folder / "index.json").read_text("utf-8")):
        facts = tuple(tuple(fact) if isinstance(fact, list) else (fact,) for fact in entry["facts"])
        yield Output(
            folder / entry["input"], entry["command"], tuple(entry["class"]), facts, tuple(entry["must_not"])
        )


def folders_below(folder: Path) -> list[Path]:
    """The folders with an index.json, the folder itself among them."""
    return sorted(path.parent for path in folder.rglob("index.json"))


def head_and_tail(text: str, tokens: int, count: TokenCounter) -> str:
    """As much of both ends of a text as makes `tokens` tokens, about."""
    chars = round(len(text) * min(1.0, tokens / max(1, count(text))))
    return text[: chars // 2] + "\n" + text[len(text) - (chars - chars // 2) :]


def measured(output: Output, count: TokenCounter, *, bare: bool = False) -> Found:
    """One output compressed as a message: with its command, or as a paste without."""
    text = output.text
    source = Source() if bare else Source(SourceKind.COMMAND, output.command)
    began = time.perf_counter()
    made = compress_message(text, source, count=count)
    seconds = time.perf_counter() - began
    after = count(made.text)
    return Found(
        output, output.lost(made.text), output.false(made.text), made.cls.value in output.classes,
        count(text), after, seconds, len(output.lost(head_and_tail(text, after, count))),
    )  # fmt: skip


def sums(found: Sequence[Found]) -> dict[str, Any]:
    """The figures of several outputs."""
    asked = sum(len(one.output.facts) for one in found)
    large = [one for one in found if one.before > LARGE_TOKENS]
    less = [one for one in found if one.before <= LARGE_TOKENS]
    return {
        "outputs": len(found),
        "facts": asked,
        "kept": asked - sum(len(one.lost) for one in found),
        "all kept": sum(not one.lost for one in found),
        "kept by head and tail": asked - sum(one.peer_lost for one in found),
        "falsehoods": sum(bool(one.false) for one in found),
        "class right": sum(one.right for one in found),
        "tokens before": sum(one.before for one in found),
        "tokens after": sum(one.after for one in found),
        f"share above {LARGE_TOKENS}": _share(large),
        f"share below {LARGE_TOKENS}": _share(less),
        "longer": sum(one.after > one.before for one in found),
        "seconds": round(sum(one.seconds for one in found), 1),
    }


def _share(found: Sequence[Found]) -> float:
    return round(sum(one.after for one in found) / max(1, sum(one.before for one in found)), 4)


def line_of(found: Found) -> str:
    """One output on a line."""
    told = f"{found.output.path.name:32} {found.before:>7} -> {found.after:>6}"
    told += f" kept {len(found.output.facts) - len(found.lost)}/{len(found.output.facts)}"
    told += "" if found.right else " class?"
    told += f" lost {found.lost}" if found.lost else ""
    return told + (f" FALSE {found.false}" if found.false else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[FOLDER])
    parser.add_argument("--each", action="store_true", help="a line for each output")
    parser.add_argument("--bare", action="store_true", help="without the command, as a paste")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    count = default_counter()
    made: dict[str, Any] = {"command": "python -m bench.facts", "made_on": made_on()}
    for folder in [below for given in options.folders for below in folders_below(given)]:
        found = [measured(output, count, bare=options.bare) for output in outputs_in(folder)]
        if options.each:
            print("\n".join(map(line_of, found)))
        halves = {half: [one for one in found if one.output.half == half] for half in "ab"}
        made[folder.name] = {**sums(found), **{f"half {half}": sums(some) for half, some in halves.items()}}
        print(folder.name, json.dumps(sums(found)))
    if options.json:
        options.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
