"""What recall finds of the evidence that a benchmark names for each of its questions. No model is asked.

Each conversation is put into an archive in memory as the gardener takes in a chat: an exchange at a time,
each message with the day that the data set gives it. Its passages are embedded. Then nothing of it stands in
a prompt, and each question is asked as it is written.

- A piece of evidence is one message that the data set names. It is *reached* at k if it is among the first
  k different messages of what is recalled, whatever part of it: so published figures count. Sessions are
  counted in the same way. Recall offers fewer than k where the rest fits much worse than the best.
- It is *found* if the passages recalled of it hold at least half of its different content words (those that
  are no stop words; a short message without any is found when it is reached). Within a token budget only
  what is found counts.
- A question counts as reached or found if all of its pieces are. Those without evidence that could be
  recalled (abstention, adversarial, not marked, ids that point at nothing or at several messages) are left
  out, and counted by reason.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.words import index_words
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Entry
from aider_gardener.reading.sentences import STOPWORDS
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import Load
from aider_gardener.recall.recall import Recalled
from aider_gardener.recall.request import Request
from aider_gardener.settings import Settings
from aider_gardener.tokens import default_counter
from bench.public.conversation import Conversation, Question, Said
from bench.retrieval import NEVER_SWAPPED, WAYS, Way
from bench.vectors import keeping

KS = (5, 10, 20)
"""So many different messages, or sessions, count as recalled."""
BUDGETS = (300, 1_000, 2_000, 4_000)
"""Tokens that may be recalled for a question."""
UNLIMITED = 10_000_000
"""A budget that no list of passages fills."""
LEAST_SHARE = 0.5
NAMES = tuple(WAYS)
EVERY, SINGLE, SEVERAL = "all questions", "one piece of evidence", "several pieces"


@dataclass
class Share:
    """Of so many questions how many have all of their pieces, how many any; of so many pieces, `parts`."""

    questions: int = 0
    pieces: int = 0
    all: int = 0
    any: int = 0
    parts: int = 0

    def add(self, wanted: Collection[str], had: Collection[str]) -> None:
        """Count one question: the pieces that it needs, and what there is."""
        there = len(set(wanted) & set(had))
        self.questions += 1
        self.pieces += len(wanted)
        self.all += there == len(wanted)
        self.any += there > 0
        self.parts += there


@dataclass
class Tally:
    """The shares of one group of questions under one way: reached at each k, found at each k and budget."""

    reached: dict[int, Share] = field(default_factory=lambda: {k: Share() for k in KS})
    sessions: dict[int, Share] = field(default_factory=lambda: {k: Share() for k in KS})
    found_at: dict[int, Share] = field(default_factory=lambda: {k: Share() for k in KS})
    found: dict[int, Share] = field(default_factory=lambda: {tokens: Share() for tokens in BUDGETS})

    @property
    def questions(self) -> int:
        return self.reached[KS[0]].questions


@dataclass
class Measured:
    """All that a run counts. `tallies` are by group (see `groups`) and way; `left_out` is by reason."""

    conversations: int = 0
    messages: int = 0
    questions: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    tallies: dict[str, dict[str, Tally]] = field(default_factory=dict)
    ingest_seconds: float = 0.0
    question_seconds: float = 0.0

    def tally(self, group: str, way: str) -> Tally:
        return self.tallies.setdefault(group, {name: Tally() for name in NAMES})[way]

    @property
    def judged(self) -> int:
        return self.questions - sum(self.left_out.values())


@dataclass(frozen=True)
class Archived:
    """A conversation in an archive. `ids` are those of the entries by message, of which some may be said
    in the same words; `said` are the messages by the id of their entry."""

    gardener: Gardener
    ids: Mapping[str, str]
    said: Mapping[str, Said]
    ways: Mapping[str, Way]


def measured(given: Iterable[Conversation], vectors: Path, embedder: str = "use") -> Measured:
    """Every conversation taken in, and each of its questions asked in every way. `vectors` is a file that
    keeps the passages' vectors for the next run."""
    counted = Measured()
    load = keeping(vectors, embedder)
    load = load and cache(load)  # one model for all conversations
    for conversation in given:
        begun = time.monotonic()
        with archived(conversation, load) as held:
            counted.conversations += 1
            counted.messages += len(conversation.said)
            counted.ingest_seconds += time.monotonic() - begun
            for question in conversation.questions:
                counted.questions += 1
                if question.left_out:
                    counted.left_out[question.left_out] += 1
                    continue
                begun = time.monotonic()
                ask(question, held, counted)
                counted.question_seconds += time.monotonic() - begun
    return counted


@contextmanager
def archived(conversation: Conversation, load: Load | None) -> Iterator[Archived]:
    """The conversation in an archive of its own, embedded, with nothing of it standing."""
    store = open_store(None)
    try:
        backlog = Backlog(store, load=load, background=False)
        count = default_counter()
        archive = Archive(
            store, session="public", project="public", count=count, clock=time.time, backlog=backlog
        )
        gardener = Gardener(Settings(history_tokens=NEVER_SWAPPED), archive)
        taken = take_in(conversation.said, gardener)
        gardener.idle()
        gardener.state.chat = replace(gardener.state.chat, cur=())
        said = {entry.id: one for entry, one in zip(taken, conversation.said, strict=True)}
        ids = {one.id: entry.id for entry, one in zip(taken, conversation.said, strict=True)}
        yield Archived(gardener, ids, said, WAYS)
    finally:
        store.close()


def take_in(said: Sequence[Said], gardener: Gardener) -> list[Entry]:
    """The entries of these messages, taken in an exchange at a time: what a user says begins one."""
    messages: list[dict[str, Any]] = []
    for at, one in enumerate(said):
        if one.role == "user":
            gardener.enter_turn()
            gardener.leave_turn()
        messages.append({"role": one.role, "content": one.message})
        if at + 1 == len(said) or said[at + 1].role == "user":
            gardener.sync([], messages)
    chat = gardener.state.chat
    return [chat.entries[seq] for seq in sorted(chat.entries)]


def ask(question: Question, held: Archived, counted: Measured) -> None:
    """Ask one question in every way, and count what is recalled in every group that it belongs to."""
    state = held.gardener.state
    wanted = {held.ids[name] for name in question.messages}
    for name, way in held.ways.items():
        every = way(state.archive, state.chat, Request(question.text, token_limit=UNLIMITED))
        order = list(dict.fromkeys(item.entry_id for item in every))
        sessions = list(dict.fromkeys(held.said[entry_id].session for entry_id in order))
        tallies = [counted.tally(group, name) for group in groups(question)]
        for k in KS:
            there = order[:k]
            found = covered(wanted & set(there), until(every, there), held.said)
            for tally in tallies:
                tally.reached[k].add(wanted, there)
                tally.sessions[k].add(question.sessions, sessions[:k])
                tally.found_at[k].add(wanted, found)
        for tokens in BUDGETS:
            recalled = way(state.archive, state.chat, Request(question.text, token_limit=tokens))
            found = covered(wanted, recalled, held.said)
            for tally in tallies:
                tally.found[tokens].add(wanted, found)


def groups(question: Question) -> tuple[str, str, str]:
    """All questions, those with as many pieces of evidence, and those of the same kind."""
    return EVERY, SINGLE if len(question.messages) == 1 else SEVERAL, question.kind


def until(recalled: Sequence[Recalled], there: Collection[str]) -> list[Recalled]:
    """What was recalled before the first passage of any other message."""
    names = set(there)
    at = next((at for at, item in enumerate(recalled) if item.entry_id not in names), len(recalled))
    return list(recalled[:at])


def covered(wanted: Collection[str], recalled: Sequence[Recalled], said: Mapping[str, Said]) -> set[str]:
    """Those wanted of whose content words at least half stand in the passages recalled of them."""
    texts: dict[str, list[str]] = {}
    for item in recalled:
        if item.entry_id in wanted:
            texts.setdefault(item.entry_id, []).append(item.text)
    return {name for name, parts in texts.items() if holds(said[name].text, "\n".join(parts))}


def holds(whole: str, part: str) -> bool:
    words = content_words(whole)
    return len(words & content_words(part)) >= LEAST_SHARE * len(words)


def content_words(text: str) -> set[str]:
    return set(index_words(text)) - STOPWORDS


def record(counted: Measured) -> dict[str, Any]:
    """What was counted, for a file of results: by group, way, kind of figure and limit."""
    return {
        "conversations": counted.conversations,
        "messages": counted.messages,
        "questions": counted.questions,
        "judged": counted.judged,
        "left_out": dict(counted.left_out),
        "ingest_seconds": round(counted.ingest_seconds, 2),
        "question_seconds": round(counted.question_seconds, 2),
        "groups": {
            group: {
                way: {
                    kind: {str(limit): vars(share) for limit, share in shares.items()}
                    for kind, shares in vars(tally).items()
                }
                for way, tally in ways.items()
            }
            for group, ways in counted.tallies.items()
        },
    }
