"""The line more at aider's start, and the version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aider_gardener import install
from aider_gardener.phrases import path_shown

from .conftest import Begin, Driver, MakeDriver


def started(driver: Driver) -> list[str]:
    del driver.said[:]
    driver.coder.show_announcements()
    return [line for line in driver.said if line.startswith("gardener")]


def test_the_start_says_that_it_is_on_and_where_it_keeps_what(driver: Driver, repository: Path) -> None:
    assert started(driver) == ["gardener on, archive .aider.gardener"]
    assert not (repository / ".aider.gardener").exists()  # nothing is made before the first prompt
    driver.ask("/ask hello")
    assert started(driver) == ["gardener on, archive .aider.gardener"]


def test_a_place_of_ones_own_is_named(drive: MakeDriver, gardened: Any, tmp_path: Path) -> None:
    gardened(store=str(tmp_path / "kept"))
    assert started(drive()) == [f"gardener on, archive {tmp_path / 'kept'}"]


def test_a_place_that_cannot_be_used_is_told_at_the_start_and_once(begin: Begin, repository: Path) -> None:
    (repository / "elsewhere").mkdir()
    (repository / ".aider.gardener").symlink_to("elsewhere")
    driver = begin()
    on = started(driver)
    (why,) = [line for line in driver.said if "aider-gardener" in line]
    assert "kept in memory only" in why and "symbolic link" in why
    assert on == ["gardener on, archive in memory"]
    before = list(driver.said)
    driver.ask("/ask hello")
    assert not any("kept in memory" in line for line in driver.said[len(before) :])


def test_it_says_what_it_does_when_it_only_watches_and_nothing_when_off(
    drive: MakeDriver, gardened: Any
) -> None:
    gardened(mode="observe")
    assert started(drive()) == ["gardener watching: prompts stay as they are, archive .aider.gardener"]
    gardened(mode="off")
    assert started(drive()) == []


def test_a_setting_that_cannot_be_used_is_told_once(
    drive: MakeDriver, gardened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gardened()
    install(None)
    monkeypatch.setenv("AIDER_GARDENER_HISTORY_TOKENS", "many")
    driver = drive()
    assert started(driver) == []
    (line,) = [line for line in driver.said if "it stays off in this chat" in line]
    assert line.startswith("aider-gardener: AIDER_GARDENER_HISTORY_TOKENS='many' is not a whole number")
    assert started(driver) == []
    driver.ask("/ask hello")
    assert len(driver.model.requests) == 1 and not any("stays off" in line for line in driver.said)


def test_paths_are_told_as_one_would_type_them(tmp_path: Path) -> None:
    assert path_shown(tmp_path / "a" / "b", tmp_path) == "a/b"
    assert path_shown(Path.home() / "x", tmp_path) == "~/x"
    assert path_shown(Path("/elsewhere"), tmp_path) == str(Path("/elsewhere"))
