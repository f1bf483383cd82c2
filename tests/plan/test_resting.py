"""A map that rests while it shows what is spoken of."""

from __future__ import annotations

import pytest

from aider_gardener.plan.order import MISSED, Mentions, RestingMap, files_of

OLD = """
app/store.py:
⋮
│class Store:
│    def close(self) -> None:
⋮

app/text.txt

app/worker.py:
⋮
│def run(store: Store) -> int:
⋮
"""
MORE = OLD + "\napp/refunds.py:\n⋮\n│def refund_order(order: Order) -> None:\n⋮\n"
STAMPS = {"app/store.py": 1, "app/text.txt": 1, "app/worker.py": 1, "app/refunds.py": 1}


def resting(listing: str = OLD) -> RestingMap:
    found = RestingMap()
    found.replace(listing, STAMPS.get, "room")
    return found


def test_a_map_is_read_by_its_files() -> None:
    assert list(files_of(OLD)) == ["app/store.py", "app/text.txt", "app/worker.py"]
    assert files_of(OLD)["app/text.txt"] == "" and "def run" in files_of(OLD)["app/worker.py"]
    assert files_of("") == {}


@pytest.mark.parametrize(
    ("mentions", "lacks"),
    [
        (Mentions(), False),
        (Mentions(frozenset({"app/refunds.py"})), True),
        (Mentions(words=frozenset({"refund_order"})), True),
        (Mentions(words=frozenset({"refunds"})), True),
        (Mentions(words=frozenset({"app", "py"})), False),
        (Mentions(words=frozenset({"Store", "worker", "the"})), False),
        (Mentions(frozenset({"app/elsewhere.py"}), frozenset({"unknown_name"})), False),
    ],
)
def test_it_is_replaced_for_what_was_mentioned(mentions: Mentions, lacks: bool) -> None:
    assert resting().lacks(MORE, mentions) is lacks


def test_it_is_replaced_for_a_file_that_is_shown_again_and_again() -> None:
    stands = resting()
    answers = [stands.lacks(MORE, Mentions()) for _ in range(MISSED)]
    assert answers == [False] * (MISSED - 1) + [True]
    stands = resting()
    stands.lacks(MORE, Mentions())
    assert not stands.lacks(OLD, Mentions()) and not stands.lacks(MORE, Mentions()), "not in succession"


@pytest.mark.parametrize(
    ("stamps", "chat_files", "room"),
    [
        (STAMPS | {"app/store.py": 2}, [], "room"),
        ({**STAMPS, "app/worker.py": None}, [], "room"),
        (STAMPS, ["app/worker.py"], "room"),
        (STAMPS, [], "more room"),
    ],
)
def test_it_holds_no_longer_when_it_is_not_true(
    stamps: dict[str, object], chat_files: list[str], room: str
) -> None:
    assert resting().holds(STAMPS.get, [], "room") and not RestingMap().holds(STAMPS.get, [], "room")
    assert not resting().holds(stamps.get, chat_files, room)
