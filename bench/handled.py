"""What each compressor handles of the recorded sessions' histories, and what it saves.

    python -m bench.handled [--json FILE]
    python -m bench.handled DIR

The first writes the figures session by session, the second prints those of the sessions in a folder together.
Every event of a session is taken as the message that the chat holds; its parts are compressed one by one, so
that each token is counted with the compressor that it went to.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener.compress import Context, compress_message, line_form
from aider_gardener.compress.message import edits_together, shown_parts
from aider_gardener.messages import Compressed, Segment, Source, SourceKind, TokenCounter
from aider_gardener.reading.classify import dominant_class
from aider_gardener.reading.segments import segment
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE, infer_source
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session, SessionEvent
from aider_gardener.tokens import default_counter
from bench.provenance import made_on

SESSIONS = Path(__file__).resolve().parents[1] / "recorded_sessions"
RESULTS = Path(__file__).with_name("results") / "handled.json"
FORMAT = 1


@dataclass
class Row:
    """What went to one compressor: parts, tokens, and tokens of their compressed form."""

    parts: int = 0
    tokens: int = 0
    compressed: int = 0

    def add(self, tokens: int, compressed: int) -> None:
        self.parts, self.tokens, self.compressed = (
            self.parts + 1,
            self.tokens + tokens,
            self.compressed + compressed,
        )


@dataclass
class Ablation:
    """The figures of some sessions, in tokens: by compressor, and of the whole in its three forms."""

    sessions: list[str] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    messages: int = 0
    tokens: int = 0
    compressed: int = 0
    line: int = 0

    def record(self) -> dict[str, Any]:
        """The report as one JSON value; `saves` is a share of all tokens."""
        total = max(1, self.tokens)
        return {
            "sessions": self.sessions, "messages": self.messages, "tokens": self.tokens,
            "compressed_tokens": self.compressed, "compressed_ratio": round(self.compressed / total, 4),
            "line_tokens": self.line, "line_ratio": round(self.line / total, 4),
            "compressors": {
                name: {
                    "parts": row.parts, "tokens": row.tokens, "share": round(row.tokens / total, 4),
                    "compressed_tokens": row.compressed,
                    "ratio": round(row.compressed / max(1, row.tokens), 4),
                    "saves": round((row.tokens - row.compressed) / total, 4),
                }
                for name, row in sorted(self.rows.items(), key=lambda pair: -pair[1].tokens)
            },
        }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="DIR", help="a recorded session, or a folder of them"
    )
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    count = default_counter()
    if options.folder:
        folders = sessions_in(options.folder)
        if not folders:
            parser.error(f"{options.folder} holds no recorded session (a folder with a session.jsonl)")
        print(render(ablate([load_session(folder) for folder in folders], count)))
        return 0
    value = {
        "format": FORMAT,
        "kind": "handled",
        "provenance": {**made_on(), "tokenizer": "cl100k_base"},
        "sessions": {
            folder.name: ablate([load_session(folder)], count).record() for folder in sessions_in(SESSIONS)
        },
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json.name}")
    return 0


def sessions_in(folder: Path) -> list[Path]:
    """The folder itself when it is a recorded session, else the recorded sessions in it."""
    if (folder / "session.jsonl").is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/session.jsonl"))


def messages_of(session: Session) -> Iterator[tuple[str, Source]]:
    """The messages that a session's events leave in the chat, with where they come from."""
    for event in session.events:
        if event.kind == "user":
            yield event.text, Source(SourceKind.TYPED)
        elif event.kind == "reply":
            yield event.text, infer_source("assistant", event.text)
        elif event.kind == "command":
            text = wrapped(event)
            yield text, infer_source("user", text)


def wrapped(event: SessionEvent) -> str:
    """A command's output as the host puts it into the chat."""
    return f"{RUN_HEAD}{event.command}{RUN_MIDDLE}{event.output}\n"


def ablate(sessions: Sequence[Session], count: TokenCounter) -> Ablation:
    """Compress every message of the sessions and count by compressor."""
    report = Ablation()
    for session in sessions:
        report.sessions.append(session.name)
        for text, source in messages_of(session):
            if text.strip():
                _add(report, text, source, count)
    return report


def _add(report: Ablation, text: str, source: Source, count: TokenCounter) -> None:
    parts = segment(text, source)
    result = compress_message(text, source, segments=parts, entry_id="g000000000", count=count)
    report.messages += 1
    report.tokens += count(text)
    report.compressed += count(result.text)
    line = line_form(text, source, segments=parts, entry_id="g000000000", count=count)
    report.line += count(line)
    if result.text == text:
        name = str(dominant_class(text, source, parts).value)
        report.rows.setdefault(name, Row()).add(count(text), count(text))
        return
    ctx = Context(entry_id="g000000000", count=count)
    for part, made in shown_parts(text, edits_together(text, parts), source, ctx):
        whole = text[part.start : part.end]
        report.rows.setdefault(_name(part, made), Row()).add(count(whole), count(made.text))


def _name(part: Segment, made: Compressed) -> str:
    if part.kind == "wrapper":
        return "wrapper of a command or page"
    cls = str(part.cls.value)
    return f"{cls}: {made.engine}" if made.engine not in ("", "code", "prose", "edits") else cls


def render(report: Ablation) -> str:
    """The report as a table for people."""
    record = report.record()
    lines = [
        f"{len(report.sessions)} sessions, {report.messages:,} messages, {report.tokens:,} tokens: "
        f"{record['compressed_ratio']:.3f} compressed, {record['line_ratio']:.3f} in line form",
        "",
        f"{'compressor':30}{'parts':>7}{'tokens':>10}{'share':>8}{'after':>10}{'ratio':>8}{'saves':>8}",
    ]
    for name, row in record["compressors"].items():
        lines.append(
            f"{name:30}{row['parts']:>7,}{row['tokens']:>10,}{row['share']:>8.1%}"
            f"{row['compressed_tokens']:>10,}{row['ratio']:>8.3f}{row['saves']:>8.1%}"
        )
    return "\n".join([*lines, "", "Without a compressor the whole would be longer by what it saves."])


def totals(sessions: Mapping[str, Mapping[str, Any]]) -> dict[str, list[int]]:
    """Tokens before and after by compressor over all sessions, the largest first."""
    found: dict[str, list[int]] = {}
    for session in sessions.values():
        for name, row in session["compressors"].items():
            held = found.setdefault(name, [0, 0])
            held[0], held[1] = held[0] + row["tokens"], held[1] + row["compressed_tokens"]
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


if __name__ == "__main__":
    sys.exit(main())
