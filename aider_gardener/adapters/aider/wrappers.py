"""What stands in the seams. Each function gets the original and returns its stand-in.

The rule of every stand-in: the original's signature, the original's path when the gardener is off, and
every statement of ours in a `Guard`, so that no exception of ours reaches the host.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import (
    announce,
    chat,
    commands,
    entry_commands,
    link,
    order,
    prompt,
    repomap,
    sending,
)
from aider_gardener.adapters.aider.coder import (
    Chunks,
    HostCoder,
    HostCommands,
    HostContext,
    HostIO,
    HostModel,
    Original,
)
from aider_gardener.adapters.aider.context import GardenerContext
from aider_gardener.adapters.aider.guard import Guard
from aider_gardener.adapters.aider.options import add_options
from aider_gardener.adapters.aider.origins import Origins
from aider_gardener.adapters.aider.responses import show_cost
from aider_gardener.adapters.aider.sending import send, send_message

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.recall.backlog import Backlog

Command = Callable[[HostCommands, str], None]

__all__ = ["clear_history", "send", "send_message", "show_cost", "then_tell_cleared"]

UPGRADE_HINT = (
    "aider-gardener brings its own aider {version}, so aider is not upgraded by itself. To upgrade both:"
    " uv tool upgrade aider-gardener, or pipx reinstall aider-gardener,"
    " or pip install -U aider-gardener aider-chat"
)


def gardener_property(_original: Original) -> property:
    def gardener(self: HostCoder) -> Gardener | None:
        with Guard(self):
            return link.gardener_of(self)
        return None

    return property(gardener, doc="The gardener of this chat, or None when it is off.")


def create(original: Any) -> Any:
    plain = original.__func__

    def create(
        cls: type,
        main_model: HostModel | None = None,
        edit_format: str | None = None,
        io: HostIO | None = None,
        from_coder: HostCoder | None = None,
        summarize_from_coder: bool = True,
        **kwargs: Any,
    ) -> HostCoder:
        handed = chat.Handed()
        with Guard(from_coder):
            handed = chat.hand_on(
                from_coder, main_model, edit_format, summarise=summarize_from_coder, options=kwargs
            )
        if handed.gardener is not None and not handed.is_sub:
            kwargs["restore_chat_history"] = False
        summarise = summarize_from_coder and not handed.is_ready
        coder: HostCoder = plain(cls, main_model, edit_format, io, from_coder, summarise, **kwargs)
        with Guard(coder):
            chat.take_over(coder, from_coder, handed)
        return coder

    stand_in: Any = wraps(plain)(create)
    return classmethod(stand_in)


def then_announce(original: Original) -> Original:
    @wraps(original)
    def then_announce(self: HostCoder) -> None:
        original(self)
        with Guard(self):
            announce.announce(self)

    return then_announce


def format_chat_chunks(original: Original) -> Original:
    @wraps(original)
    def format_chat_chunks(self: HostCoder) -> Chunks:
        with Guard(self):
            if (gardener := link.attending(self)) is not None:
                prompt.before(self, gardener)
        chunks: Chunks = original(self)
        with Guard(self):
            if (gardener := link.gardener_of(self)) is not None:
                prompt.after(self, gardener, chunks)
        return chunks

    return format_chat_chunks


def format_messages(original: Original) -> Original:
    @wraps(original)
    def format_messages(self: HostCoder) -> Chunks:
        chunks: Chunks = original(self)
        with Guard(self):
            gardener = link.active(self) if self.add_cache_headers else None
            if gardener is not None and gardener.state.settings.files == "stable":
                order.mark(chunks)
            elif gardener is not None and gardener.state.chat.fidelity:
                order.mark_history(chunks)
        return chunks

    return format_messages


def get_cur_message_text(original: Original) -> Original:
    """What the map's mentions are taken from."""

    @wraps(original)
    def get_cur_message_text(self: HostCoder) -> str:
        with Guard(self):
            if (gardener := repomap.gardener_for_map(self)) is not None:
                return repomap.original_texts(gardener)
        text: str = original(self)
        return text

    return get_cur_message_text


def get_repo_map(original: Original) -> Original:
    @wraps(original)
    def get_repo_map(self: HostCoder, force_refresh: bool = False) -> str | None:
        fresh: str | None = original(self, force_refresh)
        if not fresh:
            return fresh
        with Guard(self):
            if (gardener := repomap.gardener_for_map(self)) is not None:
                return repomap.settled(self, gardener, fresh, anew=force_refresh)
        return fresh

    return get_repo_map


def reply_completed(original: Original) -> Original:
    @wraps(original)
    def reply_completed(self: HostCoder) -> Any:
        answered = False
        with Guard(self):
            answered = sending.answer(self)
        return True if answered else original(self)

    return reply_completed


def unless_gardened(original: Original) -> Original:
    @wraps(original)
    def unless_gardened(self: HostCoder) -> Any:
        gardened = False
        with Guard(self):
            gardened = link.active(self) is not None
        return None if gardened else original(self)

    return unless_gardened


def then_sync(original: Original) -> Original:
    @wraps(original)
    def then_sync(self: HostCoder, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        finally:
            with Guard(self):
                link.sync(self)

    return then_sync


def while_resting(original: Original) -> Original:
    """Around what runs programs of the user's: the processor is theirs meanwhile."""

    @wraps(original)
    def while_resting(self: object, *args: Any, **kwargs: Any) -> Any:
        paused: list[Backlog] = []
        with Guard(None):
            paused = link.state.pause()
        try:
            return original(self, *args, **kwargs)
        finally:
            with Guard(None):
                for backlog in paused:
                    backlog.resume()

    return while_resting


def run_one(original: Original) -> Original:
    @wraps(original)
    def run_one(self: HostCoder, user_message: str, preproc: bool) -> Any:
        with Guard(self):
            chat.begin_turn(self, user_message)
        try:
            return original(self, user_message, preproc)
        finally:
            with Guard(self):
                chat.end_turn(self)

    return run_one


def run_stream(original: Original) -> Original:
    @wraps(original)
    def run_stream(self: HostCoder, user_message: str) -> Iterator[Any]:
        with Guard(self):
            chat.begin_turn(self, user_message)
        try:
            yield from original(self, user_message)
        finally:
            with Guard(self):
                chat.end_turn(self)

    return run_stream


def raw_undo(original: Original) -> Original:
    @wraps(original)
    def raw_undo(self: HostCommands, args: str) -> Any:
        before = None
        with Guard(self.coder):
            before = head_of(self.coder)
        result = original(self, args)
        with Guard(self.coder):
            if before and before != head_of(self.coder) and (gardener := link.gardener_of(self.coder)):
                gardener.edit_undone()
        return result

    return raw_undo


def head_of(coder: HostCoder) -> str | None:
    """The commit that the chat's repository is at; None without a repository or a commit."""
    return coder.repo.get_head_commit_sha() if coder.repo else None


def matching_commands(original: Original) -> Original:
    @wraps(original)
    def matching_commands(self: HostCommands, inp: str) -> Any:
        result = original(self, inp)
        if result is None:
            return None
        matching, first_word, rest = result
        aiders = [command for command in matching if command not in commands.OURS]
        return (aiders if aiders and first_word not in matching else matching), first_word, rest

    return matching_commands


def command(function: Command) -> Callable[[object], Command]:
    """For seams where nothing stands: a command of ours is put there. If it fails, only it has failed."""

    name = commands.name_of(function)

    @wraps(function)
    def stand_in(self: HostCommands, args: str) -> None:
        with Guard(self.coder, name):
            function(self, args)

    return lambda _original: stand_in


def completions(function: Callable[[HostCommands], list[str]]) -> Callable[[object], Original]:
    """The same for what completes a command's argument."""

    @wraps(function)
    def stand_in(self: HostCommands) -> list[str]:
        with Guard(self.coder, "completion"):
            return function(self)
        return []

    return lambda _original: stand_in


cmd_context_pressure = command(commands.cmd_context_pressure)
cmd_gardener = command(commands.cmd_gardener)
cmd_compact = command(commands.cmd_compact)
cmd_recall = command(entry_commands.cmd_recall)
cmd_forget = command(entry_commands.cmd_forget)
cmd_pin = command(entry_commands.cmd_pin)
cmd_unpin = command(entry_commands.cmd_unpin)
cmd_restore = command(entry_commands.cmd_restore)
cmd_why = command(entry_commands.cmd_why)
completions_gardener = completions(commands.completions_gardener)
completions_of_ids = completions(entry_commands.completions_of_ids)
completions_forget = completions(entry_commands.completions_forget)
completions_unpin = completions(entry_commands.completions_unpin)


def get_parser(original: Original) -> Original:
    @wraps(original)
    def get_parser(default_config_files: list[str], git_root: str | None) -> ArgumentParser:
        parser: ArgumentParser = original(default_config_files, git_root)
        with Guard(None):
            add_options(parser)
            announce.name_both(parser)
            if (
                default_config_files
            ):  # aider starts; where it starts anew for another repository, files were read
                known = link.state.origins
                link.state.origins = replace(known, parser=parser) if known else Origins(parser)
        return parser

    return get_parser


def install_upgrade(original: Original) -> Original:
    @wraps(original)
    def install_upgrade(io: HostIO, latest_version: object = None) -> None:
        from aider import __version__

        io.tool_output(UPGRADE_HINT.format(version=__version__))

    return install_upgrade


def clear_history(original: Original) -> Original:
    @wraps(original)
    def clear_history(self: HostCommands) -> Any:
        with Guard(self.coder):
            link.sync(self.coder)
        result = original(self)
        with Guard(self.coder):
            if (gardener := link.gardener_of(self.coder)) is not None:
                gardener.clear()
        return result

    return clear_history


def then_tell_cleared(original: Original) -> Original:
    """After the host has said that the history is gone: that it is kept, and how to reach it."""

    @wraps(original)
    def then_tell_cleared(self: HostCommands, args: str) -> Any:
        held = False
        with Guard(self.coder):
            link.sync(self.coder)
            gardener = link.gardener_of(self.coder)
            held = gardener is not None and bool(gardener.state.chat.all_entries())
        result = original(self, args)
        with Guard(self.coder):
            if held and link.gardener_of(self.coder) is not None:
                self.io.tool_output(chat.CLEARED.format(command=original.__name__.removeprefix("cmd_")))
        return result

    return then_tell_cleared


def context(stock: HostContext) -> GardenerContext:
    """Where aider has providers: ours in the place of the one that coders have if not told otherwise."""
    return GardenerContext(stock)


def make_provider(original: Original) -> Original:
    """The same for the one that aider's command line names."""

    @wraps(original)
    def make_provider(name: str = "summary", options: Sequence[str] = ()) -> HostContext:
        made: HostContext = original(name, options) if options else original(name)
        return GardenerContext(made) if name == "summary" else made

    return make_provider
