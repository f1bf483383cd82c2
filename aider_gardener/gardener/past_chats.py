"""What is kept of a project's chats, as values: a line of each for a list, the whole of one to be read, and
what all of a month came to. Read from the archive alone, without the secrets taken out.

A chat belongs to the month in which something was last said in it, a day to the machine's own zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.sessions import AIDER, clear_floor, host_of, project_sessions, short_ids
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.gardener.report import outlook
from aider_gardener.gardener.state import ChatSums
from aider_gardener.gardener.stored_chat import last_frame, saved_growth, saved_sessions
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.notes.last_chat import edited_files
from aider_gardener.phrases import counted, dollars, short, sums_text, when
from aider_gardener.plan.view import is_filler, label_of
from aider_gardener.reading.output import flat

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

COMMITTED = re.compile(
    r"^(?:I committed the changes with git hash |Commit |\[\S[^]\n]* )([0-9a-f]{7,64})"
    r"(?: & commit msg: ?|\] | )([^\n]*)",
    re.MULTILINE,
)
"""How a commit is told: by aider to the model and in its history, and by git itself."""
PROMPT_CHARS = 80


@dataclass(frozen=True)
class PastChat:
    """One chat in a list. `number` counts from the newest, 1; `short` is the beginning of `id` that no other
    has. `sums` is None where nothing was kept of what it came to. `in_chat` are the files of its last
    prompt, `edited` those that it edited, the newest first. `host` is the agent in which it was held."""

    number: int
    id: str
    short: str
    started_at: float
    last_at: float
    turns: int
    first_prompt: str
    model: str
    sums: ChatSums | None
    in_chat: tuple[str, ...]
    edited: tuple[str, ...]
    commits: int = 0
    host: str = AIDER

    @property
    def cost(self) -> str:
        """Dollars in words, "" where none are known."""
        return dollars(self.sums.cost) if self.sums and self.sums.cost else ""


@dataclass(frozen=True)
class PastMessage:
    """One message of a chat: who said it in a word, and the original. `cleared`: a /clear or the host took it
    out."""

    id: str
    speaker: str
    detail: str
    text: str
    tokens: int
    at: float
    pinned: bool
    cleared: bool


def past_chats(store: Store, project: str, limit: int = 0) -> list[PastChat]:
    """The chats of a project, the last used first, at most `limit` (0: all)."""
    found = project_sessions(store, project)
    short = short_ids([info.id for info in found])
    return [
        past_chat(store, info, number, short[info.id], store.session_entries(info.id))
        for number, info in enumerate(found[: limit or None], 1)
    ]


def past_chat(store: Store, info: SessionInfo, number: int, short: str, entries: Sequence[Entry]) -> PastChat:
    """What a list says of one chat."""
    growth, frame = saved_growth(store, info), last_frame(store, info.id)
    sums = growth[0] if growth else None
    firsts = (SourceKind.TYPED, SourceKind.NOTICE)  # a subagent's task is a notice, since the model set it
    words = [entry for entry in entries if not is_filler(entry)]
    prompts = (entry.content for kind in firsts for entry in words if entry.source.kind is kind)
    return PastChat(
        number=number,
        id=info.id,
        short=short,
        started_at=info.started_at,
        last_at=info.last_at,
        turns=info.turns,
        first_prompt=next(prompts, ""),
        model=frame.model or (sums.model if sums else ""),
        sums=sums,
        in_chat=(*frame.files, *frame.read_only),
        edited=tuple(edited_files(entries)),
        commits=len(commits_in(entries)),
        host=host_of(store, info.id),
    )


def transcript(
    store: Store, project: str, info: SessionInfo
) -> tuple[PastChat, dict[int, list[PastMessage]]]:
    """What a list says of a chat, and what was said in each turn, but for what only keeps the roles
    alternating."""
    infos = [each.id for each in project_sessions(store, project)]
    entries = store.session_entries(info.id)
    chat = past_chat(store, info, infos.index(info.id) + 1, short_ids(infos)[info.id], entries)
    floor = clear_floor(store, info.id)
    turns = dict[int, list[PastMessage]]()
    for entry in entries:
        if is_filler(entry):
            continue
        message = PastMessage(
            id=entry.id,
            speaker=label_of(entry, chat.host),
            detail=entry.source.detail,
            text=entry.content,
            tokens=entry.tokens,
            at=entry.created_at,
            pinned=entry.pinned,
            cleared=entry.seq < floor or not entry.active,
        )
        turns.setdefault(entry.turn, []).append(message)
    return chat, turns


def commits_in(entries: Sequence[Entry]) -> list[str]:
    """Hash and message of each commit that was made of an edit, by the host or with git."""
    texts = (
        each.content
        for each in entries
        if each.source.kind is SourceKind.NOTICE
        or (each.source.kind is SourceKind.COMMAND and "git commit" in each.source.detail)
    )
    return [f"{found[1]} {found[2].strip()}" for text in texts for found in COMMITTED.finditer(text)]


# All chats, and those of a month


def summed(sessions: Sequence[ChatSums]) -> Mapping[str, object]:
    """Several chats together as plain data."""
    names = "turns calls prompt_tokens saved_tokens cost saved_cost compactions seconds".split()
    sums = {name: sum(getattr(session, name) for session in sessions) for name in names}
    share = ChatSums(**sums).saved_share
    rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in sums.items()}
    unpriced = sum(1 for session in sessions if session.calls and not session.cost)
    return {"sessions": len(sessions), **rounded, "saved_share": round(share, 4), "unpriced": unpriced}


def project_status(store: Store, project: str) -> dict[str, Any]:
    """How the last chat of a project stood, where it was heading, and what all its chats came to."""
    rows = saved_sessions(store, project)
    if not rows:
        return {}
    return {"last_chat": outlook(rows[-1][1]), "all_chats": dict(summed([row[0] for row in rows]))}


def month_report(store: Store, project: str, month: str) -> dict[str, object]:
    """What the chats of a month ("2026-11", local time) came to, as plain data: `sums` of those that called a
    model, and each with what was done in it, the oldest first. Raises StoreError."""
    chats = [chat for chat in past_chats(store, project) if when(chat.last_at).startswith(month)][::-1]
    sums = [chat.sums for chat in chats if chat.sums]
    rows = [
        {
            "session": chat.short,
            "day": when(chat.last_at)[:10],
            "first_prompt": flat(chat.first_prompt, PROMPT_CHARS),
            "turns": chat.turns,
            "prompt_tokens": chat.sums.prompt_tokens if chat.sums else 0,
            "saved_tokens": chat.sums.saved_tokens if chat.sums else 0,
            "cost": chat.cost,
            "commits": chat.commits,
            "files": len(chat.edited),
        }
        for chat in chats
    ]
    return {"month": month, "sums": dict(summed(sums)) if sums else {}, "chats": rows}


def render_month(found: dict[str, Any]) -> Iterator[str]:
    """The report as lines for people."""
    if not found["chats"]:
        yield f"No chat of this project ended in {found['month']}."
    if sums := found["sums"]:
        which = "" if sums["sessions"] == len(found["chats"]) else "those with figures, "
        yield f"{found['month']}: {which}{sums_text(sums)}"
    for chat in found["chats"]:
        sent = f"{short(chat['prompt_tokens'])} tokens" if chat["prompt_tokens"] else ""
        facts = [counted(chat["turns"], "turn"), sent, chat["cost"]]
        facts += [counted(chat["commits"], "commit"), f"{counted(chat['files'], 'file')} edited"]
        yield f"{chat['day']} {chat['session']} {chat['first_prompt']} ({', '.join(filter(None, facts))})"
