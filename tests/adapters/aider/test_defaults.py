"""A build of aider with the gardener inside may set defaults of its own and offer fewer settings."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.adapters.aider import commands, defaults, link, options, wrappers
from aider_gardener.adapters.aider.guard import ATTRIBUTE
from aider_gardener.settings import Settings


def coder(**given: Any) -> Any:
    args = SimpleNamespace(**given)
    return SimpleNamespace(commands=SimpleNamespace(args=args))


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(link.state, "settings", None)
    for name in ("AIDER_GARDENER", "AIDER_GARDENER_RECALL_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_this_package_sets_nothing_apart(build: pytest.MonkeyPatch) -> None:
    assert link.settings_of(coder()) == Settings.from_env()
    assert defaults.is_offered("recall_tokens")


def test_the_builds_defaults_yield_to_variables_and_these_to_flags(build: pytest.MonkeyPatch) -> None:
    build.setitem(defaults.DEFAULTS, "enabled", False)
    build.setitem(defaults.DEFAULTS, "recall_tokens", 0)
    assert not link.settings_of(coder()).enabled
    assert link.settings_of(coder()).recall_tokens == 0
    build.setenv("AIDER_GARDENER_RECALL_TOKENS", "700")
    assert link.settings_of(coder()).recall_tokens == 700
    assert link.settings_of(coder(gardener=True, gardener_recall_tokens=1_000)) == Settings(
        recall_tokens=1_000
    )


def test_a_setting_that_is_not_offered_has_no_flag_and_keeps_the_builds_default(
    build: pytest.MonkeyPatch,
) -> None:
    build.setattr(defaults, "OFFERED", frozenset({"enabled", "store"}))
    build.setitem(defaults.DEFAULTS, "recall_tokens", 0)
    build.setenv("AIDER_GARDENER_RECALL_TOKENS", "700")
    assert link.settings_of(coder()).recall_tokens == 0
    parser = argparse.ArgumentParser()
    options.add_options(parser)
    flags = {flag for action in parser._actions for flag in action.option_strings}
    assert flags == {"-h", "--help", "--gardener", "--no-gardener", "--gardener-store"}


def test_an_aider_with_a_report_of_its_own_shows_that_while_the_gardener_is_off() -> None:
    asked: list[str] = []

    def own(_commands: Any, args: str) -> None:
        asked.append(args)

    report = wrappers.cmd_context_pressure(own)
    off = SimpleNamespace(coder=SimpleNamespace(**{ATTRIBUTE: None}))
    report(off, "--json")
    assert asked == ["--json"]
    assert wrappers.cmd_context_pressure(None).__wrapped__ is commands.cmd_context_pressure


def test_a_build_in_which_it_is_off_loads_nothing_ahead(build: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    build.setattr(link.threading.Thread, "start", lambda thread: started.append(thread.name))
    build.setitem(defaults.DEFAULTS, "enabled", False)
    link.warm_up()
    assert started == []
    build.delitem(defaults.DEFAULTS, "enabled")
    link.warm_up()
    assert started == ["aider-gardener-warm-up"]
