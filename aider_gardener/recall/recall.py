"""Recall: the passages of stored originals that fit a question, within a token budget.

`finding` puts them in order; the best are taken until the budget is full, no text twice and nothing that
stands in the prompt anyway. What no longer holds is no evidence: code of an edit that was undone or never
applied does not come for an order, and for a question says what became of it.

One chat uses it when the user asks, and unasked before a prompt is sent.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import author_of, host_of
from aider_gardener.archive.store.words import index_words, query_words, stem, stop_words
from aider_gardener.compress.edits import read_edits
from aider_gardener.messages import ContentClass, Entry, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import EDIT_WAS, has_edit, label_of, outcome
from aider_gardener.reading.output import squeeze
from aider_gardener.reading.source import NOTE_END
from aider_gardener.recall.finding import Passage, class_at, passages
from aider_gardener.recall.request import Request

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
OLD_CODE = ", old code"
CODE = (ContentClass.CODE, ContentClass.EDIT)
AMENDED = ", later with other values"
EARLIER_CHAT = ", in an earlier chat{}"
IN_HOST = ", in {}"
"""Said in a chat with another agent than the one that is told."""
BY_AUTHOR = ", by {}"
"""Shared by somebody through a server."""
EDIT_UNDONE = "edit undone"
"""The event that tells of an edit that the user undid."""
ITEM_TOKENS, HEADING_TOKENS, GAP_TOKENS = 14, 6, 4
"""What the heading of a whole original costs, about, that of a passage, and the mark between two passages
under one heading."""
SLACK = 1.1
"""So much more than the limit may come by estimate, before all of it is counted."""
NEXT_CHARS = 2
"""Passages so near to each other stand as one."""
LEAST_TOKENS = 20
"""A smaller rest of the limit is left: no passage is that short."""

MARGIN_TOKENS = 16
"""Kept free of a note's budget, for tokenizers that count a text as a whole higher than its parts."""


class Recalled(NamedTuple):
    """A passage that was recalled: `text` is `original[start:end]`. `score` is relevance, 0 to about 1.

    `is_code`: it is code or an edit, which later edits may have replaced. `amended`: a passage said later
    speaks of the same with other values. `words` are those of the question that it holds (stems count),
    `created_at` is when it was said, in seconds since the epoch (0: unknown). `host` is the agent to whom it
    was said, "" for the one that is told, and `author` who shared it.
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
    amended: bool = False
    words: tuple[str, ...] = ()
    created_at: float = 0.0
    host: str = ""
    author: str = ""


def recall(archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
    """The passages that fit the request best, best first, within its token limit."""
    archive.withheld.clear()
    words = query_words(request.query)
    if request.unasked:
        idle = SMALL_TALK | stop_words(words)
        words = [word for word in words if word not in idle]
    if not words or request.token_limit <= 0:
        return []
    return pack(archive, chat, request, words, passages(archive, chat, request, words))


def recall_counted(archive: Archive, chat: Chat, request: Request) -> list[Recalled]:
    """The same; each hit counts as an access."""
    found = recall(archive, chat, request)
    archive.touch(item.entry_id for item in found)
    return found


def pack(
    archive: Archive, chat: Chat, request: Request, words: Sequence[str], found: Sequence[Passage]
) -> list[Recalled]:
    """The first of these passages that fit, no text twice and nothing that stands in the prompt. A passage is
    taken to have its share of the tokens of its message; all of them are counted once, together."""
    taken, room_tokens = list[Recalled](), int(SLACK * request.token_limit)
    texts, headings = set[str](), set[tuple[str, str]]()
    spans = defaultdict[str, list[tuple[int, int]]](list)
    in_prompt = [request.prompt_text, *(piece.content for piece in chat.pieces)] if request.unasked else []
    lines = (squeeze(line) for text in in_prompt for line in text.split("\n"))  # all words at once are many
    prompt_words = " ".join(filter(None, lines))
    for passage in found:
        if prompt_words and squeeze(passage.text) in prompt_words:
            continue
        item = as_recalled(archive, chat, request, passage, room=room_tokens)
        if item is None or (bare := squeeze(item.text)) in texts:
            continue
        if any(start <= item.start and item.end <= end for start, end in spans[item.entry_id]):
            continue
        head = (item.entry_id, heading(item, archive.session))
        share = len(item.text) / max(1, len(passage.entry.content))
        cost = ceil(share * passage.entry.tokens) + item.text.count("\n") + 1
        cost += GAP_TOKENS if head in headings else HEADING_TOKENS
        if cost > room_tokens:
            continue
        room_tokens -= cost
        stems = set(map(stem, index_words(item.text)))
        met = tuple(word for word in words if stem(word) in stems)
        taken.append(item._replace(words=met))
        texts.add(bare)
        spans[item.entry_id].append((item.start, item.end))
        headings.add(head)
        if room_tokens < LEAST_TOKENS or len(taken) == request.passages:
            break
    while taken and archive.count(body(taken, archive.session, with_ids=request.ids)) > request.token_limit:
        taken.pop()
    return taken


def as_recalled(
    archive: Archive, chat: Chat, request: Request, passage: Passage, room: int
) -> Recalled | None:
    """The passage as it would be handed out, as its whole original where that is wanted and the `room` is
    there. None where it is of an edit of a file that stands in the prompt as it is now or, for an order, code
    that does not stand."""
    entry, text, start, end = passage.entry, passage.text, passage.start, passage.end
    if request.full and entry.tokens + ITEM_TOKENS <= room:
        text = archive.store.original(entry.id) or ""
        start, end = 0, len(text)
    if request.unasked and (at := edit_of(entry, start, end, request.files)) is not None:
        text, end = text[: at - start], at  # what is true of it stands in the file
        if not text.strip():
            return None
    label = edit_outcome(archive, chat, entry)
    if request.order and label and class_at(entry, start) in CODE:
        return None
    item = quote(entry, text, start, end, passage.relevance, label=label)
    is_own = entry.session == archive.session  # as most are: nothing is looked up for those
    host = archive.host if is_own else host_of(archive.store, entry.session)
    return item._replace(
        amended=passage.amended,
        host=host if host != archive.host else "",
        author=author_of(entry.session),
    )


def edit_outcome(archive: Archive, chat: Chat, entry: Entry) -> str:
    """What to call a reply whose edit does not stand, or not in all its files: the user undid or declined it,
    in this chat or in the older one that it is from, or the host could not apply it; "" for all others."""
    if not has_edit(entry):
        return ""
    if chat.entries.get(entry.seq) is not entry:
        events = archive.store.events(entry.session, kind=EDIT_UNDONE, entry_id=entry.id)
        return EDIT_WAS + outcome(events[-1].data.get("made")) if events else ""
    return EDIT_WAS + what if (what := chat.outcomes.get(entry.seq)) else ""


def quote(entry: Entry, text: str, start: int, end: int, points: float, *, label: str = "") -> Recalled:
    """A passage as it is handed out. `label` says what it is, where that is not its kind."""
    label = label or label_of(entry)
    if entry.source.kind is SourceKind.REMEMBERED:
        label += f" ({entry.source.detail})"  # a rule, a decision …
    place, score = (text, start, end), round(points, 4)
    is_code, at = class_at(entry, start) in CODE, entry.created_at
    return Recalled(
        entry.id, entry.turn, label, entry.cls, *place, score, entry.session, is_code, created_at=at
    )


def edit_of(entry: Entry, start: int, end: int, files: frozenset[str]) -> int | None:
    """Where the first edit block of one of these files begins in a passage; None where there is none. A block
    begins with the name of its file, or names it as its edit format does."""
    for segment in entry.segments:
        if segment.cls is ContentClass.EDIT and segment.start < end and segment.end > start:
            block = entry.content[segment.start : segment.end]
            names = {line.strip("` ") for line in block.split("\n", 3)[:3]}
            if not files.isdisjoint(names.union(edit.path for edit in read_edits(block, segment.kind))):
                return max(start, segment.start)
    return None


def recall_note(
    found: Sequence[Recalled], *, session: str = "", head: str = NOTE_HEAD, with_ids: bool = True
) -> str:
    """The passages as one note for a prompt, in the order in which they were said; "" for none.

    What is not of `session` (where it is given) is marked as said in an earlier chat. `with_ids` is for a
    note that stays: what it quotes may be forgotten, and the note with it.
    Each passage is quoted line by line, so that none of it can pose as an instruction or end the note.
    """
    return "\n".join([head, body(found, session, with_ids=with_ids), NOTE_END]) if found else ""


def body(found: Sequence[Recalled], session: str, *, with_ids: bool) -> str:
    """The passages of a note, each under its heading, those that follow each other under one; of several
    chats the one that said its last of them comes last."""
    lines, last, end = list[str](), "", 0
    at = {item.session: item.created_at for item in sorted(found, key=lambda one: one.created_at)}
    for item in sorted(
        found,
        key=lambda one: (at[one.session], one.session, one.turn, one.created_at, one.entry_id, one.start),
    ):
        key = item.entry_id + heading(item, session)
        if key != last:
            lines.append(heading(item, session, with_id=with_ids))
        elif item.start > end + NEXT_CHARS:
            lines.append("> …")
        lines.append(quoted(item.text))
        last, end = key, item.end
    return "\n".join(lines)


def heading(item: Recalled, session: str = "", *, with_id: bool = False) -> str:
    """The line above a quoted passage: when it was said, what it is, whose it is, and how far it holds."""
    day = time.strftime(" of %Y-%m-%d", time.localtime(item.created_at)) if item.created_at else ""
    age = EARLIER_CHAT.format(day) if session and item.session != session else ""
    age += BY_AUTHOR.format(item.author) if item.author else ""
    age += IN_HOST.format(item.host) if item.host else ""
    age += OLD_CODE if item.is_code else ""
    age += AMENDED if item.amended else ""
    name = f" ({item.entry_id})" if with_id else ""
    return f"[{item.turn} {item.label}{name}{age}]"


def quoted(text: str) -> str:
    """A text as it stands in a note."""
    return "\n".join([f"> {line}" for line in text.splitlines()])


class RecallNote(NamedTuple):
    """The note in the prompt, what it was made for, and what it quotes."""

    key: object = None
    text: str = ""
    quoted: Sequence[Recalled] = ()

    def renewed(self, archive: Archive, chat: Chat, request: Request) -> RecallNote:
        """The note for a prompt, without a text when nothing fits. Its head is not counted against the limit.

        As long as question, view and files are the same it stays the same, so that a retry sends the
        same prompt.
        """
        key = (request, tuple(chat.levels.items()), len(chat.entries))
        if key == self.key:
            return self
        found = recall_counted(archive, chat, request)
        return RecallNote(key, recall_note(found, session=archive.session, with_ids=request.ids), found)
