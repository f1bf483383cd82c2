"""The --gardener flags and variables beside aider's own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from aider_gardener import install
from aider_gardener.adapters.aider.options import flag
from aider_gardener.settings import Settings, variable

from .test_cli import aider


def parser() -> object:
    import aider.main

    install()
    return aider.main.get_parser([], None)


def test_every_setting_is_a_flag_with_a_variable_and_help(tmp_path: Path) -> None:
    text = " ".join(aider("--help", cwd=tmp_path, COLUMNS="2000").stdout.split())
    for field in dataclasses.fields(Settings):
        name = "--gardener" if field.name == "enabled" else flag(field)
        assert name in text
        assert f"[env var: {variable(field.name)}]" in text
        assert " ".join(field.metadata["help"].split()) in text


def test_flags_that_are_not_given_are_none() -> None:
    args = parser().parse_args([])  # type: ignore[attr-defined]
    given = {name: value for name, value in vars(args).items() if name.startswith("gardener")}
    assert len(given) == len(dataclasses.fields(Settings))
    assert set(given.values()) == {None}


def test_variables_serve_as_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIDER_GARDENER_MODE", "observe")
    monkeypatch.setenv("AIDER_GARDENER_HISTORY_TOKENS", "4321")
    monkeypatch.setenv("AIDER_GARDENER", "false")
    args = parser().parse_args([])  # type: ignore[attr-defined]
    assert (args.gardener_mode, args.gardener_history_tokens, args.gardener) == ("observe", 4321, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gardener-mode", "sleep"], "must be one of garden, observe"),
        (["--gardener-history-tokens", "many"], "is not a int"),
        (["--gardener-low-mark", "7"], "must be a number from 0.05 to 0.95"),
    ],
)
def test_a_bad_value_stops_with_one_clear_error(arguments: list[str], words: str, tmp_path: Path) -> None:
    run = aider(*arguments, "--exit", cwd=tmp_path)
    assert run.returncode == 2
    assert words in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr
