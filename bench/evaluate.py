"""What the compressors keep of outputs of which is known what a reader needs.

A folder may be one of two kinds. With index.json: for each output its file, the command, the classes that
would be right, `facts` (strings that an engineer needs to go on; a list holds alternatives) and `must_not`
(strings that would be false). With session.jsonl: the outputs of a recorded session, whose facts are the
answers to its probes that stand in them.

A fact is kept if it stands in the compressed form, white space aside. Beside the compressor stands the null
hypothesis: lines quoted by their words alone, at the same size.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.compress.message import compress_message
from aider_gardener.compress.outline import chosen, written
from aider_gardener.compress.quoting import quoted
from aider_gardener.messages import Focus, Source, SourceKind, TokenCounter
from aider_gardener.reading.output import lines_of
from aider_gardener.replay.session.session import load_folder

OUTPUT_BYTES = 16 * 1024 * 1024
"""A larger output is not measured."""
LARGE_TOKENS = 2_500
"""Outputs above and below are summed apart."""


@dataclass(frozen=True)
class Output:
    """One output with what is known of it; `classes` is empty where any class would do."""

    name: str
    text: str
    source: Source = field(default_factory=Source)
    classes: tuple[str, ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()

    def lost(self, text: str) -> list[str]:
        """The facts that do not stand in the text."""
        held = flat(text)
        return [fact[0] for fact in self.facts if not any(flat(one) in held for one in fact)]

    def false(self, text: str) -> list[str]:
        """What stands in the text and would be false."""
        held = flat(text)
        return [one for one in self.must_not if flat(one) in held]


@dataclass(frozen=True)
class EvaluatedSession:
    """One output compressed: its class, what it lost and told falsely, tokens before and after.

    `peer_lost` counts the facts that lines quoted without engines at the same size lose.
    """

    output: Output
    cls: str
    lost: list[str]
    false: list[str]
    before: int
    after: int
    peer_lost: int

    @property
    def right(self) -> bool:
        return not self.output.classes or self.cls in self.output.classes

    def line(self) -> str:
        """The output on a line."""
        asked = len(self.output.facts)
        told = (
            f"{self.output.name:32} {self.before:>7} -> {self.after:>6} kept {asked - len(self.lost)}/{asked}"
        )
        told += "" if self.right else f" taken for {self.cls}"
        told += f" lost {self.lost}" if self.lost else ""
        return told + (f" FALSE {self.false}" if self.false else "")


def flat(text: str) -> str:
    """The text without any white space."""
    return re.sub(r"\s+", "", text)


def evaluated(folder: Path, count: TokenCounter, *, bare: bool = False) -> list[EvaluatedSession]:
    """All outputs of a folder compressed. Raises ValueError for a folder of no known kind, OSError,
    SessionError."""
    return [measured(output, count, bare=bare) for output in outputs_in(folder)]


def outputs_in(folder: Path) -> Iterator[Output]:
    """The outputs of a folder of one of the two kinds, or of all folders below it that are of one."""
    for marker, read in (("index.json", _of_index), ("session.jsonl", _of_session)):
        if (folder / marker).is_file():
            yield from read(folder)
            return
    below = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    known = [path for path in below if (path / "index.json").is_file() or (path / "session.jsonl").is_file()]
    if not known:
        raise ValueError(f"{folder} has no index.json and no session.jsonl, nor has any folder in it")
    for path in known:
        yield from outputs_in(path)


def _of_index(folder: Path) -> Iterator[Output]:
    for entry in json.loads(_text(folder / "index.json")):
        facts = tuple(tuple(fact) if isinstance(fact, list) else (fact,) for fact in entry["facts"])
        path = folder / entry["input"]
        text = _text(path)
        source = Source(SourceKind.COMMAND, entry["command"])
        yield Output(path.name, text, source, tuple(entry["class"]), facts, tuple(entry["must_not"]))


def _of_session(folder: Path) -> Iterator[Output]:
    session = load_folder(folder)
    for event in session.of_kind("command"):
        keys = [probe.answer_keys for probe in session.probes if probe.about_turn == event.turn]
        held = flat(event.output)
        facts = tuple((key,) for answer in keys for key in answer if key and flat(key) in held)
        source = Source(SourceKind.COMMAND, event.command)
        yield Output(f"{session.name} {event.turn}", event.output, source, (), facts)


def _text(path: Path) -> str:
    data = files.read(path, OUTPUT_BYTES, follow=True)
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def quoted_alone(text: str, tokens: int, count: TokenCounter) -> str:
    """The null hypothesis: lines quoted in about `tokens` tokens for their words alone, by no engine."""
    lines = lines_of(text)
    notes = quoted(lines)
    return "\n".join(written(lines, notes, *chosen(lines, notes, tokens, Focus(), count)))


def measured(output: Output, count: TokenCounter, *, bare: bool = False) -> EvaluatedSession:
    """One output compressed as a message; `bare` hides the command that wrote it."""
    made = compress_message(output.text, Source() if bare else output.source, count=count)
    after = count(made.text)
    peer = quoted_alone(output.text, after, count) if made.engine and output.facts else made.text
    return EvaluatedSession(
        output, made.cls.value, output.lost(made.text), output.false(made.text),
        count(output.text), after, len(output.lost(peer)),
    )  # fmt: skip


def sums(found: Sequence[EvaluatedSession]) -> dict[str, Any]:
    """The figures of several outputs, and of those above and below LARGE_TOKENS apart."""
    asked = sum(len(one.output.facts) for one in found)
    return {
        "outputs": len(found),
        "facts": asked,
        "kept": asked - sum(len(one.lost) for one in found),
        "kept by quoting": asked - sum(one.peer_lost for one in found),
        "outputs with falsehoods": sum(bool(one.false) for one in found),
        "class right": sum(one.right for one in found),
        "tokens after": sum(one.after for one in found),
        f"share above {LARGE_TOKENS}": _share([one for one in found if one.before > LARGE_TOKENS]),
        f"share below {LARGE_TOKENS}": _share([one for one in found if one.before <= LARGE_TOKENS]),
    }


def _share(found: Sequence[EvaluatedSession]) -> float:
    return round(sum(one.after for one in found) / max(1, sum(one.before for one in found)), 4)
