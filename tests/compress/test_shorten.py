"""`aider_gardener.shorten`: one text made short, by one stable name."""

from __future__ import annotations

import subprocess
import sys

import pytest
from made_entries import words

import aider_gardener
from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass

LOG = "".join(f"2024-05-01 10:{i // 60:02}:{i % 60:02} INFO worker job={i} done\n" for i in range(300))


def test_a_long_text_gets_short_and_says_what_it_was() -> None:
    made = aider_gardener.shorten(LOG, command="make", count=words)
    assert made.cls is ContentClass.LOG and made.engine
    assert made.tokens_before == words(LOG) and made.tokens_after == words(made.text) < 100


@pytest.mark.parametrize("text", [";" * 20_000, "\n".join(["☐ ☐ ☑ ☐"] * 900)], ids=["line", "lines"])
def test_what_holds_no_word_gets_short_too(text: str) -> None:
    found = aider_gardener.shorten(text, command="draw")
    assert found.tokens_after < 700 < found.tokens_before


@pytest.mark.parametrize("focus", ["JOB=137 other", ["job=137"]])
def test_what_is_asked_for_stays(focus: str | list[str]) -> None:
    assert "job=137" in aider_gardener.shorten(LOG, focus=focus, count=words).text
    assert "job=137 " not in aider_gardener.shorten(LOG, count=words).text


def test_a_short_word_that_is_asked_for_counts_where_it_stands_alone() -> None:
    log = "".join(f"worker {n} has taken job {n // 7} of queue x{n}\n" for n in range(500, 1_000))
    assert "worker 777 " not in aider_gardener.shorten(log, count=words).text
    shown = aider_gardener.shorten(log, focus="777", count=words).text
    assert "worker 777 " in shown
    assert "worker 555 " in aider_gardener.shorten(log, focus="x 555", count=words).text


def test_all_public_names_are_listed_before_they_are_used() -> None:
    code = "import aider_gardener as a; assert set(a.__all__) <= set(dir(a)), dir(a)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match="takes text, not bytes; decode it first"):
        aider_gardener.shorten(LOG.encode())  # type: ignore[arg-type]
    for wrong in (
        {"command": ["make", "-j8"]},
        {"command": b"make"},
        {"focus": b"job"},
        {"focus": [137]},
        {"focus": 5},
    ):
        with pytest.raises(UsageError, match="takes command= as one line of text, and focus= as words"):
            aider_gardener.shorten(LOG, count=words, **wrong)  # type: ignore[arg-type]


def test_what_is_no_counter_and_what_are_no_settings_is_refused() -> None:
    with pytest.raises(UsageError, match="takes count= as a function"):
        aider_gardener.shorten(LOG, count=5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="takes a Settings"):
        aider_gardener.install("mode=off")  # type: ignore[arg-type]
