"""What a plan spares and what it gives up first: the last exchanges, and code that is of no more use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_chats import PROSE
from made_entries import chat_of, entry, make_gardener, message, talk, words

from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Focus,
    Rendition,
    Segment,
    Source,
    SourceKind,
)
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.evict import Candidate, Shield
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.planner import (
    DUPLICATE_POINTS,
    OUTDATED_POINTS,
    TAIL_SHARE,
    Policy,
    broken_prefix,
    candidates,
    limits,
    open_exchange,
    outdated,
    piece_tokens,
)
from aider_gardener.plan.view import Piece
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

CODE = "\n".join(f"    total_{n} = total_{n} + price_of(item_{n})" for n in range(8))
OTHER_CODE = CODE.replace("price", "weight").replace("total", "sum_of")


def reply(seq: int, code: str, *, cls: ContentClass = ContentClass.CODE, before: str = "Like this:") -> Entry:
    """A reply of a line of prose and a block of code or of an edit."""
    text = f"{before}\n{code}"
    made = entry(seq, "assistant", text, turn=seq)
    begin = len(before) + 1
    return replace(made, segments=(Segment(0, begin, ContentClass.PROSE), Segment(begin, len(text), cls)))


def edit(seq: int, path: str, code: str = CODE) -> Entry:
    return reply(seq, code, cls=ContentClass.EDIT, before=f"Here is the change.\n\n{path}")


FOUR_WORDS = Piece(message("user", "now of four words"), {0: Fidelity.COMPRESSED})

# Outdated code


def test_a_reply_whose_code_stands_again_later_is_outdated() -> None:
    entries = [reply(1, CODE), reply(3, OTHER_CODE), reply(5, CODE + "\n    return sum_of_all_totals")]
    assert outdated(entries, frozenset()) == {1}


@pytest.mark.parametrize(("repeated", "is_outdated"), [(8, True), (5, True), (4, False), (0, False)])
def test_more_than_half_of_its_lines_must_stand_again(repeated: int, is_outdated: bool) -> None:
    later = "\n".join([*CODE.splitlines()[:repeated], OTHER_CODE])
    assert outdated([reply(1, CODE), reply(3, later)], frozenset()) == ({1} if is_outdated else set())


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
        gardener.sync([*gardener.state.chat.done, *said], [])
        gardener.leave_turn()
    return gardener


def whole(gardener: Gardener) -> list[int]:
    """The exchanges, by number, of which both messages stand whole."""
    rows = range(len(gardener.state.chat.entries) // 2)
    return [n for n in rows if not {2 * n, 2 * n + 1} & set(gardener.state.chat.fidelity)]


def cost(gardener: Gardener, number: int) -> int:
    both = (gardener.state.chat.entries[seq] for seq in (2 * number, 2 * number + 1))
    return sum(one.tokens + MESSAGE_OVERHEAD_TOKENS for one in both)


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


def test_where_the_high_mark_leaves_no_room_the_tail_goes_before_the_last_exchange() -> None:
    gardener = long_chat([90] * 10)
    low = 8 * cost(gardener, 0)
    compact_to(gardener.state, Goal(high=2 * cost(gardener, 0), low=low, asked=True))
    assert 9 in whole(gardener)
    assert len(whole(gardener)) < 4


def test_the_same_text_twice_costs_the_first_its_place() -> None:
    gardener = make_gardener(history_tokens=100_000)
    output = (
        "I ran this command:\n\npytest\n\nAnd got this output:\n\n" + "FAILED test_x - assert 1 == 2\n" * 40
    )
    gardener.sync(
        talk((output, "Ok."), (output, "Fixed."), *[(f"q{n}", f"a{n} {PROSE}") for n in range(3)]), []
    )
    plan = compact_to(gardener.state, Goal(high=1_000, low=900))
    assert plan is not None
    assert gardener.state.chat.fidelity[0] is Fidelity.HIDDEN
    assert gardener.state.chat.fidelity.get(2) is not Fidelity.HIDDEN


# Worth and shields of single entries


def forms(one: Entry) -> dict[Fidelity, Rendition]:
    levels = (Fidelity.COMPRESSED, Fidelity.LINE)
    return {level: Rendition(level, level.value, 2) for level in levels}


def rows(
    chat: Chat, *changed: Entry, files: tuple[str, ...] = (), tail_tokens: int = 0
) -> dict[int, Candidate]:
    """What the planner sees of a chat in which some entries are not as they were admitted."""
    for one in changed:
        chat = chat.with_entry(one)
    focus = Focus(paths=frozenset(files))
    found = candidates(chat, focus=focus, renditions=forms, tail_tokens=tail_tokens)
    return {row.entry.seq: row for row in found}


def plain(exchanges: int) -> Chat:
    return chat_of(talk(*((f"question {n}", f"answer {n}") for n in range(exchanges))))


def test_outdated_code_and_what_stands_again_later_is_worth_little() -> None:
    found = rows(plain(4), reply(1, CODE), reply(3, CODE + "\n    return sum_of_all_totals"))
    assert found[1].priority <= OUTDATED_POINTS < found[3].priority
    twice = rows(chat_of(talk(("the same", "one"), ("the same", "two"), ("else", "three"))))
    assert twice[0].priority == DUPLICATE_POINTS < twice[2].priority


def test_two_edits_show_the_format_but_only_the_last_of_files_that_are_sent() -> None:
    edits = edit(1, "a.py"), edit(3, "b.py", OTHER_CODE)
    for files, kept in (((), [1, 3]), (("a.py",), [3]), (("a.py", "b.py"), [3])):
        found = rows(plain(5), *edits, files=files)
        assert [seq for seq in (1, 3) if found[seq].floor(Shield.TAIL) is Fidelity.FULL] == kept
        assert found[3].floor(Shield.FORMAT) is Fidelity.HIDDEN


def test_pinned_entries_are_never_given_up_and_the_last_exchange_only_to_be_sent_at_all() -> None:
    chat = plain(3)
    found = rows(chat, replace(chat.entries[1], pinned=True))
    assert found[1].floor(Shield.LAST) is Fidelity.FULL
    assert [found[5].floor(shield) for shield in (Shield.FORMAT, Shield.LAST)] == [
        Fidelity.FULL,
        Fidelity.COMPRESSED,
    ]


def test_the_last_reply_stays_even_where_an_output_came_after_it() -> None:
    chat = chat_of(talk(("a question", "a real answer"), ("some output", "Ok.")))
    found = rows(chat, replace(chat.entries[2], source=Source(SourceKind.COMMAND)))
    assert found[1].floor(Shield.FORMAT) is Fidelity.FULL


def test_what_programs_said_is_no_part_of_the_tail() -> None:
    chat = plain(4)
    found = rows(chat, replace(chat.entries[2], source=Source(SourceKind.COMMAND)), tail_tokens=1_000)
    assert [found[seq].floor(Shield.PROMPT) for seq in (0, 1, 2, 3)] == [
        Fidelity.FULL,
        Fidelity.FULL,
        Fidelity.HIDDEN,
        Fidelity.FULL,
    ]


def test_what_waits_for_an_answer_is_all_that_came_since_the_last_reply() -> None:
    output, said = message("user", "some output"), message("user", "what of it?")
    filler, real = message("assistant", "Ok."), message("assistant", "This.")
    waiting = [
        open_exchange(chat_of([], cur))
        for cur in ([output, filler, said], [output, real, said], [said, real])
    ]
    assert waiting == [{0, 1, 2}, {2}, frozenset()]
    assert open_exchange(chat_of(talk(("a", "b")), [filler])) == frozenset()


def test_what_a_change_makes_uncached_begins_where_it_begins() -> None:
    chat = plain(3)
    changed = replace(chat, done=[*chat.done[:2], FOUR_WORDS, *chat.done[3:]])
    assert broken_prefix(chat, chat, words) == 0
    assert broken_prefix(chat, changed, words) == piece_tokens(changed.pieces[2:], words)


def test_a_long_last_exchange_leaves_older_entries_half_of_the_low_mark() -> None:
    gardener = long_chat([40] * 8 + [500])
    state = gardener.state
    found = candidates(state.chat, focus=state.focus(), renditions=state.archive.renditions)

    def lowest(goal: Goal, before: int = 10**6) -> int:
        return dict(limits(state.chat, goal, found, before))[Shield.NONE]

    assert lowest(Goal(high=600, low=300)) == cost(gardener, 8) + 150
    assert lowest(Goal(high=9_000, low=4_000)) == 4_000
    assert lowest(Goal(high=9_000, low=4_000), before=70) == 70


def test_the_users_words_are_given_up_half_way_between_the_marks_and_the_last_exchange_never() -> None:
    gardener = make_gardener(history_tokens=1_000_000)
    said = [f"question {n}: " + " ".join(f"part{n}x{at}" for at in range(90)) for n in range(14)]
    gardener.sync(talk(*((text, "Yes.") for text in said)), [])
    plan = compact_to(gardener.state, Goal(high=800, low=100))
    assert plan is not None
    assert 300 < plan.tokens_after <= 450
    gardener.sync([*gardener.state.chat.done, *talk(("why?", PROSE))], [])
    compact_to(gardener.state, Goal(high=1, low=1))
    assert gardener.state.chat.done[-1].content == PROSE


def test_a_prompt_that_cannot_be_sent_is_worth_any_plan() -> None:
    gardener = long_chat([30] * 20)
    before = gardener.state.history_used
    assert compact_to(gardener.state, Goal(high=10**6, low=10**6, hard=before)) is None
    assert compact_to(gardener.state, Goal(high=10**6, low=before - 5, hard=before - 1)) is not None


@pytest.mark.parametrize(("lines", "is_outdated"), [(2, False), (3, True)])
def test_three_lines_of_code_that_stand_again_are_enough(lines: int, is_outdated: bool) -> None:
    part = "\n".join(CODE.splitlines()[:lines])
    assert outdated([reply(1, part), reply(3, CODE)], frozenset()) == ({1} if is_outdated else set())


def test_an_entry_that_the_policy_keeps_stays_as_long_as_the_prompt_can_be_sent() -> None:
    chat = plain(4)
    found = candidates(chat, focus=Focus(), renditions=forms, policy=Policy(named=frozenset({1, 6, 7})))
    floors = {row.entry.seq: row for row in found}
    assert [floors[seq].floor(Shield.FORMAT) for seq in (1, 3)] == [Fidelity.FULL, Fidelity.HIDDEN]
    assert floors[1].floor(Shield.LAST) is Fidelity.COMPRESSED


def test_of_outdated_code_in_the_tail_the_short_form_is_enough() -> None:
    found = rows(plain(5), reply(3, CODE), reply(5, CODE), tail_tokens=10_000)
    assert [found[seq].floor(Shield.PROMPT) for seq in (3, 5)] == [Fidelity.COMPRESSED, Fidelity.FULL]
    assert found[3].floor(Shield.TAIL) is Fidelity.HIDDEN


@pytest.mark.parametrize(("share", "is_worth_it"), [(0.05, False), (0.15, True)])
def test_above_the_mark_a_plan_must_save_a_part_of_it(share: float, is_worth_it: bool) -> None:
    gardener = long_chat([60] * 10)
    before = gardener.state.history_used
    low = int(before * (1 - share))
    assert (compact_to(gardener.state, Goal(high=before - 1, low=low)) is not None) is is_worth_it
