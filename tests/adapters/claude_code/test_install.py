"""What is put into Claude Code's settings: which hooks, which commands, and that nothing else moves."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.adapters.claude_code import install
from aider_gardener.adapters.claude_code.client import EVENTS
from aider_gardener.adapters.claude_code.install import SERVER, VARIABLE
from aider_gardener.adapters.claude_code.json_edits import applied, parsed, undone

GARDENER = ["/opt/tools/bin/gardener"]
OLDER = ["/old place/bin/gardener"]

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
plain = st.none() | st.booleans() | st.integers() | words
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": words}, optional={"timeout": plain})
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=2)}, optional={"matcher": words})
hooks = st.dictionaries(st.sampled_from([*EVENTS, "Notification"]), st.lists(groups, max_size=2), max_size=4)
settings = st.fixed_dictionaries(
    {},
    optional={
        "hooks": hooks,
        "env": st.dictionaries(words, words, max_size=2),
        "permissions": st.dictionaries(words, plain | st.lists(plain, max_size=2), max_size=2),
        "model": plain,
    },
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Settings as people and programs write them."""
    text = json.dumps(draw(settings), indent=draw(st.sampled_from([None, 2, 4, "\t"])))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))


def with_hooks(text: str, command: list[str] = GARDENER, recall_sessions: bool = False) -> str:
    return applied(text, install.settings_edits(text, command, recall_sessions))


def without(value: dict[str, Any]) -> dict[str, Any]:
    """Settings without what is empty among the hooks, which may go with ours."""
    events = {
        event: [group for group in found if group["hooks"]] for event, found in value.get("hooks", {}).items()
    }
    kept = {event: found for event, found in events.items() if found}
    return {key: member for key, member in value.items() if key != "hooks"} | (
        {"hooks": kept} if kept else {}
    )


@given(texts(), st.booleans())
def test_the_edits_taken_back_give_the_bytes_from_before(text: str, recall_sessions: bool) -> None:
    edits = install.settings_edits(text, GARDENER, recall_sessions)
    made = applied(text, edits)
    assert install.is_current(parsed(made), GARDENER, recall_sessions)
    assert undone(made, edits).encode() == text.encode()


@given(texts(), st.booleans())
def test_without_the_edits_at_hand_ours_goes_and_all_else_stays(text: str, recall_sessions: bool) -> None:
    value = parsed(text)
    left = parsed(install.without_hooks(with_hooks(text, OLDER, recall_sessions)))
    assert install.our_hooks(left) == {}
    if not value.get("env"):
        value.pop("env", None)
        left.pop("env", None)
    assert list(without(left).items()) == list(without(value).items())


@given(texts())
def test_settings_that_are_given_hooks_keep_every_other_member_in_its_order(text: str) -> None:
    before, after = parsed(text), parsed(with_hooks(text))
    assert [key for key in after if key in before] == list(before)
    assert {key: after[key] for key in before if key != "hooks"} == {
        key: member for key, member in before.items() if key != "hooks"
    }
    for event, found in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(found)] == found


def test_every_event_gets_one_hook_with_a_time_limit_and_tools_only_where_they_matter() -> None:
    value = parsed(with_hooks("{}"))
    assert list(value["hooks"]) == list(EVENTS)
    rows = {event: (group.get("matcher"), group["hooks"]) for event, (group,) in value["hooks"].items()}
    assert rows["PostToolUse"] == (
        "Bash|Read|Grep|WebFetch",
        [{"type": "command", "command": "/opt/tools/bin/gardener hook PostToolUse", "timeout": 5}],
    )
    assert {event: row[1][0]["timeout"] for event, row in rows.items()} == {
        "SessionStart": 10, "UserPromptSubmit": 5, "PostToolUse": 5, "PreCompact": 60, "PostCompact": 60,
        "Stop": 10,
    }  # fmt: skip
    assert [event for event, row in rows.items() if row[0]] == ["PostToolUse"]


@pytest.mark.parametrize(
    ("program", "windows", "line"),
    [
        (["/usr/bin/gardener"], False, "/usr/bin/gardener"),
        (["/my tools/it's/gardener"], False, """'/my tools/it'"'"'s/gardener'"""),
        (["/a\\b/gardener"], False, "'/a\\b/gardener'"),
        (["C:\\Users\\me\\venv\\Scripts\\gardener.exe"], True, "C:/Users/me/venv/Scripts/gardener.exe"),
        (["C:\\Program Files\\g$x\\gardener.exe"], True, "'C:/Program Files/g$x/gardener.exe'"),
        (["C:\\Py\\python.exe", *install.MODULE], True, "C:/Py/python.exe -I -m aider_gardener.cli"),
    ],
)
def test_a_path_is_quoted_for_the_shell_that_runs_the_hook(
    program: list[str], windows: bool, line: str
) -> None:
    assert install.shell_line(program, windows) == line
    wanted = [word.replace("\\", "/") if windows else word for word in program]
    assert shlex.split(line) == wanted
    assert install.is_ours({"command": f"{line} hook PreCompact"})


@pytest.mark.parametrize(
    "command",
    [
        "gardener hook Stop",
        "/old/gardener hook SessionStart",
        "'C:/x y/gardener.exe' hook A",
        '"C:\\x y\\gardener.exe" hook A',
        "/usr/bin/python3 -m aider_gardener.cli hook PreCompact",
    ],
)
def test_a_hook_of_ours_is_known_by_its_command_wherever_it_lies(command: str) -> None:
    assert install.is_ours({"type": "command", "command": command})


@pytest.mark.parametrize(
    "handler",
    [
        None,
        {},
        {"command": 3},
        {"command": "gardener"},
        {"command": "gardener status now"},
        {"command": "gardener-other hook X"},
        {"command": "/opt/mygardener hook X"},
        {"command": "echo gardener hook X"},
        {"command": "python -m other hook X"},
        {"command": "gardener hook 'X"},
    ],
)
def test_other_peoples_hooks_are_not_taken_for_ours(handler: Any) -> None:
    assert not install.is_ours(handler)


def test_a_hook_beside_ours_in_one_group_stays_in_it() -> None:
    value = parsed(with_hooks("{}"))
    mine = {"type": "command", "command": "notify"}
    value["hooks"]["PreCompact"][0]["hooks"].append(mine)
    left = parsed(install.without_hooks(json.dumps(value)))
    assert left == {"hooks": {"PreCompact": [{"hooks": [mine]}]}}


def test_the_variable_goes_with_the_hooks_and_is_left_to_who_set_it_without_them() -> None:
    made = with_hooks('{"env": {"A": "1"}}', recall_sessions=True)
    assert parsed(made)["env"] == {"A": "1", VARIABLE: "true"}
    assert install.without_hooks(made) == '{"env": {"A": "1"}}'
    own = json.dumps({"env": {VARIABLE: "true"}})
    assert install.without_hooks(own) == own


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"hooks": []}, '"hooks" is no object'),
        ({"hooks": None}, '"hooks" is no object'),
        ({"hooks": {"PreCompact": {}}}, "PreCompact no list"),
        ({"hooks": {"SessionStart": ["echo"]}}, "SessionStart no list"),
        ({"hooks": {"SessionStart": [{"command": "echo"}]}}, "SessionStart no list"),
        ({"env": ["A=1"]}, '"env" is no object'),
    ],
)
def test_settings_of_another_shape_are_refused(value: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        install.settings_edits(json.dumps(value), GARDENER, True)


def test_events_that_are_not_ours_may_have_any_shape() -> None:
    value = {"hooks": {"Tomorrow": "?", "Notification": [{"x": 1}]}}
    made = with_hooks(json.dumps(value))
    assert json.loads(install.without_hooks(made)) == value


def test_the_server_is_added_beside_others_and_taken_out_alone() -> None:
    text = '{"mcpServers": {"db": {"command": "db"}}}'
    made = applied(text, install.server_edits(text))
    assert parsed(made)["mcpServers"][SERVER] == {"command": "gardener", "args": ["mcp"]}
    assert install.without_server(made) == text
    assert install.without_server(applied("{}", install.server_edits("{}"))) == "{}"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"mcpServers": []}, "no object of servers"),
        ({"mcpServers": {SERVER: {"command": "x"}}}, "another server"),
    ],
)
def test_a_list_of_servers_without_room_for_ours_is_refused(value: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        install.server_edits(json.dumps(value))
    assert install.without_server(json.dumps(value)) == json.dumps(value)


def test_a_server_is_ours_whatever_path_it_has() -> None:
    assert install.is_our_server({"command": "C:\\x\\gardener.exe", "args": ["mcp"]})
    assert install.is_our_server({"command": "python", "args": ["-m", "aider_gardener.cli", "mcp"]})
    for other in (None, {"command": "gardener"}, {"command": "gardener", "args": "mcp"}, {"args": ["mcp"]}):
        assert not install.is_our_server(other)


@given(st.lists(st.sampled_from(["*.pyc\n", "# a\n", "\n", "b"]), max_size=4).map("".join))
def test_the_ignored_line_goes_without_a_trace(text: str) -> None:
    edits = install.line_edits(text)
    made = applied(text, edits)
    assert made.splitlines()[-1] == install.IGNORED and made.startswith(text)
    assert undone(made, edits) == text
    assert install.IGNORED not in install.without_line(made)


def test_the_program_is_the_script_of_this_environment_else_python_with_the_module(tmp_path: Path) -> None:
    assert install.program([tmp_path], "/py") == ["/py", "-I", "-m", "aider_gardener.cli"]
    (tmp_path / "gardener.exe").touch()
    assert install.program([tmp_path / "none", tmp_path], "/py") == [str(tmp_path / "gardener.exe")]
    found = install.program()
    assert found[0] == sys.executable or Path(found[0]).name in install.PROGRAMS


def test_a_plugin_names_no_path_of_this_machine() -> None:
    files = install.plugin_files("1.2.3")
    assert files[".claude-plugin/plugin.json"]["name"] == "aider-gardener"
    assert files[".claude-plugin/plugin.json"]["version"] == "1.2.3"
    lines = [group["hooks"][0]["command"] for (group,) in files["hooks/hooks.json"]["hooks"].values()]
    assert lines == [f"gardener hook {event}" for event in EVENTS]
    assert files[".mcp.json"]["mcpServers"][SERVER]["command"] == "gardener"


def test_whether_a_command_still_runs_is_seen_from_its_first_word(tmp_path: Path) -> None:
    assert install.runs(f"{shlex.quote(sys.executable)} hook X")
    assert not install.runs(f"{shlex.quote(str(tmp_path / 'gone'))} hook X")
    assert not install.runs("'unclosed") and not install.runs([])


def test_the_line_to_type_for_the_server_names_scope_and_path() -> None:
    line = install.add_command("user", ["/my tools/gardener"], windows=False)
    assert line == "claude mcp add --scope user gardener -- '/my tools/gardener' mcp"
