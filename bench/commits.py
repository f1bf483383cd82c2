"""What commit messages cost: tokens of the messages that aider's weak model is given, whole and short.

    python -m bench.commits [SESSION ...] [--json FILE]

At each commit of a recorded session aider gives its weak model the diff and all messages since the last
edit: prompts, replies, outputs of commands. `commit_context=short` gives the compressed form of all but what
was typed. Counted is what is given beside the diff, in tokens of o200k_base.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.compress.message import compress_message
from aider_gardener.messages import Message, SourceKind
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE, infer_source
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results" / "commits.json"


@dataclass(frozen=True)
class Row:
    """One session: its commits, and the tokens given for all of them."""

    session: str
    commits: int
    full: int
    short: int


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sessions", nargs="*", type=Path, help="folders; by default all recorded sessions")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    options = parser.parse_args(argv)
    folders = options.sessions or sorted(p.parent for p in ROOT.glob("recorded_sessions/*/session.jsonl"))
    rows = [measured(load_session(folder)) for folder in folders]
    print(table(rows))
    value = {"kind": "commits", "provenance": made_on(), "rows": [asdict(row) for row in rows]}
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


def measured(session: Session) -> Row:
    """The figures of one session."""
    count = default_counter()
    commits = full = short = whole_now = short_now = 0
    for event in session.events:
        message = message_of(event.kind, event.text, event.command, event.output)
        if message is not None:
            whole_now += count(message.content)
            short_now += count(shortened(message))
        elif event.kind == "commit":
            commits, full, short = commits + 1, full + whole_now, short + short_now
            whole_now = short_now = 0
    return Row(session.name, commits, full, short)


def message_of(kind: str, text: str, command: str, output: str) -> Message | None:
    """The message that an event leaves among the current ones."""
    if kind == "command":
        return Message("user", f"{RUN_HEAD}{command}{RUN_MIDDLE}{output}")
    if kind == "user" and not text.startswith("/"):
        return Message("user", text)
    return Message("assistant", text) if kind == "reply" else None


def shortened(message: Message) -> str:
    """What `adapters.aider.commits` gives of a message."""
    source = infer_source(message.role, message.content)
    if source.kind is SourceKind.TYPED:
        return message.content
    return compress_message(message.content, source).text


def table(rows: Sequence[Row]) -> str:
    lines = ["| session | commits | tokens, full | tokens, short |", "|---|---:|---:|---:|"]
    lines += [f"| {row.session} | {row.commits} | {row.full:,} | {row.short:,} |" for row in rows]
    full, short = sum(row.full for row in rows), sum(row.short for row in rows)
    commits = sum(row.commits for row in rows)
    return "\n".join([*lines, f"| all | {commits} | {full:,} | {short:,} |"])


if __name__ == "__main__":
    raise SystemExit(main())
