"""The patch points: every attribute of aider that the gardener replaces or adds, what it expects there, and
the hook that runs there."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

from aider_gardener.adapters.aider import call, chat, commands, history, layout, link, prompt
from aider_gardener.adapters.aider import entry_commands as entry_commands  # its rows of commands
from aider_gardener.adapters.aider.coder import HostIO, Terminal
from aider_gardener.adapters.aider.options import Origins, add_options, name_both
from aider_gardener.adapters.aider.wrappers import Guard, Hook, Wrap, added, around, beside, guarded

TRIED = (
    *("0.83.2", "0.84.0", "0.85.0", "0.85.1", "0.85.2", "0.85.3", "0.85.4", "0.85.5"),
    *("0.86.0", "0.86.1", "0.86.2"),
)
"""The releases of aider with which the adapter's tests were run, oldest first: docs/hosts.md has the table.
The first is the oldest that pyproject.toml allows. Any other aider is accepted where all of these match."""

CODER, COMMANDS = "aider.coders.base_coder", "aider.commands"

INTERFACE = "0010-history-interface"
PROVIDER = "0011-history-provider"
APPEND = "0012-archive-on-append"
USAGE = "0016-usage"
"""The patches of the series that put calls of a history provider into aider and retire a patch point."""


@dataclass(frozen=True)
class ProviderCall:
    """A call in aider that makes a patch point needless: in the function `inside` the history provider is
    reached by this word, a name or an event, once the patch is in."""

    inside: str
    word: str
    patch: str


@dataclass(frozen=True)
class PatchPoint:
    """One attribute of the host. `signature` is what must be there ("" for one that is added), `wrap` gets
    that and returns what takes its place.

    `calls` are those of a history provider that do together what the wrapper does: where aider has them all,
    the patch point stays as it is. `remains` says why no patch of the series retires it.
    """

    module: str
    path: str
    signature: str
    wrap: Wrap
    reason: str
    calls: tuple[ProviderCall, ...] = ()
    remains: str = ""

    @property
    def name(self) -> str:
        return f"{self.module}:{self.path}"

    @property
    def retired_by(self) -> tuple[str, ...]:
        """The patches, by name, after which it is needless; none where it remains."""
        return tuple(dict.fromkeys(call.patch for call in self.calls))


OURS = "a command of ours; aider's own report is /tokens"
NOT_ASKED = "no step of the plan needs it; a hook for it can follow"
SPEED = "only for speed: prompts are the same without it"

JOIN = ProviderCall("Coder.create", "joined", PROVIDER)
FORMAT = ProviderCall("Coder.create", "new_format", INTERFACE)
FIT = ProviderCall("Coder.format_chat_chunks", "fit", INTERFACE)
ADD = ProviderCall("Coder.format_chat_chunks", "add", INTERFACE)
SUMMARY = ProviderCall("Coder.summarize_start", "summarizes", INTERFACE)
REPLY = ProviderCall("Coder.add_assistant_reply_to_cur_messages", "added", INTERFACE)
CLEAR = ProviderCall("Commands._clear_chat_history", "clear", INTERFACE)
NOTICE = ProviderCall("Coder.move_back_cur_messages", "added", APPEND)
RUN = ProviderCall("Coder.run_one", "begin", APPEND)
STREAM = ProviderCall("Coder.run_stream", "begin", APPEND)
UNDO = ProviderCall("Commands.raw_cmd_undo", "undone", APPEND)
USED = ProviderCall("Coder.calculate_and_show_tokens_and_cost", "used", USAGE)


UPGRADE_HINT = (
    "aider-gardener brings its own aider {version}, so aider is not upgraded by itself. To upgrade both:"
    " uv tool upgrade aider-gardener, or pipx reinstall aider-gardener,"
    " or pip install -U aider-gardener aider-chat"
)


def get_parser(original: Any) -> Any:
    """aider's parser with our flags; what it was made for tells where settings came from."""

    @wraps(original)
    def get_parser(default_config_files: list[str], git_root: str | None) -> ArgumentParser:
        parser: ArgumentParser = original(default_config_files, git_root)
        with Guard(None):
            add_options(parser)
            name_both(parser)
            if default_config_files:  # aider starts; for another repository it does so again, files read
                known = link.state.origins
                link.state.origins = replace(known, parser=parser) if known else Origins(parser)
        return parser

    return get_parser


def no_upgrade(io: HostIO, latest_version: object = None) -> None:
    """In the place of an upgrade of aider: how both are upgraded."""
    from aider import __version__

    Terminal(io).tool_output(UPGRADE_HINT.format(version=__version__))


def ours(hook: Hook) -> Hook:
    """A hook that gets the gardener behind the coder; it is not called where there is none."""
    return partial(link.run, hook)


def _attribute(command: str) -> str:
    return command.removeprefix("/").replace("-", "_")


THE_GARDENER = property(guarded(link.gardener_of), doc="The gardener of this chat, or None when it is off.")
AT_REST = around(guarded(link.resting))

PATCH_POINTS = (
    PatchPoint(CODER, "Coder.gardener", "", added(THE_GARDENER),
        "the gardener of a chat, for users of the library", remains="a name of the library's"),
    PatchPoint(CODER, "Coder.create",
        "(main_model=None, edit_format=None, io=None, from_coder=None, summarize_from_coder=True, **kwargs)",
        chat.create, "hand the gardener on; switch modes without an LLM; do not resurrect a cleared history",
        (JOIN, FORMAT)),
    PatchPoint(CODER, "Coder.show_announcements", "(self)", beside(after=guarded(chat.announce)),
        "the start tells that the gardener is on", remains="a line of ours in aider's start"),
    PatchPoint(CODER, "Coder.format_chat_chunks", "(self)",
        beside(before=ours(prompt.before), result=ours(prompt.after)),
        "garden the history before it is sent, recall into the prompt", (FIT, ADD)),
    PatchPoint(CODER, "Coder.format_messages", "(self)", beside(result=ours(layout.set_breakpoints)),
        "a cache breakpoint behind the history", remains=NOT_ASKED),
    PatchPoint(CODER, "Coder.get_cur_message_text", "(self)", beside(instead=ours(layout.current_texts)),
        "the map's mentions come from what was said, not from what stands of it", remains=NOT_ASKED),
    PatchPoint(CODER, "Coder.send", "(self, messages, model=None, functions=None)", call.send,
        "garden harder and try once more when the provider says the prompt is too long",
        remains="local servers refuse it with a plain bad request, which 0014 leaves alone"),
    PatchPoint(CODER, "Coder.send_message", "(self, inp)", around(ours(call.message)),
        "a reply that asks for an original gets it; one not sent leaves a legal chat", remains=NOT_ASKED),
    PatchPoint("aider.coders.architect_coder", "ArchitectCoder.reply_completed", "(self)",
        beside(instead=ours(call.answer)), "no editor is sent off while the architect asks for an original",
        remains=NOT_ASKED),
    PatchPoint(CODER, "Coder.calculate_and_show_tokens_and_cost", "(self, messages, completion=None)",
        beside(after=ours(call.used)),
        "count what the provider says a call used, cache reads and writes too", (USED,)),
    PatchPoint(CODER, "Coder.summarize_start", "(self)", beside(instead=ours(link.acts)),
        "no LLM summary, no thread", (SUMMARY,)),
    PatchPoint(CODER, "Coder.summarize_end", "(self)", beside(instead=ours(link.acts)),
        "no LLM summary, no thread", (SUMMARY,)),
    PatchPoint(CODER, "Coder.add_assistant_reply_to_cur_messages", "(self)", around(ours(link.syncing)),
        "archive the reply as soon as it exists", (REPLY,)),
    PatchPoint(CODER, "Coder.move_back_cur_messages", "(self, message)", around(ours(link.syncing)),
        "archive the commit notice as soon as it exists", (NOTICE,)),
    PatchPoint(CODER, "Coder.handle_shell_commands", "(self, commands_str, group)", AT_REST,
        "nothing is embedded while a command runs", remains=SPEED),
    PatchPoint(COMMANDS, "Commands.cmd_run", "(self, args, add_on_nonzero_exit=False)", AT_REST,
        "nothing is embedded while a command or the tests run", remains=SPEED),
    PatchPoint(CODER, "Coder.lint_edited", "(self, fnames)", AT_REST,
        "nothing is embedded while a linter runs", remains=SPEED),
    PatchPoint(COMMANDS, "Commands.cmd_lint", "(self, args='', fnames=None)", AT_REST,
        "nothing is embedded while a linter runs", remains=SPEED),
    PatchPoint(CODER, "Coder.run_one", "(self, user_message, preproc)", around(ours(chat.turn)),
        "count turns; archive what commands added", (RUN,)),
    PatchPoint(CODER, "Coder.run_stream", "(self, user_message)", around(ours(chat.turn)),
        "count turns in the browser", (STREAM,)),
    PatchPoint(COMMANDS, "Commands._clear_chat_history", "(self)", around(ours(chat.clearing)),
        "after /clear nothing older comes back by itself", (CLEAR,)),
    *(PatchPoint(COMMANDS, f"Commands.cmd_{name}", "(self, args)",
        around(ours(partial(chat.clear_command, name=name))),
        "say that what was cleared is kept, and how to reach it", (CLEAR,))
      for name in ("clear", "reset")),
    PatchPoint(COMMANDS, "Commands.raw_cmd_undo", "(self, args)", around(ours(chat.undoing)),
        "notes say of an edit that it was undone", (UNDO,)),
    PatchPoint(COMMANDS, "Commands.matching_commands", "(self, inp)",
        beside(result=guarded(commands.aiders_first)),
        "prefixes of aider's own commands mean what they meant", remains=OURS),
    *(PatchPoint(COMMANDS, f"Commands.cmd_{_attribute(name)}", "", added(run), name, remains=OURS)
      for name, (run, _) in commands.COMMANDS.items()),
    *(PatchPoint(COMMANDS, f"Commands.completions_raw_{_attribute(name)}", "", added(complete),
        "ids complete as one types", remains=OURS)
      for name, (_, complete) in commands.COMMANDS.items() if complete),
    PatchPoint("aider.main", "get_parser", "(default_config_files, git_root)", get_parser,
        "the --gardener flags, their variables and help",
        remains="aider-gardener's own flags; aider's --history-option sets the same"),
    *(PatchPoint(module, name, signature, added(no_upgrade),
        "aider must not be upgraded under the gardener", remains="a packaging matter")
      for module, name, signature in (
          ("aider.main", "install_upgrade", "(io, latest_version=None)"),
          ("aider.main", "install_from_main_branch", "(io)"),
          ("aider.versioncheck", "install_upgrade", "(io, latest_version=None)"))),
)  # fmt: skip

PROVIDERS = (
    PatchPoint(CODER, "Coder.default_history", "", added(staticmethod(history.default_history)),
        "coders that are made without a provider get ours", remains="what the others give way to"),
)  # fmt: skip
"""What is replaced instead, each where aider has it: how `install` gives chats its provider."""
