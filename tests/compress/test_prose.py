"""Prose is shortened by leaving sentences out, never by rewording; what decides stays."""

from __future__ import annotations

import re

from aider_gardener.compress.base import Context
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.sentences import units, worth

FILL = "It is nice to see how things come along when people work together on them every day of the week."
FACTS = [
    "We decided against Redis because the image has no network at build time.",
    "The retention is 36 hours, not 24, since the mobile queue gives up after 30 hours.",
    "Never log request bodies: see LGR-311.",
    "The handler `release_lease()` in src/worker.py must run before `ack`.",
    "Details are at https://example.org/runbook#lease.",
]
TEXT = "\n\n".join(f"{FILL} {fact} {FILL} {FILL}" for fact in FACTS)


def compress(
    text: str, cls: ContentClass = ContentClass.PROSE, words: frozenset[str] = frozenset()
) -> Compressed:
    return compress_text(text, cls, Context(focus=Focus(words=words), entry_id="g123456789"))


def test_what_decides_stays_in_its_own_words() -> None:
    text = compress(TEXT).text
    assert len(text) <= 0.55 * len(TEXT)
    for fact in FACTS:
        assert fact in text
    assert text.endswith("sentences; whole: g123456789]")


def test_every_kept_sentence_is_verbatim_and_in_order() -> None:
    body = compress(TEXT).text.rsplit("\n", 1)[0]
    places = [
        TEXT.index(sentence.strip())
        for sentence in body.replace("\n\n", " ").split(". ")
        if sentence.strip() and sentence.strip() not in FILL
    ]
    assert places == sorted(places)


def test_focus_words_raise_a_sentence() -> None:
    text = " ".join(
        f"The {word} part of the plan is described in the chapter about it and its many uses."
        for word in "red green blue pink grey teal".split()
    )
    text += (
        " The zebra part of the plan is described in the chapter about it and its many uses." + f" {FILL}" * 6
    )
    assert "zebra" in compress(text, words=frozenset({"zebra"})).text


def test_headings_come_only_with_something_below_them() -> None:
    text = f"# Rules\n\n{FACTS[0]} {FACTS[1]}\n\n## Chatter\n\n" + f"{FILL}\n\n" * 9
    shown = compress(text).text
    assert "# Rules" in shown and ("## Chatter" in shown) == (FILL in shown)


def test_lists_and_tables_keep_their_lines() -> None:
    rows = "\n".join(f"| option {i} | {i * 7} ms |" for i in range(12))
    text = (
        f"Options:\n\n- keep 3.31.1, no RETURNING\n- drop it\n\n| name | cost |\n|---|---|\n{rows}\n\n"
        + f"{FILL}\n\n" * 6
    )
    shown = compress(text).text
    assert "- keep 3.31.1, no RETURNING" in shown
    assert "| name | cost |" in shown, "the head of a table stays while a row does"


def test_sentences_end_in_other_scripts_too() -> None:
    text = "我们决定保留三十六小时。原因是移动端队列。" * 20
    assert len(units(text)) == 40
    assert len(compress(text).text) < len(text)
    assert len(units("यह एक वाक्य है। यह दूसरा है।")) == 2


def test_pleasantries_are_worth_less_than_facts() -> None:
    assert worth("Sure, happy to help!") < worth(FILL) < worth(FACTS[1])


def test_typed_words_stay_whole_up_to_a_few_hundred_tokens() -> None:
    text = " ".join([*FACTS, FILL, FILL])
    assert compress(text, ContentClass.PROMPT).lossless
    long = "\n\n".join([TEXT] * 4)
    shown = compress(long, ContentClass.PROMPT).text
    assert len(shown) < 0.7 * len(long) and FACTS[1] in shown


def test_the_last_line_says_how_many_sentences_are_there() -> None:
    text = " ".join(f"{FILL} {fact} Part {n} is done." for n, fact in enumerate(FACTS * 3))
    *shown, marker = compress(text).text.strip().split("\n")
    there, whole = map(int, re.findall(r"\d+", marker.partition(";")[0]))
    assert (there, whole) == (len(units("\n".join(shown))), len(units(text)))
    assert 2 * there != whole


def test_of_sentences_that_state_as_much_what_decides_and_what_begins_a_paragraph_stays() -> None:
    said = [
        f"The {word} part is told in the chapter about it and its uses." for word in ("red", "blue", "pink")
    ]
    decided = "The plain way is off the table for this part of the chapter."
    paragraphs = [[f"Part {letter} begins here and is told below.", *said, *said] for letter in "abcd"]
    paragraphs[2].insert(4, decided)
    shown = compress("\n\n".join(map(" ".join, paragraphs))).text
    assert decided in shown
    assert all(f"Part {letter} begins" in shown for letter in "abcd")


def test_a_short_form_whose_first_sentence_went_begins_with_a_word() -> None:
    text = f"{FILL} {FILL} {' '.join(FACTS)} {FILL} {FILL}"
    assert compress(text).text.startswith(FACTS[0])


def test_pieces_of_a_sentence_that_is_too_long_for_one_are_told_apart() -> None:
    text = ", ".join(f"the queue {n} listens on {7 * n}" for n in range(2_000))
    short, _, marker = compress(text).text.rpartition("\n")
    parts = short.split("…")
    assert len(parts) > 3 and marker.startswith("[… ") and short.startswith("the queue 0 ")
    assert all(part.strip() in text for part in parts)
