"""Other agents that the gardener is put into and taken out of: what each is given, as data, and how.

A host keeps its settings in files of JSON or TOML. Of what is put into one the file's bytes before and the
hash of those after are written down in the user's own folder: as long as nobody edited it since, taking it
out gives the file back byte for byte; else only what is ours is taken out. Claude Code is given a plugin by
its own command, and nothing of ours stands in its settings.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.adapters import CLAUDE, CODEX, CURSOR, GEMINI, OPENCODE
from aider_gardener.adapters.claude_code.client import EVENTS
from aider_gardener.adapters.claude_code.dialects import DIALECTS
from aider_gardener.adapters.transcript import parsed
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.reading.late import late

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AFTERWARDS = {CODEX: "In Codex type /hooks and trust the gardener's: until then only its tools work."}
"""What is to be done, or known, once the gardener is in a host."""
SERVER, PLUGIN = "gardener", "aider-gardener"
PROGRAMS = ("gardener", "gardener.exe")
MODULE = ("-I", "-m", "aider_gardener.cli")
"""How Python runs the same: isolated, since a hook is run in a folder whose files are other people's."""
TOOLS = {"PostToolUse": "Bash|Read|Grep|WebFetch"}
"""The tools that an event is for, where not for all there is."""
BEGIN, END = "# aider-gardener: begin", "# aider-gardener: end"
COMMAND_SECONDS = 120
OURS = late(r"(?:^|[\s/\\\\'\"])(?:gardener(?:\.exe)?|aider_gardener\.cli)['\"]?\s+(?:hook|mcp)(?:\s|$)")
"""A command that runs the gardener, of whatever place."""
BLOCK = late(rf"(?:(?<=\n)\r?\n)?{BEGIN}\r?\n\[mcp_servers\.{SERVER}\].*?{END}\r?\n?", re.DOTALL)
"""What is ours in TOML."""

Json = dict[str, Any]
Entries = Mapping[tuple[str, ...], object]


@dataclass(frozen=True)
class Part:
    """What is put into one file: `entries` of JSON by their path of keys (what is a list is added to the one
    that is there), or a `text`, the whole of a file of ours or, in TOML, a block at its end."""

    path: Path
    entries: Entries = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Change:
    """A file before and after, and without what is ours; None where there is none."""

    path: Path
    before: bytes | None
    after: bytes | None
    base: bytes | None

    @property
    def done(self) -> str:
        """What was done to it, in a word."""
        return "Removed" if self.after is None else "Changed" if self.before is not None else "Made"

    def diff(self) -> str:
        """For people."""
        old, new = (
            (data or b"").decode("utf-8", "replace").splitlines() for data in (self.before, self.after)
        )
        return "\n".join(unified_diff(old, new, str(self.path), str(self.path), lineterm=""))


# What each host is given


def program() -> list[str]:
    """The words that run `gardener` of this environment: its script, else Python with the module."""
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    folders = [Path(sysconfig.get_path("scripts", scheme)) for scheme in schemes]
    found = (folder / name for folder in folders for name in PROGRAMS if (folder / name).is_file())
    return next(([str(path)] for path in found), [sys.executable, *MODULE])


def parts_of(name: str, root: Path | None, command: Sequence[str], home: Path) -> list[Part]:
    """What a host is given, in a project's folder `root` or, None, for this user."""
    server: Json = {"command": command[0], "args": [*command[1:], "mcp"]}
    if name == CODEX:
        base = root / ".codex" if root else Path(os.environ.get("CODEX_HOME") or home / ".codex")
        entries = hooks_of(name, EVENTS, command)
        return [Part(base / "config.toml", text=_table(server)), Part(base / "hooks.json", entries)]
    if name == OPENCODE:
        base = root or Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
        local = {"type": "local", "command": [*command, "mcp"], "enabled": True}
        plugin = (base / ".opencode" if root else base) / "plugin" / "aider-gardener.js"
        source = resources.files("aider_gardener.adapters").joinpath("opencode.js").read_text("utf-8")
        text = source.replace('["gardener"]', json.dumps(list(command)))
        return [Part(base / "opencode.json", {("mcp", SERVER): local}), Part(plugin, text=text)]
    served: Entries = {("mcpServers", SERVER): server}
    hooked, base = hooks_of(name, DIALECTS[name].events, command), root or home
    if name == GEMINI:
        return [Part(base / ".gemini/settings.json", {**served, **hooked})]
    server["args"] += ["--project", "${workspaceFolder}"]  # Cursor may start it in the user's home
    versioned: Entries = {("version",): 1, **hooked}
    return [Part(base / ".cursor/mcp.json", served), Part(base / ".cursor/hooks.json", versioned)]


def hooks_of(name: str, events: Iterable[str], command: Sequence[str]) -> Entries:
    return {("hooks", event): [hook_entry(name, event, command)] for event in events}


def hook_entry(name: str, event: str, command: Sequence[str]) -> Json:
    """The entry of an event in a host's words: all but Cursor have groups, Gemini counts milliseconds."""
    dialect = DIALECTS.get(name)
    line = shell_line([*command, "hook", event, *([name] if dialect else [])])
    seconds = EVENTS[dialect.events[event] if dialect else event]
    if name == CURSOR:
        return {"command": line, "timeout": seconds}
    handler = {"type": "command", "command": line, "timeout": 1_000 * seconds if name == GEMINI else seconds}
    matcher = {"matcher": TOOLS[event]} if event in TOOLS else {}
    return {**matcher, "hooks": [handler]}


def shell_line(words: Sequence[str]) -> str:
    """A command as a host is given it: a line for `sh -c`, on Windows for Git Bash, where the backslashes of
    a path would be eaten and slashes serve as well."""
    return " ".join(shlex.quote(word.replace("\\", "/") if os.name == "nt" else word) for word in words)


def _table(server: Json) -> str:
    """The server in Codex's TOML. Required: else its tools miss the first turn."""
    rows = [f"{key} = {json.dumps(value)}" for key, value in {**server, "required": True}.items()]
    return "\n".join([BEGIN, f"[mcp_servers.{SERVER}]", *rows, END, ""])


def plugin_files(command: Sequence[str] = (SERVER,)) -> dict[str, Json]:
    """The files of a marketplace of one plugin for Claude Code, by their paths in it."""
    about = {
        "name": PLUGIN,
        "description": "A memory for long sessions: what was said comes back when needed.",
    }
    owner = {"name": "The aider-gardener authors"}
    listed = {**about, "source": "./plugin"}
    return {
        ".claude-plugin/marketplace.json": {"name": PLUGIN, "owner": owner, "plugins": [listed]},
        "plugin/.claude-plugin/plugin.json": {**about, "version": metadata.version("aider-gardener")},
        "plugin/hooks/hooks.json": {
            "hooks": {event: [hook_entry(CLAUDE, event, command)] for event in EVENTS}
        },
        "plugin/.mcp.json": {"mcpServers": {SERVER: {"command": command[0], "args": [*command[1:], "mcp"]}}},
    }


# Into the files, and out again


def planned(part: Part, records: Path, *, ours: bool) -> Change:
    """The change after which a file has what is ours, or has not. Raises UsageError for a file that is not to
    be changed, StoreError for one that cannot be read."""
    data, record = files.read_bytes(part.path), _record(part.path, records)
    try:
        if record and record["after"] == _hash(data):
            base = None if record["before"] is None else base64.b64decode(record["before"])
        else:
            base = _without(part, data)
        return Change(part.path, data, _with(part, base) if ours else base, base)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        entries: Json = {}
        for path, one in part.entries.items():
            _put(entries, path, one)
        raise UsageError(
            f"{part.path} was left as it is: {why}; what is ours in it, to be put in or taken out by hand:"
            f" {json.dumps(entries or part.text)}"
        ) from None


def carry_out(change: Change, records: Path, *, ours: bool) -> None:
    """Make a change, and before it note in `records` what takes it back, with the folders that are made for
    both. Raises StoreError."""
    record, note = _record(change.path, records) or {}, _record_path(change.path, records)
    if ours:
        folders = (*change.path.parents, records, *records.parents)
        new_folders = [str(folder) for folder in folders if not folder.exists()]
        before = None if change.base is None else base64.b64encode(change.base).decode()
        records.mkdir(mode=0o700, parents=True, exist_ok=True)
        value: Json = {"path": str(change.path), "before": before, "after": _hash(change.after)}
        value["folders"] = new_folders or record.get("folders", [])
        files.write_private(note, json.dumps(value))
    if change.after is None and change.before is not None:
        files.remove_if_unchanged(change.path, change.before)
    elif change.after is not None and change.after != change.before:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        files.write_if_unchanged(change.path, change.before, change.after)
    if not ours:
        note.unlink(missing_ok=True)
        copies = records.with_name(OPENCODE)  # what our plugin there writes
        for folder in (copies, *record.get("folders", ()), records, records.parent):
            with contextlib.suppress(OSError):  # what is not empty stays
                os.rmdir(folder)


def _with(part: Part, base: bytes | None) -> bytes:
    """A file with what is ours. Raises UsageError for what is another's, ValueError where it says why not."""
    if part.entries:
        value = _parsed(base)
        for path, one in part.entries.items():
            _put(value, path, one)
        return _dumped(value, base)
    if part.path.suffix != ".toml":
        if base is not None:
            raise UsageError(f"{part.path} is another's; move it and run the command again")
        return part.text.encode()
    before = base or b""
    whole = (
        before + (b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n") + part.text.encode()
    )
    for data in (before, whole):  # the second says where another server has the name
        tomllib.loads(data.decode("utf-8-sig"))
    return whole


def _without(part: Part, data: bytes | None) -> bytes | None:
    """A file that somebody edited, without what is ours. Raises ValueError where it says why not."""
    if data is None:
        return None
    if part.entries:
        value = _parsed(data)
        stripped = _without_ours(value) or {}
        return data if stripped == value else _dumped(stripped, data)
    if part.path.suffix != ".toml":
        return None if data.startswith(part.text.partition("\n")[0].encode()) else data
    text = data.decode("utf-8", "surrogateescape")
    other_keys, server = _read_toml(text)
    stripped = BLOCK.sub("", text, count=1)
    if server and _read_toml(stripped) == (other_keys, None):
        return stripped.encode("utf-8", "surrogateescape")
    if server and _is_ours(server):
        raise ValueError("the lines around what is ours are not as they were")
    return data


def _read_toml(text: str) -> tuple[Json, Json | None]:
    """What TOML holds beside our server, and that. Raises ValueError for what is none."""
    value = tomllib.loads(text.removeprefix("\ufeff"))
    served = value.get("mcp_servers")
    server = served.pop(SERVER, None) if isinstance(served, dict) else None
    return {key: one for key, one in value.items() if one or key != "mcp_servers"}, server


def _parsed(data: bytes | None) -> Json:
    def unique(pairs: list[tuple[str, object]]) -> Json:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key stands in it twice")
        return dict(pairs)

    text = (data or b"").decode("utf-8-sig")
    if not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no plain JSON ({error.msg}, line {error.lineno})") from None
    if not isinstance(value, dict):
        raise ValueError("it holds no object")
    return value


def _dumped(value: Json, like: bytes | None) -> bytes:
    """JSON with the indentation, line ends and mark at the beginning of what stood there."""
    text = (like or b"{\n  \n}\n").decode("utf-8-sig")
    indent = re.search(r"\n([ \t]+)", text)
    dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent[1] if indent else None)
    dumped += "\n" if text.endswith("\n") else ""
    dumped = dumped.replace("\n", "\r\n") if "\r\n" in text else dumped
    return (b"\xef\xbb\xbf" if (like or b"").startswith(b"\xef\xbb\xbf") else b"") + dumped.encode()


def _put(value: Json, path: tuple[str, ...], one: object) -> None:
    """Put something at a path of keys. Raises ValueError where another thing stands there."""
    for key in path[:-1]:
        value = value.setdefault(key, {})
        if not isinstance(value, dict):
            raise ValueError(f'its "{key}" is no object')
    found = value.get(path[-1])
    if isinstance(one, list):
        if not isinstance(found, (list, type(None))):
            raise ValueError(f'its "{path[-1]}" is no list')
        value[path[-1]] = [*(found or []), *one]
    elif found not in (None, one):
        raise ValueError(f'it has another "{path[-1]}"')
    else:
        value[path[-1]] = one


def _without_ours(value: object) -> Any:
    """A value without the hooks and servers that run the gardener, and without what that leaves empty; None
    where nothing is left."""
    if isinstance(value, list):
        rest = [each for one in value if (each := _without_ours(one)) is not None or one is None]
        return rest or (None if value else value)
    if not isinstance(value, dict):
        return value
    if _is_ours(value):
        return None
    pairs = ((key, one, _without_ours(one)) for key, one in value.items())
    remaining = {key: each for key, one, each in pairs if each is not None or one is None}
    is_group = isinstance(value.get("hooks"), list) and "hooks" not in remaining
    return None if is_group else remaining or (None if value else value)


def _is_ours(entry: Json) -> bool:
    """Whether a hook or a server runs the gardener, of whatever place."""
    found = (entry.get(key) for key in ("command", "args"))
    words = (str(word) for each in found for word in (each if isinstance(each, list) else [each]))
    return OURS.search(" ".join(words)) is not None


def _hash(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _record_path(path: Path, records: Path) -> Path:
    return records / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.json"


def _record(path: Path, records: Path) -> Json | None:
    value = parsed(files.read_bytes(_record_path(path, records)) or b"null")
    return value if isinstance(value, dict) and {"before", "after"} <= set(value) else None


# Claude Code


def claude_steps(folder: Path, scope: str, *, ours: bool) -> list[list[str]]:
    """What Claude Code is told to do with the marketplace in a folder, the words of each step. Without a
    scope it forgets a marketplace with all that came from it, so a project's names its own."""
    plugin, where = [f"{PLUGIN}@{PLUGIN}", "--scope", scope], ["--scope", scope] if scope != "user" else []
    if ours:
        return [["plugin", "marketplace", "add", str(folder), *where], ["plugin", "install", *plugin]]
    return [["plugin", "uninstall", *plugin], ["plugin", "marketplace", "remove", PLUGIN, *where]]


def with_claude(
    folder: Path, steps: Sequence[Sequence[str]], root: Path, command: Sequence[str], *, ours: bool
) -> str:
    """Write the marketplace and have Claude Code take the plugin in, or out again; what the user is told.
    Raises GardenerError, saying what is left to type."""
    for name, value in plugin_files(command).items() if ours else ():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        files.write_private(folder / name, json.dumps(value, indent=2) + "\n")
    claude = shutil.which("claude") or "claude"
    for at, step in enumerate(steps):
        try:
            done = subprocess.run(
                [claude, *step],
                cwd=root,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=COMMAND_SECONDS,
                check=False,
            )
            why = f"exit code {done.returncode} {done.stderr or done.stdout}" if done.returncode else ""
        except FileNotFoundError:
            why = "claude is not on the PATH"
        except (OSError, subprocess.TimeoutExpired) as error:
            why = type(error).__name__
        if why:
            why = " ".join(why.split())[:300]
            rest = "; ".join(shell_line(["claude", *each]) for each in steps[at:])
            raise GardenerError(f"Claude Code did not do it ({why}): type {rest}")
    return f"Claude Code {'has' if ours else 'no longer has'} the plugin, from its next start on."


def remove_marketplace(folder: Path) -> None:
    """Remove what was written for Claude Code, once nothing there comes from it any more."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # what is not empty stays
        folder.parent.rmdir()
