"""What follows from the mails of the series is up to date, and is made anew where it is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import patches_page
import pytest
from made_tree import SERIES
from patches_page import derived, main


def test_the_page_is_fresh() -> None:
    """When this fails run `python tools/patches_page.py`."""
    assert main(["--check"]) == 0


def test_what_is_stale_is_said_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(SERIES.folder, tmp_path / "patches"))
    shutil.copytree(SERIES.folder.parent / "bench" / "results", tmp_path / "bench" / "results")
    monkeypatch.setattr(patches_page, "ROOT", tmp_path)
    (folder / "series").write_text("", "utf-8")
    assert main(["--check"]) == 1 and (folder / "series").read_text("utf-8") == ""
    assert main([]) == 0 and main(["--check"]) == 0
    (folder / "README.md").write_text("no table", "utf-8")
    assert main([]) == 2


def test_the_derived_files_are_two() -> None:
    assert set(derived(SERIES.folder)) == {"series", "README.md"}
