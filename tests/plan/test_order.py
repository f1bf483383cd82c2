"""The order of a prompt by rest: laws, and where it gains."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.order import Life, Order, Part


def files(**keys: int) -> list[Part]:
    return [Part(name, key, 1_000) for name, key in keys.items()]


def exchanges(count: int, tokens: int = 400, version: int = 0) -> list[Part]:
    return [Part(place, (version, place), tokens) for place in range(count)]


def names(parts: list[Part]) -> list[str | int]:
    return [part.name for part in parts]


def test_what_changed_goes_behind_the_history_and_what_is_said_later_behind_it() -> None:
    order = Order()
    assert names(order.arrange(files(a=1, b=1), [], sent=0)) == ["a", "b"]
    assert names(order.arrange(files(a=1, b=2), exchanges(1), sent=1)) == ["a", 0, "b"]
    assert names(order.arrange(files(a=1, b=2), exchanges(2), sent=2)) == ["a", 0, "b", 1]
    assert names(order.arrange(files(a=1, b=3), exchanges(3), sent=3))[-1] == "b"


def test_nothing_moves_while_nothing_changes() -> None:
    order = Order()
    first = order.arrange(files(a=1, b=1, c=1), exchanges(2), sent=0)
    for sent in range(1, 6):
        now = order.arrange(files(a=1, b=1, c=1), exchanges(2 + sent), sent=sent)
        assert now[: len(first)] == first
        first = now


def test_a_prompt_made_again_before_it_is_sent_counts_once() -> None:
    order = Order()
    order.arrange(files(a=1, b=1), exchanges(1), sent=0)
    for _ in range(3):
        last = order.arrange(files(a=1, b=2), exchanges(2), sent=1)
    assert order.lives["b"] == Life(prompts=2, changes=1, rested=0)
    assert last == order.arrange(files(a=1, b=2), exchanges(2), sent=1)


def test_big_files_stand_before_a_history_that_is_compacted_often() -> None:
    def settled(tokens: int) -> list[str | int]:
        order = Order()
        for sent in range(20):
            big = [Part("big", 1, tokens), Part("hot", sent, 100)]
            said = exchanges(1 + sent % 4, version=sent // 4)
            found = names(order.arrange(big, said, sent=sent))
        return found

    large, small = settled(50_000), settled(10)
    assert large.index("big") < large.index(0)
    assert small.index("big") > small.index(0), "its changes would cost more than it saves there"


def test_of_a_cold_cache_nothing_is_spared() -> None:
    order = Order()
    order.arrange(files(a=1, b=1), [], sent=0)
    order.arrange(files(a=2, b=1), exchanges(1), sent=1)
    for sent in range(2, 12):
        order.arrange(files(a=2, b=1), exchanges(2), sent=sent)
    found = names(order.arrange(files(a=2, b=1), exchanges(2), sent=12, cold=True))
    assert found == ["b", 0, 1, "a"], "what was changed before may be changed again"


def test_it_tells_when_the_history_is_lost_anyway() -> None:
    order = Order()
    order.arrange(files(a=1, b=1), exchanges(4), sent=0)
    order.last.sort(key=lambda part: isinstance(part.name, int))  # the files before the history
    assert not order.breaks(files(a=1, b=1))
    assert order.breaks(files(a=2, b=1))
    assert order.behind_history == 0
    order.last.sort(key=lambda part: isinstance(part.name, str))
    assert not order.breaks(files(a=2, b=1)) and order.behind_history == 2_000


CHATS = st.lists(
    st.tuples(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3)), st.integers(0, 5), st.booleans()),
    min_size=1,
    max_size=12,
)


@given(CHATS)
def test_every_part_stands_once_and_the_history_in_its_own_order(
    chat: list[tuple[dict[str, int], int, bool]],
) -> None:
    order, version = Order(), 0
    for sent, (keys, said, compacts) in enumerate(chat):
        version += compacts
        parts, history = files(**keys), exchanges(said, version=version)
        last, found = list(order.last), order.arrange(parts, history, sent=sent)
        assert sorted(map(str, names(found))) == sorted(map(str, names([*parts, *history])))
        assert [part for part in found if part.is_history] == history
        kept = order.kept(parts, history)
        assert kept == found, "what stands is what was given"
        stood = next(
            (at for at, pair in enumerate(zip(last, found, strict=False)) if pair[0] != pair[1]), len(last)
        )
        alike = next((at for at, part in enumerate(last) if part not in {*parts, *history}), len(last))
        assert stood >= min(alike, len(found)), "nothing before the first change moves"


def test_chances_stay_between_none_and_one() -> None:
    life = Life()
    chances = []
    for changed in (False, False, False, True, True):
        life = life.seen(changed=changed)
        chances.append(life.chance)
    assert all(0 < chance < 1 for chance in chances)
    assert all(one > other for one, other in pairwise(chances[:3])) and chances[-1] > chances[2]
