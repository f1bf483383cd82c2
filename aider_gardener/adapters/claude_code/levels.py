"""The levels at which Claude Code is set up, project and user: their files, what changes, how they stand."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.adapters.claude_code import install
from aider_gardener.adapters.claude_code.client import EVENTS
from aider_gardener.adapters.claude_code.config_files import (
    ConfigFile,
    FileChange,
    check_writable,
    find,
    origin,
    read_record,
    was_made_here,
)
from aider_gardener.adapters.claude_code.json_edits import Edit, applied, parsed
from aider_gardener.archive.store.location import GIT_SECONDS, is_tracked
from aider_gardener.errors import UsageError

EMPTY = "{}\n"
TRACKED = (
    "{path} is tracked by git: a path of this machine would be committed with it; "
    "use --user, or take the file out of the repository (git rm --cached)"
)


@dataclass(frozen=True)
class InstallLevel:
    """Where the files of a level lie: settings, the servers it shares, what Claude Code keeps for itself."""

    name: str
    base: Path
    settings: Path
    servers: Path | None
    host_file: Path

    @property
    def is_project(self) -> bool:
        return self.servers is not None


def project_level(root: Path, home: Path, environ: Mapping[str, str]) -> InstallLevel:
    """The level of one project, whose folder is `root`."""
    settings = root / ".claude" / "settings.local.json"
    return InstallLevel("project", root, settings, root / ".mcp.json", _host_file(home, environ))


def user_level(home: Path, environ: Mapping[str, str]) -> InstallLevel:
    """The level of this user in every project; CLAUDE_CONFIG_DIR names another folder for it."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    return InstallLevel("user", folder.parent, folder / "settings.json", None, _host_file(home, environ))


def planned_install(
    level: InstallLevel, command: Sequence[str], records: Path, *, recall_sessions: bool, with_server: bool
) -> list[FileChange]:
    """What an installation changes, known before anything is written. Raises UsageError where it may not."""
    settings = find(level.settings, level.base, inside=level.is_project)
    keeps = _keeps_variable(settings) or recall_sessions
    changes = [
        _with_ours(
            settings,
            records,
            install.without_hooks,
            lambda text: install.settings_edits(text, command, keeps),
            lambda value: install.is_current(value, command, keeps),
        )
    ]
    if level.servers and with_server:
        servers = find(level.servers, level.base, inside=True)
        changes.append(
            _with_ours(servers, records, install.without_server, install.server_edits, _has_our_server)
        )
    if level.is_project and (ignoring := _ignored(level)):
        changes.append(ignoring)
    for change in changes:
        check_writable(change)
    return changes


def planned_uninstall(level: InstallLevel, records: Path) -> list[FileChange]:
    """What taking it out again changes. Raises UsageError for a file that is not to be read or written."""
    changes = [
        _without_ours(
            find(level.settings, level.base, inside=level.is_project), records, install.without_hooks
        )
    ]
    if level.servers:
        servers = find(level.servers, level.base, inside=True)
        changes.append(_without_ours(servers, records, install.without_server))
        exclude = _exclude_file(level.base)
        if exclude and read_record(exclude, records):
            changes.append(_without_ours(exclude, records, install.without_line))
    for change in changes:
        check_writable(change)
    return changes


def planned_plugin(folder: Path, version: str) -> list[FileChange]:
    """The files of a plugin's folder. Raises UsageError for one that holds something else."""
    manifest = find(folder / ".claude-plugin" / "plugin.json", folder, inside=True)
    with _told(manifest.path):
        is_earlier = manifest.text is not None and parsed(manifest.text).get("name") == install.PLUGIN_NAME
    if not is_earlier and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} holds something else; name a folder that is empty or not there yet")
    return [
        FileChange(find(folder / name, folder, inside=True), json.dumps(value, indent=2) + "\n")
        for name, value in install.plugin_files(version).items()
    ]


def status(level: InstallLevel, command: Sequence[str]) -> dict[str, Any]:
    """How a level stands: {level, settings, events: {event: {command, exists, current}}, missing: [event],
    recall_sessions, hooks_off, server: {file, command, exists} or None, problem}."""
    value, problem = _read(level.settings)
    found = install.our_hooks(value)
    events = {
        event: {
            "command": handler["command"],
            "exists": install.runs(handler["command"]),
            "current": event in EVENTS and handler in install.hook_group(event, command)["hooks"],
        }
        for event, handlers in found.items()
        for handler in handlers[:1]
    }
    server, server_problem = _server(level)
    return {
        "level": level.name,
        "settings": str(level.settings),
        "events": events,
        "missing": [event for event in EVENTS if event not in found],
        "recall_sessions": install.has_variable(value),
        "hooks_off": value.get("disableAllHooks") is True,
        "server": server,
        "problem": problem or server_problem,
    }


def remove_command(level: InstallLevel) -> str:
    """The line with which Claude Code itself takes the server out, empty where it does not hold it."""
    server, _ = _server(level)
    if server is None or server["file"] != str(level.host_file):
        return ""
    return f"claude mcp remove --scope {'local' if level.is_project else 'user'} {install.SERVER}"


def _host_file(home: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of which file it is true that it cannot be changed."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{path} was left as it is: {error}; mend it and run the command again") from None


def _keeps_variable(file: ConfigFile) -> bool:
    """Whether an earlier installation switched recall of other sessions on: that outlives the next."""
    if file.text is None:
        return False
    with _told(file.path):
        value = parsed(file.text)
    return bool(install.our_hooks(value)) and install.has_variable(value)


def _with_ours(
    file: ConfigFile,
    records: Path,
    strip: Callable[[str], str],
    edits: Callable[[str], list[Edit]],
    is_current: Callable[[Mapping[str, Any]], bool],
) -> FileChange:
    """The change that puts our entries into a file, in place of older ones; none where they are there."""
    with _told(file.path):
        if file.text is not None and is_current(parsed(file.text)):
            return FileChange(file, file.text)
        text = _without_ours(file, records, strip).text
        base = EMPTY if text is None else text
        made = tuple(edits(base))
        after = applied(base, made)
        return FileChange(file, after, text, made if text is not None else (Edit(0, "", after),))


def _without_ours(file: ConfigFile, records: Path, strip: Callable[[str], str]) -> FileChange:
    """The change that takes our entries out of a file: byte for byte where nobody edited it since, else by
    what stands in it. A file that held nothing else goes, unless it is known to have been there before."""
    if file.text is None:
        return FileChange(file, None)
    is_untouched, text = origin(file, records)
    if is_untouched:
        return FileChange(file, text)
    with _told(file.path):
        left = strip(file.text)
    goes = left != file.text and left.strip("{} \t\r\n\ufeff") == "" and was_made_here(file, records)
    return FileChange(file, None if goes else left)


def _has_our_server(value: Mapping[str, Any]) -> bool:
    servers = value.get("mcpServers")
    return isinstance(servers, dict) and install.is_our_server(servers.get(install.SERVER))


def _ignored(level: InstallLevel) -> FileChange | None:
    """The change after which git leaves a project's own settings out, None where it does so already.

    Claude Code sees to that only for a file that it makes itself. Raises UsageError where git tracks it.
    """
    if is_tracked(level.settings):
        raise UsageError(TRACKED.format(path=level.settings))
    exclude = _exclude_file(level.base)
    if exclude is None or _git(level.base, "check-ignore", "-q", "--", str(level.settings)) is not None:
        return None
    text = exclude.text or ""
    edits = tuple(install.line_edits(text))
    return FileChange(exclude, applied(text, edits), exclude.text, edits)


def _exclude_file(root: Path) -> ConfigFile | None:
    """What the owner of a clone has git ignore there, None outside of a work tree or without git."""
    if not (root / ".git").exists():
        return None
    found = _git(root, "rev-parse", "--git-path", "info/exclude")
    if not found:
        return None
    path = root / found
    return find(path, path.parent)


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints, None if it says no or is not there."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-C", str(root), *arguments]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """The value of a file and what is wrong with it; of a missing one nothing."""
    try:
        text = find(path, path.parent).text
        return (parsed(text) if text is not None else {}), ""
    except (UsageError, ValueError) as error:
        return {}, str(error) if isinstance(error, UsageError) else f"{path}: {error}"


def _server(level: InstallLevel) -> tuple[dict[str, Any] | None, str]:
    """The server where Claude Code finds it at this level: {file, command, exists}; and what is wrong."""
    value, problem = _read(level.host_file)
    projects = value.get("projects")
    mine = projects.get(str(level.base)) if isinstance(projects, dict) else None
    places: list[tuple[Path, Any]] = [(level.host_file, value)]
    if level.servers:
        shared, problem = _read(level.servers)
        places = [(level.host_file, mine), (level.servers, shared)]
    for path, holder in places:
        if isinstance(holder, dict) and _has_our_server(holder):
            entry = holder["mcpServers"][install.SERVER]
            words = [str(word) for word in (entry["command"], *entry["args"])]
            line = install.shell_line(words)
            return {"file": str(path), "command": line, "exists": install.runs(words)}, problem
    return None, problem
