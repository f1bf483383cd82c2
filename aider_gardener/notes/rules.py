"""Rules that the user set in typed words, and decisions: found, listed, replaced by later ones, capped.

Of rules only what was typed counts: fenced and pasted blocks, quoted lines, fetched pages and the output of
commands set none, whatever they say. What the user changes in the list by hand is among them, in the order in
which it was said. Decisions are sentences of typed words and replies that settle something, or rule it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from aider_gardener.archive.store.words import stem, stop_words
from aider_gardener.errors import tolerating
from aider_gardener.messages import ContentClass, Entry, SourceKind, content_key, remembered
from aider_gardener.reading.blocks import find_blocks
from aider_gardener.reading.excerpt import excerpt
from aider_gardener.reading.late import late
from aider_gardener.reading.output import clipped, squeeze
from aider_gardener.reading.sentences import Unit, content_words, units
from aider_gardener.reading.source import WEB_HEAD, is_for_the_user
from aider_gardener.reading.speech import (
    ANNOUNCES,
    ASKED_POLITELY,
    ASKS,
    BOUNDS,
    CHOICE,
    CORRECTS,
    FOR_NOW,
    LIFT_WORDS,
    LIFTS,
    NO_RULE,
    REVOKES,
    RULE_WORDS,
    RULES,
    TAKES_BACK,
    TURKISH_ENDINGS,
    decides,
    finds,
    masked,
)

MOST_RULES, MOST_DECISIONS = 24, 60
"""So many are kept, the newest."""
RULE_CHARS = 240
"""A longer sentence is cut at a word: a rule is said briefly."""
LONG_TYPED_CHARS, EDGE_CHARS = 6_000, 2_500
"""Of more typed words than that, which may be an unmarked paste, only the edges are read."""
REPEATS, CONTRADICTS = 0.6, 0.5
"""A later rule replaces one whose subject it repeats to this share, or turns round to more than that."""

QUOTED_LINE = late(r"^[ \t]{0,3}>.*$", re.M)
PAGE = late(rf"^{re.escape(WEB_HEAD)}\S+:\s*$", re.M)
NUMBER = late(r"\d+(?:[.,]\d+)*")
FIGURE, DIGITS = late(r"(?<![\w.])\d+(?:[.,:/]\d+)*"), late(r"\d+")
"""A figure as a rule gives one: a number, a time, a version."""
CLAUSES = late(r"[,;:–—，；：、]")
LEAD = late(r"^[\s>#*•–-]*(?:\d{1,3}[.)]\s+|\[[ xX]\]\s+)?")
NEGATIVE = late(
    r"\b(?:not|never|no|don'?t|avoid|stop|without|instead of|rather than|over|forbidden|off[- ]limits"
    r"|nicht|nie|niemals|keine?n?|statt|pas|jamais|plutôt que|au lieu|nunca|jamás|en lugar de|en vez de)\b"
    r"|不要|不得|禁止|请勿|而不是|ないで|ではなく",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rule:
    """A rule in the user's own words, with the turn and the entry in which it was set."""

    text: str
    turn: int
    entry_id: str
    seq: int


@dataclass(frozen=True)
class Decision(Rule):
    """What was settled, in the words that settled it. `is_users`: the user said so, not the model."""

    is_users: bool


class Amendment(NamedTuple):
    """A change of the rules by hand: `text` instead of the rule `old`. Without `old` one is added, without
    `text` one is dropped. `seq` is that of the last entry before it, `floor` that of the chat then."""

    old: str
    text: str
    turn: int
    seq: int
    floor: int


Change = Rule | Amendment | str
"""One step of what became of the rules: one is added, one is edited by hand, or a sentence takes some back,
allows what they ban or has another figure for one."""

OTHER_FIGURES = " (other figures: [{}])"
"""Behind a rule, where a later one has other figures for the same: its turn."""


@remembered(2_048, key=content_key)
def typed_words(entry: Entry) -> str:
    """What the user typed of an entry: its words, without blocks, quoted lines and fetched pages. It is
    asked at each prompt; of a very long one no more is read than of others."""
    if entry.source.kind is not SourceKind.TYPED or entry.role != "user" or is_for_the_user(entry.content):
        return ""
    content, segments = excerpt(entry.content), entry.segments
    if content is not entry.content:
        from aider_gardener.reading.segments import segment  # late: only of a very long one

        segments = segment(content, entry.source)
    page = PAGE.search(content)
    end = page.start() if page else len(content)
    blocks = find_blocks(content)
    parts = [
        content[part.start : min(part.end, end)]
        for part in segments
        if part.cls is ContentClass.PROMPT
        and part.start < end
        and not any(block.start <= part.start < block.end for block in blocks)
    ]
    return edges(QUOTED_LINE.sub("", "\n\n".join(parts)))


def spoken_words(entry: Entry) -> str:
    """The prose of a reply, without its code and edits."""
    prose = [s for s in entry.segments if s.cls is ContentClass.PROSE and s.kind != "wrapper"]
    return "\n\n".join(entry.content[s.start : s.end] for s in prose)


def edges(text: str) -> str:
    """The text, or both ends of one beyond LONG_TYPED_CHARS."""
    return text if len(text) <= LONG_TYPED_CHARS else f"{text[:EDGE_CHARS]}\n\n{text[-EDGE_CHARS:]}"


@lru_cache(maxsize=2_048)
def sentences(text: str) -> list[tuple[Unit, str]]:
    """The sentences of a text, each on one line without its bullet or number, and where they are."""
    found = ((unit, squeeze(LEAD.sub("", text[unit.start : unit.end], count=1))) for unit in units(text))
    return [(unit, sentence) for unit, sentence in found if sentence]


@lru_cache(maxsize=2_048)
def rules_in(text: str) -> tuple[str, ...]:
    """The sentences of typed words that set a rule, in order, each on one line."""
    found: list[str] = []
    announced = False
    units = sentences(edges(text))
    has_list = any(unit.kind == "item" for unit, _sentence in units)
    for unit, sentence in units:
        is_listed = unit.kind == "item" and len(sentence.split()) >= 2 and not sentence.endswith("?")
        if is_rule(sentence) or (announced and is_listed):
            found.append(clipped(sentence, RULE_CHARS))
        if unit.first and unit.kind != "item":
            announced = False
        announced = announced or (has_list and finds((ANNOUNCES,), sentence.lower()))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=2_048)
def decisions_in(text: str, *, is_users: bool = False) -> tuple[str, ...]:
    """The deciding sentences of a text, in order; of the user's words a bare choice too ("C.", "2 then")."""
    found: list[str] = []
    for unit, sentence in sentences(text):
        if unit.kind in ("heading", "code", "row"):
            continue
        picks = is_users and CHOICE.match(sentence) and not ASKS.search(sentence)
        if (picks or decides(sentence, is_users=is_users)) and is_spoken(sentence):
            found.append(clipped(sentence, RULE_CHARS))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=2_048)
def lifted_in(text: str) -> tuple[str, ...]:
    """The sentences that take a rule back, or have another figure for one."""
    texts = (sentence for _unit, sentence in sentences(edges(text)))
    lifts = (s for s in texts if finds((TAKES_BACK,), s.lower()) or _bounds(s))
    return tuple(sentence for sentence in lifts if not ASKS.search(sentence))


def _bounds(sentence: str) -> bool:
    """Whether a sentence gives a figure to keep to, or corrects one."""
    if not NUMBER.search(sentence):
        return False
    is_bound = CORRECTS.match(sentence) or BOUNDS.search(masked(sentence).lower())
    return is_bound is not None and is_spoken(sentence)


def is_rule(sentence: str) -> bool:
    """Whether a sentence sets a rule for what comes, rather than reports, asks or doubts."""
    plain = masked(sentence).lower()  # reason: as in `decides`
    if ASKED_POLITELY.search(plain):
        return is_spoken(sentence)
    if ASKS.search(plain):
        return False
    sets = finds(RULES, plain) or TURKISH_ENDINGS.search(plain)
    if not sets or any(none.search(plain) for none in (NO_RULE, FOR_NOW, REVOKES)):
        return False
    return is_spoken(sentence)


def is_spoken(sentence: str) -> bool:
    """Whether it is a sentence at all: a line of a tool's output that was typed along is none."""
    words = sentence.split()
    plain = sum(any(letter.isalpha() for letter in word) and "::" not in word for word in words)
    return 2 * plain > len(words) and "::test" not in sentence


def rules_of(entries: Iterable[Entry], amendments: Iterable[Amendment] = ()) -> list[Rule]:
    """The rules that hold after all entries, oldest first: repeated, turned round and lifted ones are
    gone, those dropped by hand too, and of more than MOST_RULES the oldest. Read from the end, so that a
    long chat takes no longer than a short one."""
    rules: list[Rule] = []
    later: list[Change] = []
    typed = (entry for entry in entries if entry.source.kind is SourceKind.TYPED)
    in_order: list[Entry | Amendment] = [*typed, *amendments]
    in_order.sort(key=lambda each: each.seq)
    for each in reversed(in_order):
        with tolerating("reader of rules"):
            for change in reversed(_changes(each)):
                rule = change if isinstance(change, Rule) else None
                for newer in reversed(later):
                    rule = rule and _after(newer, rule)
                rules += [rule] if rule else []
                later.append(change)
        if len(rules) >= MOST_RULES:
            break
    return rules[:MOST_RULES][::-1]


def _changes(each: Entry | Amendment) -> list[Change]:
    """What an entry, or a change by hand, does to the rules before it."""
    if isinstance(each, Amendment):
        return [each if each.old else Rule(each.text, each.turn, "", each.seq)]
    words = typed_words(each)
    rules = rules_in(words)
    lifts = [sentence for sentence in lifted_in(words) if sentence not in rules]
    return [*lifts, *(Rule(text, each.turn, each.id, each.seq) for text in rules)]


def _after(change: Change, rule: Rule) -> Rule | None:
    """What an older rule is after a change; None for one that does not hold any more."""
    if isinstance(change, Amendment):
        edited = replace(rule, text=change.text, turn=change.turn) if rule.text == change.old else rule
        return edited if edited.text else None
    if isinstance(change, Rule):
        if replaces(change.text, rule.text):
            return None
        newer = _has_other_figures(change.text, rule.text)
        return replace(rule, text=rule.text + OTHER_FIGURES.format(change.turn)) if newer else rule
    if not _means(change, rule.text):
        return rule
    if _taking_back(change.lower())[0]:
        return None
    return replace(rule, text=f"{rule.text} {clipped(change, RULE_CHARS)}")


def line(rule: Rule) -> str:
    """How a rule or decision is shown in a list."""
    return f"[{rule.turn}] {rule.text}"


def decided(entries: Sequence[Entry]) -> list[Decision]:
    """What was decided, oldest first; of what the user settled anew only the last word, of more than
    MOST_DECISIONS the newest. Read from the end, so that a long chat takes no longer than a short one."""
    found: list[Decision] = []
    last_words: list[str] = []
    for entry in reversed(entries):
        for one in reversed(_decisions_of(entry)):
            if not any(replaces(newer, one.text) for newer in last_words):
                found.append(one)
            if one.is_users:
                last_words.append(one.text)
        if len(found) >= MOST_DECISIONS:
            break
    return found[:MOST_DECISIONS][::-1]


def _decisions_of(entry: Entry) -> list[Decision]:
    is_users = entry.source.kind is SourceKind.TYPED
    found: tuple[str, ...] = ()
    if is_users or entry.source.kind is SourceKind.REPLY:
        with tolerating("reader of decisions"):
            words = typed_words(entry) if is_users else spoken_words(entry)
            found = decisions_in(words, is_users=is_users)
    return [Decision(text, entry.turn, entry.id, entry.seq, is_users) for text in found]


@lru_cache(maxsize=8_192)
def _subject(sentence: str) -> frozenset[str]:
    """The stems of the words that say what a rule is about; numbers are its value, not its subject."""
    words = (word.strip("`'\"").lower() for word in content_words(sentence))
    return frozenset(
        without_ending(word) for word in words if word not in RULE_WORDS and not word[:1].isdigit()
    )


def without_ending(word: str) -> str:
    for ending in ("ings", "ing", "ies", "es", "ed", "s"):
        if word.isascii() and word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=8_192)
def _sides(sentence: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a rule asks for and what it bans: the words before and behind the first "not"."""
    wanted, *banned = NEGATIVE.split(sentence, maxsplit=1)
    return _subject(wanted), _subject("".join(banned))


def _share(named: frozenset[str], about: frozenset[str]) -> float:
    """The share, 0 to 1, of what is named among what something is about."""
    return len(named & about) / len(about) if about else 0.0


def replaces(newer: str, older: str) -> bool:
    """Whether a rule says anew what an older one said, or its contrary."""
    new, old = _subject(newer), _subject(older)
    is_repeated = bool(new and old) and len(new & old) / len(new | old) >= REPEATS
    return is_repeated or _is_contrary(newer, older)


def repeats(newer: str, older: str) -> bool:
    """Whether two rules say the same, or one only adds to the other: no contrary, no other figure."""
    new, old = _subject(newer), _subject(older)
    shared = len(new & old)
    if not shared or NUMBER.findall(newer) != NUMBER.findall(older) or _is_contrary(newer, older):
        return False
    return shared / len(new | old) >= REPEATS or (shared >= 2 and shared == min(len(new), len(old)))


def _is_contrary(newer: str, older: str) -> bool:
    """Whether a rule asks for what an older one banned, or bans what it asked for."""
    (wanted, banned), (was_wanted, was_banned) = _sides(newer), _sides(older)
    return max(_share(wanted, was_banned), _share(banned, was_wanted)) > CONTRADICTS


def _means(sentence: str, rule: str) -> bool:
    """Whether a sentence that takes a rule back, allows something or has another figure means this rule: half
    of what the rule is about is named, or half of what is named is the rule's (more than half where something
    is only allowed)."""
    sentence = sentence.lower()
    revokes, allowing = _taking_back(sentence)
    if not (revokes or allowing):
        return _has_other_figures(sentence, rule)
    named, about = _both_subjects(allowing or sentence, rule)
    share = max(_share(named, about), _share(about, named))
    return share >= CONTRADICTS if revokes else share > CONTRADICTS


@lru_cache(maxsize=2_048)
def _taking_back(sentence: str) -> tuple[bool, str]:
    """Whether a lower-case sentence takes a rule back, and else what of it allows something; "" for nothing.
    It is asked once for each older rule."""
    if REVOKES.search(sentence):
        return True, ""
    allowing = " ".join(clause for clause in CLAUSES.split(sentence) if LIFTS.search(clause))
    return False, allowing or (sentence if LIFTS.search(sentence) else "")


def _both_subjects(sentence: str, rule: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a sentence names and what a rule is about, stemmed, without the words that say how."""
    named, about = _subject(sentence.lower()), _subject(rule)
    idle = LIFT_WORDS | stop_words(named | about)
    return frozenset(map(stem, named - idle)), frozenset(map(stem, about - idle))


def _has_other_figures(sentence: str, rule: str) -> bool:
    """Whether a sentence names half of what a rule is about and has another figure, of a form (a time, a
    version, a plain number) of which the rule has one."""
    figures, rule_figures = FIGURE.findall(sentence), FIGURE.findall(rule)
    rule_forms = {DIGITS.sub("0", figure) for figure in rule_figures}
    if not any(DIGITS.sub("0", figure) in rule_forms for figure in figures if figure not in rule_figures):
        return False
    return _share(*_both_subjects(sentence, rule)) >= CONTRADICTS
