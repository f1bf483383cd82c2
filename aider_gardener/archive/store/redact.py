"""Secrets out of a text, before it is stored, indexed or embedded.

What the user sees and sends stays theirs; the archive keeps `[redacted:KIND:HASH6]`. The six hex
digits of the secret's SHA-256 make the placeholder stable: equal secrets get equal placeholders,
and nothing can be read back from them. A text is scanned once, as it enters: what a scan gives is `Clean`.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from aider_gardener.messages import LONG_CHARS

if TYPE_CHECKING:
    from aider_gardener.archive.store import secrets

KNOWN_PREFIX_CHARS = 8
"""From this length on the beginning of a known secret is taken for a cut-off copy of it."""
HEAD_CHARS = 4
"""So many of its first characters stand together in every copy."""
KNOWN_SECRETS = 1_000
"""So many are remembered; each line of a private key is one."""
RECENT_TEXTS = 64
"""Of so many it is remembered what a scan gave: an entry is scanned to be shortened and to be stored. Of
those longer than LONG_CHARS only the last is."""
PIECE = re.compile(r"[A-Za-z0-9+/=_-]{16,}")
"""What of a secret of several lines can be looked for by itself."""
KNOWN = "known"


class Clean(str):
    """A text without secrets that needs no scan: the result of one, or made of such texts, of ids and of the
    program's words alone.

    Whatever is done with it gives a plain text, so the mark is not kept by accident. The store scans every
    text that has none. Only this module and `Archive` make one.
    """

    __slots__ = ()


class Redaction(NamedTuple):
    """A span `text[start:end]` of the text before redaction, and what stands in its place."""

    start: int
    end: int
    kind: str
    placeholder: str


class Redacted(NamedTuple):
    """A text without its secrets; `spans` lie in order in the text before, without overlap."""

    text: str
    spans: tuple[Redaction, ...] = ()

    def position(self, offset: int, *, end: bool = False) -> int:
        """Where an offset of the text before stands in `text`.

        An offset inside a secret moves to the placeholder's start, or with `end` to its end.
        """
        at = bisect_right([span.start for span in self.spans], offset - 1 if end else offset)
        grown = sum(len(span.placeholder) - (span.end - span.start) for span in self.spans[:at])
        if at and offset < self.spans[at - 1].end:
            last = self.spans[at - 1]
            new_end = last.end + grown
            return new_end if end else new_end - len(last.placeholder)
        return offset + grown


class Known:
    """Secrets that were found before, perhaps in other texts, and where they stand in a text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._by_head: dict[str, list[str]] = {}
        self._chars = tuple(set[str]() for _ in range(HEAD_CHARS))
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Know one more, of HEAD_CHARS at least."""
        group = self._by_head.setdefault(secret[:HEAD_CHARS], [])
        at = bisect_left(group, secret)
        if group[at : at + 1] != [secret]:
            group.insert(at, secret)
            for chars, char in zip(self._chars, secret, strict=False):
                chars.add(char)

    def __len__(self) -> int:
        return sum(map(len, self._by_head.values()))

    def copies(self, text: str) -> Iterator[secrets.Found]:
        """Every copy of one, if any is known: whole, from its beginning on, broken over lines or coloured."""
        from aider_gardener.archive.store import secrets

        begins, *goes_on = (f"[{re.escape(''.join(chars))}]" for chars in self._chars)
        ends = dict[str, int]()
        for start in re.finditer(f"{begins}(?={''.join(goes_on)})", text):
            at = start.start()
            head = text[at : at + HEAD_CHARS]
            if head not in self._by_head or at < ends.get(head, 0):
                continue
            group, matched, first, whole = self._by_head[head], head, 0, 0
            end = past = at + len(head)
            while True:
                whole = end if group[first] == matched else whole
                rest = group[first][len(matched) :]
                if not (rest and text.startswith(rest, past)):
                    rest = text[past : past + 1]
                next_ = bisect_left(group, matched + rest, first)
                if rest and next_ < len(group) and group[next_].startswith(matched + rest):
                    matched, first, end = matched + rest, next_, past + len(rest)
                    past = end
                elif broken := secrets.WITHIN_COPIES.match(text, past):
                    past = broken.end()
                else:
                    break
            ends[head] = past
            is_cut_off = not text[end : end + 1].isalnum() and is_telling(matched)
            if whole or is_cut_off:
                yield at, end if is_cut_off else whole, KNOWN


class Redactor:
    """Redacts texts one after the other: what was a secret once is known wherever it stands later."""

    def __init__(self) -> None:
        self.known = Known()
        self._recent: dict[str, Redacted] = {}

    def __call__(self, text: str) -> Redacted:
        if isinstance(text, Clean):
            return Redacted(text)
        if text not in self._recent:
            found = redact(text, self.known)
            new = [piece for span in found.spans for piece in pieces(text[span.start : span.end])]
            if new or len(self._recent) >= RECENT_TEXTS or len(text) > LONG_CHARS:
                self._recent = {}
            for piece in new[: KNOWN_SECRETS - len(self.known)]:
                self.known.add(piece)
            self._recent[text] = found
        return self._recent[text]

    def clean_json(self, value: str) -> str:
        """Text that may be JSON, redacted: strings are read as what they say, not as they are written."""
        if isinstance(value, Clean):
            return value
        with suppress(ValueError):
            decoded = json.loads(value)
            clean = cleaned(decoded, self)
            if clean != decoded:
                value = json.dumps(clean)
        return self(value).text

    def forget(self) -> None:
        """Know nothing any more."""
        self.known, self._recent = Known(), {}


def redact(text: str, known: Known | None = None) -> Redacted:
    """Replace every secret that is found, all its other copies, and every `known` one, also when their end is
    cut off."""
    from aider_gardener.archive.store import secrets  # late: looking up writes nothing

    found = secrets.find(text)
    own = Known(piece for start, end, _ in found for piece in pieces(text[start:end]))
    found += [copy for some in (own, known) if some for copy in some.copies(text)]
    spans, parts, at = list[Redaction](), list[str](), 0
    for start, end, kind in sorted(found, key=lambda item: (item[0], -item[1])):
        start = max(start, at)
        if start < end:
            spans.append(Redaction(start, end, kind, placeholder(text[start:end], kind)))
            parts += [text[at:start], spans[-1].placeholder]
            at = end
    return Redacted(Clean("".join([*parts, text[at:]])), tuple(spans))


def cleaned(value: object, scan: Callable[[str], Redacted]) -> object:
    """A value as JSON has it, every text in it scanned, names too: files and calls have such of their own."""
    name = cache(scan)  # the same ones stand in many rows

    def clean(part: object) -> object:
        if isinstance(part, str):
            return scan(part).text
        if isinstance(part, Mapping):
            return {name(str(key)).text: clean(each) for key, each in part.items()}
        return [clean(each) for each in part] if isinstance(part, (list, tuple)) else part

    return clean(value)


def placeholder(secret: str, kind: str) -> str:
    """What stands in the archive in a secret's place."""
    import hashlib  # late: as in messages

    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[redacted:{kind}:{digest[:6]}]"


def is_telling(secret: str) -> bool:
    """Whether a secret can be looked for by itself: long and no common word."""
    bare = secret.replace("_", "")
    return len(secret) >= KNOWN_PREFIX_CHARS and not bare.isalpha() and not bare.isdigit()


def pieces(secret: str) -> list[str]:
    """What of a secret can be looked for by itself: all of it, or of several lines each line's long run."""
    lines = secret.replace("\\n", "\n")
    return [part for part in (PIECE.findall(lines) if "\n" in lines else [secret]) if is_telling(part)]
