"""What a line of Codex's rollout says: `rollout-*.jsonl` below `~/.codex/sessions`.

Codex writes each thing twice, as the model's item and as an event for its screen: the items are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from aider_gardener import files
from aider_gardener.adapters.transcript import (
    HEAD_BYTES,
    SHELL,
    THINKING,
    Reader,
    TranscriptRecord,
    Used,
    command_of,
    parsed,
    record_of,
    text_of,
    tokens,
    unwrapped,
)
from aider_gardener.archive.providers import LOOPBACK
from aider_gardener.messages import SourceKind

SILENT = frozenset("event_msg session_meta token_usage_record turn_context world_state".split())
"""Types of records that say nothing of the conversation itself, or what an item says too."""
CALLS = frozenset("custom_tool_call function_call local_shell_call tool_search_call web_search_call".split())
RESULTS = frozenset("custom_tool_call_output function_call_output tool_search_output".split())
SHELLS = frozenset("bash exec_command local_shell_call shell shell_command container.exec".split())
HOST_WORDS = re.compile(r"<[a-z_]+( [a-z_]+)*>|# AGENTS\.md instructions|<INSTRUCTIONS>")
"""How texts in the user's role begin that Codex wrote itself, where it does not say so."""
HOST = "Codex"
PROVIDERS = {"oss": "ollama", "ollama": "ollama", "lmstudio": "lm_studio", "openai": "openai"}
"""Providers of Codex by their names in the archive; another may be on this machine, and counts as such."""
OTHER = "codex" + LOOPBACK
PATCH, PATCHED = "apply_patch", "Success"


class RolloutReader(Reader):
    """See `Reader`. `model` is that of the turn."""

    model = ""

    def messages_of(self, value: Mapping[str, object]) -> Iterator[TranscriptRecord]:
        kind, item = str(value.get("type")), item_of(value)
        what = str(item.get("type"))
        if kind == "compacted":
            yield TranscriptRecord(boundary=True)
            yield from record_of("user", str(item.get("message") or ""), SourceKind.SUMMARY)
        elif kind == "event_msg" and what == "token_count":
            yield from used_by(item, self.model)
        elif kind in SILENT:
            self.model = str(item.get("model") or self.model) if kind == "turn_context" else self.model
            self.passed[f"record {kind} {what}" if kind == "event_msg" else f"record {kind}"] += 1
        elif what == "message":
            yield from self._message(item)
        elif what == "reasoning":
            self.passed[THINKING] += 1
        elif what in CALLS:
            yield from self._called(item)
        elif what in RESULTS:
            text = output_of(item)
            yield from self.gave(item.get("call_id"), text, failed=PATCHED not in text)
        else:
            yield TranscriptRecord(unknown=str(item.get("type") or kind)[:80])

    def _message(self, item: Mapping[str, object]) -> Iterator[TranscriptRecord]:
        role, content = item.get("role"), item.get("content")
        if role == "assistant":
            yield from record_of("assistant", text_of(content), SourceKind.REPLY)
        elif role != "user":
            self.passed[f"record message of the {str(role)[:40]}"] += 1
        else:
            more = item.get("internal_chat_message_metadata_passthrough")
            kinds = more.get("content_item_kinds") if isinstance(more, dict) else None
            texts: dict[SourceKind, list[str]] = {SourceKind.NOTICE: [], SourceKind.TYPED: []}
            for part, kind_name in zip_longest(
                content if isinstance(content, list) else [content], kinds if isinstance(kinds, list) else []
            ):
                text = text_of([part])
                is_own = str(kind_name).startswith("user") if kind_name else not HOST_WORDS.match(text)
                texts[SourceKind.TYPED if is_own else SourceKind.NOTICE].append(text)
            for kind, words in texts.items():
                yield from record_of("user", "\n".join(words), kind)

    def _called(self, item: Mapping[str, object]) -> list[TranscriptRecord]:
        name, given = str(item.get("name") or item.get("type")), arguments(item)
        command = command_of(given)
        if name in SHELLS and command:
            name = PATCH if command.startswith(PATCH) else SHELL
            rest = {key: value for key, value in given.items() if key not in ("cmd", "command", "type")}
            given = {"command": command, **rest}
        text = str(given.get("command") or given.get("input") or "") if name == PATCH else ""
        return self.called(item.get("call_id"), name, given, text)


def output_of(item: Mapping[str, object]) -> str:
    """What a call gave. Versions of 2025 wrote that as JSON in a text, with the exit status beside it."""
    given = item.get("output", item.get("tools"))
    value = unwrapped(given)
    if not isinstance(value, dict) or value.keys() != {"output", "metadata"}:
        return text_of(given)
    more = value["metadata"]
    status = more.get("exit_code") if isinstance(more, dict) else None
    return (f"Exit code: {status}\n" if status else "") + text_of(value["output"])


def used_by(item: Mapping[str, object], model: str) -> Iterator[TranscriptRecord]:
    """What an answer took, which is told again with each change of its limits."""
    value = item.get("info")
    info = value if isinstance(value, dict) else {}
    try:
        last, key = info["last_token_usage"], info["total_token_usage"]["total_tokens"]
        sent, in_context = tokens(last["input_tokens"]), tokens(last["total_tokens"])
    except (KeyError, TypeError):
        return
    window = tokens(info.get("model_context_window"))
    yield TranscriptRecord(used=Used(f"sum {key}", sent, in_context=in_context, model=model, window=window))


def head_of(value: Mapping[str, object]) -> Mapping[str, object]:
    """What the first line of a rollout says of its chat; nothing for any other."""
    return item_of(value) if value.get("type") == "session_meta" else {}


def provider_of(head: Mapping[str, object]) -> str:
    """The provider of a chat's model by the head of its rollout."""
    return PROVIDERS.get(str(head.get("model_provider") or "openai"), OTHER)


def provider_in(path: Path) -> str:
    """The provider of a chat's model by its rollout."""
    try:
        with files.open_plain(path, follow=True) as file:
            value = parsed(file.readline(HEAD_BYTES))
    except OSError:  # none is there yet
        return OTHER
    return provider_of(item_of(value)) if isinstance(value, dict) else OTHER


def item_of(value: Mapping[str, object]) -> Mapping[str, object]:
    """What a record holds beside its type and time."""
    item = value.get("payload")
    return item if isinstance(item, dict) else {}


def arguments(item: Mapping[str, object]) -> dict[str, object]:
    """The input of a call: JSON in a text, a text, or an object."""
    for key in ("arguments", "input", "action"):
        given = item.get(key)
        if isinstance(given, dict):
            return given
        if isinstance(given, str):
            value = parsed(given)
            return value if isinstance(value, dict) else {"input": given}
    return {}
