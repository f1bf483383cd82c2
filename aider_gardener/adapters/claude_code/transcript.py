"""What a line of Claude Code's transcript says.

What looks like the user's words and is not (the host's summary of a compaction, results of tools, commands
and reminders in tags) gets a source of its own. A record of an unknown type is handed on as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from aider_gardener.adapters.transcript import (
    MOST_TOKENS,
    THINKING,
    Reader,
    TranscriptRecord,
    Used,
    record_of,
    text_of,
    tokens,
)
from aider_gardener.messages import SourceKind

SILENT = frozenset(
    "agent-color agent-name agent-setting ai-title api-request api-request-blob api-request-resumed"
    " api-request-shape artifact-autoreact-ledger artifact-comment-monitor atis-latch"
    " attribution-snapshot bridge-session content-replacement continued-in cost-state custom-title"
    " data-flow-incomplete data-flow-records derived-from dev-mods ended-by-model file-history-delta"
    " file-history-snapshot fork-context-ref frame-link history-suppression isolation-latch last-prompt"
    " memory-mode mode observer-ref permission-mode pr-link progress queue-operation relocated"
    " resume-head-vouch session-owner summary system tag tools-used worktree-state".split()
)
"""Types of records that say nothing of the conversation itself, or, those of requests, nothing more."""
FILES = frozenset(
    "diagnostics directory edited_text_file file new_file pdf_reference plan_file_reference"
    " selected_lines_in_ide".split()
)
"""Types of attachments that hold what the user has in files; the others are the host's own prompts."""
HOST_WORDS = (
    "<command-", "<local-command-", "<ide_", "<task-notification", "[Request interrupted",
    "Caveat: The messages below were generated",
)  # fmt: skip
DECLINED, ASKED_BACK = "the user said:\n", "The user wants to clarify"
ADVICE = "\n\nNote: The user's next message"
"""In the result of a call that the user declined: what stands before their words, in their place where they
asked back, and behind them."""
QUESTION_TOOL = "AskUserQuestion"
HOSTS_MODEL = "<synthetic>"
"""Of what Claude Code says itself in the model's place, such as errors of the provider."""
WINDOW, LARGE_WINDOW, LARGE_MARK = 200_000, 1_000_000, "[1m]"
"""Tokens of the window of Claude Code's models, of those too that say otherwise in their names."""


class ClaudeReader(Reader):
    """See `Reader`."""

    def messages_of(self, value: Mapping[str, object]) -> Iterator[TranscriptRecord]:
        kind, message = str(value.get("type")), value.get("message")
        if kind == "user" and isinstance(message, dict):
            yield from self._user_message(value, message)
        elif kind == "assistant" and isinstance(message, dict):
            yield from self._answered(value, message)
        elif kind == "attachment":
            yield from self._attached(value.get("attachment"))
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            yield TranscriptRecord(boundary=True)
        elif kind == "system" and isinstance(text := value.get("content"), str):
            yield from record_of("user", text, SourceKind.NOTICE)
        elif kind in SILENT:
            self.passed[f"record {kind}"] += 1
        else:
            yield TranscriptRecord(unknown=kind[:80])

    def _user_message(
        self, value: Mapping[str, object], message: Mapping[str, object]
    ) -> Iterator[TranscriptRecord]:
        """What a record of the type `user` says: who said it, and whether it begins a turn."""
        is_typed, words = not (value.get("isMeta") or value.get("isSidechain")), list[str]()
        for block in blocks(message):
            if block.get("type") == "tool_result":
                text = "\n".join(filter(None, map(self._text, blocks(block))))
                if value.get("toolDenialKind") == "user-rejected":  # the host's word: a tool may say anything
                    text, remark = declined(text)
                    words.append(remark)
                asked = self.calls.get(str(block.get("tool_use_id")))
                if asked is not None and asked.detail == QUESTION_TOOL:
                    words += answers(value.get("toolUseResult"))
                yield from self.gave(block.get("tool_use_id"), text, failed=bool(block.get("is_error")))
            elif value.get("isCompactSummary"):
                yield from record_of("user", self._text(block), SourceKind.SUMMARY)
            else:
                text, reminders = parted(self._text(block), "system-reminder")
                self.passed.update({"record system-reminder": len(reminders)} if reminders else {})
                text, kind = typed(text)
                words += [text] if kind is SourceKind.TYPED else []
                yield from record_of("user", "" if kind is SourceKind.TYPED else text, kind)
        yield from record_of("user", "\n".join(words), SourceKind.TYPED if is_typed else SourceKind.NOTICE)

    def _answered(
        self, value: Mapping[str, object], message: Mapping[str, object]
    ) -> Iterator[TranscriptRecord]:
        """What a record of the type `assistant` says, and the tokens that it counts."""
        is_hosts = message.get("model") == HOSTS_MODEL
        for block in blocks(message):
            if block.get("type") in ("tool_use", "server_tool_use"):
                given = block.get("input")
                name = str(block.get("name", ""))
                yield from self.called(block.get("id"), name, given if isinstance(given, dict) else {})
            else:
                role, kind = ("user", SourceKind.NOTICE) if is_hosts else ("assistant", SourceKind.REPLY)
                yield from record_of(role, self._text(block), kind)
        if used := used_by(value, message):
            yield TranscriptRecord(used=used)

    def _attached(self, given: object) -> Iterator[TranscriptRecord]:
        """What a file or a prompt says that the host handed on beside the conversation."""
        given = given if isinstance(given, dict) else {}
        kind = str(given.get("type"))
        if kind == "queued_command":
            yield from self._user_message({}, {"content": given.get("prompt")})
        elif kind in FILES:
            content = given.get("content", given.get("snippet"))
            file = content.get("file") if isinstance(content, dict) else None
            text = file.get("content") if isinstance(file, dict) else content
            text = text if isinstance(text, str) else json.dumps(given, ensure_ascii=False)
            name = str(given.get("displayPath") or given.get("filename") or kind)
            yield from record_of("user", text, SourceKind.FILE, name)
        else:
            self.passed[f"record attachment {kind[:40]}"] += 1

    def _text(self, block: Mapping[str, object]) -> str:
        """The text of a block, of one that nobody here knows all; what is thought is counted."""
        kind = block.get("type")
        if kind in ("thinking", "redacted_thinking"):
            self.passed[THINKING] += 1
            return ""
        has_text = kind in ("text", "image", "document")
        return text_of(block) if has_text else json.dumps(block, ensure_ascii=False)


def blocks(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The blocks of a message's content; what is none is a text, as it is."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return [part if isinstance(part, dict) else {"type": "text", "text": part} for part in parts if part]


def typed(text: str) -> tuple[str, SourceKind]:
    """What a text in the user's role says, without the host's reminders, and whose words these are."""
    text = text.strip()
    if ran := parted(text, "bash-input")[1]:
        return ran[0].strip(), SourceKind.TYPED
    if output := [*parted(text, "bash-stdout")[1], *parted(text, "bash-stderr")[1]]:
        return "\n".join(filter(None, output)).strip(), SourceKind.COMMAND
    if text.startswith(HOST_WORDS):
        name, args = (" ".join(parted(text, tag)[1]).strip() for tag in ("command-name", "command-args"))
        return (f"{name} {args}".strip(), SourceKind.TYPED) if args else (text, SourceKind.NOTICE)
    return text, SourceKind.TYPED


def declined(text: str) -> tuple[str, str]:
    """The result of a call that the user declined, and what they said to it: that is no tool's."""
    host, mark, remark = text.partition(DECLINED)
    if remark.startswith(ASKED_BACK):
        return text, ""
    return f"{host}{mark}".rstrip(), remark.partition(ADVICE)[0]


def answers(result: object) -> list[str]:
    """What the user chose or typed where the model asked, as the host keeps it beside what that is told."""
    given = result.get("answers") if isinstance(result, dict) else None
    chosen = given.values() if isinstance(given, dict) else ()
    words = (", ".join(map(str, each)) if isinstance(each, list) else each for each in chosen)
    return [text for text in words if isinstance(text, str)]


def parted(text: str, tag: str) -> tuple[str, list[str]]:
    """A text without what stands in a tag, and all that, in one pass."""
    outside, *rest = text.split(f"<{tag}>")
    inside = []
    for part in rest:
        within, end, behind = part.partition(f"</{tag}>")
        if end:
            inside.append(within)
        outside += behind.lstrip() if end else f"<{tag}>{part}"
    return outside, inside


def used_by(value: Mapping[str, object], message: Mapping[str, object]) -> Used | None:
    """What an answer took. That of a subagent is not in the window of the chat."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    plain, read, written, output = (tokens(usage.get(name)) for name in names)
    creation, cost, model = usage.get("cache_creation"), value.get("costUSD"), str(message.get("model", ""))
    model += ", fast" if usage.get("speed") == "fast" else ""  # which has prices of its own
    hour = (
        min(written, tokens(creation.get("ephemeral_1h_input_tokens"))) if isinstance(creation, dict) else 0
    )
    in_context = 0 if value.get("isSidechain") else plain + read + written + output
    window = LARGE_WINDOW if LARGE_MARK in model else WINDOW
    cost = float(cost) if isinstance(cost, (int, float)) and 0 < cost < MOST_TOKENS else 0.0
    key = str(message.get("id") or "")
    used = Used(key, plain, read, written - hour, hour, output, in_context, model, window, cost)
    return used if used.sent + output else None
