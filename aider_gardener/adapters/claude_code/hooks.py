"""What each hook of Claude Code does: JSON in, one JSON object out, {} for nothing to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.claude_code.session import HOST, ClaudeSession
from aider_gardener.adapters.transcript import call_of
from aider_gardener.archive.archive import EmbeddingBacklog
from aider_gardener.messages import Source, SourceKind
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

TURN_SECONDS, STOP_SECONDS, COMPACT_SECONDS = 0.1, 2.0, 30.0
"""So long a hook takes in what is new of the transcript: within a turn, where the next call goes on;
behind an answer; and before a compaction, which the host lets take a minute."""
LARGE_TOKENS, LARGE_FILE_TOKENS = 4_000, 10_000
"""A result of a tool, and a file that was read, are shortened above so many tokens (the setting
throttle_tokens, where it is given, counts for both)."""
LEAST_SAVED_SHARE = 0.5
START_TOKENS, COMPACTED_TOKENS = 400, 900
"""The budgets of the state block in a new session and behind a compaction, which it must not undo."""
REACH = "Whole originals: the tools recall and get, or `gardener restore ID`."
BAD_FACTS = frozenset({"error", "failure", "assertion", "place"})
TEXTS = {
    "Bash": (("stdout",), ("stderr",)),
    "Read": (("file", "content"),),
    "Grep": (("content",),),
    "WebFetch": (("result",),),
}
"""Where in the results of tools the text stands that may be long."""

Given = Mapping[str, Any]
Answer = dict[str, Any]


class Hooks:
    """Answers the events of all sessions of one project. `environ` is that of the host's process; `sync`
    begins to sync the project if it is shared and a sync is due."""

    def __init__(
        self,
        store: Store,
        project: str,
        *,
        settings: Settings,
        environ: Mapping[str, str],
        clock: Callable[[], float],
        backlog: EmbeddingBacklog | None = None,
        sync: Callable[[], object] = lambda: None,
    ) -> None:
        self.store, self.project, self.settings = store, project, settings
        self.environ, self.clock, self.backlog, self.sync = environ, clock, backlog, sync

    def answer(self, event: str, given: Given) -> Answer:
        """The answer to an event; {} for one that is unknown or says too little."""
        act = {
            "UserPromptSubmit": self.prompt_submitted,
            "PostToolUse": self.tool_used,
            "PreCompact": self.before_compaction,
            "PostCompact": self.after_compaction,
            "SessionStart": self.session_started,
            "Stop": self.answered,
        }.get(event)
        session = given.get("session_id")
        if act is None or not isinstance(session, str) or not session or not self.settings.enabled:
            return {}
        return act(self.session(session), given)

    def session(self, session: str) -> ClaudeSession:
        return ClaudeSession(
            self.store,
            session,
            self.project,
            settings=self.settings,
            environ=self.environ,
            clock=self.clock,
            backlog=self.backlog,
        )

    def prompt_submitted(self, chat: ClaudeSession, given: Given) -> Answer:
        """Take in what is new; add what the prompt needs of what the context has lost."""
        take_in(chat, given, TURN_SECONDS)
        prompt = given.get("prompt")
        return added("UserPromptSubmit", chat.recall_note(prompt) if isinstance(prompt, str) else "")

    def before_compaction(self, chat: ClaudeSession, given: Given) -> Answer:
        """Take everything in; a compaction is never blocked."""
        take_in(chat, given, COMPACT_SECONDS)
        return {}

    def after_compaction(self, chat: ClaudeSession, given: Given) -> Answer:
        """Keep the host's summary as what it is."""
        take_in(chat, given, COMPACT_SECONDS)
        summary = given.get("compact_summary")
        if isinstance(summary, str):
            chat.add_summary(summary)
        return {}

    def answered(self, chat: ClaudeSession, given: Given) -> Answer:
        """Take in what the turn brought, and share it: no other event may follow."""
        take_in(chat, given, STOP_SECONDS)
        self.sync()
        return {}

    def session_started(self, chat: ClaudeSession, given: Given) -> Answer:
        """Say where the chat stands that was compacted, or the last one where a new one begins. After /clear
        nothing: that is how a context is dropped."""
        source = given.get("source")
        take_in(chat, given, TURN_SECONDS)
        if source == "clear" or self.settings.mode == "observe":
            return {}
        if source == "compact" or (source == "resume" and chat.progress.boundary):
            which = "this chat before its last compaction"
            return added("SessionStart", chat.state(COMPACTED_TOKENS, which, REACH))
        if source == "resume":
            return {}
        from aider_gardener.gardener.memory import ProjectMemory  # as late: the other events need none of it

        memory = ProjectMemory(
            self.store, self.project, settings=self.settings, host=HOST, reader=chat.archive.provider
        )
        everywhere = self.settings.recall_sessions
        return added(
            "SessionStart",
            memory.state(START_TOKENS, everywhere=everywhere, besides=chat.archive.session),
        )

    def tool_used(self, chat: ClaudeSession, given: Given) -> Answer:
        """Put the compressed form in place of a large result, in the tool's own shape. What is new is
        taken in too, so that little is left for the next prompt."""
        take_in(chat, given, TURN_SECONDS / 2)
        name, result, asked = given.get("tool_name"), given.get("tool_response"), given.get("tool_input")
        if not isinstance(name, str) or not isinstance(result, dict) or name not in TEXTS:
            return {}
        if result.get("isImage") or self.settings.mode == "observe":
            return {}
        source = call_of(name, asked if isinstance(asked, dict) else {}).source
        large = self.settings.throttle_tokens or (LARGE_FILE_TOKENS if name == "Read" else LARGE_TOKENS)
        shorter = {
            path: short
            for path in TEXTS[name]
            if (short := shortened(chat, text_at(result, path), source, large, transcript_of(given)))
        }
        if not shorter:
            return {}
        made: Answer = {**result}
        for path, text in shorter.items():
            put(made, path, text)
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": made}}


def take_in(chat: ClaudeSession, given: Given, seconds: float) -> None:
    transcript = transcript_of(given)
    if transcript is not None:
        chat.take_in(transcript, seconds)


def transcript_of(given: Given) -> Path | None:
    """The transcript that an event names."""
    path = given.get("transcript_path")
    return Path(path).expanduser() if isinstance(path, str) and path else None


def added(event: str, text: str) -> Answer:
    """The answer that adds a text to the context; {} for none."""
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def shortened(chat: ClaudeSession, text: str, source: Source, large: int, transcript: Path | None) -> str:
    """The compressed form of a text above so many tokens, once the whole is archived; "" where it is not
    shorter by half, or would lose a line that tells of an error."""
    if approximate(text) <= large:
        return ""
    size = 0
    if transcript is not None and transcript.is_file():
        size = transcript.stat().st_size
    from aider_gardener.reading.facts import extract, missing  # as late: most results are small

    is_output = source.kind in (SourceKind.COMMAND, SourceKind.TEST)
    errors = [fact for fact in extract(text) if fact.kind in BAD_FACTS] if is_output else []

    def fits(short: str) -> bool:
        return len(short) <= (1 - LEAST_SAVED_SHARE) * len(text) and not missing(errors, short)

    return chat.shorten(text, source, size, fits)


def text_at(value: Given, path: tuple[str, ...]) -> str:
    """The text at a place in a tool's result, "" where there is none."""
    found: Any = value
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""


def put(value: Answer, path: tuple[str, ...], text: str) -> None:
    """Put a text at a place; what lies on the way is copied, not changed."""
    for key in path[:-1]:
        value[key] = dict(value[key])
        value = value[key]
    value[path[-1]] = text
