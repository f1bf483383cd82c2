"""The gardener as a context provider of aider: for an aider that has the interface of patches/0010 and on.

aider calls each method at the place that a wrapper would stand at otherwise, and each calls the same hook.
Where the gardener is off or has failed, the provider that stood there before does the work.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import call, chat, commands, link, prompt
from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostContext, HostMessage
from aider_gardener.adapters.aider.options import ASKED_FOR
from aider_gardener.adapters.aider.wrappers import Guard, GuardedContext
from aider_gardener.errors import UsageError
from aider_gardener.settings import Settings, variable
from aider_gardener.terminal import visible
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

REACHES_OUT = (
    "context option {name} decides what leaves the repository, and files of a repository may set options:"
    " give it on the command line"
)

ONLY_INSTALLED = ("ask_for_originals",)
"""Settings whose places in aider have no call of a provider, so that only `install` gives them effect."""


class GardenerContext:
    """The gardener in the place of `stock`, aider's own provider. `settings` None: those of `install`, or of
    aider's command line as `install` extends it."""

    is_gardener = True

    def __init__(self, stock: HostContext, settings: Settings | None = None) -> None:
        self.stock, self.settings = stock, settings

    def announcements(self, coder: HostCoder) -> list[str]:
        if self.settings is not None:  # with those of `install` a wrapper says it
            with Guard(coder):
                return list(filter(None, [chat.announcement(coder)]))
        return []

    def join(self, coder: HostCoder, from_coder: HostCoder | None = None) -> None:
        with Guard(coder):
            chat.join(coder, from_coder)

    def turn(self, coder: HostCoder, user_message: str) -> AbstractContextManager[None]:
        return GuardedContext(coder, lambda: link.run(chat.turn, coder, user_message))

    def take_in(self, coder: HostCoder) -> None:
        link.run(link.sync, coder)

    def undo(self, coder: HostCoder) -> None:
        link.run(lambda _coder, gardener: gardener.edit_undone(), coder)

    def tend(self, coder: HostCoder) -> None:
        if not link.run(prompt.before, coder):
            self.stock.tend(coder)

    def add(self, coder: HostCoder, chunks: Chunks) -> None:
        link.run(prompt.after, coder, chunks)

    def shrink(self, coder: HostCoder, messages: list[HostMessage], error: BaseException) -> bool:
        return bool(link.run(call.shrink, coder, messages, error))

    def used(self, coder: HostCoder, messages: list[HostMessage], completion: Any) -> None:
        link.run(call.used, coder, messages, completion)

    def clear(self, coder: HostCoder) -> None:
        link.run(chat.clear, coder)

    def new_format(self, coder: HostCoder) -> list[HostMessage]:
        return coder.done_messages if link.run(prompt.forget_edits, coder) else self.stock.new_format(coder)

    def wants_summary(self, coder: HostCoder) -> bool:
        return not link.run(link.acts, coder) and self.stock.wants_summary(coder)

    def token_rows(self, coder: HostCoder) -> list[tuple[int, str, str]]:
        return link.run(token_rows, coder) or self.stock.token_rows(coder)

    def token_details(self, coder: HostCoder) -> list[str]:
        return link.run(commands.pressure_lines, coder) or self.stock.token_details(coder)


def token_rows(coder: HostCoder, gardener: Gardener) -> list[tuple[int, str, str]]:
    """The rows of aider's /tokens for the history: what stands whole, what stands shortened, and the note on
    what is settled that the last prompt had."""
    link.sync(coder, gardener)
    state = gardener.state
    pieces = state.chat.pieces
    if not pieces:
        return []
    short = [piece.tokens(state.count) + MESSAGE_OVERHEAD_TOKENS for piece in pieces if piece.is_note]
    rows = [(state.history_used - sum(short), "chat history", "use /clear to clear")]
    if short:
        rows.append((sum(short), f"chat history, compacted, {len(short)} notes", "use /clear to clear"))
    if state.note.tokens:
        rows.append((state.note.tokens, "notes on what is settled", ""))
    return rows


def make_provider(original: Any) -> Any:
    """The wrapper of aider's `make_provider`: ours takes the place of the one that is named if nothing is."""

    @wraps(original)
    def make_provider(name: str = "summary", options: Sequence[str] = ()) -> HostContext:
        made: HostContext = original(name, options) if options else original(name)
        return GardenerContext(made) if name == "summary" else made

    return make_provider


def make(**options: str) -> GardenerContext:
    """What aider makes of `--context-provider gardener`, given its `--context-option`s: settings by name.

    Raises ValueError for an option that there is not, that has no effect or whose value cannot be used,
    and for one that reaches out of the repository and does not stand on the command line.
    """
    from aider.context import SummaryProvider

    given, fields = {}, {field.name: field for field in dataclasses.fields(Settings)}
    for name, value in options.items():
        if name not in fields:
            raise ValueError(f"the context provider gardener has no option {visible(name)}")
        if name in ONLY_INSTALLED:
            raise ValueError(f"context option {name} has an effect only in aider-gardener: use that command")
        if name in ASKED_FOR and not any(word.endswith(f"{name}={value}") for word in sys.argv[1:]):
            raise ValueError(REACHES_OUT.format(name=name))
        given[variable(name)] = value
    try:
        return GardenerContext(SummaryProvider(), Settings.from_env(given))
    except UsageError as error:
        raise ValueError(visible(str(error))) from None
