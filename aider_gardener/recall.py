"""Recall: the passages of stored originals that fit a question, within a token budget.

Full text finds candidates; they are ranked anew by how much of the question's information they hold
(words weighted by rarity among the candidates), with what stands just around them counted for less;
then the best are taken greedily, each discounted by what was already taken from its neighbourhood.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.archive import Archive
from aider_gardener.chat import Chat
from aider_gardener.messages import ContentClass, Entry, Fidelity, SourceKind, TokenCounter
from aider_gardener.planner import open_exchange
from aider_gardener.priority import BASE
from aider_gardener.store.base import TextHit
from aider_gardener.store.words import Word, index_words, query_words
from aider_gardener.view import LABELS, members

CANDIDATES = 160
"""Passages that full text offers for ranking."""
STEM_WEIGHT = 0.75
"""What a match of the stem alone counts beside one of the word."""
NEAR_WEIGHT = 0.4
ENTRY_WEIGHT = 0.15
"""What a word counts that stands only in the passages beside, or only elsewhere in the entry."""
CLASS_WEIGHT = 0.15
"""How far the class's base priority can raise a score."""
TYPED_BONUS = 1.1
LEAST_WORDS = 2
"""Unasked, a passage must hold so many different words of the question, or one that is no plain word."""
SMALL_TALK = frozenset(
    "again agreed ahead alright awesome back bye commit continue cool correct done exactly fine first fix"
    " fixed go going good great hello help hey hi hm hmm lgtm look looks nah next nice nope ok okay perfect"
    " proceed push ready really right run same see ship show start still stop sure test tests thank thanks that then"
    " thing things think thx try undo wait well works wow wrong yeah yep yes yet".split()
)
"""Words that steer a chat and ask nothing of its past."""
NOTE_HEAD = (
    "(Quoted from earlier in this chat by aider-gardener, in case it helps with the next message."
    " It is a record of what was said, not a request; newer messages and files take precedence.)"
)
NOTE_TAIL = "(End of quotes.)"
ITEM_TOKENS = 14
"""What the label of a quoted passage costs, at most."""


@dataclass(frozen=True)
class Request:
    """A question to the archive. `floor` is the first sequence number of this chat that it may reach;
    `standing` is text that stands in the prompt anyway; `threshold` (0 to 1) is the least share of the
    question's information that a passage must hold. `unasked`: it is the gardener who asks, so only this
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
    """A passage that was recalled: `text` is `original[start:end]`. `score` is relevance, 0 to about 1."""

    entry_id: str
    turn: int
    label: str
    cls: ContentClass
    text: str
    start: int
    end: int
    score: float
    session: str = ""


@dataclass(frozen=True)
class Passage:
    """A candidate with its words, ready to be ranked."""

    hit: TextHit
    entry: Entry
    text: str
    words: frozenset[str]
    stems: frozenset[str]


def recall(archive: Archive, chat: Chat, request: Request, *, count: TokenCounter) -> list[Recalled]:
    """The passages that fit the request best, best first, within its token limit."""
    words = query_words(request.query)
    if request.unasked:
        words = [word for word in words if word.text not in SMALL_TALK]
    if not words or request.token_limit <= 0:
        return []
    passages = candidates(archive, chat, request)
    if not passages:
        return []
    weights = information(words, passages)
    scored = [(score(passage, passages, words, weights), passage) for passage in passages]
    standing = standing_text(archive, chat, request)
    kept = [
        (points, passage)
        for points, passage in scored
        if points >= request.threshold
        and (not request.unasked or telling(passage, words))
        and squeeze(passage.text) not in standing
    ]
    kept.sort(key=lambda item: (-item[0], item[1].entry.seq, item[1].hit.start))
    return take(kept, request, archive, count)


def candidates(archive: Archive, chat: Chat, request: Request) -> list[Passage]:
    """What full text finds, without what stands whole in the prompt or was taken out by the host."""
    store = archive.store
    session = archive.session if request.unasked else None
    hits = store.search_text(
        request.query, limit=CANDIDATES, session=session, min_seq=request.floor if session else None
    )
    own = own_entries(chat)
    closed = excluded(chat) if request.unasked else frozenset(chat.entries[s].id for s in open_exchange(chat))
    found: list[Passage] = []
    texts: dict[str, str] = {}
    for hit in hits:
        if hit.entry_id in closed:
            continue
        entry = own.get(hit.entry_id) or store.get(hit.entry_id)
        if entry is None or entry.source.kind is SourceKind.STUB:
            continue
        text = texts.setdefault(hit.entry_id, store.original(hit.entry_id) or "")[hit.start : hit.end]
        indexed = index_words(text)
        found.append(
            Passage(
                hit,
                entry,
                text,
                frozenset(w.text for w in indexed),
                frozenset(w.stem for w in indexed if w.stem),
            )
        )
    return found


def own_entries(chat: Chat) -> dict[str, Entry]:
    """The entries of this chat by id; of several with one text the latest."""
    return {entry.id: entry for entry in chat.entries.values()}


def excluded(chat: Chat) -> frozenset[str]:
    """Ids that must not be recalled unasked: what stands in full, the open question, what is gone."""
    shown = {
        seq for seq in members([*chat.done, *chat.cur]) if chat.fidelity.get(seq) in (None, Fidelity.FULL)
    }
    closed = shown | open_exchange(chat)
    free = {entry.id for seq, entry in chat.entries.items() if seq not in closed and seq not in chat.gone}
    gone = {chat.entries[seq].id for seq in chat.gone} - free
    return frozenset({chat.entries[seq].id for seq in closed} | gone)


def information(words: Sequence[Word], passages: Sequence[Passage]) -> dict[str, float]:
    """The weight of each word of the question: its rarity among the candidates."""
    total = len(passages)
    counts: Counter[str] = Counter()
    for passage in passages:
        for word in words:
            if word.text in passage.words or (word.stem and word.stem in passage.stems):
                counts[word.text] += 1
    return {
        word.text: math.log(1 + (total - counts[word.text] + 0.5) / (counts[word.text] + 0.5)) + 0.2
        for word in words
        if counts[word.text]
    }


def match(
    words: Sequence[Word], weights: dict[str, float], found: frozenset[str], stems: frozenset[str]
) -> dict[str, float]:
    """What each word of the question that stands in a text contributes."""
    points: dict[str, float] = {}
    for word in words:
        weight = weights.get(word.text, 0.0)
        if word.text in found:
            points[word.text] = weight
        elif word.stem and word.stem in stems:
            points[word.text] = weight * STEM_WEIGHT
    return points


def score(
    passage: Passage, passages: Sequence[Passage], words: Sequence[Word], weights: dict[str, float]
) -> float:
    """The share of the question's information in the passage and, for less, around it."""
    total = sum(weights.values())
    if not total:
        return 0.0
    own = match(words, weights, passage.words, passage.stems)
    near: dict[str, float] = {}
    for other in passages:
        if other is passage or other.hit.entry_id != passage.hit.entry_id:
            continue
        adjacent = min(abs(other.hit.start - passage.hit.end), abs(passage.hit.start - other.hit.end)) <= 4
        factor = NEAR_WEIGHT if adjacent else ENTRY_WEIGHT
        for word, points in match(words, weights, other.words, other.stems).items():
            if word not in own:
                near[word] = max(near.get(word, 0.0), factor * points)
    base = (sum(own.values()) + sum(near.values())) / total
    raised = 1.0 + CLASS_WEIGHT * BASE[passage.entry.cls] / 100.0
    return base * raised * (TYPED_BONUS if passage.entry.source.kind is SourceKind.TYPED else 1.0)


def telling(passage: Passage, words: Sequence[Word]) -> bool:
    """Whether the passage shares enough with the question to be more than a chance hit."""
    shared = [w for w in words if w.text in passage.words or (w.stem and w.stem in passage.stems)]
    return len(shared) >= min(LEAST_WORDS, len(words)) or any(not word.text.isalpha() for word in shared)


def squeeze(text: str) -> str:
    return " ".join(text.split())


def standing_text(archive: Archive, chat: Chat, request: Request) -> str:
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
        hit, text = passage.hit, passage.text
        start, end = hit.start, hit.end
        if request.full:
            whole = archive.store.original(hit.entry_id) or ""
            if count(whole) + ITEM_TOKENS <= left:
                text, start, end = whole, 0, len(whole)
        key = squeeze(text)
        cost = count(text) + ITEM_TOKENS
        if (
            key in seen
            or cost > left
            or any(t.entry_id == hit.entry_id and t.start <= start and end <= t.end for t in taken)
        ):
            continue
        seen.add(key)
        left -= cost
        entry = passage.entry
        label = LABELS.get(entry.source.kind, entry.role)
        taken.append(
            Recalled(
                hit.entry_id, entry.turn, label, entry.cls, text, start, end, round(points, 4), entry.session
            )
        )
        if left < ITEM_TOKENS * 2:
            break
    return taken


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
            lines.append(f"[{item.turn}] {item.label} ({item.entry_id}):")
        elif last:
            lines.append("> …")
        last = (item.entry_id, item.turn)
        lines += [f"> {line}" for line in item.text.splitlines()]
    return "\n".join([*lines, NOTE_TAIL])
