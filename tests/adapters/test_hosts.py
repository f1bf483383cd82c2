"""The gardener put into other agents: files that come back byte for byte, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.adapters import CLAUDE, NAMES, hosts
from aider_gardener.errors import GardenerError, UsageError

COMMAND = ["/opt/an environment/bin/gardener"]
FILES = [name for name in NAMES if name != CLAUDE]
ROOT = Path(__file__).resolve().parents[2]

others = st.dictionaries(
    st.sampled_from(["theme", "mcpServers", "mcp", "hooks", "model", "ümlaut"]),
    st.one_of(
        st.integers(), st.text(max_size=5), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
    ),
    max_size=4,
)
looks = st.builds(
    lambda value, indent, end, crlf, bom: (
        (b"\xef\xbb\xbf" if bom else b"")
        + (json.dumps(value, indent=indent, ensure_ascii=False) + end).replace("\n", "\r\n" if crlf else "\n").encode()
    ),
    others, st.sampled_from([None, 2, 4, "\t"]), st.sampled_from(["", "\n", "\n\n"]), st.booleans(), st.booleans(),
)  # fmt: skip


def change(part: hosts.Part, records: Path, *, ours: bool) -> hosts.Change:
    made = hosts.planned(part, records, ours=ours)
    hosts.carry_out(made, records, ours=ours)
    return made


def held(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_was_there_comes_back_byte_for_byte(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    for part in hosts.parts_of(name, home / "project", COMMAND, home):
        before = data.draw(st.one_of(st.none(), st.just(b""), looks)) if part.entries else None
        if part.path.suffix == ".toml":
            before = data.draw(
                st.sampled_from([None, b"", b'model = "x"', b"[a]\nb = 1\r\n", b"\xef\xbb\xbf# x\n"])
            )
        part.path.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            part.path.write_bytes(before)
        records = home / "records"
        try:
            change(part, records, ours=True)
        except UsageError as error:
            assert "put in or taken out by hand" in str(error) and held(part.path) == before
            continue
        first = held(part.path)
        assert first is not None and COMMAND[0].encode() in first
        change(part, records, ours=True)
        assert held(part.path) == first, "twice is once"
        if part.entries:  # nothing of the user's was touched
            now, then = (
                json.loads(first.decode("utf-8-sig")),
                json.loads((before or b"{}").decode("utf-8-sig") or "{}"),
            )
            assert set(then) <= set(now)
        change(part, records, ours=False)
        assert held(part.path) == before and not list(records.glob("*.json"))


def test_what_was_edited_since_keeps_the_edit(tmp_path: Path) -> None:
    config, hooks = hosts.parts_of(hosts.CODEX, tmp_path, COMMAND, tmp_path)
    hooks.path.parent.mkdir()
    hooks.path.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}')
    for part in (config, hooks):
        change(part, tmp_path / "records", ours=True)
    config.path.write_text("model = 'new'\n" + config.path.read_text())
    value = json.loads(hooks.path.read_text())
    assert len(value["hooks"]["Stop"]) == 2
    own = {"type": "command", "command": "tell-the gardener about it"}  # beside ours, in the same group
    value["hooks"]["Stop"][1]["hooks"].append(own)
    hooks.path.write_text(json.dumps({**value, "more": 1}))
    for part in (config, hooks):
        change(part, tmp_path / "records", ours=False)
    assert config.path.read_text() == "model = 'new'\n"
    left = json.loads(hooks.path.read_text())
    stop = [{"hooks": [{"type": "command", "command": "say done"}]}, {"hooks": [own]}]
    assert left == {"hooks": {"Stop": stop}, "more": 1}


def test_hooks_are_written_as_each_host_reads_them(tmp_path: Path) -> None:
    (gemini,) = hosts.parts_of(hosts.GEMINI, tmp_path, ["gardener"], tmp_path)
    handler = {"type": "command", "command": "gardener hook BeforeAgent gemini", "timeout": 5_000}
    assert gemini.entries["hooks", "BeforeAgent"] == [{"hooks": [handler]}], "in milliseconds"
    _server, cursor = hosts.parts_of(hosts.CURSOR, tmp_path, ["gardener"], tmp_path)
    flat = {"command": "gardener hook postToolUse cursor", "timeout": 5}
    assert cursor.entries["version",] == 1 and cursor.entries["hooks", "postToolUse"] == [flat]


def test_cursors_server_is_told_the_project_and_its_flat_handlers_are_told_apart(tmp_path: Path) -> None:
    server, hooks = hosts.parts_of(hosts.CURSOR, None, ["gardener"], tmp_path)
    hooks.path.parent.mkdir()
    hooks.path.write_text('{"version": 1, "hooks": {"sessionStart": [{"command": "say done"}]}}')
    for part in (server, hooks):
        change(part, tmp_path / "records", ours=True)
    args = ["mcp", "--project", "${workspaceFolder}"]
    served = json.loads(server.path.read_text())["mcpServers"]["gardener"]
    assert served == {"command": "gardener", "args": args}
    for part in (server, hooks):
        part.path.write_text(part.path.read_text() + "\n")  # edited since
        change(part, tmp_path / "records", ours=False)
    assert "gardener" not in server.path.read_text()
    left = json.loads(hooks.path.read_text())
    assert left == {"version": 1, "hooks": {"sessionStart": [{"command": "say done"}]}}
    hooks.path.write_text('{"version": 2}')
    with pytest.raises(UsageError, match='it has another "version"'):
        change(hooks, tmp_path / "records", ours=True)


def test_a_new_place_of_the_program_takes_that_of_the_old(tmp_path: Path) -> None:
    for command in (COMMAND, ["/new/gardener"]):
        for part in hosts.parts_of(hosts.GEMINI, tmp_path, command, tmp_path):
            change(part, tmp_path / "records", ours=True)
    servers = json.loads((tmp_path / ".gemini" / "settings.json").read_text())["mcpServers"]
    assert servers == {"gardener": {"command": "/new/gardener", "args": ["mcp"]}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("// mine\n{}", "no plain JSON"),
        ("[]", "holds no object"),
        ('{"a": 1, "a": 2}', "stands in it twice"),
        ('{"mcpServers": []}', 'its "mcpServers" is no object'),
        ('{"mcpServers": {"gardener": {"command": "another"}}}', 'it has another "gardener"'),
        ('{"limit": 1e400}', "not JSON compliant"),
        pytest.param('{"a": ' * 9_999 + "1" + "}" * 9_999, "nested too deeply", id="deep"),
    ],
)
def test_what_cannot_be_changed_is_left_and_said_with_what_to_put_in(
    text: str, why: str, tmp_path: Path
) -> None:
    part, _hooks = hosts.parts_of(hosts.CURSOR, tmp_path, COMMAND, tmp_path)
    part.path.parent.mkdir()
    part.path.write_text(text)
    with pytest.raises(UsageError, match=why) as refused:
        change(part, tmp_path / "records", ours=True)
    assert '{"mcpServers": {"gardener": ' in str(refused.value) and part.path.read_text() == text


def test_another_server_of_the_name_in_toml_and_another_plugin_are_refused(tmp_path: Path) -> None:
    config, _hooks = hosts.parts_of(hosts.CODEX, tmp_path, COMMAND, tmp_path)
    _server, plugin = hosts.parts_of(hosts.OPENCODE, tmp_path, COMMAND, tmp_path)
    for part, text, why in (
        (config, "[mcp_servers.gardener]\ncommand = 'x'\n", "'gardener'"),
        (config, "mcp_servers.gardener.command = 'x'\n", "'gardener'"),
        (config, "['mcp_servers'.\"gardener\"]\ncommand = 'x'\n", "'gardener'"),
        (config, "mcp_servers = {x = {command = 'y'}}\n", "'gardener'"),
        (config, "[mcp_servers]\ngardener = {command = 'x'}\n", "'gardener'"),
        (plugin, "export const Mine = 1\n", "another"),
    ):
        part.path.parent.mkdir(parents=True, exist_ok=True)
        part.path.write_text(text)
        with pytest.raises(UsageError, match=why):
            change(part, tmp_path / "records", ours=True)
        assert part.path.read_text() == text


@pytest.mark.parametrize(
    "text", [b'model = "x', b"[a\nb = 1\n", b"a = 1\na = 2\n", b"# \xff\n", b"a=" + b"[" * 9_999]
)
def test_what_is_no_toml_is_left_as_it_is_in_one_line(tmp_path: Path, text: bytes) -> None:
    config, _hooks = hosts.parts_of(hosts.CODEX, tmp_path, COMMAND, tmp_path)
    config.path.parent.mkdir()
    config.path.write_bytes(text)
    with pytest.raises(UsageError, match=r"config\.toml was left as it is: ") as refused:
        change(config, tmp_path / "records", ours=True)
    assert config.path.read_bytes() == text and "\n" not in str(refused.value)


def test_toml_whose_line_ends_an_editor_changed_has_nothing_of_ours_left(tmp_path: Path) -> None:
    config, _hooks = hosts.parts_of(hosts.CODEX, tmp_path, COMMAND, tmp_path)
    config.path.parent.mkdir()
    config.path.write_bytes(b'model = "x"\n')
    change(config, tmp_path / "records", ours=True)
    config.path.write_bytes(config.path.read_bytes().replace(b"\n", b"\r\n"))
    change(config, tmp_path / "records", ours=False)
    assert config.path.read_bytes() == b'model = "x"\r\n'


TEXT = f'''note = """
{hosts.BEGIN}
mine
{hosts.END}
"""
'''


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.replace("mine\n", f"{hosts.BEGIN}\n"), TEXT.replace(hosts.END, "")]
)
def test_our_lines_in_somebodys_own_texts_stay(text: str, tmp_path: Path) -> None:
    config, _hooks = hosts.parts_of(hosts.CODEX, tmp_path, COMMAND, tmp_path)
    config.path.parent.mkdir()
    config.path.write_text(text)
    assert (
        change(config, tmp_path / "records", ours=False).before == text.encode() == config.path.read_bytes()
    )
    change(config, tmp_path / "records", ours=True)
    change(config, tmp_path / "records", ours=True)
    config.path.write_text(edited := f"model = 'new'\n{config.path.read_text()}")
    change(config, tmp_path / "records", ours=False)
    assert config.path.read_text() == f"model = 'new'\n{text}"
    config.path.write_text(changed := edited.replace("required", "[mcp_servers.mine]\nrequired"))
    with pytest.raises(UsageError, match="the lines around what is ours are not as they were; what is ours"):
        change(config, tmp_path / "records", ours=False)
    assert config.path.read_text() == changed


PLAY = """
import { AiderGardener } from "./aider-gardener.js"
const state = { input: { path: "a.py" } }
const tool = (id, more) => ({ type: "tool", tool: "edit", callID: id, state: { ...state, ...more } })
const parts = [
  { type: "text", text: "Done." }, tool("1", { status: "completed", output: "edited" }),
  tool("2", { status: "error", error: "no such line" }), tool("3", { status: "running" }),
]
const answers = [{ data: [{ info: { id: "m", role: "assistant" }, parts }] }, { error: "gone" }]
const client = { session: { messages: async () => answers.shift() } }
const plugin = await AiderGardener({ client, directory: process.cwd() })
const event = { type: "session.idle", properties: { sessionID: "s" } }
await plugin.event({ event })
await plugin.event({ event })
"""


LONG_OUTPUT = """
import { AiderGardener } from "./aider-gardener.js"
const bash = (status) => ({ type: "tool", tool: "bash", callID: status, state: { status, output: status, input: {} } })
const data = [
  { info: { id: "a", role: "user" }, parts: [{ type: "text", text: "Show it." }] },
  { info: { id: "b", role: "assistant", time: { completed: 1 } }, parts: [bash("completed")] },
  { info: { id: "c", role: "assistant", time: {} }, parts: [{ type: "text", text: "Wait." }, bash("running")] },
]
const client = { session: { messages: async () => ({ data }) } }
const plugin = await AiderGardener({ client, directory: process.cwd() })
const output = { output: "the end\\n".repeat(3000), metadata: { truncated: true, outputPath: process.argv[2] } }
await plugin["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c1", args: { command: "x" } }, output)
console.log(output.output)
"""
ANSWERING = """#!/bin/sh
cat > given.json
cp aider-gardener/opencode/sc1.jsonl told.jsonl
echo '{"hookSpecificOutput": {"updatedToolOutput": {"stdout": "in short"}}}'
"""


def played(tmp_path: Path, command: str, play: str = PLAY, *words: str) -> Path:
    """What OpenCode's plugin that runs a command wrote of a session; `printed.txt` is what was printed."""
    if shutil.which("node") is None:
        pytest.skip("OpenCode's plugin is JavaScript")
    _server, plugin = hosts.parts_of(hosts.OPENCODE, tmp_path, [command], tmp_path)
    (tmp_path / "aider-gardener.js").write_text(plugin.text)
    (tmp_path / "play.mjs").write_text(play)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    with (tmp_path / "printed.txt").open("w") as out:
        command_line = ["node", "play.mjs", *words]
        subprocess.run(command_line, cwd=tmp_path, env=environment, stdout=out, check=True, timeout=60)
    return tmp_path / "aider-gardener" / "opencode" / "s.jsonl"


def test_opencode_leaves_no_copy_of_a_chat_where_the_gardener_is_gone(tmp_path: Path) -> None:
    assert not played(tmp_path, str(tmp_path / "gone")).exists()


def test_opencode_tells_what_failed_too_and_keeps_what_it_told(tmp_path: Path) -> None:
    told = played(tmp_path, "true").read_text().splitlines()
    contents = [json.loads(line)["message"]["content"][0] for line in told]
    assert [one.get("text") or one.get("name") or one["content"] for one in contents] == [
        "Done.", "edit", "edited", "edit", "no such line",
    ]  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell's")
@pytest.mark.parametrize("is_there", [True, False])
def test_opencode_gives_its_model_a_long_output_in_short_and_the_hook_the_whole(
    tmp_path: Path, *, is_there: bool
) -> None:
    command, whole = tmp_path / "answering", tmp_path / "whole.txt"
    command.write_text(ANSWERING)
    command.chmod(0o755)
    if is_there:
        whole.write_text("the beginning and the end")
    played(tmp_path, str(command), LONG_OUTPUT, str(whole))
    assert (tmp_path / "printed.txt").read_text() == "in short\n"
    given = json.loads((tmp_path / "given.json").read_text())
    part = {"stdout": "the end\n" * 3000, "persistedOutputPath": str(whole)}
    assert given["tool_response"] == ({"stdout": "the beginning and the end"} if is_there else part)
    told = (tmp_path / "told.jsonl").read_text()
    assert "Show it." in told and "completed" in told, "what came before, for its place in the chat"
    assert "Wait." not in told and "running" not in told, "which may still grow before it"


def test_the_marketplace_of_the_repository_is_what_is_installed() -> None:
    for name, value in hosts.plugin_files().items():
        source = (
            ROOT / name
            if name.startswith(".claude-plugin")
            else ROOT / "plugins" / "claude-code" / name.removeprefix("plugin/")
        )
        found = json.loads(source.read_text("utf-8"))
        if name.startswith(".claude-plugin"):
            value = json.loads(json.dumps(value).replace("./plugin", "./plugins/claude-code"))
        assert found == value


FAKE_CLAUDE = """#!/bin/sh
echo "$@" >> "$0.log"
test ! -e "$0.fails" || { echo "no such plugin" >&2; exit 1; }
"""


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell's")
def test_claude_code_is_told_and_what_it_refuses_is_left_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude, folder = tmp_path / "claude", tmp_path / "market"
    claude.write_text(FAKE_CLAUDE)
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    steps = hosts.claude_steps(folder, "user", ours=True)
    assert "has the plugin" in hosts.with_claude(folder, steps, tmp_path, COMMAND, ours=True)
    assert (tmp_path / "claude.log").read_text().splitlines() == [" ".join(step) for step in steps]
    manifest: Any = json.loads((folder / "plugin" / ".mcp.json").read_text())
    assert manifest["mcpServers"]["gardener"]["command"] == COMMAND[0]
    (tmp_path / "claude.fails").touch()
    with pytest.raises(
        GardenerError, match=r"no such plugin.*type claude plugin marketplace add .*; claude plugin"
    ):
        hosts.with_claude(folder, steps, tmp_path, COMMAND, ours=True)
    claude.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(GardenerError, match="exit code 3"):  # without a word of why
        hosts.with_claude(folder, steps, tmp_path, COMMAND, ours=True)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(GardenerError, match="not on the PATH"):
        hosts.with_claude(folder, steps, tmp_path, COMMAND, ours=True)
