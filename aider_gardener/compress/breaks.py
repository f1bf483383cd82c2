"""Lines that can be quoted, of what has too few or too many: a long line broken where its parts end, as
minified XML, HTML or CSS, the rows of one INSERT, a dump of values; and a short element of XML on one line.

Each part begins where the one before it ended, so together they are the line. Those behind the first are
indented under it. Long lines among others are left: their parts would outweigh these.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from aider_gardener.compress.outline import LINE_CHARS
from aider_gardener.reading.late import late

MOST_LINES = 3
"""So many are broken: both ends of a very long text, and what is read between."""

LEAST_PARTS, LEAST_CHARS, MOST_CHARS = 4, 4, 300
"""So many parts are worth it; of no fewer characters on the mean, and of no more, so that most can be shown
whole."""

ABOUT = 1.5
"""So many times as many parts are about as many."""

CLOSER = late(r"</[\w:.-]{1,80}>|/>|[)\]}]+[,;]? ?|\\n|[.!?] (?! )|[;,&|~] ?|:(?=[/.~][^/])|[\t ]")
"""What ends a part: a closing tag, brackets, an end of a line as a string spells it, a sentence's end, a
separator of paths or of anything."""

ELEMENT = late(r"^([ \t]*)<([\w.:-]+)(?:\s[^<>\n]*)?>\n(?:\1[ \t]+\S[^\n]*\n){1,20}?\1</\2>$", re.MULTILINE)
"""An element of few lines, with what is indented in it."""


def broken(text: str) -> str:
    """The text with the lines over several of which not all would be shown, where these are few and most of
    it stands in them."""
    lines = text.split("\n")
    long_lines = [line for line in lines if len(line) > LINE_CHARS]
    if len(long_lines) > MOST_LINES or 2 * sum(map(len, long_lines)) <= len(text):
        return text
    return "\n".join("\n  ".join(_parts(line)) for line in lines)


def joined(text: str) -> str:
    """The text with each element of XML or HTML on one line that fits one: what is odd in it then stands with
    its name."""
    parts, at = list[str](), 0
    while found := ELEMENT.search(text, at):
        line = found[1] + "".join(map(str.strip, found[0].split("\n")))
        is_short = len(line) <= LINE_CHARS
        end = found.end() if is_short else text.find("\n", found.start()) + 1
        parts += [text[at : found.start()], line] if is_short else [text[at:end]]
        at = end
    return "".join([*parts, text[at:]])


def _parts(line: str) -> list[str]:
    if len(line) <= LINE_CHARS:
        return [line]
    found = [(match[0], match.end()) for match in CLOSER.finditer(line)]
    closer = _outermost([each for each, _ in found], len(line))
    if not closer:
        return [line]
    ends = [0, *(end for each, end in found if each == closer), len(line)]
    parts = (line[start:end] for start, end in pairwise(ends) if start < end)
    return [piece for part in parts for piece in _parts(part)]


def _outermost(closers: list[str], chars: int) -> str:
    """What closes the largest parts of a line of so many characters that are short enough. Of several that
    close about as many it is the one that is met last: it is around the others. "" where there is none."""
    least, most = max(LEAST_PARTS, chars / MOST_CHARS), chars / LEAST_CHARS
    often = {closer: times for closer, times in Counter(closers).items() if least <= times <= most}
    fewest = min(often.values(), default=0)
    return next((closer for closer in reversed(often) if often[closer] <= ABOUT * fewest), "")
