"""What the room of compressors offers by name, and that it is imported only when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import aider_gardener.compress as room


@pytest.mark.parametrize("name", room.__all__)
def test_each_name_that_is_offered_is_there(name: str) -> None:
    assert callable(getattr(room, name))


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'poem'"):
        _ = room.poem  # type: ignore[attr-defined]  # reason: it is not there


def test_who_shortens_a_log_waits_for_no_other_compressor() -> None:
    code = (
        "import sys; from aider_gardener.compress import compress_message as c;"
        " from aider_gardener.messages import Source, SourceKind as k;"
        " c('2026-01-01 10:00:00 INFO took 3 ms\\n' * 99, Source(k.COMMAND, 'x'));"
        " print([n for n in ('code', 'prose', 'edits') if f'aider_gardener.compress.{n}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
