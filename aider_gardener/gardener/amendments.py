"""Rules changed by hand: added, edited and dropped in the list, kept in the archive with the session."""

from __future__ import annotations

from dataclasses import asdict, replace

from aider_gardener.archive.store.base import Store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.state import ChatState
from aider_gardener.notes.chatmap import RULES_HEAD, RULES_SHARE, past
from aider_gardener.notes.rules import RULE_CHARS, Amendment, Constraint, line, rules_of
from aider_gardener.reading.output import clipped

EVENT = "rule"


def rules(state: ChatState) -> list[Constraint]:
    """The rules that the user set in this chat and that still hold, oldest first, with what was changed by
    hand."""
    return rules_of(past(state.chat), since_clear(state))


def since_clear(state: ChatState) -> list[Amendment]:
    """The changes by hand since the chat was cleared: like what was typed before, older ones are gone. The
    rules that the user took for every chat of the project come first."""
    floor = state.chat.floor
    taken = [Amendment("", text, 1, floor - 1, floor) for text in state.taken]
    return [*taken, *(change for change in state.amendments if change.floor == floor)]


def add(state: ChatState, text: str) -> Constraint:
    """Set a rule by hand: it stands in every prompt from now on. Raises UsageError for no text, and for that
    of a rule that holds."""
    _change(state, "", _checked(state, text))
    return rules(state)[-1]


def edit(state: ChatState, number: int, text: str) -> Constraint:
    """Put another text in place of a rule of the list, which counts from 1; it keeps its place. Raises
    UsageError."""
    old, wanted = _numbered(state, number), _checked(state, text)
    _change(state, old.text, wanted)
    return replace(old, text=wanted, turn=state.chat.turn)


def drop(state: ChatState, number: int) -> Constraint:
    """Take a rule from the list, which counts from 1: it is the user's no more. Raises UsageError."""
    old = _numbered(state, number)
    _change(state, old.text, "")
    return old


def _numbered(state: ChatState, number: int) -> Constraint:
    held = rules(state)
    if 0 < number <= len(held):
        return held[number - 1]
    have = f"the rules are numbered from 1 to {len(held)}" if held else "no rules were set in this chat"
    raise UsageError(f"there is no rule {number}: {have}")


def _checked(state: ChatState, text: str) -> str:
    """A text as it stands in the list."""
    wanted, texts = clipped(text, RULE_CHARS), [rule.text for rule in rules(state)]
    if not wanted:
        raise UsageError("say what the rule is")
    if wanted in texts:
        raise UsageError(f"that is rule {texts.index(wanted) + 1} already")
    return wanted


def _change(state: ChatState, old: str, text: str) -> None:
    chat = state.chat
    made = Amendment(old, text, max(chat.turn, 1), chat.next_seq - 1, chat.floor)
    state.amendments = (*state.amendments, made)
    state.event(EVENT, **asdict(made))


def kept(store: Store, session: str) -> list[Amendment]:
    """What was changed by hand in a session, oldest first."""
    names = Amendment.__dataclass_fields__
    rows = ({n: v for n, v in event.data.items() if n in names} for event in store.events(session, EVENT))
    return [Amendment(**row) for row in rows if len(row) == len(names)]  # type: ignore[arg-type]  # reason: read from JSON


def has_room(state: ChatState, rule: Constraint) -> bool:
    """Whether what rules may use of a prompt has room for this one."""
    room = int(RULES_SHARE * state.budget)
    return state.count(f"{RULES_HEAD}\n{line(rule)}") + 1 <= room
