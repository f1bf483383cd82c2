"""The seams: every attribute of aider that the gardener replaces or adds, and what it expects there."""

from __future__ import annotations

from dataclasses import dataclass

SUPPORTED = "0.86.2"


@dataclass(frozen=True)
class Seam:
    """One attribute of the host. `signature` is what must stand there ("" for one that is added).

    `make` is the name of the function in `wrappers` that gets the original and returns its stand-in.
    `retired_by` says which change in aider would make the seam needless.
    """

    module: str
    path: str
    signature: str
    make: str
    reason: str
    retired_by: str

    @property
    def name(self) -> str:
        return f"{self.module}:{self.path}"


SEAMS = (
    Seam("aider.coders.base_coder", "Coder.gardener", "", "gardener_property",
         "the gardener of a chat, for users of the library", "a context-provider attribute of Coder"),
    Seam("aider.coders.base_coder", "Coder.create",
         "(main_model=None, edit_format=None, io=None, from_coder=None, summarize_from_coder=True, **kwargs)",
         "create", "hand the gardener on; switch modes without an LLM; do not resurrect a cleared history",
         "history reset with the coder, and a summariser interface"),
    Seam("aider.coders.base_coder", "Coder.show_announcements", "(self)", "then_announce",
         "the start tells that the gardener is on", "a hook on announcements"),
    Seam("aider.coders.base_coder", "Coder.format_chat_chunks", "(self)", "format_chat_chunks",
         "garden the history before it is sent, recall into the prompt", "a hook before each prompt"),
    Seam("aider.coders.base_coder", "Coder.format_messages", "(self)", "format_messages",
         "a cache breakpoint behind the history", "the same in aider"),
    Seam("aider.coders.base_coder", "Coder.get_cur_message_text", "(self)", "get_cur_message_text",
         "the map's mentions come from what was said, not from what stands of it", "the same in aider"),
    Seam("aider.coders.base_coder", "Coder.get_repo_map", "(self, force_refresh=False)", "get_repo_map",
         "the map rests while it shows what is spoken of", "a map that rests in aider"),
    Seam("aider.coders.base_coder", "Coder.get_context_from_history", "(self, history)",
         "get_context_from_history", "commit messages from compressed forms, by choice", "the same in aider"),
    Seam("aider.coders.base_coder", "Coder.send", "(self, messages, model=None, functions=None)", "send",
         "garden harder and try once more when the provider says the prompt is too long", "retry in aider"),
    Seam("aider.coders.base_coder", "Coder.send_message", "(self, inp)", "send_message",
         "a reply that asks for an original gets it; one not sent leaves a legal chat", "a hook on replies"),
    Seam("aider.coders.architect_coder", "ArchitectCoder.reply_completed", "(self)", "reply_completed",
         "no editor is sent off while the architect asks for an original", "a hook on replies"),
    Seam("aider.coders.base_coder", "Coder.calculate_and_show_tokens_and_cost",
         "(self, messages, completion=None)", "show_cost",
         "count what the provider says a call used, cache reads and writes too", "usage kept by aider"),
    Seam("aider.coders.base_coder", "Coder.summarize_start", "(self)", "unless_gardened",
         "no LLM summary, no thread", "a summariser interface"),
    Seam("aider.coders.base_coder", "Coder.summarize_end", "(self)", "unless_gardened",
         "no LLM summary, no thread", "a summariser interface"),
    Seam("aider.coders.base_coder", "Coder.add_assistant_reply_to_cur_messages", "(self)", "then_sync",
         "archive the reply as soon as it exists", "a hook on message append"),
    Seam("aider.coders.base_coder", "Coder.move_back_cur_messages", "(self, message)", "then_sync",
         "archive the commit notice as soon as it exists", "a hook on message append"),
    Seam("aider.coders.base_coder", "Coder.handle_shell_commands", "(self, commands_str, group)",
         "while_resting", "nothing is embedded while a command runs", "a hook around commands"),
    Seam("aider.commands", "Commands.cmd_run", "(self, args, add_on_nonzero_exit=False)", "while_resting",
         "nothing is embedded while a command or the tests run", "a hook around commands"),
    Seam("aider.coders.base_coder", "Coder.lint_edited", "(self, fnames)", "while_resting",
         "nothing is embedded while a linter runs", "a hook around commands"),
    Seam("aider.commands", "Commands.cmd_lint", "(self, args='', fnames=None)", "while_resting",
         "nothing is embedded while a linter runs", "a hook around commands"),
    Seam("aider.coders.base_coder", "Coder.run_one", "(self, user_message, preproc)", "run_one",
         "count turns; archive what commands added", "a hook on message append"),
    Seam("aider.coders.base_coder", "Coder.run_stream", "(self, user_message)", "run_stream",
         "count turns in the browser", "a hook on message append"),
    Seam("aider.commands", "Commands._clear_chat_history", "(self)", "clear_history",
         "after /clear nothing older comes back by itself", "a hook on clear"),
    *(Seam("aider.commands", f"Commands.cmd_{name}", "(self, args)", "then_tell_cleared",
           "say that what was cleared is kept, and how to reach it", "a hook on clear")
      for name in ("clear", "reset")),
    Seam("aider.commands", "Commands.raw_cmd_undo", "(self, args)", "raw_undo",
         "notes say of an edit that it was undone", "a hook on undo"),
    Seam("aider.commands", "Commands.matching_commands", "(self, inp)", "matching_commands",
         "prefixes of aider's own commands mean what they meant", "commands by registration"),
    Seam("aider.commands", "Commands.cmd_context_pressure", "", "cmd_context_pressure",
         "/context-pressure", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_gardener", "", "cmd_gardener", "/gardener", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_compact", "", "cmd_compact", "/compact", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_recall", "", "cmd_recall", "/recall", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_forget", "", "cmd_forget", "/forget", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_pin", "", "cmd_pin", "/pin", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_unpin", "", "cmd_unpin", "/unpin", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_restore", "", "cmd_restore", "/restore", "the command in aider"),
    Seam("aider.commands", "Commands.cmd_why", "", "cmd_why", "/why", "the command in aider"),
    *(Seam("aider.commands", f"Commands.completions_{name}", "", make,
           "ids complete as one types", "completions by registration")
      for name, make in (("gardener", "completions_gardener"),
                         ("forget", "completions_forget"), ("pin", "completions_of_ids"),
                         ("unpin", "completions_unpin"), ("restore", "completions_of_ids"),
                         ("why", "completions_of_ids"))),
    Seam("aider.main", "get_parser", "(default_config_files, git_root)", "get_parser",
         "the --gardener flags, their variables and help", "arguments by registration"),
    Seam("aider.main", "install_upgrade", "(io, latest_version=None)", "install_upgrade",
         "aider must not be upgraded under the gardener", "none: a packaging matter"),
    Seam("aider.main", "install_from_main_branch", "(io)", "install_upgrade",
         "aider must not be upgraded under the gardener", "none: a packaging matter"),
    Seam("aider.versioncheck", "install_upgrade", "(io, latest_version=None)", "install_upgrade",
         "aider must not be upgraded under the gardener", "none: a packaging matter"),
)  # fmt: skip
