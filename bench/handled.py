"""What each compressor handles of the recorded sessions' histories, and what it saves.

    python -m bench.handled [--json FILE]

Every message of a session as it would stand in the chat is cut into segments, as on the way into the
archive. For each compressor: the share of all tokens that its segments have, and what its form leaves of
them. Besides, for whole histories: what is left when every message stands in its compressed form, and in
its line form.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.compress import Context, compress_message, compress_text, line_form
from aider_gardener.compress.registry import compressor_for
from aider_gardener.messages import Message, TokenCounter
from aider_gardener.replay.session import Session, load_session
from aider_gardener.segment import infer_source, segment
from aider_gardener.tokens import default_counter
from bench.provenance import made_on

SESSIONS = Path(__file__).resolve().parents[1] / "recorded_sessions"
RESULTS = Path(__file__).with_name("results") / "handled.json"
FORMAT = 1
RAN = "I ran this command:\n\n{command}\n\nAnd got this output:\n\n{output}"
WRAPPER = "wrapper"
"""Kind of the segments that are the host's own words around an output."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    count = default_counter()
    folders = sorted(path.parent for path in SESSIONS.glob("*/session.jsonl"))
    value = {
        "format": FORMAT,
        "kind": "handled",
        "provenance": {**made_on(), "tokenizer": "cl100k_base"},
        "sessions": {folder.name: handled(load_session(folder), count) for folder in folders},
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json.name}")
    return 0


def handled(session: Session, count: TokenCounter) -> dict[str, Any]:
    """Tokens by compressor as [before, after], and of whole messages in each form."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    for message in history(session):
        source = infer_source(message.role, message.content)
        parts = segment(message.content, source)
        forms["full"] += count(message.content)
        whole = compress_message(message.content, source, segments=parts, count=count)
        line = line_form(message.content, source, segments=parts, count=count)
        forms["compressed"] += count(whole.text)
        forms["line"] += min(count(line), count(whole.text))
        for part in parts:
            text = message.content[part.start : part.end]
            if part.kind == WRAPPER or not text.strip():
                continue
            name = compressor_for(part.cls, part.kind, text).__module__.split(".")[2]
            context = Context(kind=part.kind, language=part.language, command=source.detail, count=count)
            before[name] += count(text)
            after[name] += count(compress_text(text, part.cls, context).text)
    return {
        "compressors": {name: [before[name], after[name]] for name in sorted(before)},
        "forms": dict(forms),
    }


def history(session: Session) -> Iterator[Message]:
    """What a session puts into the chat, in order: typed text, replies, outputs in the host's wrapper."""
    for event in session.events:
        if event.kind == "command":
            yield Message("user", RAN.format(command=event.command, output=event.output))
        elif event.kind in ("user", "warning", "error") and not event.text.startswith("/"):
            yield Message("user", event.text)
        elif event.kind == "reply":
            yield Message("assistant", event.text)


def totals(sessions: Mapping[str, Mapping[str, Any]]) -> dict[str, list[int]]:
    """Tokens before and after by compressor over all sessions, the largest first."""
    found: dict[str, list[int]] = {}
    for session in sessions.values():
        for name, (before, after) in session["compressors"].items():
            held = found.setdefault(name, [0, 0])
            held[0], held[1] = held[0] + before, held[1] + after
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


if __name__ == "__main__":
    sys.exit(main())
