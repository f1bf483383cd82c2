"""Carry-over: of the past facts that replies use again, how many stood in the prompt that made them.

A fact is an identifier (with an underscore, an inner capital or letters and digits mixed), a path or a
number of three or more significant digits; a line of 20 or more characters is counted apart. One
counts for a reply when it was last said three or more turns before in the same chat, stands neither in
the current turn nor in the prompt's system, example, file, map and reminder parts, and the reply has
it. Nobody writes these questions, so it works on any session; a recorded reply can only use what its
own prompt held, so a session recorded with a short history shows few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from aider_gardener.replay.measure.probes import texts_of_turn
from aider_gardener.replay.measure.result import MAIN, Carried, ModelCall
from aider_gardener.replay.session.session import RESTART, Session

AGE_TURNS = 3
"""How many turns ago a fact must have been said last."""

LINE_CHARS = 20

GIVEN_PARTS = frozenset({"system", "examples", "readonly", "repo", "files", "reminder"})
"""Parts of a prompt that the host sends anew each time: what stands there needs no memory. Where files stand
as older texts and diffs, neither does what they make; what only the older texts have is a memory."""

DIFF_PARTS = frozenset({"bases", "diffs"})
DIFF = re.compile(r"(?<=^```diff\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
DIFF_MARK = re.compile(r"^[ +-]", re.MULTILINE)
"""What stands before a line of a file in a diff."""

WORD = re.compile(r"\d+(?:[.,]\d+)+(?!\w)|\w+(?:(?:://|[./\\-]+)\w+)*")
SLASHES, DOTS, MARKS = re.compile(r"[/\\]+"), re.compile(r"[./\\:]+"), re.compile(r"\W+")
NUMBER = re.compile(r"\d[\d.,:_-]*")
LOWER, UPPER = re.compile("[a-z]"), re.compile("[A-Z]")
EXTENSION = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,5}$")


Facts = frozenset[tuple[bool, str]]
"""The facts and the lines of one text, each with whether it is a line."""


def is_fact(word: str) -> bool:
    """Whether a word is specific enough that using it again means remembering it."""
    if NUMBER.fullmatch(word):
        digits = re.sub(r"\D", "", word).strip("0")
        return len(digits) >= 3 or ("." in word and len(digits) >= 2)
    if len(word) < 4:
        return False
    if "/" in word or "\\" in word or EXTENSION.search(word):
        return any(letter.isalpha() for letter in word)
    if "_" in word.strip("_"):
        return True
    has_digit = any(letter.isdigit() for letter in word)
    return has_inner_capital(word) or (has_digit and any(letter.isalpha() for letter in word))


def has_inner_capital(word: str) -> bool:
    """Whether a piece of a word has a capital behind a small letter, in one look: a word may be a blob."""
    found = ((piece, LOWER.search(piece)) for piece in MARKS.split(word))
    return any(small and UPPER.search(piece, small.end()) for piece, small in found)


def facts_in(text: str) -> Facts:
    """The facts of a text; a dotted name or path gives its pieces too."""
    found: set[str] = set()
    for word in set(WORD.findall(text)):
        pieces = {word}
        if not NUMBER.fullmatch(word):
            pieces.update(SLASHES.split(word), DOTS.split(word))
        found.update(piece for piece in pieces if is_fact(piece))
    lines = {line.strip() for line in text.splitlines() if len(line.strip()) >= LINE_CHARS}
    telling = {line for line in lines if sum(letter.isalnum() for letter in line) >= LINE_CHARS // 2}
    return frozenset((is_line, one) for is_line, ones in ((False, found), (True, telling)) for one in ones)


def carried(session: Session, all_calls: Sequence[ModelCall], texts: Mapping[str, str]) -> Iterator[Carried]:
    """Each old fact that a reply of a session used again, in the order of the replies. `all_calls` are a
    replay's calls, `texts` what their hashes stand for."""
    facts_of = lru_cache(maxsize=None)(facts_in)
    last_turn: dict[str, int] = {}
    for turn in range(1, session.turn_count + 1):
        turn_facts = [facts_of(text) for text in texts_of_turn(session, turn)]
        replies = [event.text for event in session.of_kind("reply", turn)]
        current = [facts_of(text) for text in texts_of_turn(session, turn) if text not in replies]
        calls = [call for call in all_calls if call.kind == MAIN and call.turn == turn]
        for call, reply in zip(calls, replies, strict=False):
            given, past = [*current, facts_of(texts.get(call.files_sha, ""))], list[Facts]()
            for sha, _, part in call.prompt:
                text = texts.get(sha, "")
                if part in DIFF_PARTS:  # its lines as they stand in their files
                    text = DIFF.sub(lambda found: DIFF_MARK.sub("", found[0]), text)
                (given if part in GIVEN_PARTS else past).append(facts_of(text))
            old = {one for one in facts_of(reply) if last_turn.get(one[1], turn) <= turn - AGE_TURNS}
            for one in sorted(old.difference(*given)):
                is_line, text = one
                yield Carried(text, is_line, last_turn[text], turn, any(one in found for found in past))
            current.append(facts_of(reply))
        for facts in turn_facts:
            last_turn.update((text, turn) for _, text in facts)
        if session.of_kind(RESTART, turn):
            last_turn.clear()
