"""What happens to a chat in aider: it begins, is handed on to the next coder, has turns, and is cleared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import after_turn, link, overflow, prompt, resume
from aider_gardener.adapters.aider.coder import HostCoder, HostModel
from aider_gardener.adapters.aider.guard import ATTRIBUTE
from aider_gardener.errors import UsageError
from aider_gardener.settings import SHORT_NOTE

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

CLEARED = (
    "aider-gardener: what was said before this /{command} does not come back by itself; /recall WORDS still"
    " finds it, /forget session deletes it for good."
)


@dataclass(frozen=True)
class Handed:
    """What a new coder gets of the one before it: its gardener, if that is on. `is_sub`: the new one is a
    helper with a chat of its own. `is_ready`: the history needs no summary by a model for it."""

    gardener: Gardener | None = None
    is_sub: bool = False
    is_ready: bool = False


def hand_on(
    coder: HostCoder | None,
    main_model: HostModel | None,
    edit_format: str | None,
    *,
    summarise: bool,
    options: dict[str, Any],
) -> Handed:
    """What the coder, if there is one, hands on to the next, which is made with these options. `summarise`:
    the host would have the history summarised for a new edit format."""
    if coder is None:
        link.warm_up()
        return Handed()
    gardener = link.gardener_of(coder)
    if gardener is None or prompt.makes_sub_coder(coder, options):
        return Handed(gardener, is_sub=gardener is not None)
    if summarise and gardener.state.acts:
        prompt.forget_old_format(coder, gardener, main_model, edit_format)
    return Handed(gardener, is_ready=gardener.state.acts)


def take_over(coder: HostCoder, before: HostCoder | None, handed: Handed) -> None:
    """Join a new coder to its chat: a new one, or that of the coder before it. Off or stopped there, it does
    not begin anew here."""
    if handed.is_sub:
        coder.__dict__[link.SUB_CODER] = True
    elif before is None:
        begin(coder)
    else:
        coder.__dict__[ATTRIBUTE] = handed.gardener
        if handed.gardener is not None:
            link.hold(handed.gardener, coder)


def begin_turn(coder: HostCoder, typed: str) -> None:
    """A turn is due, unless a command of one runs a prompt of its own (perhaps by another coder)."""
    gardener = link.gardener_of(coder)
    if gardener is not None and gardener.enter_turn(typed):
        link.hold(gardener, coder)


def end_turn(coder: HostCoder) -> None:
    """What a turn, or the part of one that another coder ran, has left behind is archived."""
    gardener = link.gardener_of(coder)
    if gardener is None:
        return
    gardener.leave_turn()
    if gardener.state.acts and link.holds(gardener, coder):
        overflow.close_open_exchanges(coder, last=False)
    link.sync(coder)
    if not gardener.state.busy:
        after_turn.turn_over(coder, gardener)
        link.sync_shared(gardener)


def cleared(coder: HostCoder) -> None:
    """The user clears the chat: nothing older comes back by itself, and the user is told so where the chat
    has the commands that reach it."""
    link.sync(coder)
    gardener = link.gardener_of(coder)
    if gardener is None:
        return
    if gardener.state.chat.all_entries() and hasattr(coder.commands, "cmd_recall"):
        coder.io.tool_output(CLEARED.format(command="clear"))
    gardener.clear()


def begin(coder: HostCoder) -> None:
    """Go on with the chat that the user named, or put the account of the last one into a new one, and tell
    the user in one line.

    Nothing happens when the chat has messages already (aider restored its history) or there is nothing to
    tell. The chat's gardener is made here only if it is wanted.
    """
    try:
        settings = link.settings_of(coder)
    except UsageError:  # said when the gardener is made
        return
    if not (settings.enabled and settings.resume):
        return
    gardener = link.active(coder)
    if gardener is None or coder.done_messages or coder.cur_messages:
        return
    link.refresh(gardener, coder)
    if settings.resume != SHORT_NOTE:
        go_on(coder, gardener)
        return
    found = gardener.last_time()
    if found is None:
        return
    from aider_gardener.reading.source import LAST_CHAT

    coder.done_messages = [*coder.done_messages, *gardener.add_note(found.note, LAST_CHAT.detail)]
    coder.io.tool_output(f"aider-gardener: {found.line()}")


def go_on(coder: HostCoder, gardener: Gardener) -> None:
    """Give the host the chat that its session was before, if any, with the files of its last prompt."""
    from aider_gardener.plan.view import FILLER

    archive = gardener.state.archive
    held = archive.store.sessions(archive.project)
    info = next((each for each in held if each.id == archive.session and each.entries), None)
    if info is None:
        return
    gardener.go_on(info)
    link.show(coder, gardener)
    coder.done_messages, coder.cur_messages = [*coder.done_messages, *coder.cur_messages], []
    if coder.done_messages and coder.done_messages[-1]["role"] == "user":
        coder.done_messages = [*coder.done_messages, {"role": "assistant", "content": FILLER}]
    link.take_in(coder, gardener)
    coder.io.tool_output(resume.line(gardener.state, info))
    resume.put_back_files(coder, archive.store, info.id)
