"""What is typed behind /recall: options that say what may answer, and the question."""

from __future__ import annotations

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass
from aider_gardener.recall.request import Request, typed


def whole(given: str) -> str:
    return given + "-whole"


def test_options_come_before_the_question() -> None:
    found = typed("--class log --class CODE --session ab --passages 3 --full why --now", whole)
    assert found == Request(
        "why --now",
        full=True,
        classes=frozenset({ContentClass.LOG, ContentClass.CODE}),
        session="ab-whole",
        passages=3,
    )


@pytest.mark.parametrize(
    "query", ["class names", "what was --session for?", "-x when did we use it", "it's \"open"]
)
def test_a_question_is_taken_as_it_is(query: str) -> None:
    assert typed(query, whole) == Request(query)
    assert typed(f"--full -- --{query}", whole) == Request(f"--{query}", full=True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("--class logs x", "no class is called logs; there are prompt, error"),
        ("--passages none x", "none is no number of passages"),
        ("--passages 0 x", "write 1 or more"),
        ("--session", "Usage: /recall "),
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
