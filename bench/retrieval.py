"""What recall alone finds of the probes' answers, by the tokens that it may spend.

    python -m bench.retrieval [--embedder NAME] [--json FILE]

Each recorded session is put into an archive, message by message. When a probe is due, nothing of the chat
stands in the prompt: what is recalled for the question is all there is, and it is scored as in a replay.
The gardener's recall is set beside itself without an embedder, beside its null hypothesis (bench.windows),
and beside the newest passages, which know nothing of the question.

The questions to each session in `bench/questions` need two to four pieces that were said at different turns:
each piece counts as a probe does, a question only when all its pieces are supported.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.passages import chunk
from aider_gardener.archive.store import open_store
from aider_gardener.errors import GardenerError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Message
from aider_gardener.plan.chat import Chat
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.finding import Passage
from aider_gardener.recall.recall import Recalled, pack, recall, recall_note
from aider_gardener.recall.request import Request
from aider_gardener.replay.measure.probes import score, texts_of_turn
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session, SessionEvent, json_list
from aider_gardener.settings import Settings
from aider_gardener.tokens import default_counter
from bench import windows
from bench.provenance import made_on
from bench.vectors import keeping

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("results") / "retrieval.json"
QUESTIONS = Path(__file__).with_name("questions")
VECTORS = ROOT / "build" / "bench" / "vectors.sqlite"
FORMAT = 1
LIMITS = (300, 1_000, 2_000, 3_000)
"""Tokens that may be recalled for a question."""
SEVERAL_LIMITS = (300, 1_000, 2_000, 4_000)
"""The same for an answer of several pieces."""
NEVER_SWAPPED = 10_000_000
"""A history budget that no session reaches: the archive is all that is of interest here."""
ASKING = ("/ask ", "/code ", "/architect ")

Pieces = tuple[Probe, ...]
"""A question whose answer stands at several turns: the same question about each of them."""
Way = Callable[[Archive, Chat, Request], list[Recalled]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", help="as the setting embedder")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    folders = sorted(path.parent for path in (ROOT / "recorded_sessions").glob("*/session.jsonl"))
    VECTORS.parent.mkdir(parents=True, exist_ok=True)
    try:
        refuse_without(options.embedder)
        sessions, several = {}, {}
        for folder in folders:
            session = load_session(folder)
            sessions[folder.name] = measured(session, VECTORS, options.embedder)
            questions = load_several(QUESTIONS / f"{folder.name}.json")
            several[folder.name] = measured_several(session, questions, VECTORS, options.embedder)
    except GardenerError as problem:
        print(f"bench.retrieval: {problem}", file=sys.stderr)
        return 1
    value = {
        "format": FORMAT,
        "kind": "retrieval",
        "provenance": {**made_on(), "tokenizer": "cl100k_base", "embedder": options.embedder},
        "limits": list(LIMITS),
        "sessions": sessions,
        "several": {"provenance": made_on(), "limits": list(SEVERAL_LIMITS), "sessions": several},
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json.name}")
    return 0


def refuse_without(embedder: str) -> None:
    """Raise EmbedderError where the embedder cannot be had: words alone would pass for it."""
    if load := keeping(VECTORS, embedder):
        load()


def measured(session: Session, vectors: Path, embedder: str = "use") -> dict[str, Any]:
    """The session's probes, and by way how many were present and supported within each limit."""
    found: dict[str, list[list[int]]] = {way: [[0, 0] for _ in LIMITS] for way in WAYS}
    for probe, gardener in asked(session, vectors, embedder):
        said = texts_of_turn(session, probe.about_turn)
        for (name, way), (at, tokens) in ((w, t) for w in WAYS.items() for t in enumerate(LIMITS)):
            passages = way(
                gardener.state.archive, gardener.state.chat, Request(probe.question, token_limit=tokens)
            )
            scored = score(probe, said, [recall_note(passages)])
            found[name][at][0] += scored.present
            found[name][at][1] += scored.supported
    return {"probes": len(session.probes), "ways": found}


def load_several(path: Path) -> list[Pieces]:
    """The questions of a file. Raises SessionError, or KeyError for what is none."""
    return [
        tuple(
            Probe(
                one["about_turn"], row["ask_at_turn"], row["kind"], row["question"], tuple(one["answer_keys"])
            )
            for one in row["pieces"]
        )
        for row in json_list(path)
    ]


def measured_several(
    session: Session, questions: Sequence[Pieces], vectors: Path, embedder: str = "use"
) -> dict[str, Any]:
    """The questions and their pieces, and by way how many pieces and questions were supported within each
    limit."""
    found: dict[str, list[list[int]]] = {way: [[0, 0] for _ in SEVERAL_LIMITS] for way in WAYS}
    for turn, gardener in listening(session, {one[0].ask_at_turn for one in questions}, vectors, embedder):
        due = [pieces for pieces in questions if pieces[0].ask_at_turn == turn]
        for pieces, (name, way), (at, tokens) in product(due, WAYS.items(), enumerate(SEVERAL_LIMITS)):
            request = Request(pieces[0].question, token_limit=tokens)
            sent = recall_note(way(gardener.state.archive, gardener.state.chat, request))
            supported = [
                score(piece, texts_of_turn(session, piece.about_turn), [sent]).supported for piece in pieces
            ]
            found[name][at][0] += sum(supported)
            found[name][at][1] += all(supported)
    return {"questions": len(questions), "pieces": sum(map(len, questions)), "ways": found}


def asked(session: Session, vectors: Path, embedder: str) -> Iterator[tuple[Probe, Gardener]]:
    """Each probe with a gardener of the turn at which it is asked (see `listening`)."""
    turns = {probe.ask_at_turn for probe in session.probes}
    for turn, gardener in listening(session, turns, vectors, embedder):
        yield from ((probe, gardener) for probe in session.probes if probe.ask_at_turn == turn)


def listening(
    session: Session, turns: Collection[int], vectors: Path, embedder: str
) -> Iterator[tuple[int, Gardener]]:
    """Each of the turns, in order, with a gardener whose archive holds what was said before it and whose
    view is empty. `vectors` is a file that keeps the vectors of passages."""
    store = open_store(None)
    backlog = Backlog(store, load=keeping(vectors, embedder), background=False)
    archive = Archive(
        store, session="bench", project="bench", count=default_counter(), clock=time.time, backlog=backlog
    )
    gardener = Gardener(Settings(history_tokens=NEVER_SWAPPED), archive)
    said: list[dict[str, Any]] = []
    for turn in range(1, max(turns, default=0) + 1):
        if turn in turns:
            gardener.idle()
            chat = gardener.state.chat
            gardener.state.chat = replace(chat, cur=())
            yield turn, gardener
            gardener.state.chat = chat
        gardener.enter_turn()
        gardener.leave_turn()
        said += [message._asdict() for event in session.turn(turn) for message in messages_of(event)]
        gardener.sync([], said)
    store.close()


def messages_of(event: SessionEvent) -> Iterator[Message]:
    """What an event leaves in the chat."""
    text = event.text
    for command in ASKING:
        text = text.removeprefix(command)
    if event.kind == "command":
        yield Message("user", f"{RUN_HEAD}{event.command}{RUN_MIDDLE}{event.output}\n")
    elif event.kind == "user" and text and not text.startswith("/"):
        yield Message("user", text)
    elif event.kind == "reply":
        yield Message("assistant", text)


def by_both(archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
    """The gardener's recall."""
    return recall(archive, chat, request)


def by_words(archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
    """The gardener's recall where there is no embedder."""
    held, archive.backlog = archive.backlog, None
    try:
        return recall(archive, chat, request)
    finally:
        archive.backlog = held


def newest(archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
    """The last passages, whatever was asked."""
    last_first = [
        Passage(entry, start, end, entry.content[start:end])
        for entry in sorted(chat.entries.values(), key=lambda entry: -entry.seq)
        for start, end in reversed(chunk(entry.content, entry.segments))
    ]
    return pack(archive, chat, request, [], last_first)


WAYS: Mapping[str, Way] = {
    "words and meaning": by_both,
    "words alone": by_words,
    windows.NAME: windows.Windows(),
    "newest": newest,
}


def sums(sessions: Mapping[str, Mapping[str, Any]]) -> dict[str, list[list[int]]]:
    """The pair of counts by way and limit, over all sessions."""
    add = partial(map, lambda one, other: [one[0] + other[0], one[1] + other[1]])
    found: dict[str, list[list[int]]] = {}
    for session in sessions.values():
        for way, counts in session["ways"].items():
            found[way] = list(add(found[way], counts)) if way in found else counts
    return found


if __name__ == "__main__":
    sys.exit(main())
