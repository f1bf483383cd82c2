"""The files shown in docs/upkeep.md are those that the commands make of the recorded session."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import upkeep_page

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the page shows times in UTC")


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


def test_the_page_is_what_the_commands_make(in_utc: None) -> None:
    assert upkeep_page.main(["--check"]) == 0


def test_a_part_that_was_changed_by_hand_is_told(
    in_utc: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "upkeep.md"
    page.write_text(
        upkeep_page.PAGE.read_text("utf-8").replace("- [ ] tell the pilot", "- [ ] ask the pilot"), "utf-8"
    )
    monkeypatch.setattr(upkeep_page, "PAGE", page)
    assert upkeep_page.main(["--check"]) == 1
    assert capsys.readouterr().err.count("upkeep_page.py makes; run it") == 1
    assert (
        upkeep_page.main([]) == 0
        and page.read_bytes() == Path(upkeep_page.ROOT / "docs/upkeep.md").read_bytes()
    )
