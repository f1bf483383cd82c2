"""`gardener install` and `uninstall`: what they print, their exit codes, their JSON."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from aider_gardener.archive.store import location

from .conftest import gardener


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree that is the working directory, a home and a folder of the user's data that are empty."""
    root = tmp_path / "project"
    (root / "deep").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.chdir(root / "deep")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(location, "user_directory", lambda: tmp_path / "data")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return root


def found(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_dry_run_shows_a_diff_and_changes_nothing(project: Path, tmp_path: Path) -> None:
    shown = gardener("install", "codex", "--dry-run").stdout
    assert "+required = true" in shown and shown.count("hook PreCompact") == 1
    assert "claude plugin install" in gardener("install", "claude-code", "--dry-run").stdout
    assert not (tmp_path / "home").exists() and not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["codex", "opencode", "gemini", "cursor"])
def test_of_our_own_folder_nothing_is_left_and_without_it_nothing_is_put_in(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home := tmp_path / "home").mkdir()
    monkeypatch.setattr(location, "user_directory", lambda: home / ".local" / "share" / "ours")
    assert gardener("install", host).exit_code == 0
    (location.user_directory() / "opencode").mkdir()  # where our plugin there writes what it hands on
    assert gardener("uninstall", host).exit_code == 0 and list(home.iterdir()) == []
    (home / ".local").write_text("no folder", encoding="utf-8")
    assert gardener("install", host).exit_code == 1 and found(home) == [".local"]


@pytest.mark.parametrize("options", [(), ("--project",)])
def test_a_link_that_leads_to_itself_is_one_line(options: tuple[str], project: Path, tmp_path: Path) -> None:
    for place in (tmp_path / "home", project):
        (place / ".gemini").mkdir(parents=True)
        (link := place / ".gemini" / "settings.json").symlink_to(link)
    for step in ("install", "uninstall"):
        done = gardener(step, "gemini", *options)
        assert done.exit_code in (1, 2) and len(done.stderr.splitlines()) == 1


def test_a_folder_that_was_there_before_an_install_stays(tmp_path: Path) -> None:
    (home := tmp_path / "home").joinpath(".gemini").mkdir(parents=True)
    assert gardener("install", "gemini").exit_code == 0 and found(home) == [".gemini/settings.json"]
    assert gardener("uninstall", "gemini").exit_code == 0
    assert [each.name for each in home.iterdir()] == [".gemini"] and found(home) == []


def test_beside_settings_with_comments_the_rest_is_put_in_and_taken_out(tmp_path: Path) -> None:
    settings = tmp_path / "home" / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("// mine\n{}\n", encoding="utf-8")
    for step, plugin in (("install", ["plugin/aider-gardener.js"]), ("uninstall", [])):
        done = gardener(step, "opencode")
        assert done.exit_code == 2 and "was left as it is: it is no plain JSON" in done.stderr
        assert found(settings.parent) == ["opencode.json", *plugin]
    assert settings.read_text(encoding="utf-8") == "// mine\n{}\n"


def test_settings_that_lie_elsewhere_are_changed_there(project: Path, tmp_path: Path) -> None:
    (settings := tmp_path / "dotfiles" / "gemini.json").parent.mkdir()
    settings.write_text('{"theme": "x"}\n', encoding="utf-8")
    for place in (tmp_path / "home", project):
        (place / ".gemini").mkdir(parents=True)
        (place / ".gemini" / "settings.json").symlink_to(settings)
    assert gardener("install", "gemini").exit_code == 0 and "mcpServers" in settings.read_text(
        encoding="utf-8"
    )
    assert gardener("uninstall", "gemini").exit_code == 0
    assert settings.read_text(encoding="utf-8") == '{"theme": "x"}\n'
    (project / ".cursor").symlink_to(settings.parent)
    for name in ("gemini", "cursor"):  # a repository's links may lead anywhere
        done = gardener("install", name, "--project")
        assert done.exit_code == 2 and "outside of the project" in done.stderr
    assert found(settings.parent) == ["gemini.json"]


@pytest.mark.parametrize("level", [[], ["--project"]])
def test_installed_twice_and_taken_out_nothing_is_left(
    level: list[str], project: Path, tmp_path: Path
) -> None:
    place = project if level else tmp_path / "home"
    for name in ("codex", "opencode", "gemini", "cursor"):
        done = gardener("install", name, *level)
        assert done.exit_code == 0 and "Made " in done.stdout
        assert json.loads(gardener("install", name, *level, "--json").stdout)["files"] == []
    assert len([path for path in found(place) if not path.startswith(".git/")]) == 7
    for name in ("codex", "opencode", "gemini", "cursor"):
        assert "Removed " in gardener("uninstall", name, *level).stdout
        assert gardener("uninstall", name, *level).stdout == f"{name}: nothing to change\n"
    assert [path for path in found(place) if not path.startswith(".git/")] == []
    assert level or list(place.iterdir()) == [], "nor a folder"


def test_a_second_time_it_says_that_nothing_was_changed() -> None:
    trust = "In Codex type /hooks"
    made, again = (gardener("install", "codex").stdout.splitlines() for _ in range(2))
    assert made[0].startswith("Made ") and made[-1].startswith(trust)
    assert again[0] == "codex: nothing to change" and again[1].startswith(trust)


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell")
def test_what_claude_code_says_as_it_fails_may_be_any_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claude := tmp_path / "claude").write_text("#!/bin/sh\nprintf 'no \\377 plugins' >&2; exit 3\n")
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    done = gardener("install", "claude-code")
    assert done.exit_code == 1 and "(exit code 3 no \ufffd plugins): type claude plugin" in done.stderr


def test_without_claude_code_the_lines_to_type_are_said(tmp_path: Path) -> None:
    done = gardener("install", "claude-code")
    assert done.exit_code == 1 and "claude is not on the PATH" in done.stderr
    assert f"claude plugin marketplace add {tmp_path / 'data' / 'claude-code'}" in done.stderr
    assert "plugin/hooks/hooks.json" in found(tmp_path / "data" / "claude-code")


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell's")
def test_a_projects_plugin_goes_without_the_users(tmp_path: Path) -> None:
    (claude := tmp_path / "claude").write_text('#!/bin/sh\necho "$@" >> "$0.log"\n')
    claude.chmod(0o755)
    for words in (("install",), ("install", "--project"), ("uninstall", "--project")):
        assert gardener(words[0], "claude-code", *words[1:]).exit_code == 0
    assert "plugin marketplace remove aider-gardener --scope local" in (tmp_path / "claude.log").read_text()
    assert found(tmp_path / "data")
    assert gardener("uninstall", "claude-code").exit_code == 0 and not (tmp_path / "data").exists()
    assert gardener("install", "claude-code").exit_code == 0
    claude.write_text("#!/bin/sh\nexit 1\n")
    assert gardener("uninstall", "claude-code").exit_code == 1 and found(tmp_path / "data"), "still in use"
