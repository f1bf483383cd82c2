"""A page loads nothing, lets only its own script run, and is its owner's alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aider_gardener.errors import ReplayError
from aider_gardener.replay.show import page


def test_only_the_pages_own_script_may_run() -> None:
    assert "script-src 'sha256-" in page.policy("let x = 1") and "script-src" not in page.policy("")
    assert all(text.startswith("default-src 'none'; ") for text in (page.policy("x"), page.policy("")))


def test_a_part_that_would_end_its_element_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.css").write_text("</style>", "utf-8")
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    with pytest.raises(ReplayError, match="end tag"):
        page.asset("bad.css")


def test_a_page_is_private_and_replaces_the_old_one_or_says_why_not(tmp_path: Path) -> None:
    file = tmp_path / "new" / "page.html"
    page.write_private(file, "one")
    page.write_private(file, "two \ud800")
    assert file.read_text("utf-8") == "two ?" and [each.name for each in file.parent.iterdir()] == [
        "page.html"
    ]
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ReplayError, match="cannot be written"):
        page.write_private(file / "below", "x")
