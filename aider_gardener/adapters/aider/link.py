"""What joins a coder and its gardener: finding or making it, lists to messages and back."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider.defaults import DEFAULTS, environment
from aider_gardener.adapters.aider.provider import history_limit, provider_of, token_counter
from aider_gardener.errors import UsageError
from aider_gardener.messages import Message
from aider_gardener.settings import Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store.base import Store
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.upkeep import Upkeep
    from aider_gardener.plan.view import Piece
    from aider_gardener.recall.backlog import Backlog, Load

# The core is imported when the first chat needs it: `aider-gardener --version` must not wait for it.

log = logging.getLogger("aider_gardener")

ATTRIBUTE = "_gardener"
SUB_CODER = "_gardener_sub_coder"


@dataclass
class State:
    """What this process shares: the settings given to `install`, and one open archive a directory with
    the backlog that embeds its passages. `background` false: no thread, only `Gardener.idle` does it.
    `loading` makes what loads the embedder of a name; None: what `embedders.loading` makes."""

    settings: Settings | None = None
    stores: dict[str, Store] = field(default_factory=dict)
    backlogs: dict[str, Backlog] = field(default_factory=dict)
    upkeeps: list[Upkeep] = field(default_factory=list)
    background: bool = True
    loading: Callable[[str], Load | None] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def store(self, directory: Path | None, key_source: str = "") -> Store:
        """The archive of a directory, opened once."""
        with self.lock:
            key = str(directory)
            if key not in self.stores:
                from aider_gardener.archive.store import open_store

                self.stores[key] = open_store(directory, key_source=key_source)
            return self.stores[key]

    def backlog(self, directory: Path | None, session: str, settings: Settings) -> Backlog:
        """What embeds the passages of that archive, the given session's first."""
        from aider_gardener.archive.retention import keep_to_policy
        from aider_gardener.recall.backlog import Backlog
        from aider_gardener.recall.embedders import loading

        with self.lock:
            key = str(directory)
            if key not in self.backlogs:
                store = self.store(directory)
                self.backlogs[key] = Backlog(
                    store,
                    load=(self.loading or loading)(settings.embedder),
                    background=self.background,
                    upkeep=lambda: keep_to_policy(store, settings),
                )
                self.backlogs[key].resume()
            self.backlogs[key].session = session
            return self.backlogs[key]

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
            self.settings = None


state = State()


def hold(gardener: Gardener, coder: Any) -> None:
    """Note that this coder's lists are the chat's now. aider makes a new coder for every /ask and mode
    switch; the old one keeps lists that nobody looks at any more."""

    gardener.holder = weakref.ref(coder)
    gardener.host = CoderHost(gardener)


def holds(gardener: Gardener, coder: Any) -> bool:
    """Whether this coder's lists are the chat's."""
    return gardener.holder is None or gardener.holder() in (None, coder)


def settings_of(coder: Any) -> Settings:
    """The settings of `install`, or those of aider's command line, variables and their defaults."""
    if state.settings is not None:
        return state.settings
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
    return Settings.from_env(environment(os.environ), enabled=getattr(args, "gardener", None), **given)


def gardener_of(coder: Any) -> Gardener | None:
    """The gardener of a coder's chat, made on first use; None when it is switched off or has failed."""
    if coder.__dict__.get(SUB_CODER):
        return None
    if ATTRIBUTE not in coder.__dict__:
        with guarded(coder):
            coder.__dict__[ATTRIBUTE] = None
            gardener = coder.__dict__[ATTRIBUTE] = make_gardener(coder)
            if gardener is not None:
                hold(gardener, coder)
    found: Gardener | None = coder.__dict__.get(ATTRIBUTE)
    return found


def active(coder: Any) -> Gardener | None:
    """The gardener if prompts may be changed now."""
    gardener = gardener_of(coder)
    return gardener if gardener is not None and gardener.acts else None


def warm_up() -> None:
    """Import the core in the background while the user types the first prompt."""
    if not DEFAULTS.get("enabled", True):  # most users of such a build don't use the gardener
        return

    def load() -> None:
        import aider_gardener.archive.store.sqlite
        import aider_gardener.gardener.gardener  # noqa: F401  # reason: imported for its time, not its names

    threading.Thread(target=load, name="aider-gardener-warm-up", daemon=True).start()


def make_gardener(coder: Any) -> Gardener | None:
    """A gardener for a new chat, with its archive open; None when it is switched off."""
    try:
        settings = settings_of(coder)
    except UsageError as error:
        coder.io.tool_warning(f"aider-gardener: {error}; it stays off in this chat")
        return None
    if not settings.enabled:
        return None
    from aider_gardener.archive.archive import Archive
    from aider_gardener.archive.store import store_directory
    from aider_gardener.gardener.gardener import Gardener

    root = Path(coder.root) if getattr(coder, "repo", None) else None
    project = str(coder.root or os.getcwd())
    directory = settings.store_path or store_directory(root)
    store = state.store(directory, settings.store_key)
    if store.notice:
        coder.io.tool_warning(f"aider-gardener: {store.notice}")
    session = secrets.token_hex(8)
    archive = Archive(
        store,
        session=session,
        project=project,
        count=token_counter(coder.main_model),
        clock=time.time,
        backlog=state.backlog(directory, session, settings),
    )
    gardener = Gardener(settings, archive)
    if state.background:
        from aider_gardener.adapters.aider.after_turn import begin

        state.upkeeps.append(begin(gardener, coder.io))
    return gardener


def refresh(gardener: Gardener, coder: Any) -> None:
    """Take over what may have changed in the host: the model, its window, the user's history limit."""
    from aider_gardener.plan.usage import Prices

    model = coder.main_model
    if gardener.frame.model != model.name:
        gardener.set_counter(token_counter(model, gardener.usage.factor(model.name)))
        gardener.archive.provider = provider_of(model)
        gardener.usage.prices = Prices.of(model.info)
        gardener.frame = replace(
            gardener.frame, model=model.name, window=int(model.info.get("max_input_tokens") or 0)
        )
    gardener.host_limit, gardener.host_limit_given = history_limit(coder)


def to_messages(messages: list[dict[str, Any]]) -> list[Message]:
    """The host's messages as values; content that is no text (never in a history) stands as its repr."""
    return [Message(m["role"], m["content"] if isinstance(m["content"], str) else repr(m)) for m in messages]


def to_dicts(pieces: list[Piece], standing: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pieces as the host's messages; a message that stands already stays the same object."""
    known: dict[Message, list[dict[str, Any]]] = {}
    for message, value in zip(to_messages(standing), standing, strict=True):
        known.setdefault(message, []).append(value)
    return [
        known[piece.message].pop(0)
        if known.get(piece.message)
        else {"role": piece.role, "content": piece.content}
        for piece in pieces
    ]


def take_in(coder: Any, gardener: Gardener) -> None:
    """Archive what is new in the coder's lists; an oversized output among it is cut at once."""
    added = gardener.sync(to_messages(coder.done_messages), to_messages(coder.cur_messages))
    if not added:
        return
    from aider_gardener.gardener.throttle import throttle_outputs

    if cut := throttle_outputs(gardener, added):
        show(coder, gardener)
        for line in dict.fromkeys(item.line() for item in cut):  # aider adds a test's output twice
            coder.io.tool_output(f"aider-gardener: {line}")


def sync(coder: Any) -> None:
    """Archive what is new in the coder's lists, if they are still the chat's."""
    gardener = gardener_of(coder)
    if gardener is not None and holds(gardener, coder):
        with guarded(coder):
            refresh(gardener, coder)
            take_in(coder, gardener)


def show(coder: Any, gardener: Gardener) -> None:
    """Replace the coder's lists by the view. New lists: a prompt that is out keeps the old ones."""
    done, cur = gardener.pieces
    standing = [*coder.done_messages, *coder.cur_messages]
    coder.done_messages = to_dicts(done, standing)
    coder.cur_messages = to_dicts(cur, standing)


@contextmanager
def guarded(coder: Any) -> Iterator[None]:
    """The gardener's failures end here: one visible line, then aider goes on as if it were not there.

    Lists are replaced only after all work on them is done, so the last good view stands.
    """
    try:
        yield
    except Exception as error:  # reason: the host must survive any fault of ours
        coder.__dict__[ATTRIBUTE] = None
        coder.io.tool_warning(
            f"aider-gardener stopped in this chat ({type(error).__name__}); aider goes on without it."
        )
        frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
        log.error("%s\n%s", type(error).__name__, frames)


@dataclass(frozen=True)
class CoderHost:
    """The coder whose lists are the gardener's chat now; nothing happens when it is gone."""

    gardener: Gardener

    @property
    def coder(self) -> Any:
        return self.gardener.holder() if self.gardener.holder else None

    def take_in(self) -> None:
        if (coder := self.coder) is not None:
            refresh(self.gardener, coder)
            take_in(coder, self.gardener)

    def show(self) -> None:
        if (coder := self.coder) is not None:
            show(coder, self.gardener)

    def append(self, messages: Sequence[Message]) -> None:
        if (coder := self.coder) is not None:
            coder.cur_messages = [
                *coder.cur_messages,
                *({"role": message.role, "content": message.content} for message in messages),
            ]
            take_in(coder, self.gardener)
