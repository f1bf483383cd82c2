"""What stands in the seams. Each function gets the original and returns its stand-in.

The rule of every stand-in: the original's signature, the original's path when the gardener is off, and
no exception of ours reaches the host.

What stands in the seams of /clear and /reset: nothing older comes back, and the user is told so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import after_turn, commands, link, overflow, prompt, sending
from aider_gardener.adapters.aider.options import add_options
from aider_gardener.adapters.aider.responses import show_cost
from aider_gardener.adapters.aider.sending import send, send_message
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

__all__ = ["clear_history", "send", "send_message", "show_cost", "then_tell_cleared"]

UPGRADE_HINT = (
    "aider-gardener brings its own aider {version}, so aider is not upgraded by itself. To upgrade both:"
    " uv tool upgrade aider-gardener, or pipx upgrade aider-gardener, or pip install -U aider-gardener"
)

CLEARED = (
    "aider-gardener: what was said before this /{command} does not come back by itself; /recall WORDS still"
    " finds it, /forget session deletes it for good."
)


def gardener_property(_original: Any) -> Any:
    return property(link.gardener_of, doc="The gardener of this chat, or None when it is off.")


def create(original: Any) -> Any:
    plain = original.__func__

    def create(
        cls: Any,
        main_model: Any = None,
        edit_format: Any = None,
        io: Any = None,
        from_coder: Any = None,
        summarize_from_coder: bool = True,
        **kwargs: Any,
    ) -> Any:
        if from_coder is None:
            link.warm_up()
        gardener = link.gardener_of(from_coder) if from_coder is not None else None
        if gardener is None:
            coder = plain(cls, main_model, edit_format, io, from_coder, summarize_from_coder, **kwargs)
            if from_coder is None:
                begin(coder)
            else:  # off or stopped in this chat: the next coder does not begin anew
                coder.__dict__[link.ATTRIBUTE] = None
            return coder
        is_sub = prompt.makes_sub_coder(from_coder, kwargs)
        if not is_sub:
            kwargs["restore_chat_history"] = False
            if summarize_from_coder and gardener.acts:
                prompt.forget_old_format(from_coder, gardener, main_model, edit_format)
                summarize_from_coder = False
        coder = plain(cls, main_model, edit_format, io, from_coder, summarize_from_coder, **kwargs)
        if is_sub:
            coder.__dict__[link.SUB_CODER] = True
        else:
            coder.__dict__[link.ATTRIBUTE] = gardener
            link.hold(gardener, coder)
        return coder

    stand_in: Any = wraps(plain)(create)
    return classmethod(stand_in)


def format_chat_chunks(original: Any) -> Any:
    @wraps(original)
    def format_chat_chunks(self: Any) -> Any:
        if link.gardener_of(self) is None:
            return original(self)
        with link.guarded(self):
            prompt.before(self)
        chunks = original(self)
        if (gardener := link.gardener_of(self)) is not None:
            with link.guarded(self):
                chunks = prompt.after(self, chunks)
                tell_if_left(self, gardener)
        return chunks

    return format_chat_chunks


def format_messages(original: Any) -> Any:
    @wraps(original)
    def format_messages(self: Any) -> Any:
        chunks = original(self)
        gardener = link.active(self) if self.add_cache_headers else None
        if gardener is not None and gardener.chat.fidelity:
            with link.guarded(self):
                prompt.mark_history(chunks)
        return chunks

    return format_messages


def reply_completed(original: Any) -> Any:
    @wraps(original)
    def reply_completed(self: Any) -> Any:
        answered = False
        with link.guarded(self):
            answered = sending.answer(self)
        return True if answered else original(self)

    return reply_completed


def unless_gardened(original: Any) -> Any:
    @wraps(original)
    def unless_gardened(self: Any) -> Any:
        return None if link.active(self) is not None else original(self)

    return unless_gardened


def then_sync(original: Any) -> Any:
    @wraps(original)
    def then_sync(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        finally:
            link.sync(self)

    return then_sync


def begin_turn(coder: Any) -> None:
    """A turn is due, unless a command of one runs a prompt of its own (perhaps by another coder)."""
    gardener = link.gardener_of(coder)
    if gardener is not None:
        with link.guarded(coder):
            if gardener.enter_turn():
                link.hold(gardener, coder)


def end_turn(coder: Any) -> None:
    gardener = link.gardener_of(coder)
    if gardener is not None:
        with link.guarded(coder):
            gardener.leave_turn()
            if gardener.acts and link.holds(gardener, coder):
                overflow.close_open_exchanges(coder, last=False)
    link.sync(coder)
    if gardener is not None and not gardener.busy and link.gardener_of(coder) is gardener:
        with link.guarded(coder):
            after_turn.turn_over(coder, gardener)


def run_one(original: Any) -> Any:
    @wraps(original)
    def run_one(self: Any, user_message: Any, preproc: Any) -> Any:
        begin_turn(self)
        try:
            return original(self, user_message, preproc)
        finally:
            end_turn(self)

    return run_one


def run_stream(original: Any) -> Any:
    @wraps(original)
    def run_stream(self: Any, user_message: Any) -> Iterator[Any]:
        begin_turn(self)
        try:
            yield from original(self, user_message)
        finally:
            end_turn(self)

    return run_stream


def raw_undo(original: Any) -> Any:
    @wraps(original)
    def raw_undo(self: Any, args: Any) -> Any:
        gardener = link.gardener_of(self.coder)
        before = self.coder.repo.get_head_commit_sha() if gardener and self.coder.repo else None
        result = original(self, args)
        if gardener and before and self.coder.repo.get_head_commit_sha() != before:
            with link.guarded(self.coder):
                gardener.edit_undone()
        return result

    return raw_undo


def matching_commands(original: Any) -> Any:
    @wraps(original)
    def matching_commands(self: Any, inp: Any) -> Any:
        result = original(self, inp)
        if result is None:
            return None
        matching, first_word, rest = result
        aiders = [command for command in matching if command not in commands.OURS]
        if aiders and first_word not in matching:
            matching = aiders
        return matching, first_word, rest

    return matching_commands


def added(function: Any) -> Any:
    """For seams where nothing stands: what is put there."""
    return lambda _original: function


def cmd_context_pressure(original: Any) -> Any:
    """Our report; in an aider that has one of its own, that one while the gardener is off."""
    if not callable(original):
        return commands.cmd_context_pressure

    @wraps(original)
    def cmd_context_pressure(self: Any, args: Any) -> Any:
        report = original if link.gardener_of(self.coder) is None else commands.cmd_context_pressure
        return report(self, args)

    return cmd_context_pressure


cmd_gardener = added(commands.cmd_gardener)
cmd_recall = added(commands.cmd_recall)
cmd_forget = added(commands.cmd_forget)
cmd_pin = added(commands.cmd_pin)
cmd_unpin = added(commands.cmd_unpin)
cmd_restore = added(commands.cmd_restore)
cmd_why = added(commands.cmd_why)
completions_of_ids = added(commands.completions_of_ids)
completions_forget = added(commands.completions_forget)
completions_unpin = added(commands.completions_unpin)


def get_parser(original: Any) -> Any:
    @wraps(original)
    def get_parser(default_config_files: Any, git_root: Any) -> Any:
        parser = original(default_config_files, git_root)
        add_options(parser)
        return parser

    return get_parser


def install_upgrade(original: Any) -> Any:
    @wraps(original)
    def install_upgrade(io: Any, latest_version: Any = None) -> None:
        from aider import __version__

        io.tool_output(UPGRADE_HINT.format(version=__version__))

    return install_upgrade


def begin(coder: Any) -> None:
    """Put the account of the last chat into a new one, and tell the user in one line.

    Nothing happens when the chat has messages already (aider restored its history) or there is nothing to
    tell. The chat's gardener is made here only if it is wanted.
    """
    try:
        settings = link.settings_of(coder)
    except UsageError:  # said when the gardener is made
        return
    if not (settings.enabled and settings.resume) or coder.done_messages or coder.cur_messages:
        return
    gardener = link.active(coder)
    if gardener is None:
        return
    with link.guarded(coder):
        link.refresh(gardener, coder)
        found = gardener.last_time()
        if found is None:
            return
        from aider_gardener.plan.view import FILLER

        coder.done_messages = [
            {"role": "user", "content": found.note},
            {"role": "assistant", "content": FILLER},
        ]
        link.take_in(coder, gardener)
        gardener.chat.watched |= {seq for piece in gardener.chat.done[:1] for seq in piece.members}
        coder.io.tool_output(f"aider-gardener: {found.line()}")


def tell_if_left(coder: Any, gardener: Gardener) -> None:
    """Tell the user once, in one line, when the account of the last chat no longer stands whole.

    What the user dropped (/clear, /forget) leaves without a word.
    """
    chat = gardener.chat
    chat.watched -= chat.forgotten
    for seq in chat.watched & chat.fidelity.keys():
        chat.watched.discard(seq)
        coder.io.tool_output(
            "aider-gardener: the note on the last chat had to make room and no longer stands whole in the"
            f" prompt; /restore {chat.entries[seq].id} brings it back."
        )


def clear_history(original: Any) -> Any:
    @wraps(original)
    def clear_history(self: Any) -> Any:
        link.sync(self.coder)
        result = original(self)
        gardener = link.gardener_of(self.coder)
        if gardener is not None:
            with link.guarded(self.coder):
                gardener.clear()
        return result

    return clear_history


def then_tell_cleared(original: Any) -> Any:
    """After the host has said that the history is gone: that it is kept, and how to reach it."""

    @wraps(original)
    def then_tell_cleared(self: Any, args: Any) -> Any:
        held = False
        link.sync(self.coder)
        if (gardener := link.gardener_of(self.coder)) is not None:
            with link.guarded(self.coder):
                held = bool(gardener.chat.all_entries())
        result = original(self, args)
        if held and link.gardener_of(self.coder) is not None:
            self.io.tool_output(CLEARED.format(command=original.__name__.removeprefix("cmd_")))
        return result

    return then_tell_cleared
