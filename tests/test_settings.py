"""Presets: one name for settings that belong together; what is given wins."""

from __future__ import annotations

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
    assert Settings.from_env({}, preset="aggressive", keep_turns=0).keep_turns == 0
    environ = {"AIDER_GARDENER_PRESET": "aggressive", "AIDER_GARDENER_KEEP_TURNS": "1"}
    assert Settings.from_env(environ).keep_turns == 1
    assert Settings.from_env(environ).history_tokens == 20_000
    assert Settings.from_env(environ, keep_turns=2).keep_turns == 2
    assert Settings.from_env(environ, preset="default").history_tokens == 0


@pytest.mark.parametrize(
    ("text", "prunes", "megabytes"),
    [("off", False, 0), ("prune", True, 0), ("500MB", True, 500), ("2 gb", True, 2_000)],
)
def test_retention_is_a_word_or_a_size(text: str, prunes: bool, megabytes: int) -> None:
    made = Settings(retention=text)
    assert (made.prunes, made.store_limit) == (prunes, megabytes)
    with pytest.raises(UsageError, match="retention must be"):
        Settings(retention="500 bytes")


@pytest.mark.parametrize(("text", "turns"), [("true", 6), ("1", 1), ("12", 12), ("off", 0)])
def test_incremental_context_is_a_switch_or_a_number_of_turns(text: str, turns: int) -> None:
    assert Settings.from_env({"AIDER_GARDENER_INCREMENTAL": text}).incremental == turns


@pytest.mark.parametrize(
    ("given", "value"),
    [(True, "note"), (False, ""), ("", ""), ("note", "note"), ("last", "last"), ("3fa2", "3fa2")],
)
def test_a_text_may_just_be_switched_on(given: object, value: str) -> None:
    assert Settings(resume=given).resume == value  # type: ignore[arg-type]  # reason: what older callers give


def test_the_archive_of_a_chat_is_on_no_server() -> None:
    with pytest.raises(UsageError, match="store must be a directory"):
        Settings.from_env({"AIDER_GARDENER_STORE": "postgresql://ana@db.example/g"})


@pytest.mark.parametrize("mode", ["garden", "observe", "off"])
def test_who_is_switched_off_is_off_whatever_mode_a_variable_names(mode: str) -> None:
    environ = {"AIDER_GARDENER": "false", "AIDER_GARDENER_MODE": mode}
    assert not Settings.from_env(environ).enabled
    assert Settings.from_env(environ, mode="observe").mode == "observe"


def test_what_is_given_wins_over_a_variable_that_cannot_be_used() -> None:
    environ = {"AIDER_GARDENER_MODE": "sleep", "AIDER_GARDENER_KEEP_TURNS": "many"}
    assert Settings.from_env(environ, mode="observe", keep_turns=3).keep_turns == 3
    with pytest.raises(UsageError, match="must be one of garden"):
        Settings.from_env(environ, keep_turns=3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MODE", "sleep"), ("MODE", ""), ("KEEP_TURNS", "10001"), ("KEEP_TURNS", "many"), ("RETENTION", "5XB")],
)
def test_a_variable_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"^AIDER_GARDENER_{name}\\b"):
        Settings.from_env({f"AIDER_GARDENER_{name}": value})
