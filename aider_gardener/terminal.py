"""What a person's terminal is given of texts: nothing in them is obeyed, everything in them is seen.

An archived text, a file's name or a session's title may hold what clears a screen, sets a clipboard or turns
letters round. All that is for people goes through `visible`; data (bytes) reaches a pipe or a file as it is.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What a terminal obeys, what is not seen or turns the order of letters round, and halves of characters: the
controls (C0 but tab and line feed, DEL, C1), separators of lines and paragraphs, zero-width characters, marks
and overrides of direction, tags, lone surrogates."""
JOINERS = "\u200c\u200d"
"""Emoji and the words of many scripts are written with them."""
LEAST_COLUMNS, MOST_COLUMNS = 60, 120
"""Tables and lists are at least and at most so wide."""
COLOUR = re.compile(r"\x1b\[[\d;:]*[mK]")
"""Nothing is said by a colour, and by clearing the rest of a line as tools do behind one."""


def columns() -> int:
    """How wide tables and lists are drawn: as the terminal, within bounds."""
    import shutil  # late: a hook has no use for its archives

    return min(max(shutil.get_terminal_size((100, 24)).columns, LEAST_COLUMNS), MOST_COLUMNS)


def visible(text: str) -> str:
    r"""A text as a terminal may have it: what it would obey or hide stands as `\x1b`, `\u202e` and so on.

    Line feeds and tabs stay, and joiners between two characters that are seen and not ASCII. A line's end as
    on Windows becomes a line feed; the colours of a text are left out.
    """
    return UNSEEN.sub(_escaped, COLOUR.sub("", text.replace("\r\n", "\n")))


def _escaped(found: re.Match[str]) -> str:
    text, at, end = found.string, *found.span()
    around = text[max(0, at - 1) : at], text[end : end + 1]
    if found.group() in JOINERS and not any(each.isascii() or UNSEEN.match(each) for each in around):
        return found.group()
    return found.group().encode("unicode_escape").decode()


class VisibleStream:
    """A stream of text on which everything is `visible`. `bare` is the one beneath, and what is written to
    its `buffer` is data."""

    def __init__(self, bare: TextIO) -> None:
        self.bare = bare

    def write(self, text: str) -> int:
        self.bare.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def fileno(self) -> int:
        """None: click would write to a Windows console by it, past all this."""
        raise io.UnsupportedOperation("fileno")

    def __getattr__(self, name: str) -> object:
        return getattr(self.bare, name)


def bare(stream: TextIO) -> TextIO:
    """The stream beneath, for a line that is drawn anew and for a host that has the terminal to itself."""
    return stream.bare if isinstance(stream, VisibleStream) else stream


def guard() -> None:
    """Make everything visible that this process writes as text, from now on."""
    sys.stdout, sys.stderr = _shown(sys.stdout), _shown(sys.stderr)


def release() -> None:
    """Take that back: the terminal belongs to a host."""
    sys.stdout, sys.stderr = bare(sys.stdout), bare(sys.stderr)


def _shown(stream: TextIO) -> TextIO:
    if stream is None or isinstance(stream, VisibleStream):
        return stream
    if hasattr(stream, "reconfigure"):
        is_ascii = codecs.lookup(stream.encoding).name == "ascii"  # click would write UTF-8 past all this
        stream.reconfigure(errors="replace", encoding="utf-8" if is_ascii else None)
    return cast("TextIO", VisibleStream(stream))


class VisibleBytes(io.RawIOBase):
    """What takes bytes for a terminal: they are shown as text."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        sys.stdout.write(visible(self._decoder.decode(bytes(data))))
        return len(data)

    def flush(self) -> None:
        sys.stdout.flush()
