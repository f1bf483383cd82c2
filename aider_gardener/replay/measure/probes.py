"""Probes: questions about what was said, asked without leaving a trace, and how they are scored.

present: every answer key stands in the messages that would be sent, the question left out.
supported: besides, around some occurrence of each key (40 words either side) stand at least 40 % of
the content words that stood within 14 words of the key where it was said, all its occurrences there
taken together. Where it was said are the texts of turn `about_turn`; a key that doesn't stand there
has no surroundings to be missed.

A word is a run of letters and digits. Content words have at least three characters and aren't among
the commonest English words; they are compared in lower case, each counted once. Texts are joined by
line ends, so surroundings may reach into the message before or after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aider_gardener.replay.measure.result import ProbeResult
from aider_gardener.replay.session.session import Probe, Session

NEAR_WORDS = 14
"""How far from a key, where it was said, words count as its surroundings."""

AROUND_WORDS = 40
"""How far from a key, where it is looked for, those words may stand."""

SUPPORT_SHARE = 0.4
"""The share of the surroundings that must be found again."""

LONGEST_WORDS = 100
"""Characters per word that are looked at around a key, at most: bounds the work on odd texts."""

SHORT_KEY = 4
"""Keys shorter than this must stand as words of their own; longer ones may be inflected."""

WORD = re.compile(r"[^\W_]+")

STOP_WORDS = frozenset(
    WORD.findall(
        "the and for that this with are was not but you have has had from they will what when which "
        "can its our out all one any there their then than them been were would could should into also "
        "only how who why did does done don just like more most some such very too here where your yours "
        "his her him she because about over under after before again once each own same both few off "
        "between through during until while against doesn isn aren won let get got use used using"
    )
)


def around(text: str, start: int, end: int, words: int) -> set[str]:
    """The content words at most `words` words before `start` or after `end`, in characters."""
    reach = words * LONGEST_WORDS
    before = WORD.findall(text[max(0, start - reach) : start])[-words:]
    after = WORD.findall(text[end : end + reach])[:words]
    return {word.lower() for word in (*before, *after) if len(word) >= 3} - STOP_WORDS


def key_pattern(key: str) -> re.Pattern[str]:
    """Matches a key in any case, its spaces as any white space.

    A key that begins or ends in a digit doesn't match within a longer number, a short one not within
    a longer word.
    """
    key = key.strip()
    body = r"\s+".join(re.escape(piece) for piece in key.split())
    edge = r"[^\W_]" if len(key) < SHORT_KEY else r"\d"
    before = rf"(?<!{edge})" if re.match(edge, key) else ""
    after = rf"(?!{edge})" if re.search(edge + "$", key) else ""
    return re.compile(before + body + after, re.IGNORECASE)


def texts_of_turn(session: Session, turn: int) -> list[str]:
    """The texts of a turn that enter the chat: what was typed, answered, run and reflected."""
    texts = []
    for event in session.turn(turn):
        if event.kind == "command":
            texts.append(f"{event.command}\n\n{event.output}")
        elif event.kind in ("user", "reply", "commit", "warning", "error"):
            texts.append(event.text)
    return texts


def score(probe: Probe, turn_texts: Sequence[str], sent: Iterable[str], number: int = 0) -> ProbeResult:
    """How a probe is met: `turn_texts` are the texts of its turn, `sent` the contents that would be sent."""
    turn_text, sent_text = "\n".join(turn_texts), "\n".join(sent)
    missing, unsupported = [], []
    for key in probe.answer_keys:
        spans = [match.span() for match in key_pattern(key).finditer(sent_text)]
        wanted = surroundings(probe.near or (key,), turn_text) if spans else set()
        enough = SUPPORT_SHARE * len(wanted)
        if not spans:
            missing.append(key)
        elif not any(len(wanted & around(sent_text, *span, AROUND_WORDS)) >= enough for span in spans):
            unsupported.append(key)
    return ProbeResult(
        number,
        probe.about_turn,
        probe.ask_at_turn,
        probe.kind,
        probe.question,
        present=not missing,
        supported=not (missing or unsupported),
        missing=tuple(missing),
        unsupported=tuple(unsupported),
    )


def surroundings(keys: Iterable[str], text: str) -> set[str]:
    """The content words near some keys in the text where they were said."""
    spans = (match.span() for key in keys for match in key_pattern(key).finditer(text))
    return set[str]().union(*(around(text, *span, NEAR_WORDS) for span in spans))
