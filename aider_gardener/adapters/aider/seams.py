"""The seams: every attribute of aider that the gardener replaces or adds, and what it expects there."""

from __future__ import annotations

from dataclasses import dataclass

TRIED = (
    *("0.83.2", "0.84.0", "0.85.0", "0.85.1", "0.85.2", "0.85.3", "0.85.4", "0.85.5"),
    *("0.86.0", "0.86.1", "0.86.2"),
)
"""The releases of aider with which the adapter's tests were run, oldest first: docs/hosts.md has the table.
The first is the oldest that pyproject.toml allows. Any other aider is accepted where every seam matches."""

CODER, COMMANDS = "aider.coders.base_coder", "aider.commands"

INTERFACE = "0010-context-interface"
APPEND = "0012-archive-on-append"
TOKENS = "0013-token-details"
EVICT = "0014-shrink-and-retry"
"""The patches of the series that put calls of a context provider into aider. 0015 retires nothing."""


@dataclass(frozen=True)
class Call:
    """A call in aider that makes a seam needless: in the function `inside` the context provider's `method` is
    called, once the patch is in."""

    inside: str
    method: str
    patch: str


@dataclass(frozen=True)
class Seam:
    """One attribute of the host. `signature` is what must stand there ("" for one that is added).

    `make` is the name of the function in `wrappers` that gets the original and returns its stand-in.
    `calls` are those of a context provider that do together what the stand-in does: where aider has them
    all, the seam stays as it is. `remains` says why no patch of the series retires it.
    """

    module: str
    path: str
    signature: str
    make: str
    reason: str
    calls: tuple[Call, ...] = ()
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

SEAMS = (
    Seam(CODER, "Coder.gardener", "", "gardener_property",
         "the gardener of a chat, for users of the library", remains="a name of the library's"),
    Seam(CODER, "Coder.create",
         "(main_model=None, edit_format=None, io=None, from_coder=None, summarize_from_coder=True, **kwargs)",
         "create", "hand the gardener on; switch modes without an LLM; do not resurrect a cleared history",
         (Call("Coder.create", "join", INTERFACE), Call("Coder.create", "new_format", INTERFACE))),
    Seam(CODER, "Coder.show_announcements", "(self)", "then_announce",
         "the start tells that the gardener is on", remains="a line of ours in aider's start"),
    Seam(CODER, "Coder.format_chat_chunks", "(self)", "format_chat_chunks",
         "garden the history before it is sent, recall into the prompt",
         (Call("Coder.format_chat_chunks", "tend", INTERFACE),
          Call("Coder.format_chat_chunks", "add", INTERFACE))),
    Seam(CODER, "Coder.format_messages", "(self)", "format_messages",
         "a cache breakpoint behind the history", remains=NOT_ASKED),
    Seam(CODER, "Coder.get_cur_message_text", "(self)", "get_cur_message_text",
         "the map's mentions come from what was said, not from what stands of it", remains=NOT_ASKED),
    Seam(CODER, "Coder.get_repo_map", "(self, force_refresh=False)", "get_repo_map",
         "the map rests while it shows what is spoken of", remains=NOT_ASKED),
    Seam(CODER, "Coder.send", "(self, messages, model=None, functions=None)", "send",
         "garden harder and try once more when the provider says the prompt is too long",
         (Call("Coder.send_message", "shrink", EVICT),
          Call("Coder.calculate_and_show_tokens_and_cost", "used", TOKENS))),
    Seam(CODER, "Coder.send_message", "(self, inp)", "send_message",
         "a reply that asks for an original gets it; one not sent leaves a legal chat", remains=NOT_ASKED),
    Seam("aider.coders.architect_coder", "ArchitectCoder.reply_completed", "(self)", "reply_completed",
         "no editor is sent off while the architect asks for an original", remains=NOT_ASKED),
    Seam(CODER, "Coder.calculate_and_show_tokens_and_cost",
         "(self, messages, completion=None)", "show_cost",
         "count what the provider says a call used, cache reads and writes too",
         (Call("Coder.calculate_and_show_tokens_and_cost", "used", TOKENS),)),
    Seam(CODER, "Coder.summarize_start", "(self)", "unless_gardened", "no LLM summary, no thread",
         (Call("Coder.summarize_start", "wants_summary", INTERFACE),)),
    Seam(CODER, "Coder.summarize_end", "(self)", "unless_gardened", "no LLM summary, no thread",
         (Call("Coder.summarize_start", "wants_summary", INTERFACE),
          Call("Coder.format_chat_chunks", "tend", INTERFACE))),
    Seam(CODER, "Coder.add_assistant_reply_to_cur_messages", "(self)", "then_sync",
         "archive the reply as soon as it exists",
         (Call("Coder.add_assistant_reply_to_cur_messages", "take_in", INTERFACE),)),
    Seam(CODER, "Coder.move_back_cur_messages", "(self, message)", "then_sync",
         "archive the commit notice as soon as it exists",
         (Call("Coder.move_back_cur_messages", "take_in", APPEND),)),
    Seam(CODER, "Coder.handle_shell_commands", "(self, commands_str, group)",
         "while_resting", "nothing is embedded while a command runs", remains=SPEED),
    Seam(COMMANDS, "Commands.cmd_run", "(self, args, add_on_nonzero_exit=False)", "while_resting",
         "nothing is embedded while a command or the tests run", remains=SPEED),
    Seam(CODER, "Coder.lint_edited", "(self, fnames)", "while_resting",
         "nothing is embedded while a linter runs", remains=SPEED),
    Seam(COMMANDS, "Commands.cmd_lint", "(self, args='', fnames=None)", "while_resting",
         "nothing is embedded while a linter runs", remains=SPEED),
    Seam(CODER, "Coder.run_one", "(self, user_message, preproc)", "run_one",
         "count turns; archive what commands added", (Call("Coder.run_one", "turn", APPEND),)),
    Seam(CODER, "Coder.run_stream", "(self, user_message)", "run_stream",
         "count turns in the browser", (Call("Coder.run_stream", "turn", APPEND),)),
    Seam(COMMANDS, "Commands._clear_chat_history", "(self)", "clear_history",
         "after /clear nothing older comes back by itself",
         (Call("Commands._clear_chat_history", "clear", INTERFACE),)),
    *(Seam(COMMANDS, f"Commands.cmd_{name}", "(self, args)", "then_tell_cleared",
           "say that what was cleared is kept, and how to reach it",
           (Call("Commands._clear_chat_history", "clear", INTERFACE),))
      for name in ("clear", "reset")),
    Seam(COMMANDS, "Commands.raw_cmd_undo", "(self, args)", "raw_undo",
         "notes say of an edit that it was undone", (Call("Commands.raw_cmd_undo", "undo", APPEND),)),
    Seam(COMMANDS, "Commands.matching_commands", "(self, inp)", "matching_commands",
         "prefixes of aider's own commands mean what they meant", remains=OURS),
    *(Seam(COMMANDS, f"Commands.cmd_{name}", "", f"cmd_{name}",
           f"/{name.replace('_', '-')}", remains=OURS)
      for name in ("context_pressure", "gardener", "compact", "recall", "forget", "pin", "unpin",
                   "restore", "why")),
    *(Seam(COMMANDS, f"Commands.completions_{name}", "", make, "ids complete as one types", remains=OURS)
      for name, make in (("gardener", "completions_gardener"),
                         ("forget", "completions_forget"), ("pin", "completions_of_ids"),
                         ("unpin", "completions_unpin"), ("restore", "completions_of_ids"),
                         ("why", "completions_of_ids"))),
    Seam("aider.main", "get_parser", "(default_config_files, git_root)", "get_parser",
         "the --gardener flags, their variables and help",
         remains="aider-gardener's own flags; aider's --context-option sets the same"),
    *(Seam(module, name, signature, "install_upgrade", "aider must not be upgraded under the gardener",
           remains="a packaging matter")
      for module, name, signature in (
          ("aider.main", "install_upgrade", "(io, latest_version=None)"),
          ("aider.main", "install_from_main_branch", "(io)"),
          ("aider.versioncheck", "install_upgrade", "(io, latest_version=None)"))),
)  # fmt: skip

PROVIDERS = (
    Seam(CODER, "Coder.context", "", "context",
         "coders that are made without a provider get ours", remains="what the other seams give way to"),
    Seam("aider.main", "make_provider", "", "make_provider",
         "so do those of the command line, unless it names another", remains="the same"),
)  # fmt: skip
"""What is replaced instead, each where aider has it: how `install` gives chats its provider."""
