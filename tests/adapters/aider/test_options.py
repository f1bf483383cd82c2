"""The --gardener flags and variables beside aider's own."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from aider_gardener import install
from aider_gardener.adapters.aider.options import flag, settings_given
from aider_gardener.settings import Settings, variable


def parser(*configs: str) -> Any:
    import aider.main

    install()
    return aider.main.get_parser(list(configs), None)


def test_every_setting_is_a_flag_with_a_variable_and_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    for field in dataclasses.fields(Settings):
        assert flag(field.name) in text
        assert f"[env var: {variable(field.name)}]" in text
        assert " ".join(field.metadata["help"].split()) in text
    assert "[--gardener-resume [VALUE]]" in text
    assert "--no-gardener-resume [VALUE]" not in text
    assert "--no-gardener-resume: off." in text


def test_flags_that_are_not_given_are_none() -> None:
    args = parser().parse_args([])
    given = {name: value for name, value in vars(args).items() if name.startswith("gardener")}
    assert len(given) == len(dataclasses.fields(Settings)) + 1  # --gardener itself
    assert set(given.values()) == {None}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gardener-mode", "sleep"], "must be one of garden, observe"),
        (["--gardener-ttl", "foo=3"], "'foo=3' is not CLASS=TURNS"),
        (["--gardener-history-tokens", "many"], "is not a whole number"),
        (["--gardener-keep-turns", "10001"], "must be a number from 0 to 10000"),
        (["--no-gardener-resume=3fa2"], "ignored explicit argument '3fa2'"),
    ],
)
def test_a_bad_value_stops_with_one_clear_error(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parser().parse_args(arguments)
    assert words in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "resume", "files"),
    [
        ([], None, []),
        (["--gardener-resume"], "note", []),
        (["--gardener-resume", "--gardener-status-line"], "note", []),
        (["--gardener-resume=3fa2"], "3fa2", []),
        (["--gardener-resume", "last"], "last", []),
        (["--gardener-resume=true"], "note", []),
        (["--gardener-resume=no"], "", []),
        (["--no-gardener-resume"], "", []),
        (["--gardener-resume", "app.py"], "note", ["app.py"]),
        (["--file", "b.py", "--no-gardener-resume", "app.py"], "", ["b.py", "app.py"]),
    ],
)
def test_a_switch_may_have_a_value_and_takes_no_file_for_one(
    arguments: list[str],
    resume: str | None,
    files: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").touch()
    args = parser().parse_args(arguments)
    assert (args.gardener_resume, [*(args.file or []), *args.files]) == (resume, files)


@pytest.mark.parametrize(
    ("value", "arguments", "resume"),
    [("true", [], "note"), ("1", [], "note"), ("false", [], ""), ("last", [], "last"),
     ("true", ["--no-gardener-resume"], ""), ("false", ["--gardener-resume=3fa2"], "3fa2")],
)  # fmt: skip
def test_a_switch_has_a_variable_and_a_line_of_a_file(
    value: str, arguments: list[str], resume: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import aider.main

    install()
    file = tmp_path / "conf.yml"
    file.write_text(f"gardener-resume: {value}\n", "utf-8")
    args = aider.main.get_parser([str(file)], None).parse_args(arguments)
    assert args.gardener_resume == resume
    file.write_text("", "utf-8")
    monkeypatch.setenv("AIDER_GARDENER_RESUME", value)
    assert parser().parse_args(arguments).gardener_resume == resume


@pytest.mark.parametrize(("value", "resume"), [("true", ""), ("false", None)])
def test_a_file_may_say_that_a_switch_is_off(value: str, resume: str | None, tmp_path: Path) -> None:
    import aider.main

    install()
    file = tmp_path / "conf.yml"
    file.write_text(f"no-gardener-resume: {value}\n", "utf-8")
    assert aider.main.get_parser([str(file)], None).parse_args([]).gardener_resume == resume


@pytest.mark.parametrize("mode", ["garden", "observe"])
def test_no_gardener_is_stock_aider_whatever_mode_stands_elsewhere(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in ([], ["--gardener-mode", mode]):
        args = parser().parse_args(["--no-gardener", *arguments])
        assert not settings_given(args, {"AIDER_GARDENER_MODE": mode}).enabled
    (file := tmp_path / "conf.yml").write_text(f"gardener-mode: {mode}\n", "utf-8")
    assert not settings_given(parser(str(file)).parse_args(["--no-gardener"]), {}).enabled
    monkeypatch.setenv("AIDER_GARDENER", "false")
    assert not settings_given(parser(str(file)).parse_args([]), {}).enabled
    assert settings_given(parser(str(file)).parse_args(["--gardener"]), {}).mode == mode
