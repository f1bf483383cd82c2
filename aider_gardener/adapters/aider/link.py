"""What joins a coder and its gardener: finding or making it, and keeping lists and chat the same."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
import time
import weakref
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider.coder import HostCoder, Terminal
from aider_gardener.adapters.aider.layout import ANSWERS
from aider_gardener.adapters.aider.options import Origins, settings_given
from aider_gardener.adapters.aider.provider import (
    history_limit,
    listed_window,
    prices_of,
    provider_of,
    token_counter,
)
from aider_gardener.adapters.aider.wrappers import ATTRIBUTE, guard
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.phrases import chat_text
from aider_gardener.settings import OFF, Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState
    from aider_gardener.recall.backlog import Backlog

    Choose = Callable[[Settings, Store, str], str]
    """Gets the settings, the open archive and the project; returns the id of a session."""

# The core is imported when the first chat needs it: `aider-gardener --version` must not wait for it.


@dataclass
class Process:
    """What this process shares: the settings given to `install`, the backlogs of the open archives by
    directory, and each chat with the terminal that it may write to at the end and what ends its upkeep.
    `background` false: no thread, only `Gardener.idle` does it. `origins` is what is known of where settings
    came from; None where no command line was read."""

    settings: Settings | None = None
    archives: dict[str, Backlog] = field(default_factory=dict)
    chats: list[tuple[Gardener, object, Callable[[], None]]] = field(default_factory=list)
    background: bool = True
    origins: Origins | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self, directory: Path, project: str, settings: Settings) -> Backlog:
        """The archive of a directory, opened once, with what embeds its passages."""
        from aider_gardener.archive.store import open_store
        from aider_gardener.gardener.files import backlog_of

        with self.lock:
            if str(directory) not in self.archives:
                if not self.archives:
                    atexit.register(self.end)
                store = open_store(directory, key_source=settings.store_key)
                opened = backlog_of(store, project, settings, background=self.background)
                self.archives[str(directory)] = opened
            return self.archives[str(directory)]

    def sync_shared(self, gardener: Gardener) -> None:
        """Sync a shared project beside the chat if it is time to; only where it is known what the environment
        was before a repository's files could name a server."""
        from aider_gardener.archive.postgres.sync import sync_if_due

        archive = gardener.state.archive
        opened = self.archives.get(str(archive.store.directory))
        if self.origins is None or not self.background or opened is None:
            return
        sync_if_due(opened.store, archive.project, self.origins.environ)

    def end(self) -> None:
        """As the process ends: chats are reported, and what is open is closed, which makes an archive's copy
        of a session's end. A Ctrl-C meanwhile says what happens anyway; pressed twice it leaves the rest."""
        with suppress(KeyboardInterrupt), guard(None):
            for gardener, io, _stop in self.chats:
                with guard(None):
                    report_end(gardener, io)
            with guard(None):
                self.close()

    def close(self) -> None:
        """Stop and close all of it, and forget the settings."""
        with self.lock:
            for _gardener, _io, stop in self.chats:
                stop()
            for opened in self.archives.values():
                opened.stop()
                opened.store.close()
            self.chats, self.archives = [], {}
            self.settings = self.origins = None


state = Process()


# A coder's gardener


def gardener_of(coder: HostCoder, choose: Choose | None = None) -> Gardener | None:
    """The gardener of a coder's chat, made on first use; None when it is switched off or has failed. `choose`
    says which session a new chat goes on with, "" for one of its own."""
    if is_sub(coder):
        return None
    if ATTRIBUTE not in coder.__dict__:
        coder.__dict__[ATTRIBUTE] = None  # what fails now is not tried again
        coder.__dict__[ATTRIBUTE] = gardener = _make(coder, choose)
        if gardener is not None:
            bind(coder, gardener)
    found: Gardener | None = coder.__dict__.get(ATTRIBUTE)
    return found


def run(hook: Callable[..., object], coder: HostCoder, *args: object, **options: object) -> Any:
    """What a hook of ours makes of a coder, its gardener and the arguments; None where there is none or it
    failed."""
    with guard(coder):
        if (gardener := gardener_of(coder)) is not None:
            return hook(coder, gardener, *args, **options)
    return None


def run_begun(hook: Callable[..., Any], coder: HostCoder, *args: Any) -> Any:
    """The same in a chat that has begun: what aider does without one, as for --apply, makes no gardener."""
    with guard(coder):
        if (gardener := coder.__dict__.get(ATTRIBUTE)) is not None:
            return hook(coder, gardener, *args)
    return None


def is_sub(coder: HostCoder) -> bool:
    """Whether an aider with history providers has given the coder another one, as it does with helpers."""
    history = getattr(coder, "history", None)
    return not getattr(history, "is_gardener", history is None)


def acts(_coder: HostCoder, gardener: Gardener) -> bool | None:
    """True where aider's summary is not to be: prompts may be changed now, or one is only looked at."""
    return gardener.state.acts or gardener.state.is_preview or None


def runs(coder: HostCoder, gardener: Gardener) -> bool:
    """Whether it is the coder's gardener still: no fault has stopped it."""
    return coder.__dict__.get(ATTRIBUTE) is gardener


def _make(coder: HostCoder, choose: Choose | None) -> Gardener | None:
    """A gardener for a new chat, with its archive open; None when it is switched off."""
    try:
        settings = settings_of(coder)
    except UsageError as error:
        Terminal(coder.io).tool_warning(f"aider-gardener: {error}; it stays off in this chat")
        return None
    if not settings.enabled:
        return None
    from aider_gardener.archive.archive import Archive
    from aider_gardener.gardener.gardener import Gardener

    project = project_of(coder)
    directory = archive_directory(coder, settings)
    opened = state.open(directory, project, settings)
    if opened.store.notice:
        Terminal(coder.io).tool_warning(f"aider-gardener: {opened.store.notice}")
    session = (choose(settings, opened.store, project) if choose else "") or secrets.token_hex(8)
    archive = Archive(
        opened.store,
        session=session,
        project=project,
        count=token_counter(coder.main_model),
        clock=time.time,
        backlog=opened,
    )
    gardener = Gardener(settings, archive)
    if state.background:
        from aider_gardener.gardener import upkeep

        ask = partial(_ask_weak_model, gardener)
        state.chats.append((gardener, coder.io, upkeep.begin(gardener.state, ask)))
    return gardener


def settings_of(coder: HostCoder) -> Settings:
    """The settings of `install`, of the chat's history provider, or those of aider's command line, variables
    and their defaults; off for --show-prompts, in which nobody says anything. Raises UsageError."""
    args = getattr(getattr(coder, "commands", None), "args", None) or Namespace()
    if getattr(args, "show_prompts", False):
        return Settings(mode=OFF)
    chosen: Settings | None = state.settings or getattr(getattr(coder, "history", None), "settings", None)
    if chosen is not None:
        return chosen
    if state.origins is None or not vars(args):
        return settings_given(args, os.environ)
    return state.origins.settings(coder.io, args)


def project_of(coder: HostCoder) -> str:
    """The folder of the coder's project: without git aider's root is that of its files."""
    return str(coder.root if coder.repo else os.getcwd())


def archive_directory(coder: HostCoder, settings: Settings) -> Path:
    """Where the archive of the coder's chat belongs; nothing is made or touched."""
    from aider_gardener.archive.store.location import store_directory

    root = Path(coder.root) if getattr(coder, "repo", None) else None
    user = state.origins.user if state.origins else None  # before a repository's files could name another
    return store_directory(root, settings.store_path, user=user)


# Between turns and at the end


def report_end(gardener: Gardener, io: object) -> None:
    """Renew the index of the project's sessions and show the chat's report, where they are wanted."""
    from aider_gardener.gardener.files import renew_index
    from aider_gardener.gardener.stored_chat import sums_of

    archive = gardener.state.archive
    try:
        renew_index(archive.store, archive.project)
    except GardenerError as error:
        Terminal(io).tool_output(f"aider-gardener: the index of sessions is left as it is: {error}")
    sums = sums_of(gardener.state)
    if gardener.state.settings.has_status and sums.calls:
        Terminal(io).tool_output(f"aider-gardener: {chat_text(asdict(sums))}")


def _ask_weak_model(gardener: Gardener, prompt: str) -> str:
    """One call of the chat's weak model, without retries and without a word on the terminal. Raises
    GardenerError when the chat is over, else what the provider raises."""
    if (coder := coder_of(gardener)) is None:
        raise GardenerError("the chat is over")
    messages = [{"role": "user", "content": prompt}]
    _hash, response = coder.main_model.weak_model.send_completion(messages, None, False)
    return str(response.choices[0].message.content or "")


# The coder's lists and the chat


@dataclass(frozen=True)
class CoderHost:
    """The coder whose lists are the gardener's chat now; nothing happens when it is gone."""

    gardener: Gardener
    reference: weakref.ref[HostCoder]

    def sync(self) -> None:
        if (coder := self.reference()) is not None:
            sync(coder, self.gardener)

    def show(self) -> None:
        """In the same lists: after an /ask in a file of /load the coder before it goes on, with these."""
        if (coder := self.reference()) is not None:
            chat = self.gardener.state.chat
            coder.done_messages[:], coder.cur_messages[:] = chat.done, chat.cur


def bind(coder: HostCoder, gardener: Gardener) -> None:
    """Note that this coder's lists are the chat's now. aider makes a new coder for every /ask and mode
    switch; the old one keeps lists that nobody looks at any more. Only after an /ask in a file of /load aider
    goes on with the old one: what was asked in an empty chat is gone then."""
    mark = gardener.state.chat.mark
    if coder_of(gardener) is not coder and not any(
        getattr(message, "mark", None) is mark for message in (*coder.done_messages, *coder.cur_messages)
    ):
        gardener.empty()
    gardener.state.host = CoderHost(gardener, weakref.ref(coder))


def coder_of(gardener: Gardener) -> HostCoder | None:
    """The coder whose lists are the chat's; None when it is gone, and for a preview."""
    host = gardener.state.host
    return host.reference() if isinstance(host, CoderHost) else None


def is_bound(coder: HostCoder, gardener: Gardener) -> bool:
    """Whether this coder's lists are the chat's."""
    return gardener.state.host is None or coder_of(gardener) is coder


def sync(coder: HostCoder, gardener: Gardener) -> None:
    """Archive what is new in the coder's lists, if they are the chat's; an oversized output among it is cut
    at once."""
    if not is_bound(coder, gardener):
        return
    from aider_gardener.gardener.throttle import throttle_outputs

    refresh(coder, gardener)
    added = gardener.sync(coder.done_messages, coder.cur_messages)
    if cut := throttle_outputs(gardener.state, added):
        for line in dict.fromkeys(item.line() for item in cut):  # aider adds a test's output twice
            Terminal(coder.io).tool_output(f"aider-gardener: {line}")


def refresh(coder: HostCoder, gardener: Gardener) -> None:
    """Take over what may have changed in the host: the model, its window, the user's history limit."""
    state, model = gardener.state, coder.main_model
    state.host_limit, state.host_limit_given = history_limit(coder)
    state.only_answers = coder.edit_format in ANSWERS
    if state.frame.model != model.name:
        state.frame = replace(state.frame, model=model.name, window=listed_window(model))
        state.archive.count = token_counter(model, state.usage.factor(state.frame.model))
        state.archive.provider = provider_of(model)
        state.usage.prices = prices_of(coder)
        state.layout = replace(state.layout, head=())  # was made for the model before


@contextmanager
def preview(coder: HostCoder, gardener: Gardener, *_call: object, acts: bool = True) -> Iterator[ChatState]:
    """A context in which the coder makes prompts that are only looked at; gives the state that they make.
    Where that does not act they are aider's own."""
    lists = coder.done_messages, coder.cur_messages
    before = [list(messages) for messages in lists]
    try:
        with gardener.preview() as state:
            state.on = state.on and acts
            yield state
    finally:
        coder.done_messages, coder.cur_messages = lists
        for messages, copy in zip(lists, before, strict=True):
            messages[:] = copy


@contextmanager
def syncing(coder: HostCoder, gardener: Gardener, *_call: object) -> Iterator[None]:
    """A context after which what is new in the coder's lists is archived."""
    try:
        yield
    finally:
        if runs(coder, gardener):
            sync(coder, gardener)
