"""The gardener of an agent that keeps its chat as a list of messages: the list in, the prompt to send out."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from aider_gardener.adapters.plain.chat import IMAGE_TOKENS, AgentList
from aider_gardener.adapters.plain.reading import RESULT_ROLES, Item, Kind, as_mapping, items
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import PYTHON
from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.location import store_directory
from aider_gardener.compress.base import omitted
from aider_gardener.errors import UsageError, fault_log
from aider_gardener.gardener.files import backlog_of
from aider_gardener.gardener.gardener import Gardener as ChatGardener
from aider_gardener.gardener.stored_chat import save_measures
from aider_gardener.gardener.throttle import fit_open, throttle_outputs
from aider_gardener.messages import Entry, Level, Message, TokenCounter
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import note_rendition
from aider_gardener.plan.view import FILLER, Piece
from aider_gardener.recall.backlog import Backlog
from aider_gardener.settings import Settings
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS, approximate, default_counter, window_of

HISTORY_SHARE = 0.5
"""Share of the window that the history may have where no limit is set: instructions, tools, what is recalled
and the reply have the rest."""


class Gardener(ChatGardener, AbstractContextManager["Gardener"]):
    """A `Gardener` for any agent: `prompt` takes the agent's whole list and gives the messages to send.

    All else is the gardener of one chat: `recall`, `restore`, `forget`, `pin`, `why`, `pressure`, `plan`,
    `undo`. Make one with `open`; it is for one chat and one thread.
    """

    def __init__(self, settings: Settings, archive: Archive, *, window: int = 0, model: str = "") -> None:
        super().__init__(settings, archive)
        state = self.state
        state.on = settings.enabled
        state.frame = replace(state.frame, window=window, model=model)
        state.host_limit, state.host_limit_given = int(HISTORY_SHARE * window), True
        self._list, self._read = AgentList(), list[Item]()
        self._lock = threading.Lock()
        self._recalled: tuple[object, str] = (None, "")  # for which question and view, and the note
        self._sent: tuple[object, Chat | None, list[object]] = (None, None, [])  # for which list and chat

    @classmethod
    def open(
        cls,
        project: str | os.PathLike[str] = ".",
        *,
        window: int = 0,
        model: str = "",
        memory: bool = False,
        settings: Settings | None = None,
        count: TokenCounter | None = None,
        clock: Callable[[], float] = time.time,
        background: bool = True,
    ) -> Gardener:
        """A gardener for a new chat about the project in that folder; close it, or use it in a `with`.

        `window` is the most tokens of a prompt; without it that of the `model` by litellm's table. The
        archive is in `.aider.gardener` in the project, where `settings` name no other place; with `memory`
        it ends with the process. Without `settings` those of the AIDER_GARDENER variables hold. `count`
        counts the tokens of a text; without it they are counted where a `model` is named, else estimated.
        `clock` gives seconds since the epoch. Without `background` no thread is started, and only `idle`
        embeds what was said.

        Raises UsageError where project is no folder, or neither window nor `history_tokens` is known.
        """
        settings = settings if settings is not None else Settings.from_env()
        is_place = isinstance(project, str | bytes | os.PathLike)
        is_named = isinstance(model, str) and isinstance(settings, Settings)
        if not (is_place and is_named and isinstance(window, int | float)):
            takes = "window= takes a number of tokens, model= a name, settings= a Settings, project= a folder"
            raise UsageError(takes)
        if not callable(count or approximate):
            raise UsageError("count= takes a function that counts the tokens of a text")
        window = window or window_of(model)
        if window <= 0 and not settings.history_tokens:
            named = f"the window of {model} is not known" if model else "no window is given"
            raise UsageError(f"{named}; give window=, the most tokens of a prompt")
        root = os.path.realpath(os.fsdecode(project))
        if not os.path.isdir(root):
            raise UsageError(f"{root} is no folder; name that of the project")
        place = None if memory else store_directory(Path(root), settings.store_path)
        store = open_store(place, clock=clock, key_source=settings.store_key)
        if store.notice:
            fault_log().warning("aider-gardener: %s", store.notice)
        archive = Archive(
            store,
            session=secrets.token_hex(8),
            project=root,
            count=count or (default_counter() if model else approximate),
            clock=clock,
            backlog=backlog_of(store, root, settings, background=background),
            host=PYTHON,
        )
        return cls(settings, archive, window=window, model=model)

    def close(self) -> None:
        """Let go of the archive; what was said stays in it."""
        backlog = self.state.archive.backlog
        if isinstance(backlog, Backlog):
            backlog.stop()
        self.state.archive.store.close()

    def __exit__(self, *fault: object) -> None:
        self.close()

    def sync(self, done: Sequence[object], cur: Sequence[object]) -> NoReturn:
        """Not here: `prompt` takes the list in. Raises UsageError."""
        raise UsageError("this gardener takes the agent's whole list; call prompt(messages)")

    # The prompt

    def prompt(self, messages: Sequence[object], *, tools: Iterable[object] | None = None) -> list[Any]:
        """The messages to send in place of the agent's own list, which stays as it is.

        As long as they fit the budget these are all of its messages. What no longer stands is in the archive;
        notes say what it came to, and what the last question needs of it comes back for this one prompt.
        The list is handed over whole each time: it grows, or what the agent took out is gone. `tools` are
        the schemas sent along, to be counted. A fault of ours costs one line in the log; the list is
        returned then.

        Raises UsageError for what is no list of messages with roles and JSON content, or of schemas.
        """
        read = self._read = items(messages, self._read)
        if isinstance(tools, str | bytes) or not isinstance(tools or (), Iterable):
            raise UsageError(f"prompt() takes tools= as a list of schemas, not {type(tools).__name__}")
        try:
            with self._lock:
                return self._prompt(messages, read, [*(tools or ())]) if self.state.on else list(messages)
        except Exception as error:  # reason: whatever fails in here, the agent goes on with its own list
            fault_log().warning("aider-gardener: this prompt is sent as it is (%s)", type(error).__name__)
            fault_log().debug("the fault", exc_info=error)
            return list(messages)

    def _prompt(self, own: Sequence[object], read: Sequence[Item], tools: Sequence[object]) -> list[object]:
        state = self.state
        asked = ([item.key for item in read], repr(tools), state.amendments, state.acts)
        if self._sent[0] == asked and self._sent[1] is state.chat:
            return list(self._sent[2])  # the same again, as where a call is tried once more
        head = next((at for at, item in enumerate(read) if item.kind is not Kind.FIXED), len(read))
        parts = {
            "system": sum(
                state.count(item.message.content) + MESSAGE_OVERHEAD_TOKENS for item in read[:head]
            ),
            "tools": sum(state.count(json.dumps(tool, default=str)) for tool in tools),
        }
        instructions = "\n".join(item.message.content for item in read[:head])
        self._measure(parts)
        with state.timed():  # archive what is new
            self._list, chat, added = self._list.sync(
                state.chat, read[head:], self._admit, state.archive.text
            )
            self.replace_chat(chat)
        throttle_outputs(state, added)
        if self.compact_if_due():
            self.map_note(lambda: instructions)
            self._measure(parts)
        cut = fit_open(state) if state.acts else []
        if images := sum(self._list.items[one.entry.seq].images for one in cut):
            line = "aider-gardener: %d parts that are no text have no room (%d tokens each) and are left out"
            fault_log().warning(line, images, IMAGE_TOKENS)
        shown = self._shown(own[head:])
        if state.acts:
            shown = self._with_notes(shown, instructions)
        state.embed_if_soon()
        if notice := state.archive.take_notice():
            fault_log().warning("aider-gardener: %s", notice)
        save_measures(state)
        self._sent = asked, state.chat, [*own[:head], *shown]
        return list(self._sent[2])

    def _measure(self, parts: Mapping[str, int]) -> None:
        """Take over the tokens of what the agent puts around its list, and of the note as it is now."""
        state = self.state
        state.frame = replace(state.frame, parts={**parts, "notes": state.note.tokens})

    def _admit(self, item: Item, chat: Chat, message: Message) -> Entry:
        """A new message as an entry: with the tokens of what in it is no text, which its short form leaves
        out."""
        archive, entry = self.state.archive, self.admit(chat, message, item.source)
        if item.images and Level.COMPRESSED not in archive.renditions(entry):
            marker = omitted("what is no text left out", entry.id)
            text = f"{archive.without_secrets(entry).content}\n{marker}"
            archive.put_rendition(entry, note_rendition(entry, Level.COMPRESSED, text, self.state.count))
        return replace(entry, tokens=entry.tokens + IMAGE_TOKENS * item.images)

    def _shown(self, own: Sequence[object]) -> list[object]:
        """What is shown, as messages to send: those that are whole are the agent's own."""
        chat = self.state.chat
        originals = dict(zip(chat.order, own, strict=True))

        def message(piece: Piece) -> object:
            if piece.is_note or len(piece.levels) != 1:
                return dict(piece)
            (seq,) = piece.levels
            given = originals[seq]
            return {**as_mapping(given), "content": piece.content} if seq in chat.levels else given

        return [message(piece) for piece in chat.cur]

    def _with_notes(self, shown: list[object], instructions: str) -> list[object]:
        """The messages with what is settled before them and what is recalled before the last question."""
        map_note = self.map_note(lambda: instructions)
        asked = self._list.question(self.state.chat)
        if asked is not None:
            shown_at = (at for at, piece in enumerate(self.state.chat.cur) if [*piece.levels] == [asked.seq])
            before, after = shown[: (at := next(shown_at, 0))], shown[at:]
            recalled = self._recall(asked, f"{instructions}\n{map_note}")
            shown = [*before, *noted(recalled, before, after), *after]
        return [*noted(map_note, [], shown), *shown]

    def _recall(self, asked: Entry, in_prompt: str) -> str:
        """What is recalled for a question: the same in every prompt of its turn until the view is changed, so
        that the provider's cache holds it."""
        state, chat = self.state, self.state.chat
        key = (asked.seq, chat.floor, len(chat.forgotten), len(chat.removed), state.plans[-1:])
        if key != self._recalled[0]:
            self._recalled = key, self.recall_note(asked.content, in_prompt)
        return self._recalled[1]


def noted(text: str, before: Sequence[object], after: Sequence[Any]) -> list[dict[str, str]]:
    """A note as the messages that make it fit between others; none for an empty one."""
    around = [*before[-1:], *after[:1]]
    roles = [str(each["role"] if isinstance(each, Mapping) else each.role) for each in around]
    filler = {"role": "assistant", "content": FILLER}
    first = [filler] if before and roles[0] in RESULT_ROLES | {"user"} else []
    last = [filler] if not after or roles[-1] != "assistant" else []
    return [*first, {"role": "user", "content": text}, *last] if text else []
