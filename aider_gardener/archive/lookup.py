"""Looking up one stored entry: by the beginning of its id, and what was done to it when and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from aider_gardener.archive.sessions import host_of
from aider_gardener.archive.store.base import Event
from aider_gardener.errors import UsageError
from aider_gardener.messages import Entry, Level, SourceKind
from aider_gardener.plan.goals import OVER_LIMIT
from aider_gardener.plan.view import label_of

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

SHOWN_IDS = 4


@dataclass(frozen=True)
class LevelChange:
    """One change of an entry's rendition: when, by what, from which to which, why.

    `kind` is "plan", "undo", "restore", or in words what else did it; `cause` is why there was a plan at
    all, "" for others. `at` is seconds since the epoch.
    """

    session: str
    turn: int
    at: float
    kind: str
    before: str
    after: str
    reason: str
    cause: str = ""


@dataclass(frozen=True)
class Why:
    """What is known of one entry. `standing` is how it stands in the chat: a level, "cleared" (dropped
    by /clear or by the host), "older session", or "unknown" where no chat is looked at.

    `priority` (0 to 100) and its `parts` are those of now, None outside its chat. `back` says what brings
    it back, `whole` how to see it.
    """

    entry_id: str
    session: str
    turn: int
    source: str
    cls: str
    tokens: int
    standing: str
    standing_tokens: int
    pinned: bool
    back: str
    whole: str
    changes: tuple[LevelChange, ...] = ()
    priority: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        value = asdict(self)
        value["class"] = value.pop("cls")
        return value


def full_id(store: Store, given: str, more_ids: Iterable[str] = ()) -> str:
    """The one id that begins with what was given, in the archive or among those known.

    Raises UsageError, saying what to do, when there is none or more than one.
    """
    wanted = given.strip().strip("[](){}<>`'\".,;:…").lower()
    if not wanted:
        raise UsageError("name the id of an entry, as it stands in notes and in what recall finds: g…")
    own = {stored_id for stored_id in more_ids if stored_id}
    if wanted in own:
        return wanted
    found = sorted({*store.resolve(wanted), *(each for each in own if each.startswith(wanted))})
    if not found:
        raise UsageError(f"no entry has the id {given.strip()}; notes and recall show the ids there are")
    if len(found) > 1:
        shown = ", ".join(found[:SHOWN_IDS]) + (" …" if len(found) > SHOWN_IDS else "")
        raise UsageError(f"{given.strip()} is the beginning of several ids ({shown}): type more of it")
    return found[0]


def stored(store: Store, given: str, entries_by_id: Mapping[str, Entry] | None = None) -> Entry:
    """The one entry whose id begins so, as `entries_by_id` has it, else as the archive has it. Raises
    UsageError."""
    found = full_id(store, given, entries_by_id or ())
    entry = (entries_by_id or {}).get(found) or store.get(found)
    if entry is None:  # forgotten in between
        raise UsageError(f"no entry has the id {given}; recall shows the ids there are")
    return entry


def newest_id(entries: Sequence[Entry], fits: Callable[[Entry], bool] = lambda _entry: True) -> str:
    """The id of the newest of these that somebody or something said and that `fits`. Raises UsageError."""
    ours = (SourceKind.NOTICE, SourceKind.STUB)
    for entry in reversed(entries):
        if entry.id and entry.source.kind not in ours and fits(entry):
            return entry.id
    raise UsageError("there is no such message in this chat yet")


def quoting(store: Store, ids: Sequence[str]) -> list[str]:
    """The ids of the notes of ours that quote one of these entries."""
    found: dict[str, None] = {}
    for stored_id in ids:
        evidence = store.evidence([stored_id])
        holding = store.quoted(evidence.chunks[evidence.has_word[0]].tolist())
        entries = store.get_many({each.entry_id: None for each in holding.values()})
        found |= {entry.id: None for entry in entries.values() if quotes(entry, stored_id)}
    return list(found)


def quotes(entry: Entry, stored_id: str) -> bool:
    if entry.source.kind is not SourceKind.STUB:
        return False
    return f"({stored_id})" in entry.content or f"[{stored_id}]" in entry.content


def source_words(store: Store, entry: Entry) -> str:
    """Where an entry came from, in words: "reply", "shell: pytest -q", or its host's name."""
    label = label_of(entry, host_of(store, entry.session))
    return f"{label}: {entry.source.detail}" if entry.source.detail else label


def changes_of(events: Iterable[Event], stored_id: str) -> tuple[LevelChange, ...]:
    """The changes of an entry's rendition that events tell of, oldest first. One that changed in several
    places of a chat alike has one."""
    found = []
    for event in events:
        swaps = event.data.get("swaps")
        for swap in swaps if isinstance(swaps, list) else []:
            if isinstance(swap, dict) and swap.get("entry_id") == stored_id:
                before, after, reason = (str(swap.get(key, "")) for key in ("before", "after", "reason"))
                what = (event.session, event.turn, event.at, event.kind, before, after, reason)
                found.append(LevelChange(*what, cause_words(event.data)))
    return tuple(dict.fromkeys(found))


def cause_words(data: Mapping[str, object]) -> str:
    """Why there was a plan at all: its reason, with what was measured and the mark that it was above."""
    reason, marks, used = str(data.get("reason", "")), data.get("marks"), data.get("tokens_before")
    passed = marks.get("passed") if isinstance(marks, dict) else None
    limit = marks.get(passed) if isinstance(marks, dict) and passed else None
    if not isinstance(limit, int) or not isinstance(used, int):
        return reason
    measured = f"history of {used:,} tokens above its {'hard ' if passed == 'hard' else ''}mark of {limit:,}"
    if reason.startswith(OVER_LIMIT):
        return measured + reason.removeprefix(OVER_LIMIT)
    return f"{reason}: {measured}"


def why_stored(store: Store, entry: Entry) -> Why:
    """What the archive alone knows of an entry, without its chat."""
    changes = changes_of(store.events(entry_id=entry.id), entry.id)
    own = [change for change in changes if change.session == entry.session]
    standing = own[-1].after if own else Level.FULL.value
    renditions = store.renditions(entry.id)
    tokens_at = {Level.FULL.value: entry.tokens, Level.HIDDEN.value: 0}
    tokens_at |= {level.value: rendition.tokens for level, rendition in renditions.items()}
    return Why(
        entry_id=entry.id,
        session=entry.session,
        turn=entry.turn,
        source=source_words(store, entry),
        cls=entry.cls.value,
        tokens=entry.tokens,
        standing=standing,
        standing_tokens=tokens_at.get(standing, entry.tokens),
        pinned=entry.pinned,
        back=f"/recall and /restore {entry.id} in a chat of this project reach it.",
        whole=f"gardener restore {entry.id} prints it.",
        changes=changes,
    )
