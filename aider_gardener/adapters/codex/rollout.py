"""What a line of Codex's rollout says: `rollout-*.jsonl` below `~/.codex/sessions`.

Codex writes each thing twice, as the model's item and as an event for its screen: the items are read. Those
of the first versions stand in their lines without an envelope.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.adapters.transcript import (
    HEAD_BYTES,
    SHELL,
    THINKING,
    JsonLinesReader,
    TranscriptRecord,
    Used,
    named,
    parsed,
    said_by,
    tokens,
)
from aider_gardener.archive.providers import LOOPBACK
from aider_gardener.messages import SourceKind

SILENT = frozenset(
    "event_msg git ghost_snapshot session_meta state token_usage_record turn_context world_state".split()
)
"""Types of records that say nothing of the conversation itself, or what an item says too."""
EVENTS = re.compile(
    r"\w+_(applied|begin|break|complete|completed|configured|content|delta|end|mode|notice|reasoning|request"
    r"|response|rolled_back|started|update|updated)"
    r"|(user|agent)_message|token_count|turn_(aborted|diff)|context_compacted|background_event"
    r"|(stream_)?error|warning|terminal_interaction|view_image_tool_call|request_user_input"
)
"""Events for its screen."""
CALLS = frozenset("custom_tool_call function_call local_shell_call tool_search_call web_search_call".split())
RESULTS = frozenset("custom_tool_call_output function_call_output tool_search_output".split())
ITEMS = frozenset({"message", "reasoning", "compacted", *CALLS, *RESULTS})
SHELLS = frozenset("bash exec_command local_shell_call shell shell_command container.exec".split())
HOST_WORDS = re.compile(r"<[a-z_]+( [a-z_]+)*>|# AGENTS\.md instructions|<INSTRUCTIONS>")
"""How texts in the user's role begin that Codex wrote itself, in versions that do not say so."""
HOST = "Codex"
PROVIDERS = {"oss": "ollama", "ollama": "ollama", "lmstudio": "lm_studio", "openai": "openai"}
"""Providers of Codex by their names in the archive; another may be on this machine, and counts as such."""
OTHER = "codex" + LOOPBACK
PATCH = "apply_patch"
PATCHED = "Success"


class RolloutReader(JsonLinesReader):
    """See `JsonLinesReader`. `model` is that of the turn."""

    model = ""

    def unknown(self, value: Mapping[str, Any]) -> str | None:
        kind, item = kind_and_item(value)
        what = str(item.get("type") or kind)
        known = kind in SILENT or what in ITEMS or kind == "compacted" or "record_type" in value
        known = bool(EVENTS.fullmatch(what)) if kind == "event_msg" else known
        return None if known or is_head(value) else what[:80]

    def said(self, value: Mapping[str, Any]) -> Iterator[TranscriptRecord]:
        kind, item = kind_and_item(value)
        what = item.get("type")
        if kind == "compacted":
            yield TranscriptRecord(boundary=True)
            yield from said_by("user", str(item.get("message") or ""), SourceKind.SUMMARY)
        elif kind == "event_msg" and what == "token_count":
            yield from used_by(item, self.model)
        elif kind in SILENT or what not in ITEMS:
            self.model = str(item.get("model") or self.model) if kind == "turn_context" else self.model
            name = f"{kind} {what}" if kind == "event_msg" else kind or "head"
            self.passed[f"record {name}"] += 1
        elif what == "message":
            yield from self._message(item)
        elif what == "reasoning":
            self.passed[THINKING] += 1
        elif what in CALLS:
            yield from self._called(item)
        else:
            text = output_of(item.get("output", item.get("tools")))
            yield from self.gave(item.get("call_id"), text, failed=PATCHED not in text)

    def _message(self, item: Mapping[str, Any]) -> Iterator[TranscriptRecord]:
        role = item.get("role")
        if role == "assistant":
            yield from said_by("assistant", text_of(item.get("content")), SourceKind.REPLY)
            return
        if role != "user":
            self.passed[f"record message of the {str(role)[:40]}"] += 1
            return
        more = item.get("internal_chat_message_metadata_passthrough")
        kinds = more.get("content_item_kinds") if isinstance(more, dict) else None
        parts = item.get("content")
        parts = parts if isinstance(parts, list) else [parts]
        words, others = list[str](), list[str]()
        for number, part in enumerate(parts):
            text = text_of([part])
            told = kinds[number] if isinstance(kinds, list) and number < len(kinds) else ""
            is_own = str(told).startswith("user") if told else not HOST_WORDS.match(text)
            (words if is_own else others).append(text)
        for texts, source in ((others, SourceKind.NOTICE), (words, SourceKind.TYPED)):
            yield from said_by("user", "\n".join(texts), source)

    def _called(self, item: Mapping[str, Any]) -> list[TranscriptRecord]:
        name = str(item.get("name") or item.get("type"))
        given = arguments(item)
        command = given.get("command", given.get("cmd"))
        if name in SHELLS and command:
            command = command_line(command)
            name = PATCH if command.startswith(PATCH) else SHELL
            given = {
                "command": command,
                **{k: v for k, v in given.items() if k not in ("cmd", "command", "type")},
            }
        text = str(given.get("command") or given.get("input") or "") if name == PATCH else ""
        return self.called(item.get("call_id"), name, given, text)


def used_by(item: Mapping[str, Any], model: str) -> Iterator[TranscriptRecord]:
    """What an answer took, which is told again with each change of its limits."""
    told = item.get("info")
    info = told if isinstance(told, dict) else {}
    try:
        last, key = info["last_token_usage"], info["total_token_usage"]["total_tokens"]
        sent, held = tokens(last["input_tokens"]), tokens(last["total_tokens"])
    except (KeyError, TypeError):
        return
    window = tokens(info.get("model_context_window"))
    yield TranscriptRecord(used=Used(f"sum {key}", sent, held=held, model=model, window=window))


def provider_of(head: Mapping[str, Any]) -> str:
    """The provider of a chat's model by the head of its rollout."""
    return PROVIDERS.get(str(head.get("model_provider") or "openai"), OTHER)


def provider_in(path: Path) -> str:
    """The provider of a chat's model by its rollout."""
    try:
        with files.open_plain(path, follow=True) as file:
            value = parsed(file.readline(HEAD_BYTES))
    except OSError:  # none is there yet
        return OTHER
    return provider_of(kind_and_item(value)[1]) if isinstance(value, dict) else OTHER


def kind_and_item(value: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The type of a record, and the item it holds: the record itself where there is no envelope."""
    item = value.get("payload")
    return str(value.get("type") or ""), item if isinstance(item, dict) else value


def is_head(value: Mapping[str, Any]) -> bool:
    """Whether this is the first line of a rollout without envelopes."""
    return "type" not in value and "id" in value and "timestamp" in value


def arguments(item: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a call: JSON in a text, a text, or an object."""
    for key in ("arguments", "input", "action"):
        given = item.get(key)
        if isinstance(given, dict):
            return given
        if isinstance(given, str):
            value = parsed(given)
            return value if isinstance(value, dict) else {"input": given}
    return {}


def command_line(command: object) -> str:
    """A command as it is typed, of one in a list without the shell around it."""
    if not isinstance(command, list):
        return str(command)
    words = [str(word) for word in command]
    is_shell = len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc")
    return words[2] if is_shell else shlex.join(words)


def output_of(output: object) -> str:
    """What a call gave back; versions of 2025 wrap it in JSON with its exit code."""
    if isinstance(output, str) and output.startswith('{"output":'):
        held = parsed(output)
        if held is None:
            return output
        code = held["metadata"].get("exit_code") if isinstance(held.get("metadata"), dict) else 0
        return f"Exit code {code}\n{held['output']}" if code else str(held["output"])
    if isinstance(output, dict):
        return text_of(output.get("content"))
    return text_of(output)


def text_of(content: object) -> str:
    """The text of a message's content; of a picture its kind, of what nobody here knows all."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else "" if content is None else json.dumps(content)
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(text)
        elif isinstance(part, dict) and isinstance(url := part.get("image_url"), str):
            kind, _, data = url.removeprefix("data:").partition(";base64,")
            texts.append(named(kind if data else f"image {url}", data))
        elif part:
            texts.append(json.dumps(part, ensure_ascii=False))
    return "\n".join(texts)
