"""A hook as a process: it leaves its host in time, archives behind that, and is never a fault of its host."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from aider_gardener.adapters.claude_code import client
from aider_gardener.adapters.claude_code.client import (
    LOG_NAME,
    OWN_SHARE,
    archive_directory,
    is_whole_in_context,
    project_of,
)
from aider_gardener.adapters.claude_code.dialects import DIALECTS
from aider_gardener.adapters.marks import SHORTENED_MARK
from aider_gardener.adapters.plain.gardener import Gardener
from aider_gardener.archive.store import Store, open_store, schema
from aider_gardener.cli.root import place_of
from bench.claude_transcript import Host

from .hooked import FACT, LOG, QUESTION, run, told, until

HEAVY = (
    "click",
    "apsw",
    "numpy",
    "aider_gardener.archive",
    "aider_gardener.reading",
    "aider_gardener.settings",
)


CHILD = [
    sys.executable,
    "-c",
    "import sys; from aider_gardener.adapters.claude_code.client import act, printed;"
    " act(sys.argv[1], printed, 600)",
]
"""What a hook's child does, in a process that can be killed and is waited for, however long it takes."""
PATIENT = "from aider_gardener.archive.store import database; database.BUSY_MILLISECONDS = 600_000; "
"""Wherever a lock is waited for as long as it takes, a test does not end."""
LOGGED = {"tool_name": "Bash", "tool_input": {"command": "cat app.log"}, "tool_response": {"stdout": LOG}}


def test_the_end_of_a_turn_leaves_a_copy_and_makes_it_anew_after_an_hour(project: Path, host: Host) -> None:
    """No session of a host ends here: of an archive without a copy a turned bit loses what it stood in."""
    copy = project / ".aider.gardener" / "gardener.db.copy"
    host.ask(FACT)
    run("Stop", host.payload("Stop"), project)
    assert until(copy.exists)
    first = copy.read_bytes()
    host.ask("Something else.")
    run("Stop", host.payload("Stop"), project)
    assert until(lambda: "Something else." in told(project)) and copy.read_bytes() == first
    os.utime(copy, (time.time() - 3_700,) * 2)
    run("Stop", host.payload("Stop"), project)
    assert until(lambda: copy.read_bytes() != first)
    (copy.parent / "gardener.db").write_bytes(b"")
    assert "Something else." in told(project), "what the disk lost comes back from it"


@pytest.mark.parametrize(
    "environ", [{}, {"AIDER_GARDENER_MODE": "off"}, {"AIDER_GARDENER_MODE": "wrong"}], ids=str
)
def test_the_copy_that_our_plugin_makes_goes_whatever_comes_of_it(
    project: Path, host: Host, tmp_path: Path, environ: dict[str, str]
) -> None:
    copy_of = tmp_path / "aider-gardener" / "opencode" / "ses_1.jsonl"
    copy_of.parent.mkdir(parents=True)
    for said in (FACT, "And more."):
        host.ask(said)
        shutil.copy(host.path, copy_of)
        run("Stop", {**host.payload("Stop"), "transcript_path": str(copy_of)}, project, **environ)
        assert until(lambda: not copy_of.exists(), 20) and host.path.exists()
    shutil.copy(host.path, copy_of)
    small = {"transcript_path": str(copy_of), "tool_name": "Bash", "tool_response": {"stdout": "short"}}
    run("PostToolUse", {**host.payload("PostToolUse"), **small}, project, **environ)
    assert until(lambda: not copy_of.exists(), 20)
    if not environ:
        assert told(project, host.session) == [FACT, "And more."]


def test_what_a_compaction_lost_comes_back(project: Path, host: Host) -> None:
    host.ask(FACT)
    host.ask("Something else.")
    host.compact()
    done = run(
        "UserPromptSubmit", host.payload("UserPromptSubmit", prompt="Which port has the queue?"), project
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert FACT in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert (project / ".aider.gardener").stat().st_mode & 0o777 == 0o700 or os.name == "nt"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("UserPromptSubmit", b""),
        ("UserPromptSubmit", b"\xff\xfe"),
        ("UserPromptSubmit", b"[]"),
        ("UserPromptSubmit", b'{"session_id": "s", "transcript_path": 7}'),
        ("UserPromptSubmit", b"{" * 99_999),
        ("Nonsense", b"{}"),
        ("", b"{}"),
        ("UserPromptSubmit too many", b"{}"),
        ("PreCompact --now", b"{}"),
    ],
)
def test_a_malformed_call_ends_with_0_and_nothing(project: Path, event: str, said: bytes) -> None:
    done = run(event, said, project)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_mark_of_the_byte_order_before_the_event_is_passed_over(project: Path, host: Host) -> None:
    host.ask(FACT)
    run("PreCompact", b"\xef\xbb\xbf" + json.dumps(host.payload("PreCompact")).encode(), project)
    assert until(lambda: told(project) == [FACT], 20.0)


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_hook_whose_output_is_closed_archives_and_ends_with_0(
    project: Path, host: Host, closed: str
) -> None:
    host.ask(FACT)
    words = f"'{sys.executable}' -m aider_gardener.cli hook UserPromptSubmit {closed}"
    given = json.dumps(host.payload("UserPromptSubmit", prompt=QUESTION)).encode()
    done = subprocess.run(["sh", "-c", words], input=given, capture_output=True, cwd=project, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert until(lambda: told(project) == [FACT])


@pytest.mark.parametrize("fault", ["UsageError", "ValueError"])
def test_a_fault_is_one_line_in_the_log_without_a_word_of_the_chat(
    project: Path, host: Host, fault: str
) -> None:
    host.ask(FACT)
    run("PreCompact", host.payload("PreCompact"), project)
    assert until(lambda: told(project) == [FACT])
    given = host.payload("UserPromptSubmit", prompt="secret words")
    given = given if fault == "UsageError" else b'["secret words"]'
    done = run("UserPromptSubmit", given, project, AIDER_GARDENER_RECALL_TOKENS="lots")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    log = project / ".aider.gardener" / LOG_NAME
    assert until(log.exists)
    (line,) = log.read_text(encoding="utf-8").splitlines()
    assert line.endswith(f"Z UserPromptSubmit {fault}") and "secret" not in line
    assert log.stat().st_mode & 0o077 == 0 or os.name == "nt"


def test_twenty_hooks_at_once_lose_and_double_nothing(project: Path, host: Host) -> None:
    for turn in range(10):
        host.ask(f"Step {turn} of the plan.")
        host.run(f"make step-{turn}", f"step {turn} done")
    given = host.payload("PreCompact", trigger="auto")
    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(lambda _n: run("PreCompact", given, project), range(20)))
    assert [(each.returncode, each.stdout, each.stderr) for each in done] == [(0, b"", b"")] * 20
    wanted = [text for turn in range(10) for text in (f"Step {turn} of the plan.", f"step {turn} done")]
    assert until(lambda: told(project) == wanted)


def test_a_hook_that_is_killed_leaves_an_archive_that_the_next_one_completes(
    project: Path, host: Host
) -> None:
    for turn in range(300):
        host.ask(f"Step {turn} of the plan.")
    given = json.dumps(host.payload("PreCompact", trigger="auto")).encode()
    for wait in (0.25, 0.4, 0.6):
        process = subprocess.Popen([*CHILD, "PreCompact"], stdin=subprocess.PIPE, cwd=project)
        process.stdin.write(given)
        process.stdin.close()
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    run("PreCompact", given, project)
    assert until(lambda: told(project) == [f"Step {turn} of the plan." for turn in range(300)])


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
def test_a_hook_whose_input_never_ends_is_over_before_its_host_waits_no_more(project: Path) -> None:
    code = (
        "from aider_gardener.adapters.claude_code import client;"
        " client.EVENTS = {'UserPromptSubmit': 1}; client.main('UserPromptSubmit')"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project) as process:
        process.stdin.write(b'{"session_id": "s"')
        process.stdin.flush()
        assert process.wait(120) == 0
        assert process.stdout.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
def test_a_fifo_in_place_of_the_log_holds_up_no_hook(project: Path, host: Host) -> None:
    host.ask(FACT)
    (project / ".aider.gardener").mkdir(mode=0o700)
    os.mkfifo(project / ".aider.gardener" / LOG_NAME, 0o600)
    given, environ = host.payload("SessionStart"), {**os.environ, "AIDER_GARDENER_RECALL_TOKENS": "lots"}
    said = json.dumps(given).encode()
    command = [*CHILD, "SessionStart"]
    done = subprocess.run(command, input=said, capture_output=True, cwd=project, env=environ, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), "no watch had to end it"


def locked(project: Path) -> apsw.Connection:
    """A connection that holds the archive's lock until it is closed."""
    held = schema.opened(project / ".aider.gardener" / "gardener.db", apsw.SQLITE_OPEN_READWRITE, "")
    held.execute("BEGIN IMMEDIATE")
    return held


def first_notice(event: str, host: Host, project: Path, **given: object) -> str:
    """What a child answers that would wait for a lock without end if it waited as elsewhere."""
    command = [*CHILD[:2], PATIENT + CHILD[2], event]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project) as child:
        child.stdin.write(json.dumps(host.payload(event, **given)).encode())
        child.stdin.close()
        return child.stdout.read().decode()


def test_while_the_archive_is_locked_a_prompt_is_answered_and_nothing_is_lost(
    project: Path, host: Host
) -> None:
    host.ask(FACT)
    run("Stop", host.payload("Stop"), project)
    assert until(lambda: told(project) == [FACT])
    host.ask("Something else.")
    summary = host.compact()
    held = locked(project)
    assert FACT in first_notice("UserPromptSubmit", host, project, prompt="Which port has the queue?")
    said = first_notice("PostToolUse", host, project, **LOGGED)
    assert "shortened by aider-gardener: the whole is g" in said
    held.close()
    run("Stop", host.payload("Stop"), project)
    assert until(lambda: sorted(told(project)) == sorted([FACT, summary, "Something else.", LOG]))


def test_what_needs_no_answer_is_not_waited_for(project: Path, host: Host) -> None:
    open_store(project / ".aider.gardener").close()
    host.ask(FACT)
    held = locked(project)
    given = host.payload("Stop", prompt=FACT)
    assert run("Stop", given, project).stdout == run("UserPromptSubmit", given, project).stdout == b""
    assert not held.execute("SELECT count(*) FROM occurrences").get, "they have left, and their children wait"
    held.close()
    assert until(lambda: told(project) == [FACT])


@pytest.mark.parametrize(
    ("host", "event", "is_waited_for"),
    [
        ("", "Stop", False),
        ("", "SessionStart", True),
        ("gemini", "AfterTool", False),
        ("gemini", "SessionStart", True),
    ],
)
def test_only_an_event_that_may_have_an_answer_is_waited_for(
    project: Path, monkeypatch: pytest.MonkeyPatch, host: str, event: str, is_waited_for: bool
) -> None:
    order: list[str] = []
    given = io.TextIOWrapper(io.BytesIO(json.dumps({"session_id": "s", "cwd": str(project)}).encode()))
    monkeypatch.setattr("sys.stdin", given)
    monkeypatch.setattr(client, "archive", lambda *_given: order.append("archived"))
    client.act(event, lambda _answer: order.append("told"), 60, DIALECTS.get(host))
    assert order == (["archived"] if is_waited_for else ["told", "archived"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there the work is ended with its process")
def test_a_child_that_hangs_is_left_alone(project: Path) -> None:
    code = (
        "import time; from aider_gardener.adapters.claude_code import client;"
        " client.EVENTS = {'Stop': 1}; client.act = lambda *_: time.sleep(90); print(client.main('Stop'))"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=80)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"0\n", b"")
    assert time.monotonic() - began >= OWN_SHARE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there the work is ended with its process")
def test_a_hook_that_is_interrupted_by_the_keyboard_says_nothing_and_ends_with_0(project: Path) -> None:
    code = (
        "import os, signal, time; from aider_gardener.adapters.claude_code import client;"
        " client.act = lambda *_: (time.sleep(0.5), os.kill(os.getppid(), signal.SIGINT), time.sleep(1));"
        " signal.signal(signal.SIGINT, signal.default_int_handler); client.main('Stop')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=80)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_cannot_be_archived_is_not_shortened(project: Path, host: Host) -> None:
    given = json.dumps(host.payload("PostToolUse", **LOGGED)).encode()
    (project / ".aider.gardener").write_text("no folder")
    done = subprocess.run([*CHILD, "PostToolUse"], input=given, cwd=project, capture_output=True)
    assert done.stdout == b""
    (project / ".aider.gardener").unlink()
    done = subprocess.run([*CHILD, "PostToolUse"], input=given, cwd=project, capture_output=True)
    assert b"the whole is g" in done.stdout


def test_a_result_whose_archive_ends_meanwhile_is_not_shortened(
    project: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    states, said = iter([True, False, False]), list[dict[str, object]]()
    monkeypatch.setattr(Store, "persistent", property(lambda _store: next(states)))
    given = host.payload("PostToolUse", **LOGGED)
    client.archive("PostToolUse", given, said.append)
    assert said == [{}]


def test_only_a_chat_that_stands_whole_needs_no_recall(
    project: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIDER_GARDENER_RECALL_SESSIONS", raising=False)
    assert not is_whole_in_context(host.payload("UserPromptSubmit")), "no transcript"
    host.ask(FACT)
    assert is_whole_in_context(host.payload("UserPromptSubmit"))
    monkeypatch.setenv("AIDER_GARDENER_RECALL_SESSIONS", "true")
    assert not is_whole_in_context(host.payload("UserPromptSubmit"))
    monkeypatch.delenv("AIDER_GARDENER_RECALL_SESSIONS")
    host.run("cat app.log", f"{SHORTENED_MARK}the whole is g1234]")
    assert not is_whole_in_context(host.payload("UserPromptSubmit"))
    host.path.unlink()
    host.ask(FACT)
    host.compact()
    assert not is_whole_in_context(host.payload("UserPromptSubmit"))


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("aider_gardener.cli, aider_gardener.adapters.claude_code.client", HEAVY),
        (
            "aider_gardener.adapters.claude_code.hooks, aider_gardener.notes.last_chat",
            ("shutil", "lzma", "hashlib"),
        ),
    ],
    ids=["waits", "answers"],
)
def test_a_hook_imports_nothing_heavy(modules: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys; import {modules}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_project_is_the_work_tree_around_the_hosts_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "src" / "deep"
    inner.mkdir(parents=True)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.delenv("AIDER_GARDENER_STORE", raising=False)
    assert project_of({"cwd": str(inner)}) == project.resolve()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    assert project_of({"cwd": "/elsewhere"}) == project.resolve()
    assert archive_directory(project) == project / ".aider.gardener"
    monkeypatch.setenv("AIDER_GARDENER_STORE", str(project / "kept"))
    assert archive_directory(project) == project / "kept"


@pytest.mark.parametrize("where", [".", "src", ".."])
def test_a_relative_store_is_one_folder_of_the_project_wherever_a_host_or_a_shell_works(
    where: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "src").mkdir()
    monkeypatch.setenv("AIDER_GARDENER_STORE", "kept/here")
    monkeypatch.chdir(project / where)
    assert archive_directory(project) == project / "kept" / "here"
    with Gardener.open(project, window=8_000, background=False) as chat:
        assert chat.state.archive.store.directory == (project / "kept" / "here").resolve()
    assert place_of(start=project / "src")[0] == project / "kept" / "here"
    assert place_of(Path("other"))[0] == Path.cwd() / "other", "what --store names is the shell's"
