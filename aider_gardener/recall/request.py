"""A question to the archive, and what of it may answer: which sessions, which messages, how much.

A prompt that asks about the past wants more of it than an order to go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass, Entry, Level, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import members
from aider_gardener.reading.lineshape import unspaced_letters

ORDINARY_SHARE = 0.1
"""What a prompt that asks for nothing may recall, as a share of what one that asks may."""
SHORT_WORDS = 60
"""A longer prompt brings what it is about along; it asks for the past only when it says so."""
LONG_WORDS = 250
UNSPACED_CHARS = 2.5
"""So many characters of a script without spaces count as a word."""

QUESTION = re.compile(r"[?？؟]|[吗呢嗎](?:[。？]|$)|(?:か|の)[。？]|까[.?？]?$")
OPENS = re.compile(
    r"(?:^|[.!;:\n]\s)\W{0,4}(?:(?:and|but|so|ok|in|for|to|at|by|und|also|für|seit|ab|bis|y|en|de|por|et|a|à|e|em)"
    r"\W{1,3}){0,2}(?:what|which|who[ms]?|whose|where|why|how"
    r"|welch\w+|we[rnm]|wo|wann|warum|wie|was|quel\w*|combien|pourquoi|où"
    r"|qué|cuál\w*|quién\w*|cuándo|cu[aá]nt\w+|dónde|cómo|qual|quais|quem|quanto?s?|onde|chi|dove|perché"
    r"|hangi|nerede|kaç|neden|nasıl|как\w*|кто|где|почему|сколько|أين|متى|كم)(?:['’]?s)?\b"
    r"|什么|多少|怎么|哪|どこ|いつ|なぜ|어디|언제|누가|कौन|कहाँ|कितन",
    re.IGNORECASE,
)
"""A sentence that begins with a word that asks: many leave the mark out. One that is none ("what I want is
…") costs the room of one note; "when" begins orders too often."""
PAST = re.compile(
    r"\b(?:again|agreed|already|before|decid(?:e|ed|ing)|earlier|forg[eo]t\w*|mention(?:ed)?|originally|"
    r"previous(?:ly)?|recall|remember|remind|said|say|same|still|told|used to|last time|"
    r"(?:my|our|the) (?:rules?|constraints?|decisions?)|as (?:i|we|you)|like (?:i|we|you)|"
    r"first day|list (?:all|everything)|recap|so far|summari[sz]e|"
    r"(?:did|had|was|were) (?:i|we|you|it|that|the)|"
    r"vorher|vorhin|nochmal|gesagt|vereinbart|entschieden|erinner\w*|damals|bisher|"
    r"fass\w* .{1,80} zusammen|zusammenfass\w*|"
    r"d[ée]j[àa]|avant|rappel\w*|d[ée]cid[ée]\w*|"
    r"antes|recuerd\w*|decid[ií]\w*|dij\w+)\b"
    r"|之前|刚才|记得|還記|还记|说过|決め|前に|覚え|さっき|전에|기억",
    re.IGNORECASE,
)
QUERY_CHARS = 20_000
"""Of a longer question both ends are read."""
CLASSES = ", ".join(cls.value for cls in ContentClass)
USAGE = "Usage: /recall [--class NAME] [--session ID] [--passages N] [--full] QUESTION OR WORDS"


@dataclass(frozen=True)
class Request:
    """A question to the archive. `floor` is the first sequence number of this chat that it may reach;
    `prompt_text` is what stands in the prompt anyway. `unasked`: it is the gardener who asks, so only this
    chat is searched (with `older` those sessions of the project too that may come back unasked), what stands
    is left out, and small talk finds nothing.

    `classes` keeps messages of these classes (none: all), `session` those said in one session; at most so
    many `passages` come (0: as many as fit); `reader` is the provider to whom the passages go, which gets
    nothing that was said to a model of this machine ("": they stay with the user). `order`: the prompt asks
    for nothing of the past. `files` are the names of those in the chat. `ids`: the reader can ask for an
    original by its id, so a note names it."""

    query: str
    token_limit: int = 1_000
    full: bool = False
    floor: int = 0
    prompt_text: str = ""
    unasked: bool = False
    older: bool = False
    classes: frozenset[ContentClass] = frozenset()
    session: str = ""
    passages: int = 0
    order: bool = False
    files: frozenset[str] = frozenset()
    reader: str = ""
    ids: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", both_ends(self.query))

    def wants(self, entry: Entry) -> bool:
        """Whether somebody or something said it (no note of ours, no notice of the host), and it is of a
        class that is asked for."""
        if entry.source.kind in (SourceKind.STUB, SourceKind.NOTICE):
            return False
        return not self.classes or entry.cls in self.classes


def sessions_of(archive: Archive, request: Request) -> list[str] | None:
    """The ids of the sessions in which to look; None for the whole archive."""
    if request.unasked:
        return [archive.session]
    if request.session:
        return [request.session]
    return None if archive.within is None else [archive.session, *archive.past_ids()]


def excluded(chat: Chat) -> frozenset[str]:
    """Ids that must not be recalled unasked: what stands in full, the open question, what is gone."""
    shown = {seq for seq in members([*chat.done, *chat.cur]) if chat.levels.get(seq) in (None, Level.FULL)}
    closed = shown | chat.open_exchange
    ids = {chat.entries[seq].id for seq in chat.removed}
    if ids:  # said again, it may be had
        ids -= {e.id for seq, e in chat.entries.items() if seq not in closed and seq not in chat.removed}
    return frozenset({chat.entries[seq].id for seq in closed} | ids)


def both_ends(question: str) -> str:
    """What is read of a question."""
    half = QUERY_CHARS // 2
    return question if len(question) <= QUERY_CHARS else f"{question[:half]} {question[-half:]}"


def asks(prompt: str) -> bool:
    """Whether the prompt asks for something, or refers to what was said before."""
    prompt = both_ends(prompt)
    length = len(prompt.split()) + unspaced_letters(prompt) / UNSPACED_CHARS  # in words, of any script
    if length <= SHORT_WORDS and (QUESTION.search(prompt) or OPENS.search(prompt)):
        return True
    return length <= LONG_WORDS and PAST.search(prompt) is not None


# As it is typed: what is asked, and options before it that say what may answer


def content_class(name: str) -> ContentClass:
    """The class of that name. Raises UsageError."""
    try:
        return ContentClass(name.lower())
    except ValueError as error:
        raise UsageError(f"no class is called {name}; there are {CLASSES}") from error


def passage_count(text: str) -> int:
    """A number of passages. Raises UsageError."""
    if not text.isdecimal() or int(text[:6]) == 0:
        raise UsageError(f"{text} is no number of passages; write 1 or more")
    return int(text[:6])


def words(rest: list[str], usage: str) -> list[str]:
    """What stands behind the options of a command that is typed: words, which may begin as an option does
    behind a `--`. Raises UsageError, with the usage, for an option that the command does not have."""
    if not rest or not rest[0].startswith("--"):
        return rest
    if rest[0] != "--":
        raise UsageError(f"{usage} (words that begin with -- stand behind a --)")
    return rest[1:]


def typed(args: str, session: Callable[[str], str]) -> Request:
    """The request that is typed behind /recall. `session` gives the whole id of one that begins so. Raises
    UsageError."""
    rest, given = args.split(), dict[str, Any]()
    valued: dict[str, Callable[[str], object]] = {
        "--class": lambda name: [*given.get("class", ()), content_class(name)],
        "--session": session,
        "--passages": passage_count,
    }
    while rest and rest[0].startswith("--"):
        name, *values = rest
        if name == "--full":
            given["full"], rest = True, values
        elif name in valued and values:
            given[name[2:]], rest = valued[name](values[0]), values[1:]
        else:
            break
    if not (rest := words(rest, USAGE)):
        raise UsageError(USAGE)
    classes = frozenset(given.pop("class", ()))
    return Request(" ".join(rest), classes=classes, **given)
