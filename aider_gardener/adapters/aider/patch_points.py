"""The patch points: every attribute of aider that the gardener replaces or adds, what it expects there, and
the hook that runs there."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

from aider_gardener.adapters.aider import call, chat, commands, history, layout, link, prompt
from aider_gardener.adapters.aider.options import Origins, add_options
from aider_gardener.adapters.aider.wrappers import Hook, Wrap, added, around, guard, guarded, hooked

TRIED = (
    *("0.83.2", "0.84.0", "0.85.0", "0.85.1", "0.85.2", "0.85.3", "0.85.4", "0.85.5"),
    *("0.86.0", "0.86.1", "0.86.2"),
)
"""The releases of aider with which the adapter's tests were run, oldest first (docs/hosts.md).
The first is the oldest that pyproject.toml allows. Any other aider is accepted where all of these match."""

CODER, COMMANDS = "aider.coders.base_coder", "aider.commands"

INTERFACE = "0010-history-interface"
PROVIDER = "0011-history-provider"
APPEND = "0012-archive-on-append"
USAGE = "0016-usage"
CALLS = {
    INTERFACE: ("format_chat_chunks", "fit"),
    PROVIDER: ("create", "joined"),
    APPEND: ("run_one", "begin"),
    USAGE: ("calculate_and_show_tokens_and_cost", "used"),
}
"""The patches of the series that put calls of a history provider into aider and retire patch points, each
with a method of `Coder` and the word, a name or an event, by which the provider is reached in it then."""


@dataclass(frozen=True)
class PatchPoint:
    """One attribute of the host. `signature` is what must be there ("" for one that is added), `wrap` gets
    that and returns what takes its place.

    `retired_by` are the patches that together do what the wrapper does: where aider has them all, the patch
    point stays as it is.
    """

    module: str
    path: str
    signature: str
    wrap: Wrap
    reason: str
    retired_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.module}:{self.path}"


def get_parser(original: Any) -> object:
    """aider's parser with our flags; what it was made for tells where settings came from."""

    @wraps(original)
    def get_parser(default_config_files: list[str], git_root: str | None) -> ArgumentParser:
        parser: ArgumentParser = original(default_config_files, git_root)
        with guard(None):
            add_options(parser)
            if default_config_files:  # aider starts; for another repository it does so again, files read
                origins = link.state.origins
                link.state.origins = replace(origins, parser=parser) if origins else Origins(parser)
        return parser

    return get_parser


def ours(hook: Hook) -> Hook:
    """A hook that gets the gardener behind the coder; it is not called where there is none."""
    return partial(link.run, hook)


THE_GARDENER = property(guarded(link.gardener_of), doc="The gardener of this chat, or None when it is off.")
PATCH_POINTS = (
    PatchPoint(CODER, "Coder.gardener", "", added(THE_GARDENER),
        "the gardener of a chat, for users of the library"),
    PatchPoint(CODER, "Coder.create",
        "(main_model=None, edit_format=None, io=None, from_coder=None, summarize_from_coder=True, **kwargs)",
        chat.create, "hand the gardener on; switch modes without an LLM; do not resurrect a cleared history",
        (INTERFACE, PROVIDER)),
    PatchPoint(CODER, "Coder.show_announcements", "(self)", hooked(after=guarded(chat.announce)),
        "the start tells that the gardener is on"),
    PatchPoint(CODER, "Coder.format_chat_chunks", "(self)",
        hooked(before=ours(prompt.before), result=ours(prompt.after)),
        "garden the history before it is sent, recall into the prompt", (INTERFACE,)),
    PatchPoint(CODER, "Coder.format_messages", "(self)", hooked(result=ours(layout.set_breakpoints)),
        "a cache breakpoint behind the history"),
    PatchPoint(CODER, "Coder.get_cur_message_text", "(self)",
        hooked(instead=partial(link.run_begun, layout.current_texts)),
        "the map's mentions come from what was said, not from what stands of it"),
    PatchPoint(CODER, "Coder.send", "(self, messages, model=None, functions=None)", call.send,
        "garden harder and try once more when the provider says the prompt is too long"),
    PatchPoint(CODER, "Coder.send_message", "(self, inp)", around(ours(call.message)),
        "a reply that asks for an original gets it; one not sent leaves a legal chat"),
    PatchPoint("aider.coders.architect_coder", "ArchitectCoder.reply_completed", "(self)",
        hooked(instead=ours(call.answer)), "no editor is sent off while the architect asks for an original"),
    PatchPoint(CODER, "Coder.calculate_and_show_tokens_and_cost", "(self, messages, completion=None)",
        hooked(after=ours(call.used)),
        "count what the provider says a call used, cache reads and writes too", (USAGE,)),
    PatchPoint(CODER, "Coder.summarize_start", "(self)", hooked(instead=ours(link.acts)),
        "no LLM summary, no thread", (INTERFACE,)),
    PatchPoint(CODER, "Coder.summarize_end", "(self)", hooked(instead=ours(link.acts)),
        "no LLM summary, no thread", (INTERFACE,)),
    PatchPoint(CODER, "Coder.add_assistant_reply_to_cur_messages", "(self)", around(ours(link.syncing)),
        "archive the reply as soon as it exists", (INTERFACE,)),
    PatchPoint(CODER, "Coder.apply_updates", "(self)",
        hooked(result=partial(link.run_begun, chat.edited)),
        "notes say of an edit that it was not made"),
    PatchPoint(CODER, "Coder.move_back_cur_messages", "(self, message)", around(ours(link.syncing)),
        "archive the commit notice as soon as it exists", (APPEND,)),
    PatchPoint(CODER, "Coder.run_one", "(self, user_message, preproc)", around(ours(chat.turn)),
        "count turns; archive what commands added", (APPEND,)),
    PatchPoint(CODER, "Coder.run_stream", "(self, user_message)", around(ours(chat.turn)),
        "count turns in the browser", (APPEND,)),
    PatchPoint(COMMANDS, "Commands._clear_chat_history", "(self)", around(ours(chat.clearing)),
        "after /clear nothing older comes back by itself; a line says how to reach it", (INTERFACE,)),
    PatchPoint(COMMANDS, "Commands.raw_cmd_undo", "(self, args)", around(ours(chat.undoing)),
        "notes say of an edit that it was undone", (APPEND,)),
    PatchPoint(COMMANDS, "Commands.cmd_copy_context", "(self, args=None)",
        around(ours(partial(link.preview, acts=False))),
        "what is copied has each file as it is, and changes no prompt"),
    PatchPoint(COMMANDS, "Commands.matching_commands", "(self, inp)",
        hooked(result=guarded(commands.aiders_first)),
        "prefixes of aider's own commands mean what they meant"),
    *(PatchPoint(COMMANDS, f"Commands.cmd_{name[1:].replace('-', '_')}", "", added(run), name)
      for name, run in commands.COMMANDS.items()),
    PatchPoint("aider.main", "get_parser", "(default_config_files, git_root)", get_parser,
        "the --gardener flags, their variables and help"),
)  # fmt: skip

PROVIDERS = (
    PatchPoint(CODER, "Coder.default_history", "", added(staticmethod(history.default_history)),
        "coders that are made without a provider get ours"),
)  # fmt: skip
"""What is replaced instead, each where aider has it: how `install` gives chats its provider."""
