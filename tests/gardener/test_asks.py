"""A model asks for originals: the form, and what it is given."""

from __future__ import annotations

import pytest
from made_chats import PROSE, long_talk
from made_entries import make_gardener, message, talk

from aider_gardener.gardener.care import requested
from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level, SourceKind

ONE, TWO = "g0123456ab", "gfedcba987"


@pytest.mark.parametrize(
    ("reply", "ids"),
    [
        (f'<recall id="{ONE}"/>', [ONE]),
        (f'Let me look.\n  <recall id="{ONE}" />  \n<recall id="{TWO}"/>\nand wait', [ONE, TWO]),
        (f'<recall id="{ONE}"/>\n<recall id="{ONE}"/>', [ONE]),
        (f'text <recall id="{ONE}"/>', []),
        (f'<recall id="{ONE}"/> text', []),
        (f'> <recall id="{ONE}"/>', []),
        ('<recall id="g12"/>', []),
        ('<recall id="g…"/>', []),
        (f'```xml\n<recall id="{ONE}"/>\n```\n', []),
        (f'```xml\n<a/>\n```\n<recall id="{ONE}"/>', [ONE]),
        (f'````\n```\n<recall id="{ONE}"/>\n````\n<recall id="{TWO}"/>', [TWO]),
        (f'~~~\n<recall id="{ONE}"/>', []),
    ],
)
def test_a_request_is_a_line_of_its_own_outside_code(reply: str, ids: list[str]) -> None:
    assert requested(reply) == ids


def asking(*numbers: int, turns: int = 8, **options: object) -> tuple[Gardener, list[str]]:
    """A chat of which nothing stands, and the ids of its answers with these numbers."""
    gardener = make_gardener(**{"history_tokens": 5_000, **options})
    gardener.enter_turn()
    gardener.sync(long_talk(turns), [])
    show(gardener.state, dict.fromkeys(range(2 * turns), Level.HIDDEN), "a test")
    return gardener, [gardener.state.chat.entries[2 * number + 1].id for number in numbers]


def tags(*ids: str) -> str:
    return "\n".join(f'<recall id="{each}"/>' for each in ids)


@pytest.mark.parametrize("before", ["", "E501 line too long\n\n"])
def test_what_is_given_is_a_note_of_ours_until_the_user_speaks(before: str) -> None:
    gardener, (stored_id,) = asking(2)
    text, ids = gardener.answer(tags(stored_id))
    assert ids == [stored_id] and f"> Answer 2. {PROSE}" in text
    assert gardener.answer(tags(stored_id)) == ("", [])
    (entry,) = gardener.sync(gardener.state.chat.pieces, [message("user", before + text)])
    assert entry.source.kind is SourceKind.STUB
    gardener.leave_turn()
    gardener.enter_turn()
    gardener.sync(gardener.state.chat.done, [*gardener.state.chat.cur, *talk(("and now?", "Yes."))])
    assert gardener.answer(tags(stored_id)) == ("", [])  # it stands in the chat still
    assert gardener.forget(stored_id) == 2
    assert not any(PROSE in piece.content for piece in gardener.state.chat.pieces)
    (typed,) = gardener.sync(gardener.state.chat.pieces, [message("user", text)])
    assert typed.source.kind is not SourceKind.STUB


def test_so_many_are_given_in_a_turn_and_no_more_than_half_of_the_budget() -> None:
    gardener, ids = asking(1, 2, 3, 4)
    assert gardener.answer(tags(*ids[:2]))[1] == ids[:2]
    assert gardener.answer(tags(*ids[2:]))[1] == ids[2:3]
    gardener, ids = asking(1, 2, history_tokens=850)
    text, given_ids = gardener.answer(tags(*ids))
    assert given_ids == ids[:1] and gardener.state.count(text) <= 425 + 60
    gardener, ids = asking(1, history_tokens=400)
    assert f"[… cut here; whole: {ids[0]}]" in gardener.answer(tags(*ids))[0]


def test_what_stands_whole_or_was_cleared_is_not_given() -> None:
    gardener, ids = asking(1)
    gardener.restore(ids[0])
    assert gardener.answer(tags(*ids)) == ("", [])
    gardener, ids = asking(1)
    gardener.clear()
    assert gardener.answer(tags(*ids, "g000000000")) == ("", [])
