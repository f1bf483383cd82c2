"""How prompts grow over a very long chat: tokens of the past per request, turn by turn, and their slope.

    python bench/incremental.py [--turns N] [--json FILE]

The recorded sessions are chained, again and again, into one chat of N turns that is fed to the core without
a host: what is counted is everything of the past in a request (view, note before it, recall), not system
prompt, map and files. The modes are the default, `incremental`, and none: nothing is ever compacted.
Probes are asked in the first round through the sessions, at their own turns; a later round says the same
things again. The slope is that of the least-squares line over all turns after the first round.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aider_gardener import __version__
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Message
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE
from aider_gardener.replay.measure.probes import score, texts_of_turn
from aider_gardener.replay.play.provenance import source_commit
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from aider_gardener.settings import Settings
from aider_gardener.tokens import default_counter
from bench.chain import chained

ROOT = Path(__file__).resolve().parent.parent
SESSIONS = ("checkout-ts", "ledger-api", "queue-incident")
MODES: dict[str, dict[str, object]] = {
    "default": {},
    "incremental": {"incremental": True},
}
SECONDS_PER_TURN = 60.0


def messages_of(session: Session, turn: int) -> list[Message]:
    """What a turn leaves in the host's history, in order, user and assistant taking turns."""
    found: list[Message] = []
    for event in session.turn(turn):
        if event.kind == "user" and not event.text.startswith(("/run", "/test", "/undo", "/add", "/drop")):
            put(found, Message("user", event.text.removeprefix("/ask ")))
        elif event.kind == "command":
            put(found, Message("user", f"{RUN_HEAD}{event.command}{RUN_MIDDLE}{event.output}"))
            found.append(Message("assistant", "Ok."))
        elif event.kind == "reply":
            put(found, Message("assistant", event.text or "Ok."))
    if found and found[-1].role == "user":
        found.append(Message("assistant", "Ok."))
    return found


def put(found: list[Message], message: Message) -> None:
    """Append a message; between two of one role stands a short one of the other."""
    if found and found[-1].role == message.role:
        other = "assistant" if message.role == "user" else "user"
        found.append(Message(other, "Ok." if other == "assistant" else "go on"))
    if not found and message.role == "assistant":
        found.append(Message("user", "go on"))
    found.append(message)


class Chain:
    """One chat of many turns under one mode."""

    def __init__(self, session: Session, options: dict[str, object]) -> None:
        self.session = session
        self.now = 0.0
        archive = Archive(
            open_store(None),
            session="bench",
            project="bench",
            count=default_counter(),
            clock=lambda: self.now,
        )
        settings = Settings(embedder="none", **options)  # type: ignore[arg-type]  # reason: from a table
        self.gardener = Gardener(settings, archive)
        self.gardener.state.host_limit = 5_000
        self.history: list[dict[str, Any]] = []
        self.asked: list[tuple[bool, bool]] = []

    def run(self, turns: int) -> Iterator[int]:
        """Feed the turns; gives the tokens of the past in each request that a model would get."""
        length = self.session.turn_count
        for number in range(turns):
            turn = number % length + 1
            self.now += SECONDS_PER_TURN
            if number < length:
                self.ask_probes(turn)
            messages = messages_of(self.session, turn)
            if not messages:
                continue
            self.gardener.enter_turn()
            question, rest = messages[0], messages[1:]
            sent = self.request(question.content)
            self.history = [*self.gardener.state.chat.pieces, *map(asdict, rest)]
            self.gardener.sync(self.history, [])
            self.gardener.leave_turn()
            yield sum(self.gardener.state.count(text) for text in sent)

    def request(self, question: str) -> list[str]:
        """The texts of everything of the past in the prompt that asks the question."""
        gardener = self.gardener
        gardener.sync(self.history, [{"role": "user", "content": question}])
        gardener.compact_if_due()
        note = gardener.map_note(lambda: "")
        recalled = gardener.recall_note(question, note)
        view = [piece.content for piece in gardener.state.chat.done]
        assert sum(gardener.state.count(text) for text in view) <= gardener.state.history_used
        return [*view, note, recalled]

    def ask_probes(self, turn: int) -> None:
        for probe in self.session.probes:
            if probe.ask_at_turn == turn:
                history = list(self.history)
                with self.gardener.preview():
                    sent = self.request(probe.question)
                self.history = history
                found = score(probe, texts_of_turn(self.session, probe.about_turn), sent)
                self.asked.append((found.present, found.supported))


def uncompacted(session: Session, turns: int) -> Iterator[int]:
    """The tokens of the past in each request if all of it is sent."""
    count, past = default_counter(), 0
    for number in range(turns):
        messages = messages_of(session, number % session.turn_count + 1)
        if messages:
            yield past
            past += sum(count(message.content) for message in messages)


def slope(values: Sequence[int]) -> float:
    """Tokens per turn of the least-squares line; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    return statistics.linear_regression(range(len(values)), values).slope


def growth(tokens: Sequence[int], first_round: int) -> dict[str, object]:
    """Mean, most and slope of the requests after the first round."""
    later = tokens[first_round:] or tokens
    return {
        "requests": len(tokens),
        "slope_tokens_per_turn": round(slope(later), 4),
        "tokens_mean": round(statistics.fmean(later), 1),
        "tokens_max": max(later),
        "every_50th_request": list(tokens[::50]),
    }


def measure(session: Session, mode: str, turns: int) -> dict[str, object]:
    """The figures of one mode of the gardener."""
    chain = Chain(session, MODES[mode])
    row = growth(list(chain.run(turns)), session.turn_count)
    return {
        **row,
        "compactions": len(chain.gardener.state.plans),
        "probes": len(chain.asked),
        "probes_present": sum(present for present, _ in chain.asked),
        "probes_supported": sum(supported for _, supported in chain.asked),
    }


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    session = chained([load_session(ROOT / "recorded_sessions" / name) for name in SESSIONS])
    modes = {"none": growth(list(uncompacted(session, options.turns)), session.turn_count)}
    modes |= {mode: measure(session, mode, options.turns) for mode in MODES}
    print("mode         slope (tokens/turn)  mean tokens  most  probes present / supported")
    for mode, row in modes.items():
        probes = [row.get(f"probes{kind}", "–") for kind in ("_present", "_supported", "")]
        print(
            f"{mode:12} {row['slope_tokens_per_turn']:>19} {row['tokens_mean']:>12} {row['tokens_max']:>7}"
            "  {} / {} of {}".format(*probes)
        )
    if options.json:
        value = {
            "command": f"python bench/incremental.py --turns {options.turns} --json {options.json.name}",
            "gardener": __version__,
            "commit": source_commit(),
            "tokenizer": "cl100k_base",
            "history_tokens": 5_000,
            "sessions": {"names": SESSIONS, "sha256": session.sha256},
            "turns": options.turns,
            "modes": modes,
        }
        options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
