"""What the room of compressors offers by name."""

from __future__ import annotations

import pytest

import aider_gardener.compress as room


@pytest.mark.parametrize("name", room.__all__)
def test_each_name_that_is_offered_is_there(name: str) -> None:
    assert callable(getattr(room, name))


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'poem'"):
        _ = room.poem  # type: ignore[attr-defined]  # reason: it is not there
