"""What each hook of Claude Code does: JSON in, one JSON object out, {} for nothing to say."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener import files
from aider_gardener.adapters.claude_code.session import ClaudeSession, boundary_of, teller_of
from aider_gardener.adapters.intake import PART, PLACES, SHORTENED, SHORTENED_AT, WHOLE
from aider_gardener.adapters.marks import LARGE_TOKENS
from aider_gardener.adapters.transcript import call_of
from aider_gardener.messages import Fidelity, Message, Rendition, Source
from aider_gardener.reading.source import own_output
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

TURN_SECONDS, BEHIND_SECONDS = 0.1, 60.0
"""So long a hook takes in what is new of the transcript: before it answers, and behind that."""
LARGE_FILE_TOKENS = 10_000
"""A file that was read is shortened above so many tokens (the setting throttle_tokens, where it is given,
counts for all results)."""
LEAST_SAVED_SHARE = 0.5
COPIES = ("aider-gardener", "opencode")
"""The folder in which our plugin for OpenCode writes what its host has no transcript for."""
WHOLE_BYTES = 4_000_000
"""Of an output that its host keeps in a file that is read; to shorten it takes some seconds."""
START_TOKENS, COMPACTED_TOKENS = 400, 900
"""The budgets of the state block in a new session and behind a compaction, which it must not undo."""
LONG = "the result of a tool was long"
WHICH = "this chat before its last compaction"
REACH = "Whole originals: the tools recall and get, or `gardener restore ID`."
TEXTS = {
    "Bash": (("stdout",), ("stderr",)),
    "Read": (("file", "content"),),
    "Grep": (("content",),),
    "WebFetch": (("result",),),
}
"""Where in the results of tools the text stands that may be long."""
KEPT_AT, KEPT_SIZE = "persistedOutputPath", "persistedOutputSize"
"""In a result of a tool whose first text is only the beginning: where its host keeps the whole."""

Given = Mapping[str, Any]
Answer = dict[str, Any]


class Hooks:
    """Answers the events of all sessions of one project, and archives what they bring."""

    def __init__(
        self, store: Store, project: str, *, settings: Settings, clock: Callable[[], float] = time.time
    ) -> None:
        self.store, self.project, self.settings, self.clock = store, project, settings, clock
        self.recalled: list[str] = []

    def answer(self, event: str, given: Given) -> Answer:
        """The answer to an event; {} for one that has none, is unknown or says too little."""
        act = {
            "UserPromptSubmit": self.prompt_submitted,
            "PostToolUse": self.tool_used,
            "SessionStart": self.session_started,
        }.get(event)
        chat = self.chat(given)
        if act is None or chat is None:
            return {}
        return {} if self.settings.mode == "observe" else act(chat, given)

    def take_in(self, given: Given) -> None:
        """Archive what is new. What an answer recalled counts as accessed only behind it: that is written,
        and a lock is waited for."""
        recalled, self.recalled = self.recalled, []
        if recalled:
            self.store.touch(recalled, self.clock())
        chat = self.chat(given)
        if chat is not None:
            take_in(chat, given, BEHIND_SECONDS)
            if said := given.get("said"):
                chat.take_said(said)
            path = transcript_of(given)
            if path is not None and path.parts[-3:-1] == COPIES:
                path.unlink(missing_ok=True)  # its secrets are no longer needed; the next one is as long

    def chat(self, given: Given) -> ClaudeSession | None:
        session = given.get("session_id")
        if not isinstance(session, str) or not session or not self.settings.enabled:
            return None
        teller = teller_of(given.get("host"), transcript_of(given))
        return ClaudeSession(self.store, session, self.project, self.settings, teller, clock=self.clock)

    def prompt_submitted(self, chat: ClaudeSession, given: Given) -> Answer:
        """Add what the prompt needs of what the context has lost, which is archived by now as a rule: then no
        lock is waited for."""
        prompt, boundary = given.get("prompt"), boundary_of(transcript_of(given), chat.teller.reader)
        if not isinstance(prompt, str):
            return {}
        if PLACES * chat.progress.offset < boundary:
            take_in(chat, given, TURN_SECONDS)
        note = chat.recall_note(prompt, boundary)
        self.recalled = chat.recalled
        return added("UserPromptSubmit", note)

    def session_started(self, chat: ClaudeSession, given: Given) -> Answer:
        """Say where the chat stands that was compacted, or the last one where a new one begins. After /clear
        nothing: that is how a context is dropped."""
        source = given.get("source")
        take_in(chat, given, TURN_SECONDS)
        from aider_gardener.notes.last_chat import state_block, state_of_last  # late: the others need none

        if source == "compact" or (
            source == "resume" and boundary_of(transcript_of(given), chat.teller.reader)
        ):
            entries = self.store.session_entries(chat.archive.session)
            limit = COMPACTED_TOKENS
            block = state_block(entries, which=WHICH, token_limit=limit, count=approximate, reach=REACH)
            return added("SessionStart", block)
        if source in ("clear", "resume"):
            return {}
        everywhere = self.settings.recall_sessions
        block = state_of_last(chat.archive, token_limit=START_TOKENS, everywhere=everywhere)
        return added("SessionStart", block)

    def tool_used(self, chat: ClaudeSession, given: Given) -> Answer:
        """Put the compressed form in place of a large result, in the tool's own shape."""
        name, result, asked = given.get("tool_name"), given.get("tool_response"), given.get("tool_input")
        if not isinstance(name, str) or not isinstance(result, dict) or name not in TEXTS:
            return {}
        source = call_of(name, asked if isinstance(asked, dict) else {}).source
        if result.get("isImage") or own_output(source):
            return {}
        take_in(chat, given, TURN_SECONDS)
        large = self.settings.throttle_tokens or (LARGE_FILE_TOKENS if name == "Read" else LARGE_TOKENS)
        transcript = transcript_of(given)
        made: Answer = {**result}
        for path in TEXTS[name]:
            text, what = text_at(result, path), WHOLE
            if path == TEXTS[name][0] and KEPT_AT in result:
                whole = kept_whole(result[KEPT_AT], transcript)
                if not whole:
                    what = PART.format(path=" ".join(str(result[KEPT_AT]).split()), chars=len(text))
                text = whole or text
            if short := shortened(chat, text, source, large, transcript, what):
                put(made, path, short)
                if path == TEXTS[name][0]:  # with these the host shows the beginning of what is put here
                    made = {key: value for key, value in made.items() if key not in (KEPT_AT, KEPT_SIZE)}
        if made == result:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": made}}


def take_in(chat: ClaudeSession, given: Given, seconds: float) -> None:
    transcript = transcript_of(given)
    if transcript is not None and "said" not in given:
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


def kept_whole(named: object, transcript: Path | None) -> str:
    """A whole output that the host keeps in a file; "" unless that is a plain file in the folder of this very
    session, which lies beside its transcript, of at most WHOLE_BYTES."""
    if not isinstance(named, str) or transcript is None:
        return ""
    try:
        path = Path(named).resolve()
        if transcript.with_suffix("").resolve() not in path.parents:
            return ""
        return files.read_text(path, WHOLE_BYTES, errors="replace")
    except (OSError, ValueError, RuntimeError):  # the last for links that go in a circle
        return ""


def shortened(
    chat: ClaudeSession, text: str, source: Source, large: int, transcript: Path | None, what: str
) -> str:
    """The compressed form of a text above so many tokens, once that is archived, under a line that says
    `what` of the whole it is; "" where it is not shorter by half."""
    if approximate(text) <= large:
        return ""
    from aider_gardener.compress.message import compress_message  # as late: most results are small

    # the transcript does not hold the result yet
    place = transcript.stat().st_size if transcript is not None and transcript.is_file() else 0
    seq, turn = PLACES * place + SHORTENED_AT, max(1, chat.progress.turn)
    archive, message = chat.archive, Message("user", text)
    entry = archive.entry(message, turn=turn, seq=seq, source=source, at=archive.clock())
    clean = archive.without_secrets(entry)
    made = compress_message(
        clean.content, source, segments=clean.segments, entry_id=entry.id, count=approximate
    )
    if made.lossless or len(made.text) > (1 - LEAST_SAVED_SHARE) * len(text):
        return ""
    form = Rendition(Fidelity.COMPRESSED, made.text, approximate(made.text))
    stored = archive.put(entry, {form.fidelity: form})
    swap = {"entry_id": stored.id, "seq": stored.seq, "before": "full", "after": "compressed"}
    archive.event(turn, "shortened", {"swaps": [{**swap, "reason": LONG}], "entry_ids": [stored.id]})
    it = "it" if what == WHOLE else "them"
    head = SHORTENED.format(what=what, entry_id=stored.id, tokens=stored.tokens, it=it)
    return f"{head}\n{made.text.replace(entry.id, stored.id)}"


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
