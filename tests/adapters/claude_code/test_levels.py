"""A project and a user: what an installation changes in their files, and the way back."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.adapters.claude_code import install, levels
from aider_gardener.adapters.claude_code.client import EVENTS
from aider_gardener.adapters.claude_code.config_files import apply
from aider_gardener.adapters.claude_code.install import VARIABLE
from aider_gardener.adapters.claude_code.levels import InstallLevel
from aider_gardener.errors import UsageError

GARDENER = ["/opt/bin/gardener"]
GIT = ["git", "-c", "init.defaultBranch=main", "-c", "user.name=T", "-c", "user.email=t@example.com"]

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=6,
)
groups = st.fixed_dictionaries({"hooks": st.lists(values, max_size=2)}, optional={"matcher": words})
events = st.dictionaries(st.sampled_from([*EVENTS, "Notification"]), st.lists(groups, max_size=2))
known = {"hooks": events, "env": st.dictionaries(words, words, max_size=2)}
objects = st.builds(
    lambda some, other: {**other, **some},
    st.fixed_dictionaries({}, optional=known),
    st.dictionaries(words, values, max_size=3),
)


@pytest.fixture
def project(tmp_path: Path) -> InstallLevel:
    """A project in a work tree."""
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run([*GIT, "init", "-q", str(root)], check=True)
    return levels.project_level(root, tmp_path / "home", {})


@pytest.fixture
def user(tmp_path: Path) -> InstallLevel:
    return levels.user_level(tmp_path / "home", {})


def put_in(level: InstallLevel, records: Path, command: list[str] = GARDENER, **options: bool) -> list[str]:
    """Install, and say the names of the files that changed."""
    wanted = {"recall_sessions": False, "with_server": True, **options}
    return carried_out(levels.planned_install(level, command, records, **wanted), records)


def take_out(level: InstallLevel, records: Path) -> list[str]:
    """Uninstall, and say the names of the files that changed."""
    return carried_out(levels.planned_uninstall(level, records), records)


def carried_out(changes: list[Any], records: Path) -> list[str]:
    for change in changes:
        apply(change, records)
    return [change.file.path.name for change in changes if change.is_one]


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@given(
    objects,
    st.sampled_from([None, 0, 2, "\t"]),
    st.sampled_from(["", "\n", "\r\n "]),
    st.booleans(),
    st.booleans(),
)
def test_out_is_the_way_back_of_in_for_whatever_settings(
    tmp_path_factory: pytest.TempPathFactory,
    value: dict[str, Any],
    indent: int | str | None,
    end: str,
    recall_sessions: bool,
    is_moved: bool,
) -> None:
    home = tmp_path_factory.mktemp("home")
    level, records = levels.user_level(home, {}), home / "records"
    level.settings.parent.mkdir()
    before = (json.dumps(value, indent=indent) + end).encode()
    level.settings.write_bytes(before)
    put_in(level, records, recall_sessions=recall_sessions)
    assert put_in(level, records) == []
    if is_moved:
        assert put_in(level, records, ["/new/gardener"]) == ["settings.json"]
        assert b"/opt/bin" not in level.settings.read_bytes()
        found = json.loads(level.settings.read_bytes())
        assert (found.get("env", {}).get(VARIABLE) == "true") == recall_sessions
    take_out(level, records)
    assert level.settings.read_bytes() == before


def test_a_project_that_had_nothing_has_nothing_again(project: InstallLevel, tmp_path: Path) -> None:
    before = tree(project.base)
    assert put_in(project, tmp_path / "records") == ["settings.local.json", ".mcp.json", "exclude"]
    assert take_out(project, tmp_path / "records") == ["settings.local.json", ".mcp.json", "exclude"]
    assert tree(project.base) == before
    assert take_out(project, tmp_path / "records") == []


def test_without_a_record_files_that_held_only_ours_go_too(project: InstallLevel, tmp_path: Path) -> None:
    put_in(project, tmp_path / "records", recall_sessions=True)
    assert take_out(project, tmp_path / "lost") == ["settings.local.json", ".mcp.json"]
    assert not project.settings.exists()


def test_what_was_edited_meanwhile_stays(user: InstallLevel, tmp_path: Path) -> None:
    user.settings.parent.mkdir(parents=True)
    user.settings.write_text('{\n  "model": "a"\n}\n', "utf-8")
    put_in(user, tmp_path / "records", recall_sessions=True)
    text = user.settings.read_text("utf-8").replace('"a"', '"b"')
    user.settings.write_text(text, "utf-8")
    assert put_in(user, tmp_path / "records") == []
    take_out(user, tmp_path / "records")
    assert user.settings.read_text("utf-8") == '{\n  "model": "b"\n}\n'


def test_what_was_written_since_into_a_file_that_was_made_here_stays(
    project: InstallLevel, tmp_path: Path
) -> None:
    put_in(project, tmp_path / "records")
    value = json.loads(project.settings.read_text("utf-8"))
    project.settings.write_text(json.dumps({**value, "model": "b"}), "utf-8")
    take_out(project, tmp_path / "records")
    assert json.loads(project.settings.read_text("utf-8")) == {"model": "b"}


def test_a_folder_that_was_made_goes_also_after_the_path_was_mended(
    project: InstallLevel, tmp_path: Path
) -> None:
    put_in(project, tmp_path / "records")
    put_in(project, tmp_path / "records", ["/new/gardener"])
    take_out(project, tmp_path / "records")
    assert not project.settings.parent.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_file_without_the_right_to_write_is_refused_both_ways(user: InstallLevel, tmp_path: Path) -> None:
    user.settings.parent.mkdir(parents=True)
    user.settings.write_text("{}", "utf-8")
    user.settings.chmod(0o444)
    with pytest.raises(UsageError, match="is read-only"):
        put_in(user, tmp_path / "records")
    user.settings.chmod(0o644)
    put_in(user, tmp_path / "records")
    user.settings.chmod(0o444)
    before = user.settings.read_bytes()
    with pytest.raises(UsageError, match="is read-only"):
        take_out(user, tmp_path / "records")
    assert user.settings.read_bytes() == before


def test_an_empty_object_of_the_users_is_not_taken_for_a_file_of_ours(
    user: InstallLevel, tmp_path: Path
) -> None:
    user.settings.parent.mkdir(parents=True)
    user.settings.write_text("{}", "utf-8")
    put_in(user, tmp_path / "records")
    user.settings.write_text(user.settings.read_text("utf-8") + "\n", "utf-8")
    take_out(user, tmp_path / "records")
    assert json.loads(user.settings.read_text("utf-8")) == {}


def test_a_variable_that_said_no_says_no_again(user: InstallLevel, tmp_path: Path) -> None:
    user.settings.parent.mkdir(parents=True)
    text = json.dumps({"env": {VARIABLE: "false"}})
    user.settings.write_text(text, "utf-8")
    put_in(user, tmp_path / "records", recall_sessions=True)
    assert json.loads(user.settings.read_text("utf-8"))["env"] == {VARIABLE: "true"}
    take_out(user, tmp_path / "records")
    assert user.settings.read_text("utf-8") == text


def test_git_does_not_see_the_file_that_names_this_machine(project: InstallLevel, tmp_path: Path) -> None:
    put_in(project, tmp_path / "records")
    seen = subprocess.run(
        [*GIT, "-C", str(project.base), "status", "--short", "-uall"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout == "?? .mcp.json\n"
    assert "/opt" not in project.base.joinpath(".mcp.json").read_text("utf-8")


def test_what_git_ignores_already_is_not_told_again(project: InstallLevel, tmp_path: Path) -> None:
    (project.base / ".gitignore").write_text(".claude/*.local.json\n", "utf-8")
    assert "exclude" not in put_in(project, tmp_path / "records")
    exclude = project.base / ".git" / "info" / "exclude"
    exclude.write_text(f"{install.IGNORED}\n", "utf-8")
    take_out(project, tmp_path / "records")
    assert exclude.read_text("utf-8") == f"{install.IGNORED}\n"


def test_a_file_that_git_tracks_is_refused_and_nothing_is_changed(
    project: InstallLevel, tmp_path: Path
) -> None:
    project.settings.parent.mkdir()
    project.settings.write_text("{}", "utf-8")
    subprocess.run([*GIT, "-C", str(project.base), "add", "-f", "."], check=True)
    before = tree(project.base)
    with pytest.raises(UsageError, match=r"tracked by git.*--user"):
        put_in(project, tmp_path / "records")
    assert tree(project.base) == before


def test_a_folder_without_git_needs_no_list_of_what_is_ignored(tmp_path: Path) -> None:
    level = levels.project_level(tmp_path, tmp_path / "home", {})
    assert put_in(level, tmp_path / "records", with_server=False) == ["settings.local.json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": 1 // note\n}', "[]", '"x"', '{"hooks": 1}', '{"hooks": {}, "hooks": {}}', "{'a': 1}"],
)
def test_a_file_that_is_no_settings_is_refused_and_stays_byte_for_byte(
    user: InstallLevel, tmp_path: Path, text: str
) -> None:
    user.settings.parent.mkdir(parents=True)
    user.settings.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="was left as it is") as told:
        put_in(user, tmp_path / "records")
    assert "\n" not in str(told.value) and str(user.settings) in str(told.value)
    assert user.settings.read_text("utf-8") == text and not (tmp_path / "records").exists()


def test_nothing_is_written_where_one_of_the_files_is_refused(project: InstallLevel, tmp_path: Path) -> None:
    (project.base / ".mcp.json").write_text('{"mcpServers": {"gardener": {"command": "other"}}}', "utf-8")
    with pytest.raises(UsageError, match="another server"):
        put_in(project, tmp_path / "records")
    assert not project.settings.exists()
    assert put_in(project, tmp_path / "records", with_server=False) == ["settings.local.json", "exclude"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_is_followed_for_the_user_and_refused_out_of_a_project(
    project: InstallLevel, user: InstallLevel, tmp_path: Path
) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}", "utf-8")
    for level in (project, user):
        level.settings.parent.mkdir(parents=True)
        level.settings.symlink_to(kept)
    with pytest.raises(UsageError, match="is a link out of"):
        put_in(project, tmp_path / "records")
    assert kept.read_text("utf-8") == "{}"
    (change,) = levels.planned_install(
        user, GARDENER, tmp_path / "records", recall_sessions=False, with_server=True
    )
    assert change.file.is_linked
    apply(change, tmp_path / "records")
    assert user.settings.is_symlink() and install.our_hooks(json.loads(kept.read_text("utf-8")))


def test_the_folder_of_the_user_is_the_one_that_the_environment_names(tmp_path: Path) -> None:
    level = levels.user_level(tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / "other")})
    assert level.settings == tmp_path / "other" / "settings.json"
    assert level.host_file == tmp_path / "other" / ".claude.json"
    assert levels.user_level(tmp_path, {"CLAUDE_CONFIG_DIR": ""}).settings.parent == tmp_path / ".claude"


def test_status_tells_hooks_that_are_missing_moved_or_gone(user: InstallLevel, tmp_path: Path) -> None:
    empty = levels.status(user, GARDENER)
    assert (empty["events"], empty["missing"], empty["server"]) == ({}, list(EVENTS), None)
    script = tmp_path / "gardener"
    script.touch(mode=0o755)
    put_in(user, tmp_path / "records", [str(script)], recall_sessions=True)
    row = levels.status(user, [str(script)])
    assert row["missing"] == [] and row["recall_sessions"] and not row["problem"]
    assert all(hook["exists"] and hook["current"] for hook in row["events"].values())
    script.unlink()
    moved = levels.status(user, GARDENER)["events"]["PreCompact"]
    assert not moved["exists"] and not moved["current"]


def test_status_finds_the_server_where_claude_code_keeps_it(
    project: InstallLevel, user: InstallLevel, tmp_path: Path
) -> None:
    entry = {"mcpServers": {"gardener": {"command": str(tmp_path / "gone" / "gardener"), "args": ["mcp"]}}}
    user.host_file.parent.mkdir()
    user.host_file.write_text(json.dumps({"projects": {str(project.base): entry}}), "utf-8")
    assert levels.status(user, GARDENER)["server"] is None
    found = levels.status(project, GARDENER)["server"]
    assert found["file"] == str(user.host_file) and not found["exists"]
    assert levels.remove_command(project) == "claude mcp remove --scope local gardener"
    user.host_file.write_text(json.dumps(entry), "utf-8")
    assert levels.remove_command(user) == "claude mcp remove --scope user gardener"
    put_in(project, tmp_path / "records")
    assert levels.status(project, GARDENER)["server"]["file"] == str(project.base / ".mcp.json")
    assert levels.remove_command(project) == ""


def test_status_says_what_is_wrong_with_a_file(user: InstallLevel) -> None:
    user.settings.parent.mkdir(parents=True)
    user.settings.write_text("{,}", "utf-8")
    assert "no JSON" in levels.status(user, GARDENER)["problem"]
    user.settings.write_text('{"disableAllHooks": true}', "utf-8")
    assert levels.status(user, GARDENER)["hooks_off"]


def test_a_plugin_is_written_anew_but_never_over_something_else(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    carried_out(levels.planned_plugin(folder, "1.0"), tmp_path / "records")
    manifest = folder / ".claude-plugin" / "plugin.json"
    assert json.loads(manifest.read_text("utf-8"))["version"] == "1.0"
    assert carried_out(levels.planned_plugin(folder, "1.1"), tmp_path / "records") == ["plugin.json"]
    manifest.write_text('{"name": "other"}', "utf-8")
    with pytest.raises(UsageError, match="holds something else"):
        levels.planned_plugin(folder, "1.1")
