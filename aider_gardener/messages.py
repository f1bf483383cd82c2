"""The words of the design as frozen data: messages, segments, entries, renditions, plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps
from threading import Lock
from typing import NamedTuple, ParamSpec, TypeVar

TokenCounter = Callable[[str], int]
"""Counts the tokens of one text with the model's own tokenizer."""

LONG_CHARS = 1_000_000
"""What is longer is read by its head, its tail and the lines between that tell of trouble, counted by
samples, and made ready to be found between turns."""

ID_CHARS = 10
"""An id has so many characters, a "g" and digits."""

LAST_SECOND = 32_503_593_600
"""No time is later: the last day of the year 2999, of which every system's calendar knows what day it is in
every zone."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


class ContentClass(str, Enum):
    """What a span of text is. Its value is the word used in the CLI, in JSON and in the store."""

    PROMPT = "prompt"
    ERROR = "error"
    CODE = "code"
    STRUCTURED = "structured"
    LOG = "log"
    PROSE = "prose"
    EDIT = "edit"
    LISTING = "listing"
    DIFF = "diff"


class SourceKind(str, Enum):
    """Where a message came from. The source is evidence for its class."""

    TYPED = "typed"
    COMMAND = "command"
    TEST = "test"
    LINT = "lint"
    WEB = "web"
    REPLY = "reply"
    NOTICE = "notice"
    """Text that the host wrote itself: a commit notice, an "Ok.", a reflection about added files."""
    STUB = "stub"
    """Text that the gardener wrote: a rendition below full."""
    FILE = "file"
    SUMMARY = "summary"
    """A host's own summary of what it compacted: its words, not the user's, though they look like them."""
    REMEMBERED = "remembered"
    """What an agent chose to keep."""
    UNKNOWN = "unknown"


class Level(str, Enum):
    """How much of an entry a rendition shows, from everything to nothing."""

    FULL = "full"
    COMPRESSED = "compressed"
    LINE = "line"
    HIDDEN = "hidden"


@dataclass(frozen=True)
class Source:
    """A message's origin; `detail` is the command line, URL or path, where there is one."""

    kind: SourceKind = SourceKind.UNKNOWN
    detail: str = ""


class Message(NamedTuple):
    """What the host holds: one item of a chat list, reduced to role and text."""

    role: str
    content: str


@dataclass(frozen=True)
class Segment:
    """A span `content[start:end]` of one class. Segments of a message cover it, in order, no overlap.

    `kind` refines the class ("pytest", "gcc", "traceback-python", "search-replace", "json", …);
    `language` names the language of code in the words of tree-sitter ("python", "tsx", …).
    """

    start: int
    end: int
    cls: ContentClass
    kind: str = ""
    language: str = ""


class Focus(NamedTuple):
    """What the user is about now; every compressor favours text that touches it.

    `words` are lower-case words and identifiers of the last user messages, or those that were given for
    this; of the first only those of `least_chars` are looked for in lines, shorter ones stand everywhere.
    `paths` are files in the chat or lately edited, relative with forward slashes.
    """

    words: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    least_chars: int = 4

    @property
    def telling(self) -> frozenset[str]:
        """The words that are looked for."""
        return frozenset(word for word in self.words if len(word) >= self.least_chars)


@dataclass(frozen=True)
class Compressed:
    """What a compressor returns. `text` is never longer than its input.

    `engine` names what shortened most of it: a shape of output ("testruns", "tables", …), "lines" where
    none explained it, "code", "prose" or "edits"; "" for a text that stayed. `lossless` is true when nothing
    was left out. `failed` is the class name of the fault for which a part of the text stayed as it was, or
    the kind of falsehood for which an engine was not believed, "" for none.
    """

    text: str
    cls: ContentClass
    engine: str = ""
    lossless: bool = False
    failed: str = ""


class Rendition(NamedTuple):
    """One way to show an entry: its text and what it costs, in tokens of the model's tokenizer."""

    level: Level
    text: str
    tokens: int


@dataclass(frozen=True)
class Entry:
    """A stored original: one message of a session, with all that the planner needs to know.

    `turn` counts the user's prompts in the session from 1; `seq` orders entries within the session.
    `created_at` and `accessed_at` are seconds since the epoch. `provider` is the litellm provider
    the text was first sent to ("" when it was never sent).
    """

    id: str
    session: str
    turn: int
    seq: int
    role: str
    content: str
    source: Source
    cls: ContentClass
    segments: tuple[Segment, ...]
    tokens: int
    pinned: bool = False
    active: bool = True
    created_at: float = 0.0
    accessed_at: float = 0.0
    access_count: int = 0
    provider: str = ""


class Swap(NamedTuple):
    """One step of a plan: show `entry_id` as `after` where `before` stands now, and why."""

    entry_id: str
    before: Level
    after: Level
    tokens_saved: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """A list of swaps that is applied in one go, with what it saves and what it costs.

    `tokens_before` and `tokens_after` are the history's; `prefix_tokens_broken` is how much of the
    provider's cached prefix the plan makes uncached once. `marks` are those it was made for, by name, in
    tokens of history, with the one that was `passed`.
    """

    swaps: tuple[Swap, ...]
    reason: str
    tokens_before: int
    tokens_after: int
    prefix_tokens_broken: int = 0
    marks: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def tokens_saved(self) -> int:
        return self.tokens_before - self.tokens_after


def content_hash(role: str, content: str) -> str:
    """The SHA-256 of a message as hex: the key under which an original is stored once."""
    import hashlib  # late: it loads a library for which a hook that archives nothing has no use

    hashed = hashlib.sha256(role.encode("utf-8", "surrogatepass") + b"\0")
    for at in range(0, len(content), LONG_CHARS):
        hashed.update(content[at : at + LONG_CHARS].encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


def entry_id(role: str, content: str) -> str:
    """The short id of an original, as it stands in stubs: "g" and 9 hex digits of its hash."""
    return "g" + content_hash(role, content)[: ID_CHARS - 1]


def content_key(entry: Entry) -> Hashable:
    """What tells the content of one entry from that of others, without its text."""
    return entry.id, entry.seq, len(entry.content), entry.role, entry.source, entry.segments


def text_key(text: str) -> Hashable:
    """What tells a text from others as long as this process runs, without the text."""
    return len(text), hash(text)


def remembered(
    most: int, *, key: Callable[..., Hashable]
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Remember what a function gives for the last `most` that it was asked for, by a key: a cache must not
    keep the texts of outputs in memory. Threads may ask at once."""

    def remembering(function: Callable[Given, Result]) -> Callable[Given, Result]:
        cache: dict[Hashable, Result] = {}
        lock = Lock()

        @wraps(function)
        def asked(*given: Given.args, **more: Given.kwargs) -> Result:
            name = key(*given, **more)
            with lock:
                if name in cache:
                    result = cache[name] = cache.pop(name)  # the last one asked for stands last
                    return result
            result = function(*given, **more)
            with lock:
                cache[name] = result
                if len(cache) > most:
                    del cache[next(iter(cache))]
            return result

        return asked

    return remembering
