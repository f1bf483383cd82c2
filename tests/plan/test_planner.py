"""What a plan gives up first, and what it spares."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_entries import chat_of, make_gardener, message, talk, words

from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import ContentClass, Entry, Focus, Level, Rendition, Source, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.planner import (
    TAIL_SHARE,
    Draft,
    Policy,
    broken_prefix,
    draft,
    piece_tokens,
)
from aider_gardener.plan.priority import priority
from aider_gardener.plan.view import Piece
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

LOW_TO_NOTHING = Goal(high=1, low=1)
FOUR_WORDS = Piece(message("user", "now of four words"), {0: Level.COMPRESSED})


def long_chat(lengths: list[int]) -> Gardener:
    """A chat with one exchange for each length, its reply that many words long."""
    gardener = make_gardener(history_tokens=1_000_000)
    for number, length in enumerate(lengths):
        gardener.enter_turn()
        said = talk((f"question {number}?", " ".join(["Answer", f"{number}.", *(["word"] * length)])))
        gardener.sync([*gardener.state.chat.done, *said], [])
        gardener.leave_turn()
    return gardener


def whole(gardener: Gardener) -> list[int]:
    """The exchanges, by number, of which both messages stand whole."""
    rows = range(len(gardener.state.chat.entries) // 2)
    return [n for n in rows if not {2 * n, 2 * n + 1} & set(gardener.state.chat.levels)]


def cost(gardener: Gardener, number: int) -> int:
    both = (gardener.state.chat.entries[seq] for seq in (2 * number, 2 * number + 1))
    return sum(one.tokens + MESSAGE_OVERHEAD_TOKENS for one in both)


def two_words(_entry: Entry) -> dict[Level, Rendition]:
    levels = (Level.COMPRESSED, Level.LINE)
    return {level: Rendition(level, f"short {level.value}", 2) for level in levels}


def plain(exchanges: int, length: int = 10) -> Chat:
    return chat_of(talk(*((f"question {n}", f"answer {n} {'word ' * length}") for n in range(exchanges))))


def printed(chat: Chat, *seqs: int) -> Chat:
    """The chat with some of its entries as outputs of commands."""
    for seq in seqs:
        chat = chat.with_entry(replace(chat.entries[seq], source=Source(SourceKind.COMMAND)))
    return chat


def drafted(chat: Chat, goal: Goal, policy: Policy | None = None) -> Draft:
    """The plan for a chat, which there must be."""
    policy = policy or Policy()
    made = draft(chat, goal, focus=Focus(), count=words, renditions=two_words, policy=policy)
    return made


def untouched(made: Draft) -> set[int]:
    return set(made.chat.entries) - set(made.chat.levels)


# The tail


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(5, 400), min_size=4, max_size=14), st.integers(100, 1_500))
def test_whatever_the_lengths_the_tail_is_whole_within_its_share_of_the_low_mark(
    lengths: list[int], low: int
) -> None:
    gardener = long_chat(lengths)
    compact_to(gardener.state, Goal(high=2 * low, low=low))
    left = int(TAIL_SHARE * low)
    expected = []
    for number in reversed(range(len(lengths))):
        left -= cost(gardener, number)
        if left < 0:
            break
        expected.append(number)
    assert set(expected) <= set(whole(gardener))


def test_the_last_exchange_stays_whole_however_low_the_mark_is() -> None:
    assert untouched(drafted(plain(4), LOW_TO_NOTHING)) == {6, 7}


def test_a_long_last_exchange_leaves_older_entries_their_share_of_the_low_mark_up_to_the_high_one() -> None:
    gardener = long_chat([40] * 8 + [500])
    last, other = cost(gardener, 8), cost(gardener, 0)
    plan = compact_to(gardener.state, Goal(high=last + 4 * other, low=300))
    assert plan is not None
    share = int((1 - TAIL_SHARE) * 300)
    assert last + share - other < plan.tokens_after <= last + share
    assert compact_to(gardener.state, Goal(high=last, low=300)) is not None
    assert whole(gardener) == [8]


def test_the_last_reply_stays_even_where_an_output_came_after_it() -> None:
    chat = printed(
        chat_of(talk(("older", "one " * 90), ("a question", "a real answer"), ("output", "Ok."))), 4
    )
    assert 3 in untouched(drafted(chat, LOW_TO_NOTHING))


def test_pinned_entries_stay_even_where_the_prompt_cannot_be_sent_and_the_last_exchange_does_not() -> None:
    chat = plain(3)
    chat = chat.with_entry(replace(chat.entries[1], pinned=True))
    assert untouched(drafted(chat, LOW_TO_NOTHING)) == {1, 4, 5}
    made = drafted(chat, Goal(high=1, low=1, hard=1))
    assert untouched(made) == {1}
    assert made.chat.levels[5] is Level.COMPRESSED


def test_the_last_exchange_goes_to_a_line_where_its_short_forms_cannot_be_sent() -> None:
    def renditions(_entry: Entry) -> dict[Level, Rendition]:
        rows = ((Level.COMPRESSED, 8), (Level.LINE, 1))
        return {level: Rendition(level, "short " * tokens, tokens) for level, tokens in rows}

    chat = printed(chat_of(talk(("a question", "an answer"), *[("output " * 90, "Ok.")] * 4)), 2, 4, 6, 8)
    hard = Goal(high=1, low=1, hard=40)
    made = draft(chat, hard, focus=Focus(), count=words, renditions=renditions)
    assert made is not None and made.plan.tokens_after <= 40


def test_an_entry_that_the_policy_keeps_stays_as_long_as_the_prompt_can_be_sent() -> None:
    named = Policy(named=frozenset({1}))
    assert 1 in untouched(drafted(plain(4), LOW_TO_NOTHING, named))
    assert 1 not in untouched(drafted(plain(4), Goal(high=1, low=1, hard=1), named))


# What goes first


def test_what_programs_printed_goes_to_its_short_form_before_anything_is_hidden() -> None:
    long = "and so on " * 100
    said = [(f"{long if n in (0, 2) else 'question'} {n}", f"answer {n}") for n in range(5)]
    made = drafted(printed(chat_of(talk(*said)), 0, 4), Goal(high=600, low=300))
    assert dict(made.chat.levels) == {0: Level.COMPRESSED, 4: Level.COMPRESSED}


def test_what_programs_printed_is_no_part_of_the_tail() -> None:
    said = [(f"{'and so on ' * 100 if n == 2 else 'question'} {n}", f"answer {n}") for n in range(4)]
    made = drafted(printed(chat_of(talk(*said)), 4), Goal(high=300, low=100))
    assert dict(made.chat.levels) == {4: Level.COMPRESSED}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(ContentClass), min_size=8, max_size=8), st.integers(100, 250))
def test_nothing_that_is_hidden_was_worth_more_than_what_stays_of_the_older_ones(
    classes: list[ContentClass], low: int
) -> None:
    chat = plain(8, length=40)
    for seq, cls in zip(range(1, 16, 2), classes, strict=True):
        chat = chat.with_entry(replace(chat.entries[seq], cls=cls))
    made = draft(chat, Goal(high=low, low=low), focus=Focus(), count=words, renditions=lambda _entry: {})
    assert made is not None
    an_exchange = sum(chat.entries[seq].tokens + MESSAGE_OVERHEAD_TOKENS for seq in (0, 1))
    older = range(16 - 2 * max(1, int(TAIL_SHARE * low) // an_exchange))
    worth = {seq: priority(chat.entries[seq], turn=chat.turn, focus=Focus()) for seq in older}
    hidden = [points for seq, points in worth.items() if seq in made.chat.levels]
    stays = [points for seq, points in worth.items() if seq not in made.chat.levels]
    assert max(hidden) <= min(stays, default=100.0)


def test_a_plan_tells_of_what_it_swaps_and_why() -> None:
    made = drafted(printed(plain(3), 0), LOW_TO_NOTHING)
    assert {(swap.before, swap.after) for swap in made.plan.swaps} == {(Level.FULL, Level.HIDDEN)}
    assert [swap.entry_id for swap in made.plan.swaps] == [made.chat.entries[seq].id for seq in range(4)]
    assert re.fullmatch(r"\w+, priority \d+, \d+ turns? ago", made.plan.swaps[0].reason)


# What waits, what breaks, what is worth it


def test_what_waits_for_an_answer_is_all_that_came_since_the_last_reply() -> None:
    output, said = message("user", "some output"), message("user", "what of it?")
    filler, real = message("assistant", "Ok."), message("assistant", "This.")
    waiting = [
        chat_of([], cur).open_exchange for cur in ([output, filler, said], [output, real, said], [said, real])
    ]
    assert waiting == [{0, 1, 2}, {2}, frozenset()]
    assert chat_of(talk(("a", "b")), [filler]).open_exchange == frozenset()


def test_what_waits_for_an_answer_is_not_shortened_even_where_the_prompt_cannot_be_sent() -> None:
    asked = message("user", f"what now? {'word ' * 50}")
    made = drafted(
        chat_of(talk(("a question", f"an answer {'word ' * 50}")), [asked]), replace(LOW_TO_NOTHING, hard=1)
    )
    assert made.chat.levels.keys() == {0, 1}


def test_what_a_change_makes_uncached_begins_where_it_begins() -> None:
    chat = plain(3)
    changed = replace(chat, done=[*chat.done[:2], FOUR_WORDS, *chat.done[3:]])
    assert broken_prefix(chat, chat, words) == 0
    assert broken_prefix(chat, changed, words) == piece_tokens(changed.pieces[2:], words)


def test_a_prompt_that_cannot_be_sent_is_worth_any_plan() -> None:
    gardener = long_chat([30] * 20)
    before = gardener.state.history_used
    assert compact_to(gardener.state, Goal(high=10**6, low=10**6, hard=before)) is None
    assert compact_to(gardener.state, Goal(high=10**6, low=before - 5, hard=before - 1)) is not None


@pytest.mark.parametrize(("share", "is_worth_it"), [(0.05, False), (0.15, True)])
def test_above_the_mark_a_plan_must_save_a_part_of_it(share: float, is_worth_it: bool) -> None:
    gardener = long_chat([60] * 10)
    before = gardener.state.history_used
    low = int(before * (1 - share))
    assert (compact_to(gardener.state, Goal(high=before - 1, low=low)) is not None) is is_worth_it
