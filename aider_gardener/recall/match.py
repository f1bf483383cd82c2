"""What made a passage come: words, meaning, or the company it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aider_gardener.archive.store.words import index_words, stem


@dataclass(frozen=True)
class Match:
    """Why a passage was recalled: the `words` of the question that it holds (stems count), how close it is in
    `meaning`, 0 to 1 (0 where that is not known), and `beside`: what stands around it fits better than it
    does itself."""

    words: tuple[str, ...] = ()
    meaning: float = 0.0
    beside: bool = False

    def __str__(self) -> str:
        parts = [f"words: {', '.join(self.words)}"] if self.words else []
        parts += [f"meaning: {self.meaning:.0%}"] if self.meaning else []
        parts += ["its neighbours"] if self.beside or not parts else []
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        return {"words": list(self.words), "meaning": round(self.meaning, 2), "neighbours": self.beside}


def matched(text: str, words: Sequence[str], cosine: float, *, beside: bool) -> Match:
    """What of a question, given by its words, a passage meets."""
    found = set(map(stem, index_words(text)))
    held = (word for word in words if stem(word) in found)
    return Match(tuple(held), max(0.0, cosine), beside)
