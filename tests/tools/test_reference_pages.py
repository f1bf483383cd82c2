"""What the code says stands in the pages as words (that they are fresh, `make docs` says)."""

from __future__ import annotations

from pathlib import Path

import pytest
import reference_pages


def test_a_chat_command_is_told_by_its_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "commands.py"
    file.write_text('def cmd_pin_all(self, args):\n    "Hold | all of <them>"\ndef helper(): ...\n', "utf-8")
    monkeypatch.setattr(reference_pages, "CHAT_COMMANDS", (file,))
    assert list(reference_pages.chat_commands())[-2:] == ["| `/pin-all` | Hold \\| all of &lt;them> |", ""]
