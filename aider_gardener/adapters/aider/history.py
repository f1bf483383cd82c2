"""The gardener as a history provider of aider: for an aider that has the interface of patches/0010 and on.

aider calls each method at the place that a wrapper would stand at otherwise, and each calls the same hook.
Where the gardener is off or has failed, the lists stay as they are and aider summarises as it does by itself.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import call, chat, link, prompt
from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostMessage
from aider_gardener.adapters.aider.options import USERS_OWN
from aider_gardener.adapters.aider.wrappers import guard, guarded_context
from aider_gardener.errors import UsageError
from aider_gardener.settings import Settings, variable
from aider_gardener.terminal import visible

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

REACHES_OUT = (
    "history option {name} decides what leaves the repository, and files of a repository may set options:"
    " give it on the command line"
)

ONLY_INSTALLED = ("ask_for_originals",)
"""Settings whose places in aider have no call of a provider, so that only `install` gives them effect."""

Lists = tuple[list[HostMessage], list[HostMessage]]


class GardenerProvider:
    """What a coder asks; the one without a coder is what aider was given, and makes one for each that joins.
    `settings` None: those of `install`, or of aider's command line as `install` extends it."""

    is_gardener = True

    def __init__(self, settings: Settings | None = None, coder: HostCoder | None = None) -> None:
        self.settings, self.coder = settings, coder
        self.turns: list[AbstractContextManager[None]] = []

    @property
    def summarizes(self) -> bool:
        return self.coder is not None and not link.run(link.acts, self.coder)

    def fit(self, done: list[HostMessage], cur: list[HostMessage]) -> Lists:
        if self.coder is None:
            return done, cur
        link.run(prompt.before, self.coder)
        return self.coder.done_messages, self.coder.cur_messages

    def add(self, chunks: Chunks) -> None:
        if self.coder is not None:
            link.run(_add, self.coder, chunks)

    def new_format(self, done: list[HostMessage]) -> list[HostMessage]:
        coder = self.coder
        if coder is not None and link.run(prompt.forget_edits, coder):
            return coder.done_messages
        return coder.summarizer.summarize_all(done) if coder is not None and done else done

    def shorten(
        self, _done: list[HostMessage], _cur: list[HostMessage], error: BaseException
    ) -> Lists | None:
        coder = self.coder
        if coder is None or not link.run(call.shorten, coder, error):
            return None
        return coder.done_messages, coder.cur_messages

    def notice(self, event: str, _done: list[HostMessage], _cur: list[HostMessage], *values: Any) -> None:
        coder = self.coder
        if event == "joined":
            self._join(*values)
        elif coder is None:
            return
        elif event == "begin":
            self.turns.append(guarded_context(coder, link.run(chat.turn, coder, *values)))
            self.turns[-1].__enter__()
        elif event == "end" and self.turns:
            self.turns.pop().__exit__(None, None, None)
        elif event in HOOKS:
            link.run(HOOKS[event], coder, *values)

    def _join(self, coder: HostCoder, from_coder: HostCoder | None) -> None:
        """Serve a coder from now on, which goes on with the chat of another or begins one."""
        coder.history = GardenerProvider(self.settings, coder)
        with guard(coder):
            chat.join(coder, from_coder)
            if from_coder is None and self.settings is not None:
                chat.announce(coder)  # with the settings of `install` a wrapper does
        if from_coder is None and coder.done_messages:
            coder.summarize_start()  # restored before it was known whether the gardener acts


def _add(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> None:
    """Where nobody asks anything, as for /copy-context, the prompt's parts stay aider's own."""
    is_asked = any(message["role"] == "user" for message in coder.cur_messages[-1:])
    if is_asked or gardener.state.is_preview:
        prompt.after(coder, gardener, chunks)


HOOKS: dict[str, Callable[..., object]] = {
    "added": link.sync,
    "clear": chat.clear,
    "undone": lambda coder, gardener: gardener.edit_undone(coder.repo.repo.git.rev_parse("ORIG_HEAD")),
    "used": call.used,
}
"""What happens to a chat, as aider tells it, and what is done about it."""


def default_history(_summarizer: object) -> GardenerProvider:
    """In the place of aider's own: what serves the coders that are given none."""
    return GardenerProvider()


def make(**options: str) -> GardenerProvider:
    """What aider makes of `--history-provider gardener`, given its `--history-option`s: settings by name.

    Raises ValueError for an option that there is not, that has no effect or whose value cannot be used,
    and for one that reaches out of the repository and does not stand on the command line.
    """
    given, fields = {}, {field.name: field for field in dataclasses.fields(Settings)}
    for name, value in options.items():
        if name not in fields:
            raise ValueError(f"the history provider gardener has no option {visible(name)}")
        if name in ONLY_INSTALLED:
            raise ValueError(f"history option {name} has an effect only in aider-gardener: use that command")
        if name in USERS_OWN and not any(word.endswith(f"{name}={value}") for word in sys.argv[1:]):
            raise ValueError(REACHES_OUT.format(name=name))
        given[variable(name)] = value
    try:
        return GardenerProvider(Settings.from_env(given))
    except UsageError as error:
        raise ValueError(visible(str(error))) from None
