"""The gardener of an agent that keeps its chat as a list of messages: the list in, the prompt to send out."""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from aider_gardener.adapters.aider.embedding import loading
from aider_gardener.adapters.plain.chat import AgentList
from aider_gardener.adapters.plain.model import counter_for, window_of
from aider_gardener.adapters.plain.reading import Item, Kind, as_mappings, items, text_of
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store, store_directory
from aider_gardener.archive.store.base import Store
from aider_gardener.archive.store.location import chosen_directory
from aider_gardener.errors import UsageError
from aider_gardener.gardener.files import keep_to_policy_and_renew
from aider_gardener.gardener.gardener import Gardener as ChatGardener
from aider_gardener.gardener.state import ChatState
from aider_gardener.gardener.throttle import throttle_open, throttle_outputs
from aider_gardener.messages import Entry, TokenCounter
from aider_gardener.plan.chat import Admit
from aider_gardener.plan.goals import HARD_AT
from aider_gardener.plan.planner import open_tokens
from aider_gardener.plan.view import FILLER, Piece
from aider_gardener.recall.backlog import Backlog
from aider_gardener.settings import Settings
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

HISTORY_SHARE = 0.5
"""Share of the window that the history may have where no limit is set: instructions, tools, what is recalled
and the reply have the rest."""
IMAGE_TOKENS = 1_100
"""What a part that is no text counts as: about what OpenAI charges for a large image in high detail."""
SOON_SHARE = 0.5
"""Where the history has this share of its budget, what no longer stands will be asked for before long."""

log = logging.getLogger("aider_gardener")


class Gardener(ChatGardener):
    """A `Gardener` for any agent: `prompt` takes the agent's whole list and gives the messages to send.

    All else is the gardener of one chat: `recall`, `restore`, `forget`, `pin`, `why`, `pressure`, `plan`,
    `compact`, `undo`. Make one with `open`; it is for one chat and one thread.
    """

    def __init__(self, settings: Settings, archive: Archive, *, window: int = 0, model: str = "") -> None:
        super().__init__(settings, archive)
        state = self.state
        self._list = AgentList()
        state.on = settings.enabled
        state.frame = replace(state.frame, window=window, model=model)
        state.host_limit, state.host_limit_given = int(HISTORY_SHARE * window), True
        self._asked: object = None
        self._recalled = ""
        self._sent: tuple[object, list[Any]] = (None, [])  # for which list, and its places or our messages

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

        Raises UsageError where the window is unknown and the settings give no `history_tokens` either.
        """
        settings = settings if settings is not None else Settings.from_env()
        window = window or window_of(model)
        if window <= 0 and not settings.history_tokens:
            named = f"the window of {model} is not known" if model else "no window is given"
            raise UsageError(f"{named}; give window=, the most tokens of a prompt")
        root = os.path.realpath(project)
        place = settings.store_path
        chosen = chosen_directory(place) if place else store_directory(Path(root))
        store = open_store(None if memory else chosen, clock=clock, key_source=settings.store_key)
        archive = Archive(
            store,
            session=secrets.token_hex(8),
            project=root,
            count=count or counter_for(model),
            clock=clock,
            backlog=backlog_of(store, root, settings, background=background),
        )
        return cls(settings, archive, window=window, model=model)

    def close(self) -> None:
        """Let go of the archive; what was said stays in it."""
        backlog = self.state.archive.backlog
        if isinstance(backlog, Backlog):
            backlog.stop()
        self.state.archive.store.close()

    def __enter__(self) -> Gardener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def sync(self, done: Sequence[Any], cur: Sequence[Any]) -> NoReturn:
        """Not here: `prompt` takes the list in. Raises UsageError."""
        raise UsageError("this gardener takes the agent's whole list; call prompt(messages)")

    @contextmanager
    def preview(self) -> Iterator[ChatState]:
        own = self._list, self._asked, self._recalled, self._sent
        with super().preview() as state:
            try:
                yield state
            finally:
                self._list, self._asked, self._recalled, self._sent = own

    # The prompt

    def prompt(self, messages: Sequence[Any], *, tools: Iterable[Any] = ()) -> list[Any]:
        """The messages to send in place of the agent's own list, which stays as it is.

        As long as they fit the budget that is the list itself. What no longer stands is in the archive;
        notes say what it came to, and what the last question needs of it comes back for this one prompt.
        The list is handed over whole each time: it grows, or what the agent took out is gone. `tools` are
        the schemas sent along, to be counted. A fault of ours costs one line in the log; the list is
        returned then.

        Raises UsageError for what is no list of messages with roles and JSON content.
        """
        given = as_mappings(messages)
        read = items(given)
        try:
            return self._prompt(list(messages), given, read, list(tools)) if self.state.on else list(messages)
        except Exception as error:  # reason: whatever fails in here, the agent goes on with its own list
            log.warning("aider-gardener: this prompt is sent as it is (%s)", type(error).__name__)
            log.debug("the fault", exc_info=error)
            return list(messages)

    def _prompt(
        self, own: list[Any], given: Sequence[Mapping[str, Any]], read: Sequence[Item], tools: Sequence[Any]
    ) -> list[Any]:
        state = self.state
        asked = ([item.key for item in read], repr(tools))
        if self._sent[0] == (asked, self._view()):
            return [own[part] if isinstance(part, int) else part for part in self._sent[1]]
        head = next((at for at, item in enumerate(read) if item.kind is not Kind.FIXED), len(read))
        self._frame(read, head, tools)
        throttle_outputs(state, self._take_in(read[head:]))
        self._measure_open()
        self._measure_images()
        self.compact_if_due()
        self._fit_open()
        self._measure_images()
        shown = self._shown(own[head:], given[head:])
        if state.acts:
            shown = self._with_notes(shown, "\n".join(map(text_of, given[:head])))
        self._rest()
        sent = [*own[:head], *shown]
        places = {id(message): at for at, message in enumerate(own)}
        self._sent = (asked, self._view()), [places.get(id(message), message) for message in sent]
        return sent

    def _view(self) -> object:
        """What changes the prompt of one and the same list: what the user decided since."""
        state, chat = self.state, self.state.chat
        decided = (dict(chat.fidelity), len(chat.forgotten), state.amendments, state.acts)
        return (*decided, chat.floor, chat.next_seq)

    def _frame(self, read: Sequence[Item], head: int, tools: Sequence[Any]) -> None:
        """Take the measure of what stands beside the history."""
        state = self.state
        parts = {
            "system": sum(
                state.count(item.message.content) + MESSAGE_OVERHEAD_TOKENS for item in read[:head]
            ),
            "tools": sum(state.count(json.dumps(tool, default=str)) for tool in tools),
            "notes": state.note.tokens,
        }
        state.frame = replace(state.frame, parts={name: tokens for name, tokens in parts.items() if tokens})

    def _measure_images(self) -> None:
        """Count the images of the messages that stand whole."""
        state, held = self.state, self._list
        images = sum(held.items[seq].images for seq in held.seqs if seq not in state.chat.fidelity)
        parts = {**state.frame.parts, "images": IMAGE_TOKENS * images}
        state.frame = replace(state.frame, parts=parts)

    def _take_in(self, read: Sequence[Item]) -> list[Entry]:
        """Archive what is new in the list; returns its entries."""
        state = self.state

        def admit_as(item: Item) -> Admit:
            return lambda chat, message: self.admit(chat, message, item.source)

        with state.timed():
            self._list, chat, added = self._list.sync(state.chat, read, admit_as, state.archive.text)
            self.replace_chat(chat)
            return added

    def _measure_open(self) -> None:
        """Note what waits for an answer. Of more than half the window only that much counts: rather than let
        one message push out the whole history, the message itself is cut."""
        state, window = self.state, self.state.frame.window
        tokens = open_tokens(state.chat, state.count)
        current = min(tokens, window // 2) if window else tokens
        state.frame = replace(state.frame, parts={**state.frame.parts, "current": current})

    def _fit_open(self) -> None:
        """Cut what waits for an answer where the prompt could not be sent otherwise."""
        state = self.state
        if not state.acts or not state.frame.window:
            return
        left = int(HARD_AT * state.frame.window) - state.frame.around - state.history_used
        if 0 < left < open_tokens(state.chat, state.count):
            throttle_open(state, left)

    def _shown(self, own: Sequence[Any], given: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What stands, as the agent's messages: those that are whole are its own."""
        chat = self.state.chat
        places = {seq: at for at, seq in enumerate(chat.order)}

        def message(piece: Piece) -> Any:
            if piece.is_note or len(piece.levels) != 1:
                return dict(piece)
            (seq,) = piece.levels
            at = places[seq]
            return own[at] if seq not in chat.fidelity else {**given[at], "content": piece.content}

        return [message(piece) for piece in chat.cur]

    def _with_notes(self, shown: list[Any], instructions: str) -> list[Any]:
        """The messages with what is settled before them and what is recalled before the last question."""
        settled = self.map_note(lambda: instructions)
        asked = self._list.question(self.state.chat)
        if asked is not None:
            shown_at = (at for at, piece in enumerate(self.state.chat.cur) if [*piece.levels] == [asked.seq])
            at = next(shown_at, 0)
            recalled = self._recall_once(asked, f"{instructions}\n{settled}")
            shown = [*shown[:at], *noted(recalled, shown[at - 1 : at] if at else [], shown[at:]), *shown[at:]]
        return [*noted(settled, [], shown), *shown]

    def _recall_once(self, asked: Entry, standing: str) -> str:
        """What is recalled for a question: the same in every prompt of its turn until the view is changed, so
        that the provider's cache holds it."""
        state, chat = self.state, self.state.chat
        key = (asked.seq, chat.floor, len(chat.forgotten), len(chat.gone), state.plans[-1:])
        if key != self._asked:
            self._recalled = self.recall_note(asked.content, standing)
            self._asked = key
        return self._recalled

    def _rest(self) -> None:
        """After a prompt: what no longer stands is embedded if it may be asked for."""
        state = self.state
        backlog = state.archive.backlog
        if backlog and state.history_used >= SOON_SHARE * state.budget:
            backlog.want()
        if notice := self.take_notice():
            log.warning("aider-gardener: %s", notice)


def backlog_of(store: Store, project: str, settings: Settings, *, background: bool) -> Backlog:
    """What embeds the passages of the archive between prompts."""
    backlog = Backlog(
        store,
        load=loading(settings.embedder),
        background=background,
        eager=False,
        upkeep=lambda: keep_to_policy_and_renew(store, project, settings),
    )
    backlog.resume()
    return backlog


def role_of(message: Any) -> str:
    """The role of a message, which may be an object."""
    return str(message["role"] if isinstance(message, Mapping) else message.role)


def noted(text: str, before: Sequence[Any], after: Sequence[Any]) -> list[dict[str, str]]:
    """A note as the messages that make it fit between others; none for an empty one."""
    if not text:
        return []
    filler = {"role": "assistant", "content": FILLER}
    first = [filler] if any(role_of(message) in ("user", "tool") for message in before) else []
    last = [filler] if not after or role_of(after[0]) != "assistant" else []
    return [*first, {"role": "user", "content": text}, *last]
