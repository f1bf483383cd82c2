"""Texts made to be slow take time by their size, garbage raises nothing, and what raises all the same costs
only what it was making."""

from __future__ import annotations

import inspect
import logging
import os
import random

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import Compressed, ContentClass, Source, SourceKind
from aider_gardener.notes import names, rules
from aider_gardener.reading.output import FEW_CHARACTERS, STRETCH_CHARS, legible
from bench.attacks import garbage, linear

SIZE, HANGS_SECONDS = 50_000, 10.0
"""Each takes a fraction of a second now and took minutes when it was quadratic; the slope of time to size
is the bench's to tell."""

SLOW_BEFORE = (
    ("compress_text prompt", "."),
    ("compress_text prose", "?!"),
    ("compress_text error", "+\n"),
    ("compress_text error", "--- \n"),
    ("compress_text error", "a."),
    ("compress_text listing", "1"),
    ("compress_text listing", "─┬-"),
    ("compress_text code python", "|-"),
    ("compress_text code rust", "a,b\n"),
    ("compress_text code bash", "()"),
    ("compress_text log", "● a\n"),
    ("compress_text log", "_ a"),
    ("compress_text structured", "{/*"),
    ("message reply", "```\n|-|-|\n"),
    ("message typed", "[a"),
    ("message command", "E\n"),
    ("reading.classify.classify", "---\n-a:\n"),
    ("entry", "1"),
    ("archive.store.redact.redact", "token"),
    ("archive.store.redact.redact", "sk-"),
    ("archive.store.redact.redact", "eyJ-"),
    ("archive.store.redact.redact", "password "),
    ("archive.store.redact.redact", "PuTTY-User-Key-File-2\n"),
    ("archive.store.redact.redact", "-----BEGIN PRIVATE KEY-----"),
)


def error(*_: object, **__: object) -> Compressed:
    raise RecursionError("a fault that quotes the text")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="tried in processes that are forked")
@pytest.mark.parametrize(("call", "unit"), SLOW_BEFORE)
def test_repeated_units_hang_nothing(call: str, unit: str) -> None:
    taken = linear.seconds(linear.calls()[call], (unit * SIZE)[:SIZE], HANGS_SECONDS)
    assert isinstance(taken, float), taken


def test_no_function_that_takes_a_text_is_missing_from_the_bench() -> None:
    found = linear.public_functions()
    assert sorted(set(linear.ELSEWHERE) - set(found)) == [], "these are gone"
    lacking = {
        name: sorted(
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.default is one.empty and one.name not in linear.PARAMETERS
        )
        for name, function in found.items()
        if name not in linear.ELSEWHERE
    }
    assert {name: missing for name, missing in lacking.items() if missing} == {}
    assert len(found) > 60


def test_the_middle_of_a_dull_stretch_is_not_read() -> None:
    told = "src/app.py:12: warning: the quick brown fox jumps over it; "
    assert legible(told * 40) == told * 40
    assert legible("." * 3 * STRETCH_CHARS) == "." * 3 * STRETCH_CHARS
    assert len(legible(f"{told}{'ab' * 5_000}{told}")) < 4 * STRETCH_CHARS + 2 * len(told)
    assert legible(f"{told}{'=' * 5_000}{told}").endswith(told)
    many = "".join(map(chr, range(0x100, 0x100 + FEW_CHARACTERS)))
    assert legible(many * 100) == many * 100


@pytest.mark.parametrize(
    "text", ["```\n" * 400, "\x1b[0m\n" * 900, " \n" * 900, "```python\n```\n" * 300, "\r\n" * 900]
)
def test_an_output_of_nothing_stays_whole(text: str) -> None:
    made = compress_text(text, ContentClass.LISTING, Context())
    assert made.text == text and made.lossless


def test_a_long_output_is_never_counted_whole() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4

    output = "".join(f"src/app{i}.py:12: warning: unused variable x{i}\n" for i in range(9_000))
    assert compress_text(output, ContentClass.LOG, Context(count=count)).text != output
    assert max(counted) < 0.1 * len(output)


def test_garbage_raises_nothing() -> None:
    raised, shortest = garbage.attack(400, garbage.texts_in([garbage.RECORDED]), random.randrange(10**6))
    assert raised == {}, shortest


def test_a_compressor_that_raises_leaves_its_text_whole(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("aider_gardener.compress.shapes.compress", error)
    with caplog.at_level(logging.WARNING):
        made = compress_text("a  b  c\n" * 500, ContentClass.LISTING, Context())
    assert (made.text, made.lossless, made.failed) == ("a  b  c\n" * 500, True, "RecursionError")
    assert "RecursionError" in caplog.text and "quotes" not in caplog.text


def test_notes_leave_out_what_they_cannot_read(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = linear.entry_of("Never touch the tests. We decided to use apsw.", Source(SourceKind.TYPED))
    assert rules.rules_of([entry]) and rules.decided([entry])
    monkeypatch.setattr(rules, "rules_in", error)
    monkeypatch.setattr(rules, "decisions_in", error)
    monkeypatch.setattr(names, "scanned", error)
    assert rules.rules_of([entry]) == [] and rules.decided([entry]) == []
    assert inspect.unwrap(names.mine)(entry) == {}
