"""What two prompts share from their beginning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.replay.measure.sharing import Row, SentBefore


def rows(*texts: str) -> list[Row]:
    """Messages of which the text is the hash, a token a character."""
    return [(text, len(text), "cur") for text in texts]


def said(*texts: str, role: str = "user") -> dict[str, tuple[str, str]]:
    return {text: (role, text) for text in texts}


def sent(*prompts: Sequence[str], kinds: str = "") -> list[tuple[tuple[int, int], ...]]:
    """What SentBefore says of each prompt; `kinds` has "w" for those of a weak model."""
    texts: dict[str, tuple[str, str]] = {}
    before, found = SentBefore(texts), []
    for number, prompt in enumerate(prompts):
        texts.update(said(*prompt))
        kind = "summary" if kinds[number : number + 1] == "w" else "main"
        found.append(before.add(kind, rows(*prompt), len))
    return found


def test_messages_of_two_roles_share_no_beginning() -> None:
    before = SentBefore({**said("sys", "abc"), **said("abd", role="assistant")})
    before.add("main", rows("sys", "abc"), len)
    assert before.add("main", rows("sys", "abd"), len) == ((0, 3),)


def test_prompts_of_weak_models_stand_apart() -> None:
    found = sent(["sys", "abcd"], ["sys", "ab"], ["sys", "abcd"], kinds="mwm")
    assert found[1] == ((0, 5),)
    assert sorted(found[2]) == [(0, 7), (1, 5)]


PROMPTS = st.lists(st.lists(st.text("ab\n", max_size=5), max_size=4), max_size=6)


def alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common, compared one by one."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def slowly(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Messages and characters that two prompts begin with in common."""
    whole = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if whole is None:
        return min(len(one), len(other)), 0
    return whole, alike(one[whole], other[whole])


@given(PROMPTS)
def test_every_pair_of_prompts_is_as_compared_one_by_one(prompts: list[list[str]]) -> None:
    for number, shared in enumerate(sent(*prompts)):
        expected, best = [], (0, 0)
        for place in range(number - 1, -1, -1):
            whole, chars = slowly(prompts[number], prompts[place])
            if (whole, chars) > best:
                best = (whole, chars)
                expected.append((place, sum(map(len, prompts[number][:whole])) + chars))
        assert list(shared) == expected
