"""What people are told: numbers with units, no names of fields; what became of messages in a plan."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest
from made_chats import long_talk
from made_entries import make_gardener

from aider_gardener.messages import Level, Plan, Swap
from aider_gardener.phrases import (
    applied_text,
    archive_text,
    bill,
    changes,
    limit_passed,
    outlook_text,
    recalled,
    short,
    size,
    status_text,
    when,
)
from aider_gardener.plan.goals import BY_PRICE, BY_WINDOW, HOSTS, YOURS, Frame, Limit, marks
from aider_gardener.plan.usage import Market

SUMS: dict[str, Any] = {
    "sessions": 2,
    "turns": 40,
    "calls": 44,
    "prompt_tokens": 390_000,
    "saved_tokens": 610_000,
    "cost": 0.32,
    "saved_cost": 0.5,
    "compactions": 3,
    "seconds": 1.25,
}


def test_the_bill_says_what_was_saved_in_money_and_share() -> None:
    assert bill(SUMS) == "Sent 390.0k tokens in 44 calls for $0.32; saved $0.50, 610.0k tokens, 61%."
    assert " for <$0.01; " in bill({**SUMS, "cost": 0.001})
    one = {**SUMS, "calls": 1, "cost": 0.0, "saved_cost": 0.0}
    assert bill(one) == "Sent 390.0k tokens in 1 call; saved 610.0k tokens, 61%."
    assert " for $0.32 (of 3 chats no cost is known); saved" in bill({**SUMS, "unpriced": 3})


def test_the_bill_tells_plainly_where_nothing_was_saved_or_more_was_sent() -> None:
    assert bill({**SUMS, "saved_tokens": 0}) == "Sent 390.0k tokens in 44 calls for $0.32."
    more = bill({**SUMS, "saved_tokens": -10_000, "saved_cost": -0.01})
    assert more.endswith("with the whole history it had been less by $0.01, 10.0k tokens, 3%.")
    assert bill({**SUMS, "prompt_tokens": 5, "saved_tokens": -5}).endswith("less by $0.50, 5 tokens.")


@pytest.mark.parametrize(
    ("set_by", "is_said"), [(HOSTS, True), (BY_PRICE, True), (YOURS, False), (BY_WINDOW, False)]
)
def test_a_setting_is_named_where_it_gives_the_history_more(set_by: str, is_said: bool) -> None:
    assert ("--gardener-history-tokens sets another" in limit_passed(set_by, 6_840)) == is_said


def test_what_the_window_leaves_is_said_as_a_number_of_tokens() -> None:
    assert limit_passed(BY_WINDOW, 1) == "what the window leaves, 1 token"
    assert limit_passed(HOSTS, 1_024).startswith("aider's limit of 1,024 tokens")


def test_the_status_of_a_chat_names_no_field() -> None:
    gardener = make_gardener(history_tokens=2_000)
    fresh = status_text(gardener.status())
    assert "Nothing was sent yet." in fresh and "No rule of yours was found." in fresh
    for number, words in ((1, "1 rule of yours holds ("), (2, "2 rules of yours hold (")):
        assert words in status_text({**gardener.status(), "constraints": number})
    gardener.sync(long_talk(10), [])
    gardener.compact_if_due()
    text = status_text(gardener.status())
    assert text.startswith("The gardener is on. Room is made when the history passes 2,000 tokens;")
    assert "room was made once." in text and "20 messages" in text
    assert not re.search(r"[a-z]_[a-z]", text)
    gardener.state.on = False
    assert status_text(gardener.status()).startswith("The gardener is off; it goes on archiving.")


def test_an_archive_with_and_without_chats_that_ended() -> None:
    held = {
        "archive": "a.db", "sessions": 1, "entries": 1, "original_tokens": 1_000, "compressed_tokens": 230,
        "compression_ratio": 0.23, "redacted_secrets": 0, "pinned": 0, "bytes": 1_200_000,
    }  # fmt: skip
    assert archive_text(held).splitlines() == [
        "Archive a.db: 1 chat, 1 different message, 1.2 MB.",
        "What was said has 1.0k tokens, its shortened forms 230 (23%).",
    ]
    last = {
        "level": "OK", "tokens": 43_000, "window": 100_000, "utilization": 0.43, "bar": "██░░",
        "trend_tokens_a_turn": 1_200, "turns_left": 47, "turns_seen": 50,
    }  # fmt: skip
    more = {"sessions": 2, "pinned": 2, "redacted_secrets": 1, "last_chat": last, "all_chats": SUMS}
    text = archive_text({**held, **more})
    assert "2 pinned, 1 secret taken out." in text
    assert (
        "Last chat: 43,000 of 100,000 tokens, 43% ██░░ OK; it grew by 1.2k tokens a turn, full in 47" in text
    )
    assert "All chats: 2 chats, 40 turns; room was made 3 times. Sent 390.0k" in text
    assert "Those with figures: 2 chats, 40 turns" in archive_text({**held, **more, "sessions": 9})
    unknown = outlook_text({**last, "window": 0, "trend_tokens_a_turn": -3, "turns_left": None})
    assert unknown == "Last chat: 43,000 tokens; it shrank by 3 tokens a turn."


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1 byte"), (999, "999 bytes"), (12_300, "12 KB"), (3_456_789, "3.5 MB")]
)
def test_sizes(number: int, words: str) -> None:
    assert size(number) == words


def plan(*after: Level, saved: int = 4_100) -> Plan:
    swaps = tuple(Swap(f"g{n}", Level.FULL, level, 10, "") for n, level in enumerate(after))
    return Plan(swaps, "asked for", 9_000, 9_000 - saved)


@pytest.mark.parametrize(
    ("after", "told", "would"),
    [
        (
            [Level.LINE, Level.COMPRESSED, Level.LINE],
            "3 old messages now stand as notes",
            "3 old messages would stand as notes",
        ),
        ([Level.LINE], "1 old message now stands as a note", "1 old message would stand as a note"),
        ([Level.HIDDEN], "1 old message is left out", "1 old message would be left out"),
        (
            [Level.HIDDEN, Level.LINE, Level.HIDDEN],
            "1 old message now stands as a note, 2 are left out",
            "1 old message would stand as a note, 2 would be left out",
        ),
    ],
)
def test_what_became_of_the_messages(after: list[Level], told: str, would: str) -> None:
    assert changes(plan(*after)) == told
    assert changes(plan(*after), would=True) == would


def test_a_plan_that_a_cold_cache_made_worth_it_says_so() -> None:
    market, frame = Market(0.1, 1.0), Frame(window=128_000)
    goal = marks(frame, Limit(8_000, 0.4, growth=800), market, compacted=False, cold=True)
    told = applied_text(Plan((), goal.reason, 12_000, 4_000), has_undo=False)
    assert told.startswith("made room while the prompt cache is cold: ")
    assert applied_text(Plan((), "", 12_000, 4_000), "your limit of 9,000 tokens").startswith(
        "made room above your limit of 9,000 tokens: "
    )


def test_tokens_in_a_few_characters() -> None:
    assert [short(n) for n in (0, 940, 999, 1_000, 86_700, 999_949, 999_950, -2_500)] == [
        "0", "940", "999", "1.0k", "86.7k", "999.9k", "1.0M", "-2.5k"
    ]  # fmt: skip


def test_of_many_turns_the_span_is_told() -> None:
    assert recalled([4, 9, 4], 1) == "recalled 4 passages: turns 4 and 9, 1 of another chat"
    assert recalled(range(3, 31), 0) == "recalled 28 passages: 28 turns, 3 to 30"


def test_a_time_is_told_to_the_minute() -> None:
    now = datetime.now()
    assert when(now.timestamp()) == f"{now:%Y-%m-%d %H:%M}" and when(0) == ""
    assert "31690" in when(1e15), "a clock that gives something else than seconds hides no list"
