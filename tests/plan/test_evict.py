"""The greedy: order, shields, and how far it is from the optimum on small cases."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from made_entries import entry

from aider_gardener.messages import Fidelity
from aider_gardener.plan.evict import (
    LINE_TOKENS,
    MOST_KEPT,
    TOKEN_VALUE,
    Candidate,
    Shield,
    choose,
    swaps,
    value,
)

F = Fidelity


def candidate(seq: int, full: int, compressed: int, line: int, priority: float, floors=None) -> Candidate:  # type: ignore[no-untyped-def]
    forms = {F.FULL: full, F.COMPRESSED: compressed, F.LINE: line, F.HIDDEN: 0}
    return Candidate(
        entry(seq, "user", f"text {seq}"), F.FULL, forms, priority, floors or {Shield.NONE: F.HIDDEN}
    )


def ends(rows: list[Candidate], saved: int, shield: Shield = Shield.NONE) -> dict[int, Fidelity]:
    found = {row.entry.seq: row.current for row in rows}
    for step in choose(rows, {}, tokens_to_save=saved, shield=shield):
        found[step.candidate.entry.seq] = step.after
    return found


def test_a_higher_shield_is_touched_only_when_lower_ones_are_spent() -> None:
    prompt = {Shield.PROMPT: F.HIDDEN}
    rows = [candidate(0, 100, 50, 10, 1, prompt), candidate(1, 100, 50, 10, 99)]
    assert ends(rows, 100, Shield.PROMPT) == {0: F.FULL, 1: F.HIDDEN}
    assert ends(rows, 100, Shield.NONE) == {0: F.FULL, 1: F.HIDDEN}
    assert ends(rows, 140, Shield.PROMPT)[0] is not F.FULL
    assert ends(rows, 140, Shield.NONE)[0] is F.FULL


def test_a_floor_stops_the_descent() -> None:
    rows = [candidate(0, 100, 50, 10, 20, {Shield.NONE: F.COMPRESSED})]
    assert ends(rows, 100) == {0: F.COMPRESSED}


LINE_SHARE = MOST_KEPT[F.LINE] / TOKEN_VALUE[F.LINE]
"""Above this share of its original a line is worth less a token than a short original."""


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 99), st.floats(0, 1))
def test_of_two_entries_the_worthier_is_never_hidden_while_the_other_stands(
    data: st.DataObject, priority: int, share: float
) -> None:
    rows = [data.draw(sized(0, priority), "less"), data.draw(sized(1, priority + 1), "more")]
    total = sum(row.forms[F.FULL] for row in rows)
    for order in (rows, rows[::-1]):
        found = ends(order, int(share * total))
        assert not (found[1] is F.HIDDEN and found[0] is not F.HIDDEN)


@st.composite
def sized(draw: st.DrawFn, seq: int, priority: int) -> Candidate:
    """A candidate of any length with a line of at most LINE_SHARE of it, or one as short as a line."""
    full = draw(st.integers(1, 5_000))
    compressed = draw(st.integers(1, full))
    most = LINE_TOKENS if full <= LINE_TOKENS else int(LINE_SHARE * full)
    return candidate(
        seq, full, compressed, draw(st.integers(1, min(compressed, LINE_TOKENS, most))), priority
    )


def test_swaps_say_why() -> None:
    rows = [candidate(0, 100, 50, 10, 20)]
    (swap,) = swaps(rows, {}, {0: F.LINE}, turn=4)
    assert (swap.before, swap.after, swap.tokens_saved) == (F.FULL, F.LINE, 90)
    assert swap.reason == "prose, priority 20, 3 turns ago"


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[list[Candidate], int]:
    rows = []
    for seq in range(draw(st.integers(1, 5))):
        full = draw(st.integers(4, 100))
        compressed = draw(st.integers(2, full - 1))
        line = draw(st.integers(1, compressed - 1))
        rows.append(candidate(seq, full, compressed, line, draw(st.integers(1, 100))))
    total = sum(row.forms[F.FULL] for row in rows)
    return rows, draw(st.integers(0, total))


@settings(max_examples=60, deadline=None)
@given(small_cases())
def test_the_greedy_meets_the_target_and_loses_at_most_one_step_more_than_the_optimum(
    case: tuple[list[Candidate], int],
) -> None:
    rows, target = case
    found = ends(rows, target)
    total = sum(row.forms[F.FULL] for row in rows)
    assert total - sum(row.forms[found[row.entry.seq]] for row in rows) >= target
    kept = sum(value(row, found[row.entry.seq]) for row in rows)
    best = max(
        sum(value(row, level) for row, level in zip(rows, levels, strict=True))
        for levels in itertools.product(list(F), repeat=len(rows))
        if total - sum(row.forms[level] for row, level in zip(rows, levels, strict=True)) >= target
    )
    assert kept >= best - max(value(row, F.FULL) for row in rows)


def test_no_step_more_is_taken_than_is_needed() -> None:
    rows = [candidate(0, 100, 50, 10, 20), candidate(1, 100, 50, 10, 20)]
    assert ends(rows, 50) == {0: F.COMPRESSED, 1: F.FULL}
    assert F.FULL not in ends(rows, 51).values()


def test_all_are_shortened_before_one_of_them_is_lost() -> None:
    rows = [candidate(seq, 400, 200, 40, 20) for seq in range(3)]
    assert set(ends(rows, 600).values()) == {F.COMPRESSED}
    assert set(ends(rows, 1_080).values()) == {F.LINE}


def test_an_original_as_short_as_a_line_says_as_much_a_token_as_a_line() -> None:
    short, long = candidate(0, LINE_TOKENS, 50, 40, 20), candidate(1, LINE_TOKENS + 1, 50, 40, 20)
    assert value(short, F.FULL) / LINE_TOKENS > value(long, F.FULL) / (LINE_TOKENS + 1)


def test_what_was_lowered_before_is_lowered_from_there() -> None:
    rows = [candidate(0, 100, 50, 10, 20)]
    (step,) = choose(rows, {0: F.COMPRESSED}, tokens_to_save=1, shield=Shield.NONE)
    assert (step.before, step.tokens_saved) == (F.COMPRESSED, 40)
    assert (step.after, choose(rows, {0: F.HIDDEN}, tokens_to_save=1, shield=Shield.NONE)) == (F.LINE, [])


def test_a_form_that_saves_nothing_is_passed_over() -> None:
    rows = [candidate(0, 100, 100, 10, 20)]
    assert ends(rows, 1) == {0: F.LINE}


def test_each_shield_is_a_step_of_its_own() -> None:
    shields = [Shield.PROMPT, Shield.TAIL, Shield.FORMAT, Shield.LAST]
    rows = [candidate(seq, 100, 50, 10, 20, {shield: F.HIDDEN}) for seq, shield in enumerate(shields)]
    for given_up, shield in enumerate(shields, 1):
        found = ends(rows, 10_000, shield)
        assert [found[seq] is F.HIDDEN for seq in range(4)] == [seq < given_up for seq in range(4)]
