"""What may answer a question: the passages that full text and vectors find and the request may reach.

A prompt that asks about the past wants more of it than an order to go on.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from operator import attrgetter

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import may_go
from aider_gardener.archive.store.base import VectorHit
from aider_gardener.messages import ContentClass, Entry, Fidelity, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import open_exchange
from aider_gardener.plan.view import members
from aider_gardener.reading.output import without_codes
from aider_gardener.recall.ranking import Passage

TEXT_CANDIDATES, VECTOR_CANDIDATES = 160, 100
"""Passages that full text and vectors offer for ranking."""
UNLISTED_SHARE = 0.8
CONTEXT_CHARS = 400
"""How much of the question that a message answers counts as its context."""
OLDER_WEIGHT = 0.7
"""What a passage of an older session counts beside one of this chat, unasked."""
OLDER_CANDIDATES = 60
Span = tuple[str, int, int]

LEAST_RELEVANCE = 0.2
"""The least relevance, 0 to 1, of the best passage that is recalled unasked."""
ORDINARY_SHARE = 0.1
"""What a prompt that asks for nothing may recall, as a share of what one that asks may."""
SHORT_WORDS = 60
"""A longer prompt brings what it is about along; it asks for the past only when it says so."""
LONG_WORDS = 250
UNSPACED_CHARS = 2.5
"""So many characters of a script without spaces count as a word."""

QUESTION = re.compile(r"[?？؟]|[吗呢嗎](?:[。？]|$)|(?:か|の)[。？]|까[.?？]?$")
PAST = re.compile(
    r"\b(?:again|agreed|already|before|decid(?:e|ed|ing)|earlier|forg[eo]t\w*|mention(?:ed)?|originally|"
    r"previous(?:ly)?|recall|remember|remind|said|say|same|still|told|used to|last time|"
    r"(?:my|our|the) (?:rules?|constraints?|decisions?)|as (?:i|we|you)|like (?:i|we|you)|"
    r"first day|(?:did|had|was|were) (?:i|we|you|it|that|the)|"
    r"vorher|vorhin|nochmal|gesagt|vereinbart|entschieden|erinner\w*|damals|"
    r"d[ée]j[àa]|avant|rappel\w*|d[ée]cid[ée]\w*|"
    r"antes|recuerd\w*|decid[ií]\w*|dij\w+)\b"
    r"|之前|刚才|记得|還記|还记|说过|決め|前に|覚え|さっき|전에|기억",
    re.IGNORECASE,
)
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Request:
    """A question to the archive. `floor` is the first sequence number of this chat that it may reach;
    `standing` is text that stands in the prompt anyway; `threshold` (0 to 1) is the least relevance of the
    best passage. `unasked`: it is the gardener who asks, so only this chat is searched (with `older` those
    sessions of the project too that may come back unasked), what stands is left out, and small talk finds
    nothing.

    `classes` keeps messages of these classes (none: all), `session` those said in one session, `since`
    (seconds since the epoch) those that came at that time or later; at most so many `passages` come (0: as
    many as fit); `reader` is the provider to whom the passages go, which gets nothing that was said to a
    model of this machine ("": they stay with the user). `why`: who asks wants to be told what made each come.
    `order`: the prompt asks for nothing of the past. `files` are the names of those in the chat."""

    query: str
    token_limit: int = 1_000
    full: bool = False
    floor: int = 0
    threshold: float = 0.0
    standing: str = ""
    unasked: bool = False
    older: bool = False
    classes: frozenset[ContentClass] = frozenset()
    session: str = ""
    since: float = 0.0
    passages: int = 0
    why: bool = False
    order: bool = False
    files: frozenset[str] = frozenset()
    reader: str = ""

    def wants(self, entry: Entry) -> bool:
        """Whether somebody or something said it (no note of ours, no notice of the host), and it is of the
        class and time that are asked for."""
        if entry.source.kind in (SourceKind.STUB, SourceKind.NOTICE):
            return False
        if self.reader and not may_go(entry.provider, self.reader):
            return False
        return (not self.classes or entry.cls in self.classes) and entry.created_at >= self.since


def candidates(archive: Archive, chat: Chat, request: Request) -> tuple[list[Passage], float]:
    """What full text and vectors find, without what the host took out and the open question; and how
    similar what was not found is taken to be. What stands in the prompt is among it, to be compared with."""
    store = archive.store
    session = archive.session if request.unasked else request.session or None
    floor = request.floor if request.unasked else None
    near, spans = found_in(archive, request, session, floor)
    # What is not among the nearest is at most as near as the last of them.
    far = UNLISTED_SHARE * min(near.values(), default=0.0)
    own = chat.seq_of
    if request.older and session:
        older_near, older_spans = found_in(archive, request, None, None)
        older_near = {span: value for span, value in older_near.items() if span[0] not in own}
        near, spans = older_near | near, [*spans, *(s for s in older_spans if s[0] not in own)]
    closed = closed_ids(chat, request) - ids_in_prompt(chat, request)
    wanted = [span for span in dict.fromkeys([*spans, *near]) if span[0] not in closed]
    stored = store.get_many(dict.fromkeys(entry_id for entry_id, _, _ in wanted))
    found: list[Passage] = []
    for entry_id, start, end in wanted:
        if entry_id not in stored:
            continue
        seq, text = own.get(entry_id), stored[entry_id].content
        entry = stored[entry_id] if seq is None else chat.entries[seq]
        if not request.wants(entry):
            continue
        if request.unasked and entry.session != session and not archive.past.allows(entry, archive.provider):
            continue
        context = context_of(chat, entry) if entry_id in own else entry.source.detail
        similarity = near.get((entry_id, start, end), far)
        found.append(Passage(entry, start, end, without_codes(text[start:end]), context, similarity))
    return found, far


def closed_ids(chat: Chat, request: Request) -> frozenset[str]:
    """Ids that the request must not find."""
    if request.unasked:
        return excluded(chat)
    return frozenset(chat.entries[seq].id for seq in open_exchange(chat))


def ids_in_prompt(chat: Chat, request: Request) -> frozenset[str]:
    """Ids of what stands whole in the prompt before the open question; nothing when the user asks."""
    if not request.unasked:
        return frozenset()
    now = open_exchange(chat)
    shown = [seq for seq in members([*chat.done, *chat.cur]) if seq not in now and seq not in chat.fidelity]
    return frozenset(chat.entries[seq].id for seq in shown if seq >= request.floor)


def reachable(chat: Chat, request: Request) -> Callable[[int], list[Entry]]:
    """Gives the entries of one turn of the chat itself that the request may find."""
    closed = closed_ids(chat, request)
    entries = list(chat.entries.values())

    def of_turn(turn: int) -> list[Entry]:
        first = bisect_left(entries, turn, key=attrgetter("turn"))
        said = takewhile(lambda entry: entry.turn == turn, islice(entries, first, None))
        return [e for e in said if e.id not in closed and e.seq >= request.floor and request.wants(e)]

    return of_turn


def found_in(
    archive: Archive, request: Request, session: str | None, floor: int | None
) -> tuple[dict[Span, float], list[Span]]:
    """The similarity of the passages nearest in meaning, and the passages that share words; of one
    session from a sequence number on, or of all (when the gardener asks: of all others)."""
    excluded = [archive.session] if request.unasked and session is None else []
    limits = (OLDER_CANDIDATES, OLDER_CANDIDATES) if excluded else (VECTOR_CANDIDATES, TEXT_CANDIDATES)
    nearest = near_in_meaning(
        archive,
        request.query,
        limit=limits[0],
        session=session,
        min_seq=floor,
        exclude_sessions=excluded,
        classes=request.classes or None,
    )
    worded = archive.store.search_text(
        request.query,
        limit=limits[1],
        session=session,
        min_seq=floor,
        exclude_sessions=excluded,
        classes=request.classes or None,
        project=archive.within,
    )
    return (
        {(hit.entry_id, hit.start, hit.end): hit.similarity for hit in nearest},
        [(hit.entry_id, hit.start, hit.end) for hit in worded],
    )


def near_in_meaning(
    archive: Archive,
    question: str,
    *,
    limit: int,
    session: str | None,
    min_seq: int | None,
    exclude_sessions: Collection[str] = (),
    classes: Collection[ContentClass] | None = None,
) -> list[VectorHit]:
    """The passages nearest in meaning, nearest first, their similarity on MiniLM's scale; [] as long as no
    embedder is ready."""
    backlog = archive.backlog
    if backlog is None:
        return []
    vector = backlog.query_vector(question, backlog.question_seconds if backlog.background else None)
    if vector is None:
        return []
    hits = archive.store.search_vectors(
        vector,
        embedder=backlog.embedder_name,
        limit=limit,
        session=session,
        exclude_sessions=exclude_sessions,
        classes=classes,
        min_seq=min_seq,
        project=archive.within,
    )
    return [replace(hit, similarity=backlog.similarity(hit.similarity)) for hit in hits]


def weight(passage: Passage, archive: Archive, request: Request) -> float:
    """What a passage counts beside others of the same relevance."""
    return OLDER_WEIGHT if request.unasked and passage.entry.session != archive.session else 1.0


def context_of(chat: Chat, entry: Entry) -> str:
    """What an entry answers: the command whose output it is, or the prompt before a reply."""
    if entry.source.kind is not SourceKind.REPLY:
        return entry.source.detail
    for seq in range(entry.seq, -1, -1):
        before = chat.entries.get(seq)
        if before is not None and before.source.kind is SourceKind.TYPED:
            return before.content[:CONTEXT_CHARS]
    return ""


def excluded(chat: Chat) -> frozenset[str]:
    """Ids that must not be recalled unasked: what stands in full, the open question, what is gone."""
    shown = {
        seq for seq in members([*chat.done, *chat.cur]) if chat.fidelity.get(seq) in (None, Fidelity.FULL)
    }
    closed = shown | open_exchange(chat)
    gone = {chat.entries[seq].id for seq in chat.gone}
    if gone:  # said again, it may be had
        gone -= {e.id for seq, e in chat.entries.items() if seq not in closed and seq not in chat.gone}
    return frozenset({chat.entries[seq].id for seq in closed} | gone)


def asks(prompt: str) -> bool:
    """Whether the prompt asks for something, or refers to what was said before."""
    length = words_in(prompt)
    if length <= SHORT_WORDS and QUESTION.search(prompt):
        return True
    return length <= LONG_WORDS and PAST.search(prompt) is not None


def words_in(prompt: str) -> float:
    """The length of a prompt in words, in any script."""
    return len(prompt.split()) + len(UNSPACED.findall(prompt)) / UNSPACED_CHARS


def recall_part(prompt: str) -> float:
    """The share of the recall budget that the prompt may use, 0 to 1."""
    return 1.0 if asks(prompt) else ORDINARY_SHARE
