"""Prose cut into units that can be kept or dropped whole, and the signs of worth in each of them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from aider_gardener.reading.late import late

BLOCK_CHARS = 2_000
"""A run of text without any sentence end is cut at spaces about every so many characters."""

SENTENCE_END = late(
    r"(?:(?<![.!?…])[.!?…]+[\"'”’»)\]*_`]{0,3}(?=\s)|[。！？．؟।]+[」』”）]{0,2}|[:;](?=\s*\n))"
)
_ABBREVIATION = late(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|Mr|Mrs|Ms|Dr|St|No|Nr|Fig|fig|eq|Eq|al|Jan|Feb|Mar"
    r"|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec"
    r"|bzw|z\.B|u\.a|d\.h|ca|M|p|pp|min|max|sec|ver|v)|\b[A-Za-z]|^\s*\d{1,3})\.$"
)
BULLET = late(r"\s*(?:[-*+•–] |\d{1,3}[.)] |\(?[a-z]\) |\[[ xX]\] )")
HEADING = late(r" {0,3}#{1,6} \S|\*\*[^*]+\*\*:?\s*$")
UNDERLINE = late(r"(?:={3,}|-{3,}|~{3,}|\*{3,})\s*$")
ROW = late(r"\s*\|.*\|\s*$")
FENCE = late(r" {0,3}(`{3,}|~{3,})")

NUMBER = late(r"(?<![\w.])[-+~<>≤≥]?[$€£]?\d[\d,.:_]*\s?(?:%|[A-Za-zµ]{1,4}\b)?")
NAME = late(
    r"`[^`\n]+`|https?://\S+|(?<![\w./-])[\w.-]{1,60}/[\w./-]{1,120}|\b\w{1,60}\.(?:py|js|ts|tsx|go|rs|java|c"
    r"|h|cpp|rb|json|ya?ml|toml|md|sql|sh|txt|cfg|lock)\b|\b\w{1,60}\(\)|\b[a-z]{1,40}[A-Z]\w*|\b[^\W_]+_\w+"
    r"|\b[A-Z][a-z]{1,40}[A-Z]\w*|\b[A-Z]{2,}[-_]?\d*\b|--[a-z][\w-]+|\b[A-Z]+-\d+\b|\b0x[0-9a-f]+"
)
PROPER = late(r"(?<=[a-z,;] )[A-Z][\w-]+")
DECISION = late(
    r"\b(?:must(?:n't| not)?|never|always|only|instead(?: of)?|rather than|decid\w+|decision|agreed?|chose\w*"
    r"|choose|pick(?:ed)?|prefer\w*|reject\w*|ruled? out|drop(?:ped)?|forbid\w*|forbidden|not allowed|allowed"
    r"|no longer|don'?t|do not|cannot|can'?t|won'?t|shall|should(?:n'?t)?|need(?:s|ed)? to|has to|have to"
    r"|required?|requires?|limit\w*|at most|at least|maximum|minimum|max|min|up to|until|deadline|keep\w*"
    r"|stays?|go with|we'?ll (?:use|keep|go|take)|let'?s|default\w*|rule|except|unless|no (?!doubt)\w+"
    r"|without|exactly|contract|policy|freeze|call(?:ed)? it|named?|option [a-z]\b|out of scope|later|wrong"
    r"|right)\b"
)
REASON = late(
    r"\b(?:because|since|so that|reason|why|caus\w+|due to|otherwise|hence|therefore|root cause|turns?"
    r" out|means?|the problem|bug|"
    r"fail\w*|broke\w*|leak\w*|race|risk\w*|explains?|proves?|shows?|found|confirmed|symptom|regression)\b"
)
"""DECISION and REASON read lower case: a search that ignores case takes five times as long."""
FILLER = late(
    r"^\W*(?:sure|certainly|of course|great|thanks?|thank you|hi|hello|hey|ok(?:ay)?|yes|got it|here (?:is"
    r"|are) (?:the|my|an?)|i hope|feel free|let me know|please let|happy to|sounds good|no problem|understood"
    r"|noted|good (?:catch|question|point))\b[^.!?]{0,60}[.!?:]?$",
    re.IGNORECASE,
)
WORD = late(r"[^\W_](?:[\w'’.-]*[^\W_])?")
STOPWORDS = frozenset(
    "a an the and or but if then than that this these those there here it its is are was were be been"
    " being am do does did done has have had "
    "having i you he she we they me him her us them my your his our their of in on at to from by with"
    " for as into over under about after "
    "before between so not no nor too very can could may might will would shall should must just also"
    " more most some any each all both "
    "such what which who whom when where why how one two up down out off again once only same own"
    " because while until during".split()
)


class Unit(NamedTuple):
    """A span that is kept or dropped whole. `kind`: sentence, item, heading, row or code; `paragraph`
    counts blank-line separated paragraphs from 0; `first` and `last` mark its place in the paragraph. One
    that `goes_on` is a piece of a sentence that was too long for one, and the next unit is its next piece."""

    start: int
    end: int
    kind: str
    paragraph: int
    first: bool = False
    last: bool = False
    goes_on: bool = False


def units(text: str) -> list[Unit]:
    """The units of a text, in order; blank lines belong to none of them. Linear in the text."""
    found: list[Unit] = []
    at, paragraph, begin, fence = 0, 0, -1, ""
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip("`~"):
                found.append(Unit(begin, end, "code", paragraph))
                begin, fence = -1, ""
        elif mark:
            _close(text, found, begin, at, paragraph)
            begin, fence = at, mark[1]
        elif not line.strip():
            _close(text, found, begin, at, paragraph)
            begin, paragraph = -1, paragraph + 1
        elif HEADING.match(line) or UNDERLINE.match(line) or ROW.match(line):
            _close(text, found, begin, at, paragraph)
            found.append(Unit(at, end, "row" if ROW.match(line) else "heading", paragraph))
            begin = -1
        elif BULLET.match(line):
            _close(text, found, begin, at, paragraph)
            begin = at
        elif begin < 0:
            begin = at
        at = end
    if fence:
        found.append(Unit(begin, at, "code", paragraph))
    else:
        _close(text, found, begin, at, paragraph)
    return found


def _close(text: str, found: list[Unit], begin: int, end: int, paragraph: int) -> None:
    """Cut `text[begin:end]` into sentences, all of one paragraph or one list item."""
    if begin < 0 or begin >= end:
        return
    kind = "item" if BULLET.match(text, begin, end) else "sentence"
    cuts = [begin]
    for match in SENTENCE_END.finditer(text, begin, end):
        if match.end() - cuts[-1] < 3 or _ABBREVIATION.search(
            text, max(cuts[-1], match.end() - 12), match.end()
        ):
            continue
        cuts.append(match.end())
    if cuts[-1] < end and text[cuts[-1] : end].strip():
        cuts.append(end)
    else:
        cuts[-1] = end
    ends = set(cuts)
    spans = [piece for low, high in pairwise(cuts) for piece in _pieces(text, low, high)]
    if len(spans) > 1 and kind == "item" and spans[0][1] - spans[0][0] < 6:
        spans[:2] = [(spans[0][0], spans[1][1])]
    for index, (low, high) in enumerate(spans):
        is_first, is_last = index == 0, index == len(spans) - 1
        own = kind if is_first else "sentence"
        found.append(Unit(low, high, own, paragraph, is_first, is_last, high not in ends))


def _pieces(text: str, low: int, high: int) -> list[tuple[int, int]]:
    if high - low <= BLOCK_CHARS:
        return [(low, high)]
    spans, at = [], low
    while at < high:
        end = min(at + BLOCK_CHARS, high)
        space = text.rfind(" ", at + BLOCK_CHARS // 2, end) if end < high else -1
        end = space + 1 if space > 0 else end
        spans.append((at, end))
        at = end
    return spans


def content_words(text: str) -> list[str]:
    """Lower-case words that carry meaning; pairs of characters for scripts without spaces."""
    words = (word.lower() for word in WORD.findall(text[:BLOCK_CHARS]))
    return [
        word
        for word in words
        if word not in STOPWORDS and (len(word) > 2 or not word.isascii() or word.isdigit())
    ]


def worth(text: str) -> float:
    """How much a sentence states that cannot be guessed: decisions, numbers, names, reasons. 0 to about 2."""
    text = text[:BLOCK_CHARS]
    if FILLER.match(text.strip()):
        return -0.6
    lower = text.lower()
    odd = " ".join(word for word in text.split() if not (word.isalpha() and word.islower()))
    value = 0.35 * min(2, len(NUMBER.findall(text))) + 0.15 * min(3, len(NAME.findall(odd)))
    value += 0.1 * min(2, len(PROPER.findall(text)))
    value += 0.3 * min(2, len(DECISION.findall(lower)))
    value += 0.25 if REASON.search(lower) else 0.0
    return value
