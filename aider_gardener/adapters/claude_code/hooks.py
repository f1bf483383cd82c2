"""What each hook of Claude Code does, or of a host with such: JSON in, JSON out, {} for nothing to say."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener import files
from aider_gardener.adapters import is_loopback
from aider_gardener.adapters.claude_code.transcript import ClaudeReader, typed
from aider_gardener.adapters.intake import (
    PART,
    PLACES,
    SHORTENED,
    SHORTENED_AT,
    WHOLE,
    Agent,
    Intake,
)
from aider_gardener.adapters.marks import BOUNDARY_MARKS, LARGE_TOKENS
from aider_gardener.adapters.transcript import Reader, source_of
from aider_gardener.archive.providers import AWAY, HERE, LOOPBACK, SAY_LOCAL, WITHHELD
from aider_gardener.messages import Level, Message, Rendition, Source, SourceKind
from aider_gardener.reading.source import own_output
from aider_gardener.settings import TRUE_WORDS, Settings
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.plan.chat import Chat

HOST = "Claude Code"
MOST_CONTEXT_CHARS = 10_000
"""More of what a hook adds goes to a file of the host's."""
RECALL_TOKENS = 2_350
"""What is recalled within that: with its head and the marks of quotes it stays below."""
ROLLOUT = "rollout-?*.jsonl"
"""What Codex calls a transcript."""
LOCAL_VARIABLE = "AIDER_GARDENER_LOCAL"
TURN_SECONDS, BEHIND_SECONDS = 0.1, 60.0
"""So long a hook takes in what is new of the transcript: before it answers, and behind that."""
LARGE_FILE_TOKENS = 10_000
"""A file that was read is shortened above so many tokens (the setting throttle_tokens, where it is given,
counts for all results)."""
LEAST_SAVED_SHARE = 0.5
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
OUTPUT_PATH, OUTPUT_SIZE = "persistedOutputPath", "persistedOutputSize"
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
        if act is None or chat is None or self.settings.mode == "observe":
            return {}
        found = act(chat, given)
        key = "additionalContext" if isinstance(found, str) else "updatedToolOutput"
        return {"hookSpecificOutput": {"hookEventName": event, key: found}} if found else {}

    def ingest(self, given: Given) -> None:
        """Archive what is new. What an answer recalled counts as accessed only behind it: that is written,
        and a lock is waited for."""
        recalled, self.recalled = self.recalled, []
        self.store.touch(recalled, self.clock())
        chat = self.chat(given)
        if chat is not None:
            ingest(chat, given, BEHIND_SECONDS)
            if messages := given.get("said"):
                chat.add_messages(messages)

    def chat(self, given: Given) -> Intake | None:
        """The chat that an event is of."""
        session, path = given.get("session_id"), given.get("transcript_path")
        if not isinstance(session, str) or not session or not self.settings.enabled:
            return None
        transcript = Path(path).expanduser() if isinstance(path, str) and path else None
        agent = agent_of(given.get("host"), transcript)
        session = session.encode("utf-8", "replace").decode()  # JSON may hold halves of characters
        return Intake(self.store, session, self.project, agent, transcript, clock=self.clock)

    def prompt_submitted(self, chat: Intake, given: Given) -> str:
        """Add what the prompt needs of what the context has lost, which is archived by now as a rule: then no
        lock is waited for. What the host says itself, as of a task in the background that has ended, asks for
        nothing."""
        prompt, boundary = given.get("prompt"), boundary_of(chat.transcript, type(chat.reader))
        if not isinstance(prompt, str) or typed(prompt)[1] is not SourceKind.TYPED:
            return ""
        if PLACES * chat.progress.offset < boundary:
            ingest(chat, given, TURN_SECONDS)
        return self.recall_note(chat, prompt, boundary)

    def recall_note(self, chat: Intake, prompt: str, boundary: int) -> str:
        """What the prompt needs of what its context has lost, as one note; "" when nothing is missing.
        `boundary` is where the context begins."""
        from aider_gardener.recall import recall as recalling  # as late: most prompts come before that
        from aider_gardener.recall.request import ORDINARY_SHARE, Request, asks

        is_asked, archive = asks(prompt), chat.archive
        limit = int((1 if is_asked else ORDINARY_SHARE) * min(self.settings.recall_tokens, RECALL_TOKENS))
        if limit <= 0 or not prompt.strip():
            return ""
        older, order = self.settings.recall_sessions, not is_asked
        request = Request(prompt, token_limit=limit, unasked=True, older=older, order=order, ids=True)
        found = recalling.recall(archive, chat_since(chat, boundary), request)
        if not (boundary or older):  # then outputs that came in short are all that is missing
            found = [item for item in found if item.words]
        self.recalled = [item.entry_id for item in found]
        note = recalling.recall_note(found, session=archive.session)
        note = note if len(note) <= MOST_CONTEXT_CHARS else ""
        if archive.withheld:
            withheld = WITHHELD.format(count=len(archive.withheld), how=SAY_LOCAL)
            note = f"{note}\n(aider-gardener: {withheld}.)".lstrip()
        return note

    def session_started(self, chat: Intake, given: Given) -> str:
        """Say where the chat stands that was compacted, or the last one where a new one begins. After /clear
        nothing: that is how a context is dropped."""
        source = given.get("source")
        ingest(chat, given, TURN_SECONDS)
        from aider_gardener.notes.last_chat import state_block, state_of_last  # late: the others need none

        resumed = source == "resume" and boundary_of(chat.transcript, type(chat.reader))
        if source == "compact" or resumed:
            entries, limit = self.store.session_entries(chat.archive.session), COMPACTED_TOKENS
            return state_block(entries, which=WHICH, token_limit=limit, count=approximate, reach=REACH)
        if source in ("clear", "resume"):
            return ""
        everywhere = self.settings.recall_sessions
        return state_of_last(chat.archive, token_limit=START_TOKENS, everywhere=everywhere)

    def tool_used(self, chat: Intake, given: Given) -> Answer:
        """Put the compressed form in place of a large result, in the tool's own shape."""
        name, result, asked = given.get("tool_name"), given.get("tool_response"), given.get("tool_input")
        if not isinstance(name, str) or not isinstance(result, dict) or name not in TEXTS:
            return {}
        source = source_of(name, asked if isinstance(asked, dict) else {})
        if result.get("isImage") or own_output(source):
            return {}
        ingest(chat, given, TURN_SECONDS)
        large = self.settings.throttle_tokens or (LARGE_FILE_TOKENS if name == "Read" else LARGE_TOKENS)
        changed: Answer = deepcopy(result)
        for place, key in texts_in(changed, TEXTS[name]):
            text, what = place[key], WHOLE
            output_path = changed.get(OUTPUT_PATH) if key == TEXTS[name][0][-1] else None
            if output_path is not None:
                whole = persisted_output(output_path, chat.transcript)
                if not whole:
                    what = PART.format(path=" ".join(str(output_path).split()), chars=len(text))
                text = whole or text
            if short := shortened(chat, text, source, large, what):
                place[key] = short
                if output_path is not None:  # with these the host shows the beginning of what is put here
                    del changed[OUTPUT_PATH]
                    changed.pop(OUTPUT_SIZE, None)
        return {} if changed == result else changed


def texts_in(result: Answer, paths: Sequence[tuple[str, ...]]) -> Iterator[tuple[Answer, str]]:
    """Where in a tool's result a text stands at one of these paths: what holds it, and its key there."""
    for *outer, key in paths:
        place: Any = result
        for each in outer:
            place = place.get(each) if isinstance(place, dict) else None
        if isinstance(place, dict) and isinstance(place.get(key), str):
            yield place, key


def boundary_of(transcript: Path | None, reader: Callable[[Path], Reader] = ClaudeReader) -> int:
    """The sequence number at which the host's context begins since its last compaction; 0: at the beginning,
    or there is no transcript. It is read off the file, so that no lock is waited for."""
    try:
        if transcript is not None:
            with (
                files.open_plain(transcript, follow=True) as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
            ):
                at = len(text)
                while (at := max(text.rfind(mark, 0, at) for mark in BOUNDARY_MARKS)) >= 0:
                    at, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
                    for each in reader(transcript).records(text[at:end], at):
                        if each.boundary:
                            return PLACES * each.place
    except (OSError, ValueError):  # none is there, or nothing in it
        pass
    return 0


def provider(environ: Mapping[str, str]) -> str:
    """The provider that Claude Code talks to, as entries name it. That it runs on this machine the user
    says."""
    address = environ.get("ANTHROPIC_BASE_URL", "")
    if is_local(environ):
        return "anthropic" + HERE
    return "anthropic" + ((LOOPBACK if is_loopback(address) else AWAY) if address else "")


def is_local(environ: Mapping[str, str]) -> bool:
    """Whether the user says that the agent's model runs on this machine."""
    return environ.get(LOCAL_VARIABLE, "").strip().lower() in TRUE_WORDS


def agent_of(named: object, transcript: Path | None) -> Agent:
    """Who tells of an event, by the name that it gives and by its transcript; Claude Code gives none."""
    if transcript is not None and transcript.match(ROLLOUT):
        from aider_gardener.adapters.codex import rollout  # late: only of Codex

        name = rollout.provider_in(transcript)
        name = name.partition("@")[0] + HERE if is_local(os.environ) else name
        return Agent(rollout.HOST, rollout.RolloutReader, name)
    if not isinstance(named, str) or named in ("", HOST):
        return Agent(HOST, ClaudeReader, provider(os.environ))
    from aider_gardener.adapters.claude_code.dialects import SaidReader  # late: most are Claude Code's

    return Agent(named, SaidReader, named.lower() + (HERE if is_local(os.environ) else AWAY))


def chat_since(intake: Intake, boundary: int) -> Chat:
    """The chat as its host's context holds it: what was said from the boundary on stands whole."""
    from aider_gardener.plan.chat import Chat  # late: only where something is recalled

    entries = intake.store.session_entries(intake.archive.session)
    numbered = {seq: replace(entry, seq=seq) for seq, entry in enumerate(entries)}
    hidden = {
        seq for seq, entry in enumerate(entries) if entry.seq < boundary or entry.seq % PLACES >= SHORTENED_AT
    }
    whole = [entry for seq, entry in numbered.items() if seq not in hidden]
    chat = Chat(
        entries=numbered,
        order=tuple(numbered),
        border=len(numbered),
        levels=dict.fromkeys(hidden, Level.HIDDEN),
        turn=intake.progress.turn,
    )
    return replace(chat, done=[chat.piece(entry.role, entry.content, entry) for entry in whole])


def ingest(chat: Intake, given: Given, seconds: float) -> None:
    if chat.transcript is not None and "said" not in given:
        chat.ingest(seconds)


def persisted_output(named: object, transcript: Path | None) -> str:
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


def shortened(chat: Intake, text: str, source: Source, large: int, what: str) -> str:
    """The compressed form of a text above so many tokens, once that is archived, under a line that says
    `what` of the whole it is; "" where it is not shorter by half."""
    if approximate(text) <= large:
        return ""
    from aider_gardener.compress.message import compress_message  # as late: most results are small

    # the transcript does not hold the result yet
    place = chat.transcript.stat().st_size if chat.transcript and chat.transcript.is_file() else 0
    seq, turn = PLACES * place + SHORTENED_AT, max(1, chat.progress.turn)
    archive, message = chat.archive, Message("user", text)
    entry = archive.entry(message, turn=turn, seq=seq, source=source, at=archive.clock())
    clean = archive.without_secrets(entry)
    compressed = compress_message(
        clean.content, source, segments=clean.segments, entry_id=entry.id, count=approximate
    )
    if compressed.lossless or len(compressed.text) > (1 - LEAST_SAVED_SHARE) * len(text):
        return ""
    form = Rendition(Level.COMPRESSED, compressed.text, approximate(compressed.text))
    stored = archive.put(entry, {form.level: form})
    swap = {"entry_id": stored.id, "seq": stored.seq, "before": "full", "after": "compressed"}
    archive.event(turn, "shortened", {"swaps": [{**swap, "reason": LONG}], "entry_ids": [stored.id]})
    it = "it" if what == WHOLE else "them"
    head = SHORTENED.format(what=what, entry_id=stored.id, tokens=stored.tokens, it=it)
    return f"{head}\n{compressed.text.replace(entry.id, stored.id)}"
