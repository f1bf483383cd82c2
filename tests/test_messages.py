"""The words of the design: ids of originals, what a plan saves, copies that change on their own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import Plan, content_hash, entry_id, twin

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=50)


@given(st.sampled_from(["user", "assistant"]), ANY_TEXT)
def test_any_content_has_an_id(role: str, content: str) -> None:
    found = entry_id(role, content)
    assert found.startswith("g") and content_hash(role, content).startswith(found[1:])
    assert entry_id(role, content) == found


def test_role_and_content_tell_entries_apart() -> None:
    assert len({entry_id(role, text) for role in ("user", "assistant") for text in ("a", "b", "")}) == 6


def test_an_id_is_the_same_in_every_version_of_the_gardener() -> None:
    assert entry_id("user", "hello") == "g87ce46134"


def test_a_plan_knows_what_it_saves() -> None:
    assert Plan((), "because", 900, 300).tokens_saved == 600


@dataclass
class Record:
    number: int = 1
    rows: list[int] = field(default_factory=lambda: [1])
    names: dict[str, int] = field(default_factory=lambda: {"a": 1})
    ids: set[str] = field(default_factory=lambda: {"g1"})
    last: deque[int] = field(default_factory=lambda: deque([1], maxlen=3))


def test_a_twin_shares_no_container_with_its_record() -> None:
    one = Record()
    other = twin(one)
    assert other == one
    other.number = 2
    other.rows.append(2)
    other.names["b"] = 2
    other.ids.add("g2")
    other.last.append(2)
    assert one == Record()
    assert other.last.maxlen == 3
