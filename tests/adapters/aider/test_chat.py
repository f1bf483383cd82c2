"""What happens to a chat: it is handed on, cleared, and begins anew; helpers stay out of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.adapters.aider import chat

from .conftest import MakeDriver


@pytest.mark.parametrize(
    ("edit_format", "options", "is_helper"),
    [
        ("diff", {}, False),
        ("diff", {"cur_messages": []}, True),
        ("diff", {"done_messages": []}, True),
        ("architect", {"map_tokens": 0, "cache_prompts": False}, True),
        ("architect", {"map_tokens": 0, "cache_prompts": True}, False),
        ("architect", {"map_tokens": 1_024, "cache_prompts": False}, False),
        ("diff", {"map_tokens": 0, "cache_prompts": False}, False),
    ],
)
def test_only_a_coder_with_a_chat_of_its_own_is_a_helper(
    edit_format: str, options: dict[str, Any], is_helper: bool
) -> None:
    coder: Any = SimpleNamespace(edit_format=edit_format)
    assert chat.makes_helper(coder, options) is is_helper


def test_a_clear_that_no_turn_surrounds_counts_at_once(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask hello")
    driver.coder.commands.cmd_clear("")
    assert driver.coder.gardener.state.chat.floor == 2
