"""An agent's list of messages, in the format of OpenAI's chat completions, in the core's words.

The core knows text that a user or an assistant said. Here tool calls and results, content in parts, images,
unknown keys and messages without content become such text; what is sent is always made from the agent's own
message again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.messages import Message, Source, SourceKind
from aider_gardener.reading.classify import COMMAND_CHARS, TEST_COMMAND

AgentMessage = Mapping[str, Any]
"""One message of an agent, as it is sent as JSON."""

COMMAND_KEYS = ("command", "cmd", "script")
PATH_KEYS = ("path", "file_path", "filename", "file")
"""How tools name what they run, and the file that they read or write."""
DETAIL_CHARS = 200
"""So much of a call says where its result came from."""
LONG_ARGUMENT_CHARS = 80
"""A longer argument of a call stands in a block of its own, and so does one of several lines."""
FIXED_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})


class Kind(str, Enum):
    """What a message is for the agent."""

    SAID = "said"
    CALLS = "calls"
    """The assistant calls tools: the results behind it belong to it."""
    RESULT = "result"
    FIXED = "fixed"
    """Instructions of the agent's author: they stand whole, wherever they are."""


@dataclass(frozen=True)
class Item:
    """One message of the agent as read: `key` is the hash of its JSON, `message` its text in the core's
    words, `source` where it came from, None where its text tells. `images` counts its parts that are no
    text."""

    key: str
    kind: Kind
    message: Message
    source: Source | None = None
    images: int = 0


def as_mappings(messages: object) -> list[AgentMessage]:
    """The messages as mappings; objects that give themselves as one (`model_dump`) are asked to.

    Raises UsageError for what is no list of messages with a role.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise UsageError(f"prompt() takes the list of messages, not {type(messages).__name__}")
    return [as_mapping(message, at) for at, message in enumerate(messages, 1)]


def as_mapping(message: object, place: int) -> AgentMessage:
    """One message as a mapping; `place` counts from 1. Raises UsageError."""
    dump = getattr(message, "model_dump", None)
    found = dump(exclude_none=True) if callable(dump) else message
    if not isinstance(found, Mapping):
        raise UsageError(f"message {place} is {type(message).__name__}; give a dict with role and content")
    if not isinstance(found.get("role"), str) or not found["role"]:
        raise UsageError(f"message {place} has no role; give system, user, assistant or tool")
    content = found.get("content")
    if content is not None and not isinstance(content, str | list | tuple):
        raise UsageError(f"the content of message {place} is {type(content).__name__}; give text or parts")
    return found


def items(messages: Sequence[AgentMessage]) -> list[Item]:
    """Every message as read. Raises UsageError for one that cannot be sent as JSON."""
    calls: dict[str, tuple[str, Any]] = {}
    found = []
    for place, message in enumerate(messages, 1):
        calls.update((call_id, (name, given)) for call_id, name, given in calls_of(message))
        found.append(item(message, calls, place))
    return found


def item(message: AgentMessage, calls: Mapping[str, tuple[str, Any]], place: int) -> Item:
    """One message as read, given the calls before it by their ids; `place` counts from 1."""
    try:
        data = json.dumps(message, sort_keys=True, default=as_plain)
    except (TypeError, ValueError) as error:
        raise UsageError(f"message {place} cannot be sent as JSON ({error}); encode it as text") from None
    key = hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()
    role, text, images = message["role"], text_of(message), len(others_of(message))
    if role in FIXED_ROLES:
        return Item(key, Kind.FIXED, Message("user", text), Source(SourceKind.NOTICE), images)
    if role in RESULT_ROLES:
        name, given = calls.get(result_id(message), (str(message.get("name") or "tool"), {}))
        return Item(key, Kind.RESULT, Message("user", text), source_of(name, given), images)
    if role != "assistant":
        return Item(key, Kind.SAID, Message("user", text), None, images)
    asked = [called(name, given) for _call_id, name, given in calls_of(message)]
    said = Message("assistant", "\n\n".join(filter(None, [text, *asked])))
    return Item(key, Kind.CALLS if asked else Kind.SAID, said, Source(SourceKind.REPLY), images)


def as_plain(value: object) -> object:
    """What an object inside a message is as JSON. Raises TypeError, as json does."""
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        raise TypeError(f"it holds {type(value).__name__}")
    return dump(exclude_none=True)


def text_of(message: AgentMessage) -> str:
    """The text of a message; what is no text leaves a mark that tells it from others."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or str(message.get("refusal") or "")
    return "\n".join(filter(None, map(part_text, content)))


def part_text(part: object) -> str:
    """The text of one part of a message."""
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    data = json.dumps(part, sort_keys=True, default=str)
    kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
    return f"[{kind} {hashlib.sha256(data.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}]"


def others_of(message: AgentMessage) -> list[Mapping[str, Any]]:
    """The parts of a message that are no text: images, sound, files."""
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else []
    return [part for part in parts if isinstance(part, Mapping) and not isinstance(part.get("text"), str)]


def calls_of(message: AgentMessage) -> Iterator[tuple[str, str, Any]]:
    """The calls of an assistant's message: id, name and arguments; these are the text as it stands where they
    are no JSON. A call of the older format has its name for an id."""
    if message.get("role") != "assistant":
        return
    for call in message.get("tool_calls") or ():
        made = plain(call)
        body = plain(made.get("function") or made.get("custom") or {})
        name = str(body.get("name") or made.get("type") or "tool")
        yield str(made.get("id") or ""), name, arguments(body.get("arguments", body.get("input", "")))
    if message.get("function_call"):
        body = plain(message["function_call"])
        name = str(body.get("name") or "tool")
        yield name, name, arguments(body.get("arguments", ""))


def plain(value: object) -> Mapping[str, Any]:
    """A mapping or an object that gives itself as one; empty for anything else."""
    dump = getattr(value, "model_dump", None)
    found = dump(exclude_none=True) if callable(dump) else value
    return found if isinstance(found, Mapping) else {}


def arguments(given: object) -> Any:
    """A call's arguments as values."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except ValueError:
        return given


def result_id(message: AgentMessage) -> str:
    """The id of the call that a result answers."""
    named = message.get("tool_call_id") if message["role"] == "tool" else message.get("name")
    return str(named or "")


def called(name: str, given: Any) -> str:
    """A call as text: short arguments in its line, long ones whole in blocks below it."""
    if not isinstance(given, Mapping):
        return f"Called {name}: {given}" if given not in ("", None) else f"Called {name}."
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
    long = {key for key, text in texts.items() if "\n" in text or len(text) > LONG_ARGUMENT_CHARS}
    line = ", ".join(f"{key}={text}" for key, text in texts.items() if key not in long)
    blocks = [f"{key}:\n{fenced(texts[key])}" for key in texts if key in long]
    return "\n".join([f"Called {name}: {line}" if line else f"Called {name}.", *blocks])


def fenced(text: str) -> str:
    """A text as a block that no fence inside it ends."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def source_of(name: str, given: Any) -> Source:
    """Where a result came from: a test run, a page, else the command or the call."""
    values = given if isinstance(given, Mapping) else {}
    command = next((values[key] for key in COMMAND_KEYS if values.get(key)), "")
    if isinstance(command, list | tuple):
        command = " ".join(map(str, command))
    url = values.get("url")
    if not command and isinstance(url, str) and url:
        return Source(SourceKind.WEB, one_line(url))
    path = next((values[key] for key in PATH_KEYS if values.get(key)), "")
    text = one_line(str(command or f"{name} {path or arguments_line(given)}"))
    kind = SourceKind.TEST if TEST_COMMAND.search(text[:COMMAND_CHARS]) else SourceKind.COMMAND
    return Source(kind, text)


def arguments_line(given: Any) -> str:
    """A call's arguments in one line."""
    if isinstance(given, Mapping):
        return ", ".join(f"{key}={value}" for key, value in given.items())
    return str(given or "")


def one_line(text: str) -> str:
    return " ".join(text[: 4 * DETAIL_CHARS].split())[:DETAIL_CHARS]
