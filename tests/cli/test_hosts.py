"""`gardener install` and `uninstall`: what they print, their exit codes, their JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aider_gardener.cli import hosts
from aider_gardener.cli.root import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [arguments[0], "claude-code", *arguments[1:]])


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree that is the working directory, a home and a folder of records that are empty."""
    root = tmp_path / "project"
    (root / "deep").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.chdir(root / "deep")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(hosts, "records", lambda: tmp_path / "records")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return root


def test_a_dry_run_shows_a_diff_and_changes_nothing(project: Path, tmp_path: Path) -> None:
    done = run("install", "--dry-run")
    assert done.exit_code == 0
    assert f"+++ {project / '.claude' / 'settings.local.json'}" in done.stdout
    assert done.stdout.count("hook PreCompact") == 1 and "+/.claude/settings.local.json" in done.stdout
    assert not (project / ".claude").exists() and not (tmp_path / "records").exists()
    run("install")
    before = (project / ".mcp.json").read_bytes()
    assert '-  "mcpServers": {' in run("uninstall", "--dry-run").stdout
    assert (project / ".mcp.json").read_bytes() == before


def test_installing_says_what_it_wrote_and_what_to_do_next_and_twice_is_once(project: Path) -> None:
    done = run("install", "--project")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        f"created {project / '.claude' / 'settings.local.json'}",
        f"created {project / '.mcp.json'}",
    ]
    assert lines[-1] == f"Start Claude Code anew in {project}; /hooks there lists what was added."
    before = (project / ".claude" / "settings.local.json").read_bytes()
    assert run("install").stdout.startswith("There is nothing to change.")
    assert (project / ".claude" / "settings.local.json").read_bytes() == before
    assert json.loads(run("uninstall", "--json").stdout)["changed"][0]["what"] == "removed"
    assert not (project / ".claude").exists() and not (project / ".mcp.json").exists()


def test_a_user_is_told_the_line_that_adds_the_server(tmp_path: Path) -> None:
    done = run("install", "--user", "--recall-sessions")
    assert "Add the server with: claude mcp add --scope user gardener -- " in done.stdout
    settings = json.loads((tmp_path / "home" / ".claude" / "settings.json").read_text("utf-8"))
    assert settings["env"] == {"AIDER_GARDENER_RECALL_SESSIONS": "true"}
    assert "claude mcp add" not in run("install", "--user", "--no-mcp").stdout
    (tmp_path / "home" / ".claude.json").write_text(
        json.dumps({"mcpServers": {"gardener": {"command": "gardener", "args": ["mcp"]}}}), "utf-8"
    )
    assert "claude mcp remove --scope user gardener" in run("uninstall", "--user").stdout


def test_a_server_that_is_not_on_the_path_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from aider_gardener.adapters.claude_code import install

    monkeypatch.setattr(install, "runs", lambda _: False)
    assert "gardener is not on PATH" in run("install").stdout
    monkeypatch.setattr(install, "runs", lambda _: True)
    assert "not on PATH" not in run("install").stdout


def test_no_mcp_leaves_the_shared_file_alone(project: Path) -> None:
    done = json.loads(run("install", "--no-mcp", "--json").stdout)
    assert [Path(row["file"]).name for row in done["changed"]] == ["settings.local.json", "exclude"]
    assert not (project / ".mcp.json").exists()


def test_status_tells_of_both_levels_and_as_json(project: Path) -> None:
    run("install", "--recall-sessions")
    told = run("install", "--status").stdout
    assert "  SessionStart: " in told and "  MCP server: gardener mcp" in told
    assert "user: " in told and "  MCP server: not installed" in told and "come back unasked" in told
    rows = json.loads(run("install", "--status", "--json").stdout)
    assert [(row["level"], len(row["events"])) for row in rows] == [("project", 6), ("user", 0)]
    (row,) = json.loads(run("install", "--status", "--user", "--json").stdout)
    assert row["level"] == "user"


def test_status_of_a_hook_whose_program_is_gone_or_of_another_installation_says_so(project: Path) -> None:
    run("install")
    path = project / ".claude" / "settings.local.json"
    value = json.loads(path.read_text("utf-8"))
    value["hooks"]["PreCompact"][0]["hooks"][0]["command"] = "/nowhere/gardener hook PreCompact"
    value["hooks"]["PostCompact"][0]["hooks"][0]["timeout"] = 1
    del value["hooks"]["SessionStart"]
    path.write_text(json.dumps({**value, "disableAllHooks": True}), "utf-8")
    lines = run("install", "--status", "--project").stdout.splitlines()
    assert any("/nowhere" in line and "program is gone" in line for line in lines)
    assert any("PostCompact:" in line and "of another installation" in line for line in lines)
    assert "  not installed: SessionStart" in lines and any("disableAllHooks" in line for line in lines)
    run("install")
    assert "not installed" not in run("install", "--status", "--project").stdout


def test_a_plugin_is_written_to_its_folder(tmp_path: Path, project: Path) -> None:
    done = run("install", "--plugin", str(tmp_path / "plugin"))
    assert f"claude --plugin-dir {tmp_path / 'plugin'}" in done.stdout
    assert (tmp_path / "plugin" / "hooks" / "hooks.json").is_file()
    assert not (project / ".claude").exists()
    again = run("install", "--plugin", str(project))
    assert again.exit_code == 2 and "holds something else" in again.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--status", "--dry-run"],
        ["--status", "--recall-sessions"],
        ["--plugin", "p", "--user"],
        ["--plugin", "p", "--recall-sessions"],
    ],
)
def test_options_that_do_not_go_together_are_one_line_and_exit_2(arguments: list[str]) -> None:
    done = run("install", *arguments)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "goes with" in done.stderr


def test_a_malformed_file_is_one_line_and_exit_2(project: Path) -> None:
    (project / ".mcp.json").write_text("{ // mine\n}", "utf-8")
    for command in ("install", "uninstall"):
        done = run(command)
        assert done.exit_code == 2 and done.stdout == ""
        assert done.stderr.startswith("gardener: ") and done.stderr.count("\n") == 1
        assert ".mcp.json was left as it is: no JSON" in done.stderr
    assert (project / ".mcp.json").read_text("utf-8") == "{ // mine\n}"


def test_a_link_is_told(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text("{}", "utf-8")
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".claude" / "settings.json").symlink_to(tmp_path / "kept.json")
    done = run("install", "--user")
    assert f"is a link: {tmp_path / 'kept.json'} is changed" in done.stderr
