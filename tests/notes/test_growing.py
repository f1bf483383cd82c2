"""A reader that goes on where it stopped says what one that began anew would say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import ContentClass, Entry, Source
from aider_gardener.notes.growing import Growing


def entry(seq: int, word: str = "a") -> Entry:
    return Entry(f"g{word}", "s", 1, seq, "user", word, Source(), ContentClass.PROSE, (), 1)


def test_only_what_is_new_is_read() -> None:
    read: list[int] = []

    def after(held: tuple[int, ...], one: Entry) -> tuple[int, ...]:
        read.append(one.seq)
        return (*held, one.seq)

    growing = Growing[tuple[int, ...], Entry](tuple, after)
    assert growing.over([entry(0), entry(1)]) == (0, 1)
    assert growing.over([entry(0), entry(1), entry(2)]) == (0, 1, 2) and read == [0, 1, 2]
    assert growing.over([entry(0), entry(2)]) == (0, 2), "what was taken out is not counted"
    assert growing.over([entry(0), entry(2, "")]) == (0, 2) and read[-2:] == [0, 2], "what was forgotten"


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab")), max_size=6), max_size=6))
def test_the_outcome_is_that_of_all_entries(rounds: list[list[tuple[int, str]]]) -> None:
    growing = Growing[list[str], Entry](list, lambda held, one: [*held, f"{one.seq}{one.id}"])
    for rows in rounds:
        assert growing.over([entry(*row) for row in rows]) == [f"{seq}g{word}" for seq, word in rows]
