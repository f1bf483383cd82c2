"""What the chats of a project show again and again: rules that are said anew, and faults that come back.

What was seen in three different sessions is worth a rule, which the user is to take or to refuse. Precise
rather than eager: a proposal that is wrong costs the user more than one that comes a session later.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.archive.store.words import UNSPACED, index_words, stem
from aider_gardener.errors import tolerating
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.notes.markdown import code, flat
from aider_gardener.notes.names import faults_of
from aider_gardener.notes.rules import (
    NEGATIVE,
    NUMBER,
    RULE_CHARS,
    is_spoken,
    rules_in,
    sentences,
    typed_words,
)
from aider_gardener.reading.output import clipped
from aider_gardener.reading.sentences import STOPWORDS, WORD
from aider_gardener.reading.source import is_failed_edit
from aider_gardener.reading.speech import RULE_WORDS

SESSIONS_SEEN = 3
"""What was seen in so many different sessions is proposed."""
FADES_DAYS = 28.0
"""What was not seen for so long is proposed no more, until it is seen again."""
DAY = 86_400.0
SAME = 0.7
"""Two sentences say the same that share so much of their words, or of which one only adds to the other."""
MOST_WORDS = 24
"""A sentence of more is about too much to be a rule that is said again."""
RULE, TEST, ERROR, LINT, EDIT = "rule", "test", "error", "lint", "edit"

AGAIN = re.compile(
    r"^\W*(?:(?:no|wrong|again|nein|falsch|nochmals?|non|encore|otra vez|(?:as )?i (?:\w+ )?(?:said|told you)"
    r"(?: \w+)?|wie gesagt|comme je l'ai dit|(?:ya )?te (?:lo )?dije|再说一遍)\s*[,:：]|i said\b|我说过)"
    r"\s*(?=\S)",
    re.IGNORECASE,
)
"""Begins what corrects something or says it once more, whatever its form."""
FOR_NOW = re.compile(r"\b(?:yet|for now|this time|today|noch|vorerst|aún|todavía|encore pas)\b|まだ", re.I)
"""Holds for a while only."""

PARAMETERS = re.compile(r"\[.*$")
FIGURES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,]\d+)*")
LINTED = re.compile(
    r"^\S+:\d+:\d+: (?P<flake>[A-Z]{1,4}\d{2,5})\b|\b(?:error|warning) (?P<tsc>TS\d{3,5}):"
    r"|^(?:error|warning)\[(?P<rust>[A-Z]\d{4})\]:"
    r"|^ +\d+:\d+ +(?:error|warning) +\S.{0,200}? {2,}(?P<eslint>[@a-z][\w/@-]+)$"
    r"|: (?:error|note): .{1,200} \[(?P<mypy>[a-z]+(?:-[a-z]+)+)\]$",
    re.M,
)
"""The code under which a linter or compiler reports, with the line that it is in."""
UNMATCHED = re.compile(r"failed to exactly match lines in (\S+)")
READ_CHARS = 200_000
"""Of a report no more is read for its codes."""


@dataclass(frozen=True)
class Sighting:
    """One thing seen: what it is of, in its words, and where. `key` is the same for the same fault, "" for a
    sentence."""

    kind: str
    text: str
    key: str
    session: str
    turn: int
    at: float
    entry_id: str


@dataclass(frozen=True)
class Observation:
    """What was seen in several sessions, with a proposal for a rule. `evidence` is one sighting a session,
    the oldest first; `id` stays the same while that is there."""

    kind: str
    proposal: str
    evidence: tuple[Sighting, ...]

    @property
    def id(self) -> str:
        first = self.evidence[0]
        name = f"{first.kind}\n{first.key or first.text}"
        return "o" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]

    @property
    def last_at(self) -> float:
        return self.evidence[-1].at

    def is_faded(self, now: float) -> bool:
        """Whether it was not seen for 28 days."""
        return now - self.last_at > FADES_DAYS * DAY

    def is_about(self, kind: str, key: str, text: str) -> bool:
        """Whether it is that fault, or says what a sentence says."""
        if kind != self.kind or key:
            return (kind, key) == (self.kind, self.evidence[0].key)
        return any(says_same(text, own) for own in (self.proposal, *(seen.text for seen in self.evidence)))


def gathered(seen: Iterable[Sighting], least: int = SESSIONS_SEEN) -> list[Observation]:
    """What was seen in at least so many sessions, in the order of its first sight. A sentence joins a group
    of which at least half say what it does."""
    groups: list[list[Sighting]] = []
    groups_of: dict[str, set[int]] = {}
    for sighting in sorted(seen, key=lambda each: (each.at, each.session, each.turn)):
        names = {f"{sighting.kind} {sighting.key}"} if sighting.key else words_of(sighting.text)
        near = {at for name in names for at in groups_of.get(name, ())}
        at = next((at for at in sorted(near) if _belongs(sighting, groups[at])), len(groups))
        if at == len(groups):
            groups.append([])
        groups[at].append(sighting)
        for name in names:
            groups_of.setdefault(name, set()).add(at)
    found = (_observation(group) for group in groups if len({each.session for each in group}) >= least)
    return sorted(found, key=lambda each: (each.evidence[0].at, each.id))


def _belongs(sighting: Sighting, group: list[Sighting]) -> bool:
    if sighting.key or group[0].key:
        return (sighting.kind, sighting.key) == (group[0].kind, group[0].key)
    return 2 * sum(says_same(sighting.text, other.text) for other in group) >= len(group)


def _observation(group: list[Sighting]) -> Observation:
    """A group of sightings, with the rule that it is proposed as: of sentences the shortest, which the others
    only add to."""
    evidence = tuple({each.session: each for each in group}.values())
    last, often = group[-1], f"in {len(evidence)} sessions"
    proposal = {
        RULE: AGAIN.sub("", min((each.text for each in reversed(group)), key=len), count=1),
        TEST: f"{code(last.key)} failed {often}: run it before an edit is called done.",
        LINT: f"Write code without {code(last.key)}, which was reported {often}.",
        EDIT: f"Copy SEARCH lines for {code(last.key)} from it as it stands: they did not match {often}.",
        ERROR: f"{code(last.text)} came up {often}: see to it that it does not come back.",
    }[last.kind]
    return Observation(last.kind, proposal, tuple(sorted(evidence, key=lambda each: each.at)))


@lru_cache(maxsize=8_192)
def sides_of(sentence: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a sentence wants and what it bans: its telling words before and behind the first "not"."""
    wanted, *banned = NEGATIVE.split(AGAIN.sub("", sentence.replace("’", "'"), count=1), maxsplit=1)
    return _stems(wanted), _stems("".join(banned))


def words_of(sentence: str) -> frozenset[str]:
    """The stems of the words that tell what a sentence is about."""
    wanted, banned = sides_of(sentence)
    return wanted | banned


def _stems(text: str) -> frozenset[str]:
    """The stems of words that are not common; of scripts without spaces pairs of characters."""
    words = [word.lower().strip("'.-").replace("-", "") for word in WORD.findall(text)]
    common = STOPWORDS | RULE_WORDS
    found: set[str] = set()
    for word in words:
        if UNSPACED.search(word):
            found.update(index_words(word))
        elif len(word) > 1 and not word[0].isdigit() and word not in common:
            found.add(stem(word))
    return frozenset(found)


def says_same(one: str, other: str) -> bool:
    """Whether two sentences are about the same, name the same figures, and neither wants what the other
    bans."""
    (wanted, banned), (wants, bans) = sides_of(one), sides_of(other)
    shared, all_words = words_of(one) & words_of(other), words_of(one) | words_of(other)
    if not shared or len(all_words) > MOST_WORDS or NUMBER.findall(one) != NUMBER.findall(other):
        return False
    if 2 * len(wanted & bans) > len(bans) or 2 * len(banned & wants) > len(banned):
        return False
    adds = len(shared) >= 2 and len(shared) == min(len(words_of(one)), len(words_of(other)))
    return adds or len(shared) >= SAME * len(all_words)


def sightings(entries: Iterable[Entry]) -> Iterator[Sighting]:
    """What some entries show that might be seen again in another session."""
    for entry in entries:
        found: list[tuple[str, str, str]] = []
        with tolerating("reader of observations"):
            found = [*((RULE, text, "") for text in orders_in(typed_words(entry))), *_faults_in(entry)]
        for kind, text, key in found:
            yield Sighting(kind, flat(text), key, entry.session, entry.turn, entry.created_at, entry.id)


@lru_cache(maxsize=2_048)
def orders_in(text: str) -> tuple[str, ...]:
    """The sentences of typed words that set a rule, say one again, or correct something."""
    spoken = (each for _unit, each in sentences(text) if AGAIN.match(each) and is_spoken(each))
    again = (clipped(each, RULE_CHARS) for each in spoken)
    found = (each for each in (*rules_in(text), *again) if not each.endswith(("?", "？")))
    return tuple(dict.fromkeys(each for each in found if not FOR_NOW.search(each)))


def _faults_in(entry: Entry) -> Iterator[tuple[str, str, str]]:
    """The tests that fail, errors, codes of linters and edits that did not apply: kind, words and key."""
    kind = entry.source.kind
    if kind is SourceKind.NOTICE and is_failed_edit(entry.content):
        for path in dict.fromkeys(UNMATCHED.findall(entry.content)):
            yield EDIT, path, path
    if kind not in (SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT):
        return
    for text in faults_of(entry) if kind is not SourceKind.LINT else ():
        name = PARAMETERS.sub("", text)
        if "::" in text and " " not in name:
            yield TEST, name, name
        elif ": " in text:
            yield ERROR, text, FIGURES.sub("#", text)
    reported = (match[match.lastgroup or 0] for match in LINTED.finditer(entry.content[:READ_CHARS]))
    for name in dict.fromkeys(reported):
        yield LINT, name, name
