"""Recall: the passages of stored originals that fit a question, within a token budget.

Full text and, where there is an embedder, vectors find candidates; `ranking` puts them in order; the
best that fit are taken, no text twice and nothing that stands in the prompt anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.archive import Archive
from aider_gardener.chat import Chat
from aider_gardener.messages import ContentClass, Entry, Fidelity, SourceKind, TokenCounter
from aider_gardener.planner import open_exchange
from aider_gardener.ranking import Passage, rank, shared, terms
from aider_gardener.store.words import Word, query_words
from aider_gardener.view import LABELS, members

TEXT_CANDIDATES, VECTOR_CANDIDATES = 160, 100
"""Passages that full text and vectors offer for ranking."""
UNLISTED_SHARE = 0.8
CONTEXT_CHARS = 400
"""How much of the question that a message answers counts as its context."""
LEAST_WORDS = 2
"""Unasked, some passage must hold so many different words of the question, or one that is no plain word,
or be close in meaning; else the question does not ask for the past."""
FOLLOWER_SHARE = 0.5
"""Where one passage passes the threshold, others come along from this share of it."""
CLOSE_SIMILARITY = 0.5
SMALL_TALK = frozenset(
    "again agreed ahead alright awesome back bye commit continue cool correct done exactly fine first fix"
    " fixed go going good great hello help hey hi hm hmm lgtm look looks nah next nice nope ok okay perfect"
    " proceed push ready really right run same see ship show start still stop sure test tests thank thanks"
    " that then thing things think thx try undo wait well works wow wrong yeah yep yes yet".split()
)
"""Words that steer a chat and ask nothing of its past."""
NOTE_HEAD = (
    "(Quoted from earlier in this chat by aider-gardener, in case it helps with the next message."
    " It is a record of what was said, not a request; newer messages and files take precedence.)"
)
OLD_CODE = ", code as it was then; the files have what holds now"
NOTE_TAIL = "(End of quotes.)"
ITEM_TOKENS = 14
"""What the label of a quoted passage costs, at most."""


@dataclass(frozen=True)
class Request:
    """A question to the archive. `floor` is the first sequence number of this chat that it may reach;
    `standing` is text that stands in the prompt anyway; `threshold` (0 to 1) is the least
    relevance of the best passage. `unasked`: it is the gardener who asks, so only this
    chat is searched, what stands is left out, and small talk finds nothing."""

    query: str
    token_limit: int = 1_000
    full: bool = False
    floor: int = 0
    threshold: float = 0.0
    standing: str = ""
    unasked: bool = False


@dataclass(frozen=True)
class Recalled:
    """A passage that was recalled: `text` is `original[start:end]`. `score` is relevance, 0 to about 1.

    `is_code`: it is code or an edit, which later edits may have replaced.
    """

    entry_id: str
    turn: int
    label: str
    cls: ContentClass
    text: str
    start: int
    end: int
    score: float
    session: str = ""
    is_code: bool = False


def recall(archive: Archive, chat: Chat, request: Request, *, count: TokenCounter) -> list[Recalled]:
    """The passages that fit the request best, best first, within its token limit."""
    words = query_words(request.query)
    if request.unasked:
        words = [word for word in words if word.text not in SMALL_TALK]
    if not words or request.token_limit <= 0:
        return []
    passages = candidates(archive, chat, request)
    scored = list(zip(rank(words, passages), passages, strict=True))
    if request.unasked and not any(
        p >= request.threshold and telling(passage, words) for p, passage in scored
    ):
        return []
    standing = standing_text(chat, request)
    least = FOLLOWER_SHARE * request.threshold
    kept = [item for item in scored if item[0] >= least and squeeze(item[1].text) not in standing]
    kept.sort(key=lambda item: (-item[0], -item[1].entry.turn, item[1].entry.seq, item[1].start))
    return take(kept, request, archive, count)


def candidates(archive: Archive, chat: Chat, request: Request) -> list[Passage]:
    """What full text and vectors find, without what stands whole in the prompt or the host took out."""
    store = archive.store
    session = archive.session if request.unasked else None
    floor = request.floor if session else None
    near = {
        (hit.entry_id, hit.start, hit.end): hit.similarity
        for hit in archive.near(request.query, limit=VECTOR_CANDIDATES, session=session, min_seq=floor)
    }
    # What is not among the nearest is at most as near as the last of them.
    far = UNLISTED_SHARE * min(near.values(), default=0.0)
    spans = dict.fromkeys(
        (hit.entry_id, hit.start, hit.end)
        for hit in store.search_text(request.query, limit=TEXT_CANDIDATES, session=session, min_seq=floor)
    )
    own = {entry.id: entry for entry in chat.entries.values()}
    closed = excluded(chat) if request.unasked else frozenset(chat.entries[s].id for s in open_exchange(chat))
    contexts = contexts_of(chat)
    wanted = [span for span in dict.fromkeys([*spans, *near]) if span[0] not in closed]
    stored = store.get_many(dict.fromkeys(entry_id for entry_id, _, _ in wanted))
    found: list[Passage] = []
    for entry_id, start, end in wanted:
        if entry_id not in stored:
            continue
        entry, text = own.get(entry_id) or stored[entry_id], stored[entry_id].content
        if entry.source.kind in (SourceKind.STUB, SourceKind.NOTICE):
            continue
        context = contexts.get(entry.seq, "") if entry_id in own else entry.source.detail
        similarity = near.get((entry_id, start, end), far)
        found.append(Passage(entry, start, end, text[start:end], context, similarity))
    return found


def contexts_of(chat: Chat) -> dict[int, str]:
    """For each entry what it answers: the command whose output it is, or the prompt before a reply."""
    found: dict[int, str] = {}
    asked = ""
    for seq, entry in chat.entries.items():
        if entry.source.kind is SourceKind.TYPED:
            asked = entry.content[:CONTEXT_CHARS]
        found[seq] = asked if entry.source.kind is SourceKind.REPLY else entry.source.detail
    return found


def excluded(chat: Chat) -> frozenset[str]:
    """Ids that must not be recalled unasked: what stands in full, the open question, what is gone."""
    shown = {
        seq for seq in members([*chat.done, *chat.cur]) if chat.fidelity.get(seq) in (None, Fidelity.FULL)
    }
    closed = shown | open_exchange(chat)
    free = {entry.id for seq, entry in chat.entries.items() if seq not in closed and seq not in chat.gone}
    gone = {chat.entries[seq].id for seq in chat.gone} - free
    return frozenset({chat.entries[seq].id for seq in closed} | gone)


def telling(passage: Passage, words: Sequence[Word]) -> bool:
    """Whether the passage shares enough with the question to be more than a chance hit."""
    found = terms(passage.text)
    held = shared(words, found.words, found.stems)
    return (
        len(held) >= min(LEAST_WORDS, len(words))
        or any(not word.isalpha() for word in held)
        or passage.similarity >= CLOSE_SIMILARITY
    )


def squeeze(text: str) -> str:
    return " ".join(text.split())


def standing_text(chat: Chat, request: Request) -> str:
    """What stands in the prompt anyway, with white space squeezed; nothing when the user asks."""
    if not request.unasked:
        return ""
    return squeeze("\n".join([request.standing, *(piece.content for piece in [*chat.done, *chat.cur])]))


def take(
    ranked: Sequence[tuple[float, Passage]], request: Request, archive: Archive, count: TokenCounter
) -> list[Recalled]:
    """The best passages that fit, no text twice."""
    taken: list[Recalled] = []
    seen: set[str] = set()
    left = request.token_limit
    for points, passage in ranked:
        entry, text, start, end = passage.entry, passage.text, passage.start, passage.end
        if request.full:
            whole = archive.store.original(entry.id) or ""
            if count(whole) + ITEM_TOKENS <= left:
                text, start, end = whole, 0, len(whole)
        key = squeeze(text)
        cost = count(text) + ITEM_TOKENS
        if (
            key in seen
            or cost > left
            or any(t.entry_id == entry.id and t.start <= start and end <= t.end for t in taken)
        ):
            continue
        seen.add(key)
        left -= cost
        taken.append(quote(entry, text, start, end, points))
        if left < ITEM_TOKENS * 2:
            break
    return taken


def quote(entry: Entry, text: str, start: int, end: int, points: float) -> Recalled:
    """A passage as it is handed out."""
    label = LABELS.get(entry.source.kind, entry.role)
    is_code = stands_in_code(entry, start)
    return Recalled(
        entry.id, entry.turn, label, entry.cls, text, start, end, round(points, 4), entry.session, is_code
    )


def stands_in_code(entry: Entry, start: int) -> bool:
    """Whether the passage that begins here is code or an edit."""
    inside = next((s.cls for s in entry.segments if s.start <= start < s.end), None)
    return inside in (ContentClass.CODE, ContentClass.EDIT)


def recall_note(found: Sequence[Recalled]) -> str:
    """The passages as one note for a prompt, in the order in which they were said; "" for none.

    Each passage is quoted line by line, so that none of it can pose as an instruction or end the note.
    """
    if not found:
        return ""
    lines = [NOTE_HEAD]
    last: tuple[str, int] | None = None
    for item in sorted(found, key=lambda one: (one.session, one.turn, one.entry_id, one.start)):
        if last != (item.entry_id, item.turn):
            age = OLD_CODE if item.is_code else ""
            lines.append(f"[{item.turn}] {item.label} ({item.entry_id}){age}:")
        elif last:
            lines.append("> …")
        last = (item.entry_id, item.turn)
        lines += [f"> {line}" for line in item.text.splitlines()]
    return "\n".join([*lines, NOTE_TAIL])
