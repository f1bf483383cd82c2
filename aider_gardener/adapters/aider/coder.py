"""What the gardener uses of aider: its coder, and what hangs on it. Nothing else of it is touched.

The names and types are aider's own, of the versions that `patch_points` names.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from aider_gardener.terminal import visible

HostMessage = dict[str, Any]
"""A message as aider holds it: "role" and "content", which is a text or a list of parts."""


class Terminal:
    """aider's terminal as all of ours writes to it: texts are made visible first, and what its encoding does
    not have is a question mark (aider would end with a UnicodeEncodeError)."""

    def __init__(self, io: Any) -> None:
        self._io = io

    def _shown(self, line: str) -> str:
        encoding = getattr(getattr(self._io, "console", None), "encoding", "utf-8")
        return visible(line).encode(encoding, "replace").decode(encoding)

    def tool_output(self, line: str) -> None:
        self._io.tool_output(self._shown(line))

    def data(self, line: str) -> None:
        """A line that stays one, however wide the terminal is: a program reads it."""
        console = self._io.console
        wrapped, console.soft_wrap = console.soft_wrap, True
        try:
            self.tool_output(line)
        finally:
            console.soft_wrap = wrapped

    def dim(self, line: str) -> None:
        """A line that does not catch the eye, kept in aider's file as any other."""
        if not self._io.pretty:
            self.tool_output(line)
            return
        from rich.text import Text

        self._io.tool_output(visible(line), log_only=True)
        self._io.console.print(Text(self._shown(line), style="dim"))

    def tool_warning(self, line: str) -> None:
        self._io.tool_warning(self._shown(line))

    def tool_error(self, line: str) -> None:
        self._io.tool_error(self._shown(line))

    def prompt_ask(self, question: str) -> str:
        return str(self._io.prompt_ask(self._shown(question)))

    def confirm_ask(self, question: str, *, default: str) -> bool:
        return bool(self._io.confirm_ask(self._shown(question), default=default))


class HostModel(Protocol):
    """A model: `info` is its row of litellm's table."""

    name: str
    info: Mapping[str, Any]
    edit_format: str
    max_chat_history_tokens: int
    weak_model: HostModel

    def tokenizer(self, text: str) -> Sequence[int]: ...
    def send_completion(self, messages: list[HostMessage], functions: None, stream: bool) -> Any: ...


class Chunks(Protocol):
    """A prompt in its parts, in the order in which they are sent."""

    system: list[HostMessage]
    examples: list[HostMessage]
    readonly_files: list[HostMessage]
    repo: list[HostMessage]
    done: list[HostMessage]
    chat_files: list[HostMessage]
    cur: list[HostMessage]
    reminder: list[HostMessage]

    def all_messages(self) -> list[HostMessage]: ...


class HostCommands(Protocol):
    """aider's commands in the chat. `args` are those of its command line, None where there is none."""

    coder: HostCoder
    args: Namespace | None

    def cmd_add(self, args: str) -> None: ...
    def cmd_read_only(self, args: str) -> None: ...


class HostCoder(Protocol):
    """A coder: the two lists that are its chat, the files in it, and the turn that is going on. `history` is
    there, and what calls it, in an aider that has history providers."""

    done_messages: list[HostMessage]
    cur_messages: list[HostMessage]
    abs_fnames: set[str]
    abs_read_only_fnames: set[str]
    root: str
    repo_map: Any | None
    fence: tuple[str, str]
    repo: Any | None
    io: Any
    commands: HostCommands | None
    main_model: HostModel
    summarizer: Any
    history: object
    edit_format: str
    dry_run: bool
    add_cache_headers: bool
    num_cache_warming_pings: int
    ok_to_warm_cache: bool
    partial_response_content: str | None
    reflected_message: str | None
    num_reflections: int
    max_reflections: int
    num_exhausted_context_windows: int

    def summarize_start(self) -> None: ...
    def get_rel_fname(self, fname: str) -> str: ...
    def get_multi_response_content_in_progress(self) -> str: ...
    def get_all_abs_files(self) -> list[str]: ...
    def get_file_mentions(self, content: str) -> set[str]: ...
    def get_ident_mentions(self, text: str) -> set[str]: ...
    def get_ident_filename_matches(self, idents: set[str]) -> set[str]: ...
    def format_chat_chunks(self) -> Chunks: ...
    def format_messages(self) -> Chunks: ...


def text_of(message: Mapping[str, object]) -> str:
    """The text of a message; of several content parts the textual ones."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")
