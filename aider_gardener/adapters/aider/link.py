"""What joins a coder and its gardener: finding or making it, lists to messages and back."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import threading
import time
import weakref
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCoder
from aider_gardener.adapters.aider.guard import ATTRIBUTE, Guard
from aider_gardener.adapters.aider.provider import history_limit, provider_of, token_counter
from aider_gardener.errors import UsageError
from aider_gardener.settings import RETIRED, SWITCH, Settings, variable

if TYPE_CHECKING:
    from aider_gardener.adapters.aider.origins import Origins
    from aider_gardener.archive.shared.background import BackgroundSync
    from aider_gardener.archive.store.base import Store
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState
    from aider_gardener.gardener.upkeep import Upkeep
    from aider_gardener.recall.backlog import Backlog
    from aider_gardener.recall.embed import Load

# The core is imported when the first chat needs it: `aider-gardener --version` must not wait for it.

log = logging.getLogger("aider_gardener")

REMOTE = "aider-gardener: {model} gets every passage and question over the network, secrets taken out."
SUB_CODER = "_gardener_sub_coder"


@dataclass
class State:
    """What this process shares: the settings given to `install`, and one open archive a directory with
    the backlog that embeds its passages. `background` false: no thread, only `Gardener.idle` does it.
    `loading` makes what loads the embedder of a name; None: `embedding.loading`. `origins` is what is known
    of where settings came from; None where no command line was read."""

    settings: Settings | None = None
    stores: dict[str, Store] = field(default_factory=dict)
    backlogs: dict[str, Backlog] = field(default_factory=dict)
    upkeeps: list[Upkeep] = field(default_factory=list)
    syncs: dict[tuple[str, str], BackgroundSync] = field(default_factory=dict)
    background: bool = True
    loading: Callable[[str], Load | None] | None = None
    origins: Origins | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def store(self, directory: Path | None, key_source: str = "") -> Store:
        """The archive of a directory, opened once."""
        with self.lock:
            key = str(directory)
            if key not in self.stores:
                from aider_gardener.archive.store import open_store

                if not self.stores:
                    atexit.register(self.close_at_exit)
                self.stores[key] = open_store(directory, key_source=key_source, user=self.user)
            return self.stores[key]

    @property
    def user(self) -> Path | None:
        """The folder of the user's data, as it was before a repository's files could name another."""
        return self.origins.user if self.origins is not None else None

    def backlog(self, directory: Path | None, session: str, project: str, settings: Settings) -> Backlog:
        """What embeds the passages of that archive, the given session's first."""
        from aider_gardener.adapters.aider.embedding import loading
        from aider_gardener.recall.backlog import Backlog

        def upkeep() -> str:
            from aider_gardener.gardener.files import keep_to_policy_and_renew

            return keep_to_policy_and_renew(store, project, settings)

        with self.lock:
            key = str(directory)
            if key not in self.backlogs:
                store = self.store(directory)
                self.backlogs[key] = Backlog(
                    store,
                    load=(self.loading or loading)(settings.embedder),
                    background=self.background,
                    eager=False,
                    upkeep=upkeep,
                )
                self.backlogs[key].resume()
            self.backlogs[key].session = session
            return self.backlogs[key]

    def pause(self) -> list[Backlog]:
        """Let all embedding of this process rest; each of what is returned has its `resume` due."""
        with self.lock:
            paused = list(self.backlogs.values())
        for backlog in paused:
            backlog.pause()
        return paused

    def close_at_exit(self) -> None:
        """Close what is still open as the process ends: a session's end makes the archive's copy."""
        with Guard(None):
            self.close()

    def close(self) -> None:
        with self.lock:
            for upkeep in self.upkeeps:
                upkeep.stop()
            self.upkeeps.clear()
            for backlog in self.backlogs.values():
                backlog.stop()
            self.backlogs.clear()
            for store in self.stores.values():
                store.close()
            self.stores.clear()
            self.syncs.clear()
            self.settings = self.origins = None


state = State()


def hold(gardener: Gardener, coder: HostCoder) -> None:
    """Note that this coder's lists are the chat's now. aider makes a new coder for every /ask and mode
    switch; the old one keeps lists that nobody looks at any more."""
    gardener.state.host = CoderHost(gardener, weakref.ref(coder))


def holds(gardener: Gardener, coder: HostCoder) -> bool:
    """Whether this coder's lists are the chat's."""
    return coder_of(gardener) in (None, coder)


def coder_of(gardener: Gardener) -> HostCoder | None:
    """The coder whose lists are the chat's; None when it is gone."""
    host = gardener.state.host
    return host.coder if isinstance(host, CoderHost) else None


def settings_of(coder: HostCoder) -> Settings:
    """The settings of `install`, of the chat's context provider, or those of aider's command line,
    variables and their defaults."""
    chosen: Settings | None = state.settings or getattr(getattr(coder, "context", None), "settings", None)
    if chosen is not None:
        return chosen
    args = getattr(getattr(coder, "commands", None), "args", None)
    given = (
        {
            name.removeprefix("gardener_"): value
            for name, value in vars(args).items()
            if name.startswith("gardener_")
        }
        if args is not None
        else {}
    )
    environ = {name: value for name, value in os.environ.items() if name not in map(variable, RETIRED)}
    if (switched := getattr(args, "gardener", None)) is not None:
        environ[SWITCH] = "true" if switched else "false"
    for name, own in (own_instead(coder, args) if args is not None else {}).items():
        given.pop(name, None)
        environ.pop(variable(name), None)
        environ |= {variable(name): own} if own is not None else {}
    return Settings.from_env(environ, **given)


def own_instead(coder: HostCoder, args: Namespace) -> dict[str, str | None]:
    """What the user gives in place of what the repository's files set and may not; None: nothing."""
    origins = state.origins
    if origins is None or getattr(args, "gardener", None) is False:
        return {}
    return origins.instead(coder.io, Path(coder.root or os.getcwd()), args)


def gardener_of(coder: HostCoder) -> Gardener | None:
    """The gardener of a coder's chat, made on first use; None when it is switched off or has failed."""
    if is_sub(coder):
        return None
    if ATTRIBUTE not in coder.__dict__:
        coder.__dict__[ATTRIBUTE] = None  # what fails now is not tried again
        gardener = make_gardener(coder)
        if gardener is not None:
            hold(gardener, coder)
        coder.__dict__[ATTRIBUTE] = gardener
    found: Gardener | None = coder.__dict__.get(ATTRIBUTE)
    return found


def attending(coder: HostCoder) -> Gardener | None:
    """The gardener of a coder whose prompt is due: it looks at this coder's lists and model from now on."""
    gardener = gardener_of(coder)
    if gardener is not None:
        hold(gardener, coder)
        refresh(gardener, coder)
    return gardener


def is_sub(coder: HostCoder) -> bool:
    """Whether the coder is a helper with a chat of its own, which has no gardener. An aider with context
    providers gives it another one."""
    context = getattr(coder, "context", None)
    return bool(coder.__dict__.get(SUB_CODER)) or not getattr(context, "is_gardener", context is None)


def active(coder: HostCoder) -> Gardener | None:
    """The gardener if prompts may be changed now."""
    gardener = gardener_of(coder)
    return gardener if gardener is not None and gardener.state.acts else None


def warm_up() -> None:
    """Import the core in the background while the user types the first prompt."""

    def load() -> None:
        with Guard(None):
            import aider_gardener.archive.store.opening
            import aider_gardener.gardener.gardener  # noqa: F401  # reason: imported for its time

    threading.Thread(target=load, name="aider-gardener-warm-up", daemon=True).start()


def make_gardener(coder: HostCoder) -> Gardener | None:
    """A gardener for a new chat, with its archive open; None when it is switched off."""
    try:
        settings = settings_of(coder)
    except UsageError as error:
        coder.io.tool_warning(f"aider-gardener: {error}; it stays off in this chat")
        return None
    if not settings.enabled:
        return None
    from aider_gardener.adapters.aider.resume import session_for
    from aider_gardener.archive.archive import Archive
    from aider_gardener.gardener.gardener import Gardener

    project = str(coder.root or os.getcwd())
    directory = archive_directory(coder, settings)
    store = state.store(directory, settings.store_key)
    if store.notice:
        coder.io.tool_warning(f"aider-gardener: {store.notice}")
    if settings.embedder.startswith("litellm:"):
        coder.io.tool_output(REMOTE.format(model=settings.embedder))
    session = session_for(coder, settings, store, project) or secrets.token_hex(8)
    archive = Archive(
        store,
        session=session,
        project=project,
        count=token_counter(coder.main_model),
        clock=time.time,
        backlog=state.backlog(directory, session, project, settings),
    )
    gardener = Gardener(settings, archive)
    if state.background:
        from aider_gardener.adapters.aider.after_turn import begin

        state.upkeeps.append(begin(gardener, coder.io, coder_of))
    return gardener


def sync_shared(gardener: Gardener) -> None:
    """Sync a shared project beside the chat if it is time to; only where it is known what the environment was
    before a repository's files could name a server."""
    if state.origins is None or not state.background:
        return
    from aider_gardener.archive.shared.background import BackgroundSync

    archive = gardener.state.archive
    key = (str(archive.store.directory), archive.project)
    with state.lock:
        if key not in state.syncs:
            state.syncs[key] = BackgroundSync(archive.store, archive.project, state.origins.environ)
    state.syncs[key].turn_over()


def archive_directory(coder: HostCoder, settings: Settings) -> Path:
    """Where the archive of the coder's chat belongs; nothing is made or touched."""
    # The package before its parts: while the warm-up is importing it, a part by itself would fail in either.
    import aider_gardener.archive.store  # noqa: F401  # reason: imported to be whole
    from aider_gardener.archive.store.location import chosen_directory, store_directory

    given = settings.store_path
    root = Path(coder.root) if getattr(coder, "repo", None) else None
    return chosen_directory(given) if given else store_directory(root, user=state.user)


def refresh(gardener: Gardener, coder: HostCoder) -> None:
    """Take over what may have changed in the host: the model, its window, the user's history limit."""
    from aider_gardener.plan.usage import Prices

    state, model = gardener.state, coder.main_model
    if state.frame.model != model.name:
        gardener.set_counter(token_counter(model, state.usage.factor(model.name)))
        state.archive.provider = provider_of(model)
        state.usage.prices = Prices.of(model.info)
        window = int(model.info.get("max_input_tokens") or 0)
        state.frame = replace(state.frame, model=model.name, window=window)
    state.host_limit, state.host_limit_given = history_limit(coder)


def take_in(coder: HostCoder, gardener: Gardener) -> None:
    """Archive what is new in the coder's lists; an oversized output among it is cut at once."""
    added = gardener.sync(coder.done_messages, coder.cur_messages)
    if not added:
        return
    from aider_gardener.gardener.throttle import throttle_outputs

    if cut := throttle_outputs(gardener.state, added):
        show(coder, gardener)
        for line in dict.fromkeys(item.line() for item in cut):  # aider adds a test's output twice
            coder.io.tool_output(f"aider-gardener: {line}")


def sync(coder: HostCoder) -> None:
    """Archive what is new in the coder's lists, if they are still the chat's."""
    gardener = gardener_of(coder)
    if gardener is not None and holds(gardener, coder):
        refresh(gardener, coder)
        take_in(coder, gardener)


def show(coder: HostCoder, gardener: Gardener) -> None:
    """Replace the coder's lists by the view. New lists: a prompt that is out keeps the old ones."""
    chat = gardener.state.chat
    coder.done_messages, coder.cur_messages = list(chat.done), list(chat.cur)


@contextmanager
def preview(coder: HostCoder, gardener: Gardener) -> Iterator[ChatState]:
    """A context in which the coder makes prompts that are only looked at; gives the state that they make."""
    lists = coder.done_messages, coder.cur_messages
    before = [list(messages) for messages in lists]
    try:
        with gardener.preview() as state:
            yield state
    finally:
        coder.done_messages, coder.cur_messages = lists
        for messages, held in zip(lists, before, strict=True):
            messages[:] = held


@dataclass(frozen=True)
class CoderHost:
    """The coder whose lists are the gardener's chat now; nothing happens when it is gone."""

    gardener: Gardener
    reference: weakref.ref[HostCoder]

    @property
    def coder(self) -> HostCoder | None:
        return self.reference()

    def sync(self) -> None:
        if (coder := self.coder) is not None:
            refresh(self.gardener, coder)
            take_in(coder, self.gardener)

    def show(self) -> None:
        if (coder := self.coder) is not None:
            show(coder, self.gardener)
