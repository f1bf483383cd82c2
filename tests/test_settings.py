"""Presets: one name for settings that belong together; what is given wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.settings import PRESETS, Settings


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_sets_what_it_says_and_nothing_else(name: str) -> None:
    made, plain = Settings(preset=name), Settings()
    for field in Settings.__dataclass_fields__:
        if field not in ("preset", "given"):
            assert getattr(made, field) == PRESETS[name].get(field, getattr(plain, field))


def test_what_is_given_wins_even_if_it_is_the_default() -> None:
    assert Settings(preset="aggressive", low_mark=0.3).low_mark == 0.3
    environ = {"AIDER_GARDENER_PRESET": "aggressive", "AIDER_GARDENER_LOW_MARK": "0.5"}
    assert Settings.from_env(environ).low_mark == 0.5
    assert Settings.from_env(environ).keep_turns == 4
    assert Settings.from_env(environ, low_mark=0.2).low_mark == 0.2
    assert Settings.from_env(environ, preset="gentle").keep_turns == 3


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UsageError, match="preset must be one of"):
        Settings(preset="brutal")


@pytest.mark.parametrize(
    ("given", "value"),
    [(True, "note"), (False, ""), ("", ""), ("note", "note"), ("last", "last"), ("3fa2", "3fa2")],
)
def test_a_text_may_just_be_switched_on(given: object, value: str) -> None:
    assert Settings(resume=given).resume == value  # type: ignore[arg-type]  # reason: what older callers give


@pytest.mark.parametrize(("text", "value"), [("true", "note"), ("1", "note"), ("Off", ""), ("3FA2", "3FA2")])
def test_a_variable_may_just_switch_a_text_on(text: str, value: str) -> None:
    assert Settings.from_env({"AIDER_GARDENER_RESUME": text}).resume == value


def test_the_archive_of_a_chat_is_on_no_server() -> None:
    with pytest.raises(UsageError, match="store must be a directory"):
        Settings.from_env({"AIDER_GARDENER_STORE": "postgresql://ana@db.example/g"})


def test_a_list_of_tasks_begins_in_the_repository_unless_it_is_absolute(tmp_path: Path) -> None:
    assert Settings().tasks_path(str(tmp_path)) is None
    assert Settings(tasks_file="doc/plan.md").tasks_path(str(tmp_path)) == tmp_path / "doc" / "plan.md"
    absolute = str(tmp_path / "elsewhere.md")
    assert Settings(tasks_file=absolute).tasks_path("there") == Path(absolute)
