"""Incremental context: the last turns whole, older ones in a summary of fixed size, nothing lost."""

from __future__ import annotations

from made_chats import rolling_chat, shown

from aider_gardener.gardener.compactions import give_back
from aider_gardener.notes.chatmap import SUMMARY_SHARE


def test_the_prompt_is_flat_and_the_summary_keeps_its_size() -> None:
    gardener, sizes = rolling_chat(90)
    assert max(sizes[60:]) <= max(sizes[20:50]) * 1.1
    assert gardener.state.note.tokens <= SUMMARY_SHARE * 1_200 + 60
    first, second = gardener.state.note.text.split("Earlier turns:\n")[1].splitlines()[:2]
    assert first.startswith("[1–") and "unit_" in first and second.startswith("[") and "–" not in second[:6]


def test_what_left_can_be_recalled_and_taken_back() -> None:
    gardener, _sizes = rolling_chat(60)
    assert "4003" not in "\n".join(message.content for message in shown(gardener))
    assert "4003" in gardener.recall_note("which port has unit_3?", "")
    give_back(gardener.state)
    assert "question 3 about unit_3" in [message.content for message in shown(gardener)]
