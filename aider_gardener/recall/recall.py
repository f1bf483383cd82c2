"""Recall: the passages of stored originals that fit a question, within a token budget.

Full text and, where there is an embedder, vectors find candidates; `ranking` puts them in order; the
best that fit are taken, no text twice and nothing that stands in the prompt anyway. What no longer holds is
no evidence: code of an edit that was undone or never applied does not come for an order, and for a question
says what became of it; a rule that the user replaced comes behind the one in its place, with the turn until
which it held.

One chat uses it when the user asks, and unasked before a prompt is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import mul

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store.stopwords import stop_words
from aider_gardener.archive.store.words import Word, query_words
from aider_gardener.messages import ContentClass, Entry, TokenCounter
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import has_edit
from aider_gardener.plan.view import FAILED_LABEL, LABELS, UNDONE_LABEL, failed_edits
from aider_gardener.reading.output import squeeze, without_codes
from aider_gardener.reading.source import NOTE_END
from aider_gardener.recall.candidates import Request, candidates, ids_in_prompt, reachable, weight
from aider_gardener.recall.match import Match, matched
from aider_gardener.recall.ranking import (
    Passage,
    Turn,
    best_by_turn,
    by_words,
    cuts,
    fuse,
    in_order,
    put_forward,
    shared,
    terms,
    turn_of,
    turn_passages,
)

LEAST_WORDS, FEW_WORDS = 2, 5
"""Unasked, some passage must hold so many different words of the question (one of so few), or one that is no
plain word, or be close in meaning; else the question does not ask for the past."""
CLOSE_SIMILARITY = 0.42
"""On MiniLM's scale, as all similarities are by here."""
ASKED_SHARE = 0.25
"""When the user asks, what is worth less than this share of the best passage is left out."""
STANDING_SHARE = 0.5
"""Unasked, what is worth less than this share of the best passage that stands in the prompt is left out."""
Ranked = tuple[float, float, Passage]
"""A passage with its points (see `ranking.in_order`) and its score."""
WORTH_FIRST, WORTH_LAST = 0.33, 0.62
"""Unasked, the points of `ranking.in_order` that a passage needs, as a share of those of the best: the first,
and one that fills the limit."""
POOR, RICH, ORDER = 1.1, 1.8, 1.5
"""The best counts as at least, and at most, so many points: where nothing fits well more of it comes, but not
everything, and what fits well is not left out for what fits better still. For an order it counts as at least
as many as the last: what little fits it is rarely worth its tokens."""
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
Replaced = Callable[[Chat, Entry, str], "tuple[Entry, str] | None"]
"""Given a text of an entry, the later entry that replaced a rule in it, and the sentence that does; None
where all of it holds."""
OLD_CODE = ", code as it was then; the files have what holds now"
UNTIL = ", until turn {}"
EARLIER_CHAT = ", in an earlier chat"
IN_HOST = ", in {}"
"""Said in a chat with another agent than the one that is told."""
EDIT_UNDONE = "edit undone"
"""The event that tells of an edit that the user undid."""
ITEM_TOKENS, GAP_TOKENS = 14, 4
"""What the heading of a quoted passage costs, about, and the mark between two under one heading."""

MARGIN_TOKENS = 16
"""Kept free of a note's budget, for tokenizers that count a text as a whole higher than its parts."""


@dataclass(frozen=True)
class Recalled:
    """A passage that was recalled: `text` is `original[start:end]`. `score` is relevance, 0 to about 1.

    `is_code`: it is code or an edit, which later edits may have replaced. `until`: the turn in which the user
    replaced a rule in it, 0 for none. `match` says what made it come, `said_at` when it was said, in seconds
    since the epoch (0: unknown). `host` is the agent to whom it was said, "" for the one that is told.
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
    until: int = 0
    match: Match = field(default_factory=Match)
    said_at: float = 0.0
    host: str = ""


def all_holds(_chat: Chat, _entry: Entry, _text: str) -> None:
    """Where nobody reads rules none is replaced."""


def recall(
    archive: Archive, chat: Chat, request: Request, *, count: TokenCounter, replaced: Replaced = all_holds
) -> list[Recalled]:
    """The passages that fit the request best, best first, within its token limit."""
    words = query_words(request.query)
    if request.unasked:
        idle = SMALL_TALK | stop_words([word.text for word in words])
        words = [word for word in words if word.text not in idle]
    if not words or request.token_limit <= 0:
        return []
    passages, far = candidates(archive, chat, request)
    scores, lexical = score(words, passages, archive, request)
    here = ids_in_prompt(chat, request)
    standing = text_in_prompt(chat, request)

    def stands(passage: Passage) -> bool:
        return passage.entry.id in here or (bool(standing) and squeeze(passage.text) in standing)

    if request.unasked and not any(
        points >= request.threshold and telling(passage, words) and not stands(passage)
        for points, passage in zip(scores, passages, strict=True)
    ):
        return []
    more = turn_passages(passages, scores, archive.session, reachable(chat, request), far)
    if more:
        passages += more
        scores, lexical = score(words, passages, archive, request)
    likely = put_forward(passages, lexical, scores)
    placed = [(points, scores[at], passages[at]) for at, points in in_order(passages, likely)]
    missing = [row for row in placed if not stands(row[2])]
    least = least_points(placed, missing, request)

    def newer(passage: Passage) -> Passage | None:
        found = replaced(chat, passage.entry, passage.text)
        return holding(*found) if found else None

    worthy = [row for row in missing if row[0] >= least]
    taken = take(worthy, request, archive, chat, count, newer=newer, stands=stands)
    known = {(passage.entry.id, passage.start, passage.end): passage for passage in passages}
    best = best_by_turn(passages, scores)
    return [
        replace(item, match=why(item, words, known.get((item.entry_id, item.start, item.end)), best, far))
        for item in taken
    ]


def why(
    item: Recalled, words: Sequence[Word], passage: Passage | None, best: Mapping[Turn, float], far: float
) -> Match:
    """What made a passage come, given the best score in each turn and the similarity of what is not near; of
    what no search found (a whole original, a rule in the place of another) only its words are known."""
    if passage is None:
        return matched(item.text, words, 0.0, beside=False)
    near = passage.similarity if passage.similarity > far else 0.0
    return matched(item.text, words, near, beside=best[turn_of(passage)] > item.score)


def holding(entry: Entry, sentence: str) -> Passage:
    """The passage of an entry that holds a sentence, or most of its words."""
    wanted = set(sentence.split())
    start, end = max(cuts(entry), key=lambda span: len(wanted & set(entry.content[slice(*span)].split())))
    return Passage(entry, start, end, without_codes(entry.content[start:end]))


def least_points(placed: Sequence[Ranked], missing: Sequence[Ranked], request: Request) -> float:
    """The points below which a passage is left out. When the user asks, it goes by the best one found;
    unasked by the best one that stands in the prompt anyway: where that fits as well, nothing is missing."""
    if not request.unasked:
        return ASKED_SHARE * max((points for points, _score, _passage in placed), default=0.0)
    lacking = {id(row) for row in missing}
    return STANDING_SHARE * max((row[0] for row in placed if id(row) not in lacking), default=0.0)


def score(
    words: Sequence[Word], passages: Sequence[Passage], archive: Archive, request: Request
) -> tuple[list[float], list[float]]:
    """The relevance of each passage, and that by words alone; one of an older session counts for less."""
    weights = [weight(passage, archive, request) for passage in passages]
    lexical = by_words(words, passages)
    fused = [fuse(points, passage.similarity) for points, passage in zip(lexical, passages, strict=True)]
    return list(map(mul, fused, weights)), list(map(mul, lexical, weights))


def telling(passage: Passage, words: Sequence[Word]) -> bool:
    """Whether the passage shares enough with the question to be more than a chance hit."""
    found = terms(passage.text)
    held = shared(words, found.words, found.stems)
    return (
        len(held) >= (LEAST_WORDS if len(words) > FEW_WORDS else 1)
        or any(not word.isalpha() for word in held)
        or passage.similarity >= CLOSE_SIMILARITY
    )


def text_in_prompt(chat: Chat, request: Request) -> str:
    """What stands in the prompt anyway, with white space squeezed; nothing when the user asks."""
    if not request.unasked:
        return ""
    return squeeze("\n".join([request.standing, *(piece.content for piece in [*chat.done, *chat.cur])]))


def take(
    ranked: Iterable[Ranked],
    request: Request,
    archive: Archive,
    chat: Chat,
    count: TokenCounter,
    *,
    newer: Callable[[Passage], Passage | None] = lambda _passage: None,
    stands: Callable[[Passage], bool] = lambda _passage: False,
) -> list[Recalled]:
    """The best passages that fit, no text twice, given the points of each, its score and itself; unasked
    only those that are worth their tokens, and for an order no code of an edit that does not stand.

    `newer` gives the passage that replaced a rule in another: it comes first, unless it `stands` in the
    prompt anyway.
    """
    packing = Packing(request, archive, chat, count)
    best = 0.0
    for points, relevance, passage in ranked:
        best = best or points
        spent = 1 - packing.left / request.token_limit
        if request.unasked and points < worth_taking(spent, best, ORDER if request.order else POOR):
            continue
        item = packing.item(passage, relevance)
        cost = packing.cost(item) if item else 0
        if item is None or cost > packing.left:
            continue
        later = newer(passage)
        if later is not None:
            instead = None if stands(later) else packing.item(later, relevance)
            if instead:
                packing.add(instead, packing.cost(instead))
            item = replace(item, until=later.entry.turn)
            cost = packing.cost(item)
        packing.add(item, cost)
        if packing.is_full:
            break
    return packing.taken


class Packing:
    """What is taken for a request, and the tokens that are `left`."""

    def __init__(self, request: Request, archive: Archive, chat: Chat, count: TokenCounter) -> None:
        self.request, self.archive, self.chat, self.count = request, archive, chat, count
        self.taken: list[Recalled] = []
        self.left = request.token_limit
        self._texts, self._headings = set[str](), set[str]()

    @property
    def is_full(self) -> bool:
        return self.left < ITEM_TOKENS * 2 or len(self.taken) == self.request.passages

    def item(self, passage: Passage, relevance: float) -> Recalled | None:
        """The passage as it would be handed out; None where it is there already, is of an edit of a file that
        stands in the prompt as it is now or, for an order, code that does not stand."""
        entry, text, start, end = passage.entry, passage.text, passage.start, passage.end
        if self.request.full:
            whole = self.archive.store.original(entry.id) or ""
            if self.count(whole) + ITEM_TOKENS <= self.left:
                text, start, end = whole, 0, len(whole)
        if self.request.unasked and (at := edit_of(entry, start, end, self.request.files)) is not None:
            text, end = text[: at - start], at  # what is true of it stands in the file
            if not text.strip():
                return None
        if squeeze(text) in self._texts or any(
            t.entry_id == entry.id and t.start <= start and end <= t.end for t in self.taken
        ):
            return None
        label = edit_outcome(self.archive, self.chat, entry)
        if self.request.order and label and stands_in_code(entry, start):
            return None
        host = self.archive.host_of(entry.session)
        item = quote(entry, text, start, end, relevance, label=label)
        return replace(item, host=host) if host != self.archive.host else item

    def cost(self, item: Recalled) -> int:
        """The tokens that a passage adds to a note."""
        head = heading(item, self.archive.session)
        above = GAP_TOKENS if head in self._headings else self.count(head) + 1
        return self.count(quoted(item.text)) + above

    def add(self, item: Recalled, cost: int) -> None:
        """Take a passage of so many tokens, if it still fits."""
        if cost <= self.left and len(self.taken) != (self.request.passages or -1):
            self.left -= cost
            self.taken.append(item)
            self._texts.add(squeeze(item.text))
            self._headings.add(heading(item, self.archive.session))


def worth_taking(spent_share: float, best: float, least: float = POOR) -> float:
    """The least points of a passage that is still worth its tokens, given the best one's, once this share of
    the limit is spent: what is recalled is paid in full on each call, so the more there is the better the
    next must be."""
    return (WORTH_FIRST + (WORTH_LAST - WORTH_FIRST) * spent_share) * min(max(best, least), RICH)


def edit_outcome(archive: Archive, chat: Chat, entry: Entry) -> str:
    """What to call a reply whose edit does not stand: the user undid it, in this chat or in the older one
    that it is from, or the host could not apply it; "" for all others."""
    if not has_edit(entry):
        return ""
    if chat.entries.get(entry.seq) is not entry:
        events = archive.store.events(entry.session, kind=EDIT_UNDONE, entry_id=entry.id)
        return UNDONE_LABEL if events else ""
    if entry.seq in chat.undone:
        return UNDONE_LABEL
    after = chat.entries.get(entry.seq + 1)
    return FAILED_LABEL if after and failed_edits([entry, after]) else ""


def quote(entry: Entry, text: str, start: int, end: int, points: float, *, label: str = "") -> Recalled:
    """A passage as it is handed out. `label` says what it is, where that is not its kind."""
    label = label or LABELS.get(entry.source.kind, entry.role)
    is_code = stands_in_code(entry, start)
    return Recalled(
        entry.id,
        entry.turn,
        label,
        entry.cls,
        text,
        start,
        end,
        round(points, 4),
        entry.session,
        is_code,
        said_at=entry.created_at,
    )


def edit_of(entry: Entry, start: int, end: int, files: frozenset[str]) -> int | None:
    """Where the first edit block of one of these files begins in a passage; None where there is none. A block
    begins with the name of its file."""
    for segment in entry.segments:
        if segment.cls is ContentClass.EDIT and segment.start < end and segment.end > start:
            first_lines = entry.content[segment.start : segment.end].split("\n", 3)
            if not files.isdisjoint(line.strip("` ") for line in first_lines):
                return max(start, segment.start)
    return None


def stands_in_code(entry: Entry, start: int) -> bool:
    """Whether the passage that begins here is code or an edit."""
    inside = next((s.cls for s in entry.segments if s.start <= start < s.end), None)
    return inside in (ContentClass.CODE, ContentClass.EDIT)


def recall_note(found: Sequence[Recalled], *, session: str = "", head: str = NOTE_HEAD) -> str:
    """The passages as one note for a prompt, in the order in which they were said; "" for none.

    What is not of `session` (where it is given) is marked as said in an earlier chat.
    Each passage is quoted line by line, so that none of it can pose as an instruction or end the note.
    """
    if not found:
        return ""
    lines = [head]
    last = ""
    for item in sorted(found, key=lambda one: (one.session, one.turn, one.entry_id, one.start)):
        said = heading(item, session)
        lines += ["> …" if said == last else said, quoted(item.text)]
        last = said
    return "\n".join([*lines, NOTE_END])


def heading(item: Recalled, session: str = "") -> str:
    """The line above a quoted passage: when it was said, what it is, whose it is, and how far it holds."""
    age = EARLIER_CHAT if session and item.session != session else ""
    age += IN_HOST.format(item.host) if item.host else ""
    age += OLD_CODE if item.is_code else ""
    age += UNTIL.format(item.until) if item.until else ""
    return f"[{item.turn}] {item.label} ({item.entry_id}){age}:"


def quoted(text: str) -> str:
    """A text as it stands in a note."""
    return "\n".join([f"> {line}" for line in text.splitlines()])


@dataclass
class Recollection:
    """Finds passages in an archive and counts each hit as an access; remembers the open question's note, and
    as `quoted` what it quotes."""

    archive: Archive
    replaced: Replaced = all_holds
    open: tuple[object, str] | None = None
    quoted: Sequence[Recalled] = ()

    def find(self, chat: Chat, request: Request, count: TokenCounter) -> list[Recalled]:
        """The passages that fit the request, best first; a hit counts as an access."""
        found = recall(self.archive, chat, request, count=count, replaced=self.replaced)
        self.archive.touch(item.entry_id for item in found)
        return found

    def note(self, chat: Chat, request: Request, count: TokenCounter) -> str:
        """What is recalled for a prompt, as one note; "" when nothing fits. Its head is not counted against
        the limit.

        As long as question, view and files are the same it stays the same, so that a retry sends the
        same prompt.
        """
        key = (request, tuple(chat.fidelity.items()), len(chat.entries))
        if self.open is None or self.open[0] != key:
            found = self.find(chat, request, count)
            note = recall_note(found, session=self.archive.session)
            while count(note) > request.token_limit + count(NOTE_HEAD) + MARGIN_TOKENS:
                found.pop()
                note = recall_note(found, session=self.archive.session)
            self.open, self.quoted = (key, note), found
        return self.open[1]

    def reset(self) -> None:
        """Look anew for the open question: what was found may be gone."""
        self.open = None
