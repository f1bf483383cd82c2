"""What is put into Claude Code's settings and taken out again: hooks, an MCP server, a variable.

Each function takes the text of a file, or the value it holds, and gives edits or a new text.

Which file: a hook's command is a path of one machine, so it goes where nothing is shared, into
`.claude/settings.local.json` of a project or `settings.json` of the user. `.mcp.json` is shared with all who
have the repository, so it says plain `gardener`. What Claude Code keeps in `~/.claude.json` is its own:
`claude mcp add` writes there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.adapters.claude_code.client import EVENTS
from aider_gardener.adapters.claude_code.json_edits import Edit, append, applied, drop, parsed, put

TOOLS = {"PostToolUse": "Bash|Read|Grep|WebFetch"}
"""The tools that an event is for, where not for all there is."""

SERVER = "gardener"
SERVER_ARGUMENTS = ("mcp",)
VARIABLE = "AIDER_GARDENER_RECALL_SESSIONS"
PLUGIN_NAME = "aider-gardener"
IGNORED = "/.claude/settings.local.json"
"""What `.git/info/exclude` is told, a line."""
PROGRAMS = ("gardener", "gardener.exe")
MODULE = ("-I", "-m", "aider_gardener.cli")
"""How Python runs the same: isolated, since a hook is run in a folder whose files are other people's."""


def program(scripts: Iterable[Path] = (), executable: str = sys.executable) -> list[str]:
    """The words that run `gardener` of this environment: its script, else Python with the module."""
    folders = list(scripts) or [Path(sysconfig.get_path("scripts", scheme)) for scheme in _schemes()]
    for path in (folder / name for folder in folders for name in PROGRAMS):
        if path.is_file():
            return [str(path)]
    return [executable, *MODULE]


def _schemes() -> list[str]:
    """Where installers put scripts: those of the environment first, then those of the user."""
    return [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]


def shell_line(words: Sequence[str], windows: bool = os.name == "nt") -> str:
    """A command as Claude Code is given it: a line for `sh -c`, on Windows for Git Bash.

    Backslashes of a Windows path would be eaten there, so they are written as slashes, which Windows takes
    too. Without Git Bash the line goes to PowerShell, which runs a path only if it needs no quotes.
    """
    return " ".join(shlex.quote(word.replace("\\", "/") if windows else word) for word in words)


def shell_words(line: str) -> list[str]:
    """The words of a command, none if it is no plain one."""
    try:
        return shlex.split(line)
    except ValueError:
        return []


def is_ours(handler: Any) -> bool:
    """Whether a hook is one that an installation wrote, of whatever place and version."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return False
    words = shell_words(handler["command"])
    return len(words) > 2 and words[-2] == "hook" and _runs_gardener(words[:-2])


def is_our_server(server: Any) -> bool:
    """Whether an MCP server is `gardener mcp`."""
    if not isinstance(server, dict) or not isinstance(server.get("command"), str):
        return False
    arguments = server.get("args")
    words = [server["command"], *arguments] if isinstance(arguments, list) else []
    return words[-1:] == list(SERVER_ARGUMENTS) and _runs_gardener(words[:-1])


def _runs_gardener(words: Sequence[Any]) -> bool:
    """Whether these words are the program alone, or Python with its module."""
    if len(words) == 1:
        return str(words[0]).replace("\\", "/").rpartition("/")[2] in PROGRAMS
    return len(words) > 1 and tuple(words[-2:]) == MODULE[-2:]


def hook_group(event: str, command: Sequence[str]) -> dict[str, Any]:
    """The entry of an event in the settings."""
    handler = {"type": "command", "command": shell_line([*command, "hook", event]), "timeout": EVENTS[event]}
    return ({"matcher": TOOLS[event]} if event in TOOLS else {}) | {"hooks": [handler]}


def server_entry(command: Sequence[str] = (SERVER,)) -> dict[str, Any]:
    """The entry of the server in `.mcp.json`."""
    return {"command": command[0], "args": [*command[1:], *SERVER_ARGUMENTS]}


def add_command(scope: str, command: Sequence[str], windows: bool = os.name == "nt") -> str:
    """The line with which Claude Code itself adds the server for one user."""
    return f"claude mcp add --scope {scope} {SERVER} -- {shell_line([*command, *SERVER_ARGUMENTS], windows)}"


def check_settings(value: Mapping[str, Any], *, variable: bool = False) -> None:
    """Raise ValueError, in a few words, for settings in which hooks have no place."""
    hooks = value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError('its "hooks" is no object of events')
    for event in EVENTS:
        groups = hooks.get(event, [])
        well_formed = isinstance(groups, list) and all(
            isinstance(group, dict) and isinstance(group.get("hooks"), list) for group in groups
        )
        if not well_formed:
            raise ValueError(f'its "hooks" has under {event} no list of {{"hooks": […]}}')
    if variable and not isinstance(value.get("env", {}), dict):
        raise ValueError('its "env" is no object of variables')


def check_servers(value: Mapping[str, Any]) -> None:
    """Raise ValueError, in a few words, for a list of MCP servers in which ours has no place."""
    servers = value.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise ValueError('its "mcpServers" is no object of servers')
    if SERVER in servers and not is_our_server(servers[SERVER]):
        raise ValueError(f"it has another server of the name {SERVER}; rename that, or use --no-mcp")


def our_hooks(value: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Our hooks in some settings, by event; what has another shape is passed over."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event, _, _, handler in _handlers(value):
        if is_ours(handler):
            found.setdefault(event, []).append(handler)
    return found


def is_current(value: Mapping[str, Any], command: Sequence[str], recall_sessions: bool) -> bool:
    """Whether settings hold just what an installation would write now."""
    found = our_hooks(value)
    hooks = value.get("hooks")
    groups = hooks if isinstance(hooks, dict) else {}
    return (
        set(found) == set(EVENTS)
        and all(len(handlers) == 1 for handlers in found.values())
        and all(hook_group(event, command) in groups[event] for event in EVENTS)
        and (not recall_sessions or has_variable(value))
    )


def has_variable(value: Mapping[str, Any]) -> bool:
    """Whether settings let recall bring in other sessions."""
    env = value.get("env")
    return isinstance(env, dict) and env.get(VARIABLE) == "true"


def settings_edits(text: str, command: Sequence[str], recall_sessions: bool) -> list[Edit]:
    """The edits that put our hooks into settings that have none of them.

    Raises ValueError, in a few words, for text that is no settings.
    """
    check_settings(parsed(text), variable=recall_sessions)
    edits: list[Edit] = []
    for event in EVENTS:
        edits.append(append(applied(text, edits), ["hooks", event], hook_group(event, command)))
    if recall_sessions and not has_variable(parsed(text)):
        edits.append(put(applied(text, edits), ["env", VARIABLE], "true"))
    return edits


def server_edits(text: str) -> list[Edit]:
    """The edits that put our server into a `.mcp.json`. Raises ValueError like `settings_edits`."""
    check_servers(parsed(text))
    return [put(text, ["mcpServers", SERVER], server_entry())]


def without_hooks(text: str) -> str:
    """Settings without our hooks and, if there were any, our variable; what that leaves empty goes too.

    Raises ValueError, in a few words, for text that is no settings.
    """
    value = parsed(text)
    if not our_hooks(value):
        return text
    while path := _first_hook(value):
        text = applied(text, [drop(text, path)])
        value = parsed(text)
    if has_variable(value):
        text = applied(text, [drop(text, ["env", VARIABLE] if len(value["env"]) > 1 else ["env"])])
    return text


def without_server(text: str) -> str:
    """A `.mcp.json` without our server. Raises ValueError, in a few words, for text that is none."""
    servers = parsed(text).get("mcpServers")
    if not isinstance(servers, dict) or not is_our_server(servers.get(SERVER)):
        return text
    return applied(text, [drop(text, ["mcpServers", SERVER] if len(servers) > 1 else ["mcpServers"])])


def without_line(text: str) -> str:
    """A list of what git ignores without our line."""
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() != IGNORED)


def line_edits(text: str) -> list[Edit]:
    """The edits that put our line at the end of such a list."""
    return [Edit(len(text), "", ("" if not text or text.endswith("\n") else "\n") + IGNORED + "\n")]


def plugin_files(version: str) -> dict[str, dict[str, Any]]:
    """The files of a plugin's folder by their paths in it; it finds `gardener` by PATH on any machine."""
    described = "A memory for long sessions: what was said comes back when it is needed."
    return {
        ".claude-plugin/plugin.json": {"name": PLUGIN_NAME, "version": version, "description": described},
        "hooks/hooks.json": {"hooks": {event: [hook_group(event, [SERVER])] for event in EVENTS}},
        ".mcp.json": {"mcpServers": {SERVER: server_entry()}},
    }


def runs(command: str | Sequence[str]) -> bool:
    """Whether the program that a command begins with is there."""
    words = shell_words(command) if isinstance(command, str) else list(command)
    return bool(words) and shutil.which(words[0]) is not None


def _handlers(value: Mapping[str, Any]) -> Iterable[tuple[str, int, int, Any]]:
    """Every hook of some settings with its event and places; what has another shape is passed over."""
    hooks = value.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at, group in enumerate(groups) if isinstance(groups, list) else ():
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for number, handler in enumerate(handlers) if isinstance(handlers, list) else ():
                yield event, at, number, handler


def _first_hook(value: Mapping[str, Any]) -> list[str | int] | None:
    """The path of the first hook of ours, or of the outermost thing that holds nothing else."""
    for event, at, number, handler in _handlers(value):
        if is_ours(handler):
            hooks = value["hooks"]
            path: list[str | int] = ["hooks", event, at, "hooks", number]
            if len(hooks[event][at]["hooks"]) > 1:
                return path
            if len(hooks[event]) > 1:
                return path[:3]
            return path[:2] if len(hooks) > 1 else path[:1]
    return None
