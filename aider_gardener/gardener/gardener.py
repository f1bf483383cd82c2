"""The facade: one chat's whole flow, in order. Adapters hold one `Gardener` for each chat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import update_wrapper
from inspect import signature
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar

from aider_gardener.archive.archive import Archive
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.gardener import care, compactions, report, stored_chat
from aider_gardener.gardener.observations import taken_rules
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import ContentClass, Entry
from aider_gardener.notes.chatmap import MapNote, past
from aider_gardener.notes.last_chat import LastTime, edited_files, last_time
from aider_gardener.notes.rules import Decision, decided
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import has_edit, outcome
from aider_gardener.reading.source import BY_EDITOR
from aider_gardener.recall.recall import EDIT_UNDONE, MARGIN_TOKENS, NOTE_HEAD, Recalled, recall_counted
from aider_gardener.recall.request import ORDINARY_SHARE, Request, asks
from aider_gardener.settings import Settings

ACCOUNT_SHARE, LEAST_ACCOUNT_TOKENS = 0.3, 240
"""The part of the high mark that the account of the last chat may take, and what it needs to say anything."""

NOT_RECALLED = "not recalled"
"""The event that tells of a question that got no note: whether all of the chat stands in the prompt, and the
tokens of room for one. Where there was something to find, and room, nothing fitted."""

KINDS = {"str": (str, "text"), "int": (int, "a whole number")}
"""The arguments that are checked, by their annotation, and what each is called."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _of_state(
    step: Callable[Concatenate[ChatState, Given], Result],
) -> Callable[Concatenate[Gardener, Given], Result]:
    """A step on a chat's state as a method of its gardener, which raises UsageError for what is neither text
    nor a whole number where the step takes one."""
    takes = signature(step)
    kinds = {
        name: KINDS[each.annotation] for name, each in takes.parameters.items() if each.annotation in KINDS
    }

    def method(self: Gardener, /, *args: Given.args, **options: Given.kwargs) -> Result:
        for name, value in takes.bind(self.state, *args, **options).arguments.items():
            if name in kinds and not isinstance(value, kinds[name][0]):
                expected = f"{name}= as {kinds[name][1]}, not {type(value).__name__}"
                raise UsageError(f"{step.__name__}() takes {expected}")
        return step(self.state, *args, **options)

    update_wrapper(method, step)
    return method


class Gardener:
    """Memory of one chat. Lists go in as messages and come out as the messages to show instead.

    `state` is all that is known of the chat. An entry's id may be given by its beginning.
    """

    def __init__(self, settings: Settings, archive: Archive) -> None:
        self.state = ChatState.new(settings, archive)
        self.state.chat = Chat(hint=care.HINT if settings.ask_for_originals else "")
        with suppress(StoreError):
            self.state.taken = taken_rules(archive.store, archive.project)

    # What enters

    admit = _of_state(ChatState.admit)
    add_note = _of_state(ChatState.add_note)
    go_on = _of_state(stored_chat.go_on)

    def enter_turn(self, typed: str = "") -> bool:
        """The user entered something: unless a turn is going on, one is due (and True returned). It counts
        once something enters the chat or a prompt is sent, so that a command that only looks ages nothing.

        A message of just the `typed` words is the user's, however it begins."""
        state = self.state
        state.turns_open += 1
        is_due = state.turns_open == 1
        due, handed = state.chat.turn_due or is_due, "" if is_due else state.chat.handed
        state.chat = replace(state.chat, typed=typed, turn_due=due, handed=handed)
        state.given = {} if is_due else state.given
        return is_due

    def leave_turn(self) -> None:
        """What the user entered has been dealt with."""
        state = self.state
        state.turns_open = max(0, state.turns_open - 1)
        if (state.frame.parts or state.frame.window) and not state.busy:
            stored_chat.save_measures(state)

    def sync(self, done: list[dict[str, Any]], cur: list[dict[str, Any]]) -> list[Entry]:
        """Archive every message that is new in the host's two lists, and mark it there; returns their
        entries."""
        with self.state.timed():
            chat, added = self.state.chat.sync((done, cur), self.state.admit)
            self.replace_chat(chat)
            return added

    def replace_chat(self, chat: Chat) -> None:
        """Put the chat as its host holds it now in the place of what was known of it."""
        state, before = self.state, self.state.chat
        state.chat = chat
        state.archive.set_active(before, chat)
        if chat.floor != before.floor:
            state.event("clear", floor=chat.floor)
        state.archive.add_again(chat.entries.values())

    def clear(self) -> None:
        """Note that the user cleared the chat: nothing older comes back unless asked for."""
        self.state.chat, self.state.note = self.state.chat.cleared(), MapNote()
        self.state.event("clear", floor=self.state.chat.floor)

    def empty(self) -> None:
        """Note that nothing of the chat is left in the host's lists, though the user cleared nothing: what
        was said may come back, and rules that were set hold."""
        chat = self.state.chat
        if chat.pieces:
            self.replace_chat(replace(chat.cleared(), floor=chat.floor))

    def edit_undone(self, commit: str) -> None:
        """Note that the user undid a commit: where the edit that it was made of is shown in a note, the note
        says so at once. A commit of the linter's or of an editor's has no edit in the chat: where none names
        the commit, it is that of the newest reply if an architect's editor carried that out."""
        state = self.state
        state.sync_host()
        before = state.chat.undone
        standing = [
            (entry, after)
            for entry, after in pairwise(state.chat.all_entries())
            if has_edit(entry) and entry.seq not in before
        ]
        named = [entry for entry, after in standing if f"git hash {commit[:7]} " in after.content]
        newest = [entry for entry, after in standing[-1:] if after.content == BY_EDITOR]
        for entry in named or newest:
            self._note_undone(entry, [])
        if state.chat.undone is not before:
            state.chat = state.chat.shown_at(state.chat.levels, state.archive.text)
            state.show()

    def note_edit(self, files: Collection[str]) -> None:
        """Note that the host made the edit of the newest reply in these files. Where there are none, or fewer
        than the reply has, the user declined the others."""
        for entry in self.state.chat.all_entries()[-1:]:
            if has_edit(entry) and (not files or len(files) < len(edited_files([entry]))):
                self._note_undone(entry, sorted(files))

    def _note_undone(self, entry: Entry, files: list[str]) -> None:
        self.state.chat = replace(
            self.state.chat, undone={**self.state.chat.undone, entry.seq: outcome(files)}
        )
        self.state.event(EDIT_UNDONE, entry_id=entry.id, made=files)

    def idle(self) -> int:
        """Work off what is left to embed, now and in this thread; returns how many passages that were.

        Between turns a thread does it by itself; a replay, which has no time between turns, calls this.
        """
        backlog = self.state.archive.backlog
        return backlog.drain() if backlog else 0

    @contextmanager
    def preview(self) -> Iterator[ChatState]:
        """A context in which prompts are computed and nothing is kept of them: chat, archive and times are
        as before when it ends. Gives the state of the prompts made in it."""
        before = dict(vars(self))
        self.state = self.state.unwritten()
        try:
            yield self.state
        finally:
            vars(self).update(before)

    # How it stands

    compact_if_due = _of_state(compactions.compact_if_due)
    compact_after_rejection = _of_state(compactions.compact_after_rejection)
    plan = _of_state(compactions.plan)
    undo = _of_state(compactions.undo)
    give_back = _of_state(compactions.give_back)
    why = _of_state(care.why)
    pin = _of_state(care.pin)
    restore = _of_state(care.restore)
    expire = _of_state(care.expire)
    forget = _of_state(care.forget)
    forget_session = _of_state(care.forget_session)
    pressure = _of_state(report.pressure_report)
    status = _of_state(report.status_record)

    # What comes back, and what is settled

    answer = _of_state(care.answer)
    constraints = _of_state(care.rules)
    add_rule = _of_state(care.add_rule)
    edit_rule = _of_state(care.edit_rule)
    drop_rule = _of_state(care.drop_rule)

    def recall(
        self,
        query: str,
        *,
        token_limit: int = 1_000,
        limit: int = 0,
        classes: Iterable[str] = (),
        full: bool = False,
    ) -> list[Recalled]:
        """Passages of originals that fit the question best, within a token budget, best first.

        It reaches what was cleared and older sessions of the project too. A hit counts as an access.
        At most `limit` passages come (0: as many as fit), of messages of these `classes` (none: all). `full`
        gives whole originals where they fit. Raises UsageError for arguments of other types.
        """
        if not (isinstance(query, str) and isinstance(token_limit, int) and isinstance(limit, int)):
            raise UsageError("recall() takes a question in words, token_limit= and limit= as whole numbers")
        try:
            among = frozenset(map(ContentClass, classes))
        except (TypeError, ValueError):
            classes_there = ", ".join(each.value for each in ContentClass)
            raise UsageError(f"recall() takes classes= as a list of these: {classes_there}") from None
        wanted = Request(query, token_limit, full, classes=among, passages=limit)
        return recall_counted(self.state.archive, self.state.chat, wanted)

    def recall_note(self, question: str, prompt_text: str) -> str:
        """What is recalled for the prompt that asks `question`, as one note; "" when nothing fits.

        `prompt_text` is that of the files in the chat: what stands there is not recalled. Where a question
        that asks for the past gets no note an event says why.
        """
        state = self.state
        if not state.acts or not question.strip():
            return ""
        is_asked = asks(question)
        budget = min(int(state.recall_budget * (1 if is_asked else ORDINARY_SHARE)), state.room)
        room_tokens = budget - MARGIN_TOKENS - state.count(NOTE_HEAD)
        note, is_all_in_prompt = "", not (state.chat.levels or state.settings.recall_sessions)
        if room_tokens > 0 and not is_all_in_prompt:
            with state.timed():
                request = Request(
                    question,
                    token_limit=room_tokens,
                    floor=state.chat.floor,
                    unasked=True,
                    prompt_text=prompt_text,
                    older=state.settings.recall_sessions,
                    order=not is_asked,
                    files=frozenset(state.frame.files),
                )
                state.recalled = state.recalled.renewed(state.archive, state.chat, request)
                note = state.recalled.text
        if not note and is_asked:
            state.event(NOT_RECALLED, all_stands=is_all_in_prompt, room=max(0, room_tokens))
        return note

    def map_note(self, around: Callable[[], str]) -> str:
        """Rules, summary and chat map as one note before the history; "" while all stands in full.

        It stays the same until the view changes. `around` gives the text of the prompt beside the
        history: what stands there is not named. At HARD pressure only the rules are noted.
        """
        state = self.state
        if not state.acts:
            return ""
        with state.timed():
            state.note = state.note.renewed(
                state.archive,
                state.chat,
                state.budget,
                around=around,
                amendments=care.amendments(state),
                plans=state.plans,
                rolls=bool(state.settings.incremental),
                rules_only=state.is_hard,
            )
            return state.note.text

    def decisions(self) -> list[Decision]:
        """What was decided or rejected in this chat, oldest first."""
        return decided(past(self.state.chat))

    def last_time(self) -> LastTime | None:
        """A short account of the last chat in this project, within the recall budget; None without one.

        It takes a small part of what the history may use, or the first exchanges would push it out.
        """
        state = self.state
        most = max(LEAST_ACCOUNT_TOKENS, int(ACCOUNT_SHARE * compactions.goal_of(state).high))
        return last_time(state.archive, token_limit=min(state.recall_budget, most))
