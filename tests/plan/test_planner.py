"""What a plan spares and what it gives up first: the last exchanges, and code that is of no more use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_entries import entry, make_gardener, talk

from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import ContentClass, Entry, Fidelity, Segment
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.planner import TAIL_SHARE, outdated
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

CODE = "\n".join(f"    total_{n} = total_{n} + price_of(item_{n})" for n in range(8))
OTHER_CODE = CODE.replace("price", "weight").replace("total", "sum_of")
PROSE = " ".join(f"The part number {n} of the answer explains a detail." for n in range(12))


def reply(seq: int, code: str, *, cls: ContentClass = ContentClass.CODE, before: str = "Like this:") -> Entry:
    """A reply of a line of prose and a block of code or of an edit."""
    text = f"{before}\n{code}"
    made = entry(seq, "assistant", text, turn=seq)
    begin = len(before) + 1
    return replace(made, segments=(Segment(0, begin, ContentClass.PROSE), Segment(begin, len(text), cls)))


def edit(seq: int, path: str, code: str = CODE) -> Entry:
    return reply(seq, code, cls=ContentClass.EDIT, before=f"Here is the change.\n\n{path}")


# Outdated code


def test_a_reply_whose_code_stands_again_later_is_outdated() -> None:
    entries = [reply(1, CODE), reply(3, OTHER_CODE), reply(5, CODE + "\n    return sum_of_all_totals")]
    assert outdated(entries, frozenset()) == {1}


def test_the_last_of_them_is_not_and_neither_is_what_only_the_user_repeats() -> None:
    assert outdated([reply(1, CODE)], frozenset()) == frozenset()
    pasted = replace(reply(3, CODE), role="user")
    assert outdated([reply(1, CODE), pasted], frozenset()) == frozenset()


@pytest.mark.parametrize(("repeated", "is_outdated"), [(8, True), (5, True), (4, False), (0, False)])
def test_more_than_half_of_its_lines_must_stand_again(repeated: int, is_outdated: bool) -> None:
    later = "\n".join([*CODE.splitlines()[:repeated], OTHER_CODE])
    assert outdated([reply(1, CODE), reply(3, later)], frozenset()) == ({1} if is_outdated else set())


def test_a_line_or_two_that_stand_again_say_nothing() -> None:
    short = "\n".join(CODE.splitlines()[:2])
    assert outdated([reply(1, short), reply(3, CODE)], frozenset()) == frozenset()


def test_an_edit_of_a_chat_file_is_outdated_for_the_file_is_sent_anew() -> None:
    assert outdated([edit(1, "app.py")], frozenset({"app.py"})) == {1}


def test_an_edit_of_a_file_that_is_not_in_the_chat_is_not_outdated() -> None:
    assert outdated([edit(1, "app.py")], frozenset({"other.py"})) == frozenset()
    assert outdated([edit(1, "app.py")], frozenset()) == frozenset()


def test_code_that_only_names_a_chat_file_is_not_outdated() -> None:
    assert outdated([reply(1, CODE, before="In app.py:")], frozenset({"app.py"})) == frozenset()


# The tail


def long_chat(lengths: list[int]) -> Gardener:
    """A chat with one exchange for each length, its reply that many words long."""
    gardener = make_gardener(history_tokens=1_000_000)
    for number, length in enumerate(lengths):
        gardener.enter_turn()
        said = talk((f"question {number}?", " ".join(["Answer", f"{number}.", *(["word"] * length)])))
        gardener.sync([*(piece.message for piece in gardener.pieces[0]), *said], [])
        gardener.leave_turn()
    return gardener


def whole(gardener: Gardener) -> list[int]:
    """The exchanges, by number, of which both messages stand whole."""
    rows = range(len(gardener.chat.entries) // 2)
    return [n for n in rows if not {2 * n, 2 * n + 1} & set(gardener.chat.fidelity)]


def cost(gardener: Gardener, number: int) -> int:
    both = (gardener.chat.entries[seq] for seq in (2 * number, 2 * number + 1))
    return sum(one.tokens + MESSAGE_OVERHEAD_TOKENS for one in both)


def test_the_last_exchanges_that_fit_stay_whole_and_older_ones_do_not() -> None:
    gardener = long_chat([90] * 20)
    one = cost(gardener, 0)
    low = int(3 * one / TAIL_SHARE) + 1
    assert gardener.tend(goal=Goal(high=2 * low, low=low)) is not None
    assert whole(gardener)[-3:] == [17, 18, 19]
    assert gardener.chat.fidelity[1] is Fidelity.HIDDEN


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(5, 400), min_size=4, max_size=14), st.integers(100, 1_500))
def test_whatever_the_lengths_the_tail_is_whole_within_its_share_of_the_low_mark(
    lengths: list[int], low: int
) -> None:
    gardener = long_chat(lengths)
    gardener.tend(goal=Goal(high=2 * low, low=low))
    left = int(TAIL_SHARE * low)
    expected = []
    for number in reversed(range(len(lengths))):
        left -= cost(gardener, number)
        if left < 0:
            break
        expected.append(number)
    assert set(expected) <= set(whole(gardener))


def test_where_the_high_mark_leaves_no_room_the_tail_goes_before_the_last_exchange() -> None:
    gardener = long_chat([90] * 10)
    low = 8 * cost(gardener, 0)
    gardener.tend(goal=Goal(high=2 * cost(gardener, 0), low=low, asked=True))
    assert 9 in whole(gardener)
    assert len(whole(gardener)) < 4
