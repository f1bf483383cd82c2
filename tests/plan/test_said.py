"""What is told of a plan."""

from __future__ import annotations

import pytest

from aider_gardener.messages import Fidelity, Plan, Swap
from aider_gardener.plan.said import SHOWN, changes, counted, made_room, short


def plan(*after: Fidelity, saved: int = 4_100) -> Plan:
    swaps = tuple(Swap(f"g{n}", Fidelity.FULL, level, 10, "") for n, level in enumerate(after))
    return Plan(swaps, "asked for", 9_000, 9_000 - saved)


@pytest.mark.parametrize(
    ("after", "told", "would"),
    [
        (
            [Fidelity.LINE, Fidelity.COMPRESSED, Fidelity.LINE],
            "3 old messages now stand as notes",
            "3 old messages would stand as notes",
        ),
        ([Fidelity.LINE], "1 old message now stands as a note", "1 old message would stand as a note"),
        ([Fidelity.HIDDEN], "1 old message is left out", "1 old message would be left out"),
        (
            [Fidelity.HIDDEN, Fidelity.LINE, Fidelity.HIDDEN],
            "1 old message now stands as a note, 2 are left out",
            "1 old message would stand as a note, 2 would be left out",
        ),
    ],
)
def test_what_became_of_the_messages(after: list[Fidelity], told: str, would: str) -> None:
    assert changes(plan(*after)) == told
    assert changes(plan(*after), would=True) == would


def test_a_compaction_is_one_line_that_says_how_to_take_it_back() -> None:
    assert made_room(plan(Fidelity.LINE)) == (
        "made room: 1 old message now stands as a note, 4.1k tokens less; /gardener undo takes it back"
    )
    assert made_room(plan(Fidelity.LINE), has_undo=False).endswith("4.1k tokens less")


def test_each_rendition_has_words_of_its_own() -> None:
    assert set(SHOWN) == set(Fidelity) and len(set(SHOWN.values())) == len(SHOWN)
    assert not {level.value for level in Fidelity} & set(SHOWN.values())


def test_tokens_in_a_few_characters() -> None:
    assert [short(n) for n in (0, 940, 999, 1_000, 86_700, 999_949, 999_950, -2_500)] == [
        "0", "940", "999", "1.0k", "86.7k", "999.9k", "1.0M", "-2.5k"
    ]  # fmt: skip


def test_one_is_singular() -> None:
    assert [counted(n, "turn") for n in (0, 1, 2, 1_200)] == ["0 turns", "1 turn", "2 turns", "1,200 turns"]
    assert counted(2, "entry", "entries") == "2 entries"
