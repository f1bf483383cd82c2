"""An agent's list of messages, in the format of OpenAI's chat completions, in the core's words.

The core knows text that a user or an assistant said. Here tool calls and results, content in parts, images,
unknown keys and messages without content become such text; what is sent is always made from the agent's own
message again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from aider_gardener.adapters.transcript import call_text, detail_of, source_of, unwrapped
from aider_gardener.errors import UsageError
from aider_gardener.messages import Message, Source, SourceKind, text_key

FOREIGN = frozenset({"tool_use", "tool_result"})
"""Parts of another format, whose calls would lose their results."""
WORDED = ("text", "refusal", "thinking")
"""The keys under which parts of a content have a text."""
RESULT_ROLES = frozenset({"tool", "function"})
"""The second is of calls by `function_call`, the form before `tool_calls`, one a message and without ids."""
FIXED_ROLES = frozenset({"system", "developer"})


class Kind(str, Enum):
    """What a message is for the agent."""

    WORDS = "words"
    CALLS = "calls"
    """The assistant calls tools: the results behind it belong to it."""
    RESULT = "result"
    FIXED = "fixed"
    """Instructions of the agent's author: they stay whole, wherever they are."""


@dataclass(frozen=True)
class Item:
    """One message of the agent as read: `key` tells it from others while this process runs, `message` is its
    text in the core's words, `source` where it came from, None where its text tells. `images` counts its
    parts that are no text, `calls` are the sources of the results of its calls, by their ids."""

    key: Hashable
    kind: Kind
    message: Message
    source: Source | None = None
    images: int = 0
    calls: Mapping[str, Source] = field(default_factory=dict)


class AgentCall(NamedTuple):
    """A call of a tool: its id, the source of what it gives back, and all that it says."""

    id: str
    source: Source
    text: str


def as_mapping(value: object) -> Any:
    """A value, or what an object gives itself as (`model_dump`)."""
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else value


def _json(value: object) -> object:
    """What an object inside a message is as JSON. Raises TypeError, as json does."""
    found = as_mapping(value)
    if found is value:
        raise TypeError(f"it holds {type(value).__name__}")
    return found


def items(messages: object, last: Sequence[Item] = ()) -> list[Item]:
    """Every message as read; objects that give themselves as a mapping (`model_dump`) are asked to.

    `last` is how the list was read that was handed over before: as far as this one begins like it nothing
    is read again. Raises UsageError for what is no list of messages with a role that can be sent as JSON.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise UsageError(f"prompt() takes the list of messages, not {type(messages).__name__}")
    calls: dict[str, Source] = {}
    found = list[Item]()
    for place, given in enumerate(map(as_mapping, messages), 1):
        if not isinstance(given, Mapping) or not isinstance(given.get("role"), str) or not given["role"]:
            raise UsageError(f"message {place} has no role; give a dict with role and content")
        is_text = type(given) is dict and {*map(type, given), *map(type, given.values())} == {str}
        try:
            data = "" if is_text else json.dumps(given, sort_keys=True, default=_json, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"message {place} cannot be sent as JSON ({error}); encode it as text") from None
        key = frozenset((name, text_key(text)) for name, text in given.items()) if is_text else _hash(data)
        if last[place - 1 : place] and last[place - 1].key == key:
            item = last[place - 1]
        else:
            last = ()
            plain = given if is_text else json.loads(data)  # without tuples and objects
            item = _item(place, key, plain, calls)
        calls |= item.calls
        found.append(item)
    return found


def _item(place: int, key: Hashable, message: Mapping[str, Any], calls: Mapping[str, Source]) -> Item:
    """One message as read; `calls` are the sources of the results of all calls before it, by their ids."""
    parts = message.get("content")
    if parts is None and "parts" in message:
        raise UsageError(f"message {place} has parts, as Gemini's messages have; give content")
    if not isinstance(parts, str | list | None):
        raise UsageError(f"the content of message {place} is {type(parts).__name__}; give text or parts")
    if foreign := FOREIGN.intersection(map(_type_of, parts) if isinstance(parts, list) else ()):
        how = "as Anthropic's messages have; give tool_calls, and each result in the role tool"
        raise UsageError(f"message {place} has a part {min(foreign)}, {how}")
    images = sum(_text_in(part) is None for part in parts) if isinstance(parts, list) else 0
    own_calls = _calls_of(message)
    read = _read(message, own_calls, calls)
    return Item(key, *read, images, {call.id: call.source for call in own_calls})


def _read(
    message: Mapping[str, Any], own_calls: Sequence[AgentCall], calls: Mapping[str, Source]
) -> tuple[Kind, Message, Source | None]:
    """What a message is and says, and where it came from; `own_calls` are its own, `calls` the sources of
    the results of all so far."""
    role, text = message["role"], text_of(message)
    if role in FIXED_ROLES:
        return Kind.FIXED, Message("user", text), Source(SourceKind.NOTICE)
    if role in RESULT_ROLES:
        source = calls.get(str(message.get("tool_call_id") or ""))
        return Kind.RESULT, Message("user", text), source or source_of(str(message.get("name") or "tool"), {})
    if role != "assistant":
        return Kind.WORDS, Message("user", text), None
    text = "\n\n".join(filter(None, [text, *(call.text for call in own_calls)]))
    return Kind.CALLS if own_calls else Kind.WORDS, Message("assistant", text), Source(SourceKind.REPLY)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message; what is no text leaves a mark that tells it from others."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or str(message.get("refusal") or "")
    return "\n".join(filter(None, map(_part_text, content)))


def _part_text(part: object) -> str:
    text = _text_in(part)
    if text is not None:
        return text
    return f"[{_type_of(part)} {_hash(json.dumps(part, sort_keys=True, default=str))[:8]}]"


def _type_of(part: object) -> str:
    return str(part.get("type") if isinstance(part, Mapping) else type(part).__name__)


def _text_in(part: object) -> str | None:
    """The text of a part of a content; None where it is something else."""
    texts = map(part.get, WORDED) if isinstance(part, Mapping) else [part]
    return next((text for text in texts if isinstance(text, str)), None)


def _hash(data: str) -> str:
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()


def _calls_of(message: Mapping[str, Any]) -> list[AgentCall]:
    """The calls of an assistant's message, of whatever shape."""
    if message["role"] != "assistant":
        return []
    alone = message.get("function_call")
    listed = message.get("tool_calls") or ([{"function": alone}] if alone else [])
    given = [call for call in listed if isinstance(call, Mapping)] if isinstance(listed, list) else []
    calls = []
    for call in given:
        body = next((each for each in map(call.get, ("function", "custom")) if isinstance(each, Mapping)), {})
        arguments = unwrapped(body.get("arguments", body.get("input", "")))
        name = str(body.get("name") or call.get("type") or "tool")
        values = arguments if isinstance(arguments, Mapping) else {"input": arguments}
        text = call_text(name, values) or f"{name} {detail_of(values)}".strip()
        calls.append(AgentCall(str(call.get("id") or ""), source_of(name, values), text))
    return calls
