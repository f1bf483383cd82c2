"""The gardener as a context provider of aider: for an aider that has the interface of patches/0010 and on.

aider calls each method at the place that a seam would replace otherwise. Where the gardener is off or has
failed, the provider that stood there before does the work. Every statement of ours is in a `Guard`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import announce, chat, commands, link, overflow, prompt, responses
from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostContext, HostMessage
from aider_gardener.adapters.aider.guard import Guard
from aider_gardener.adapters.aider.origins import REACHING
from aider_gardener.errors import UsageError
from aider_gardener.settings import Settings, variable
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

REACHES_OUT = (
    "context option {name} decides what leaves the repository, and files of a repository may set options:"
    " give it on the command line"
)

BY_SEAMS = ("ask_for_originals",)
"""Settings whose places in aider have no call of a provider, so that only `install` gives them effect."""


class GardenerContext:
    """The gardener in the place of `stock`, aider's own provider. `settings` None: those of `install`, or of
    aider's command line as the seams extend it."""

    is_gardener = True

    def __init__(self, stock: HostContext, settings: Settings | None = None) -> None:
        self.stock, self.settings = stock, settings

    def announcements(self, coder: HostCoder) -> list[str]:
        with Guard(coder):
            if self.settings is not None and (line := announce.line(coder)):  # else the seam says it
                return [line]
        return []

    def join(self, coder: HostCoder, from_coder: HostCoder | None = None) -> None:
        with Guard(coder):
            handed = chat.Handed()
            if from_coder is None:
                link.warm_up()
            else:
                handed = chat.Handed(link.gardener_of(from_coder))
                if handed.gardener is not None and not from_coder.done_messages:
                    coder.done_messages = []  # cleared, and restored from aider's history file
            chat.take_over(coder, from_coder, handed)

    @contextmanager
    def turn(self, coder: HostCoder, user_message: str) -> Iterator[None]:
        with Guard(coder):
            chat.begin_turn(coder, user_message)
        try:
            yield
        finally:
            with Guard(coder):
                chat.end_turn(coder)

    def take_in(self, coder: HostCoder) -> None:
        with Guard(coder):
            link.sync(coder)

    def undo(self, coder: HostCoder) -> None:
        with Guard(coder):
            if (gardener := link.gardener_of(coder)) is not None:
                gardener.edit_undone()

    def tend(self, coder: HostCoder) -> None:
        acts = False
        with Guard(coder):
            if (gardener := link.attending(coder)) is not None:
                prompt.before(coder, gardener)
                acts = gardener.state.acts
        if not acts:
            self.stock.tend(coder)

    def add(self, coder: HostCoder, chunks: Chunks) -> None:
        with Guard(coder):
            if (gardener := link.gardener_of(coder)) is not None:
                prompt.after(coder, gardener, chunks)

    def shrink(self, coder: HostCoder, messages: list[HostMessage], error: BaseException) -> bool:
        again = None
        with Guard(coder):
            again = overflow.shrink(coder, messages, error)
        return bool(again)

    def used(self, coder: HostCoder, messages: list[HostMessage], completion: Any) -> None:
        with Guard(coder):
            responses.note_call(coder, messages, completion)

    def clear(self, coder: HostCoder) -> None:
        with Guard(coder):
            chat.cleared(coder)

    def new_format(self, coder: HostCoder) -> list[HostMessage]:
        acts = False
        with Guard(coder):
            gardener = link.active(coder)
            acts = gardener is not None
            if gardener is not None:
                prompt.forget_edits(coder, gardener)
        return coder.done_messages if acts else self.stock.new_format(coder)

    def wants_summary(self, coder: HostCoder) -> bool:
        with Guard(coder):
            if link.active(coder) is not None:
                return False
        return self.stock.wants_summary(coder)

    def token_rows(self, coder: HostCoder) -> list[tuple[int, str, str]]:
        rows: list[tuple[int, str, str]] = []
        with Guard(coder):
            if (gardener := link.gardener_of(coder)) is not None:
                link.refresh(gardener, coder)
                link.take_in(coder, gardener)
                rows = token_rows(gardener)
        return rows or self.stock.token_rows(coder)

    def token_details(self, coder: HostCoder) -> list[str]:
        lines: list[str] = []
        with Guard(coder):
            if (gardener := link.gardener_of(coder)) is not None:
                lines = commands.pressure_lines(coder, gardener)
        return lines or self.stock.token_details(coder)


def token_rows(gardener: Gardener) -> list[tuple[int, str, str]]:
    """The rows of aider's /tokens for the history: what stands whole, what stands shortened, and the note on
    what is settled that the last prompt had."""
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


def make(**options: str) -> GardenerContext:
    """What aider makes of `--context-provider gardener`, given its `--context-option`s: settings by name.

    Raises ValueError for an option that there is not, that has no effect or whose value cannot be used,
    and for one that reaches out of the repository and does not stand on the command line.
    """
    from aider.context import SummaryProvider

    given, fields = {}, {field.name: field for field in dataclasses.fields(Settings)}
    for name, value in options.items():
        if name not in fields:
            raise ValueError(f"the context provider gardener has no option {name}")
        if name in BY_SEAMS:
            raise ValueError(f"context option {name} has an effect only in aider-gardener: use that command")
        if fields[name] in REACHING and not any(word.endswith(f"{name}={value}") for word in sys.argv[1:]):
            raise ValueError(REACHES_OUT.format(name=name))
        given[variable(name)] = value
    try:
        return GardenerContext(SummaryProvider(), Settings.from_env(given))
    except UsageError as error:
        raise ValueError(str(error)) from None
