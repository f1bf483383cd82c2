"""One text made short, whatever it is: what `aider_gardener.shorten` and the commands call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aider_gardener.compress.message import compress_message
from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass, Focus, Source, SourceKind, TokenCounter
from aider_gardener.reading.source import command_source, infer_source
from aider_gardener.tokens import approximate, default_counter


@dataclass(frozen=True)
class Shortened:
    """A text in its short form, which is the text itself where there is none that is shorter.

    `cls` is the class of the text, `engine` what it was read as, "lines" for nothing in particular, "" where
    it stands as it was.
    """

    text: str
    cls: ContentClass
    tokens_before: int
    tokens_after: int
    engine: str


def shorten(
    text: str, *, command: str = "", focus: str | Iterable[str] = (), count: TokenCounter | None = None
) -> Shortened:
    """The short form of a text, made without a model: never longer, the same for the same arguments.

    `command` is the command line whose output it is, as far as known; lines with the words of `focus` are
    favoured. `count` counts the tokens of a text, by default with cl100k_base. Raises UsageError for what is
    of another type.
    """
    if not isinstance(text, str):
        raise UsageError(f"shorten() takes text, not {type(text).__name__}; decode it first")
    given = focus or ()
    words = [*given] if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not all(isinstance(each, str) for each in (command or "", *words)):
        raise UsageError("shorten() takes command= as one line of text, and focus= as words")
    if not callable(count or approximate):
        raise UsageError("shorten() takes count= as a function that counts the tokens of a text")
    count = count or default_counter()
    form = compress_message(text, source_of(text, command), focus=focus_on(words), count=count)
    after = count(form.text)
    return Shortened(form.text, form.cls, after if form.text == text else count(text), after, form.engine)


def source_of(text: str, command: str = "") -> Source:
    """The command as a source; without one what the text's own wrapper tells, which is never "typed"."""
    if command:
        return command_source(command)
    found = infer_source("user", text)
    return Source() if found.kind is SourceKind.TYPED else found


def focus_on(words: str | Iterable[str]) -> Focus:
    """A focus on words, each of which may be several with spaces between them; one of a single letter is
    none."""
    given = [words] if isinstance(words, str) else words
    return Focus(frozenset(word for some in given for word in some.lower().split()), least_chars=2)
