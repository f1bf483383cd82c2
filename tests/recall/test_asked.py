"""What is typed behind /recall: options that say what may answer, and the question."""

from __future__ import annotations

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass
from aider_gardener.recall.asked import moment, typed
from aider_gardener.recall.request import Request


def whole(given: str) -> str:
    return given + "-whole"


def test_options_come_before_the_question() -> None:
    found = typed(
        "--class log --class CODE --since 2d --session ab --passages 3 --full why --now", whole, now=1e6
    )
    assert found == Request(
        "why --now",
        full=True,
        classes=frozenset({ContentClass.LOG, ContentClass.CODE}),
        since=1e6 - 2 * 86_400,
        session="ab-whole",
        passages=3,
    )


@pytest.mark.parametrize(
    "query", ["class names", "what was --since for?", "-x when did we use it", "it's \"open"]
)
def test_a_question_is_taken_as_it_is(query: str) -> None:
    assert typed(query, whole) == Request(query)
    assert typed(f"--full -- --{query}", whole) == Request(f"--{query}", full=True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("--class logs x", "no class is called logs; there are prompt, error"),
        ("--since monday x", "monday is no time; write 3h"),
        ("--since 99999-01-01 x", "is no time"),
        ("--passages none x", "none is no number of passages"),
        ("--passages 0 x", "write 1 or more"),
        ("--since", "Usage: /recall "),
        ("--class log --full", "Usage: /recall "),
        ("--bogus x", "Usage: /recall "),
        ("--full --bogus x", "words that begin with -- stand behind a --"),
        (" ", "Usage: /recall "),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(args: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        typed(args, whole)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_time_is_an_age_or_a_date() -> None:
    assert moment("3h", now=50_000.0) == 50_000.0 - 3 * 3_600
    assert moment("2026-01-31T12:00:00+00:00") == 1_769_860_800.0
    assert moment("2026-02-01") - moment("2026-01-31") == 86_400.0
