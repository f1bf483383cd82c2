"""`gardener run -- COMMAND`: its output short, its status kept, the whole at hand."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from locked_archives import fill_disk

from aider_gardener.archive.sessions import project_sessions
from aider_gardener.archive.store import open_store
from aider_gardener.cli import child
from aider_gardener.cli import run as command
from aider_gardener.cli.root import main

GARDENER = [sys.executable, "-m", "aider_gardener.cli", "run"]
LINES = "for i in range(500): print(f'2024-05-01 10:00:01 INFO worker job={i} done')"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
posix = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without an archive, in which the commands run; temporary files are its own."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def run(*words: str, code: str = "") -> Result:
    """What comes of `gardener run` with a command, or with a program in Python."""
    command = [sys.executable, "-S", "-u", "-c", code] if code else []
    return CliRunner().invoke(main, ["run", *words, *command], catch_exceptions=False)


def report(*words: str, code: str) -> dict[str, Any]:
    return json.loads(run("--json", *words, "--", code=code).stdout)


def where(output: str) -> str:
    """What the last line says of the whole."""
    found = re.search(r"^\[… short for [^;]*; whole: (.*)\]\n\Z", output, re.MULTILINE)
    assert found, output[-300:]
    return found[1]


# What is printed


@pytest.mark.parametrize("output", [b"", b"hello\n", b"no line end", b"\r\n\xff\n"])
def test_a_short_output_is_printed_as_it_is(output: bytes) -> None:
    done = run(code=f"import sys; sys.stdout.buffer.write({output!r})")
    assert (done.stdout_bytes, done.stderr, done.exit_code) == (output, "", 0)


def test_a_long_output_is_printed_in_short_with_where_the_whole_is() -> None:
    done = run(code=LINES)
    assert len(done.stdout) < 1_000 and done.stderr == "" and "job=321" not in done.stdout
    file = Path(where(done.stdout))
    assert len(file.read_text().splitlines()) == 500
    assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "job=321" in run("--focus", "other job=321", code=LINES).stdout


def test_what_cannot_be_much_shorter_is_printed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aider_gardener.cli.run.MOST_SHARE", 0.0)
    done = run(code=LINES)
    assert done.output.count("\n") == 500 and "whole" not in done.output


def test_both_streams_stand_in_the_order_in_which_they_were_written() -> None:
    code = "import sys\nfor i in range(50): print(i, file=sys.stderr if i % 2 else sys.stdout, flush=True)"
    done = run(code=code)
    assert done.stdout.split() == [str(i) for i in range(50)] and done.stderr == ""


def test_a_binary_output_passes_untouched() -> None:
    data, code = bytes(range(256)) * 4_000, "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4_000)"
    assert run(code=code).stdout_bytes == data
    found = report("--out", "data.bin", code=code)
    assert (found["binary"], found["text"], found["class"], found["whole"]) == (True, "", None, "data.bin")
    assert not found["shortened"], "nothing stands for it"
    assert Path("data.bin").read_bytes() == data


def test_a_binary_output_passes_as_it_comes_and_input_goes_to_the_command() -> None:
    code = "import sys; sys.stdout.buffer.write(bytes(9)); sys.stdout.flush(); print(input()[::-1])"
    command = [*GARDENER, sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.read(9) == bytes(9)
        assert process.communicate(b"olleh\n", timeout=120)[0].split() == [b"hello"]


def test_a_last_line_without_an_end_is_counted_too() -> None:
    assert (
        "[… short for 1 line, 9 KB" in run(sys.executable, "-c", "print('progress\\r' * 1000, end='')").stdout
    )


def test_with_json_there_is_one_value_and_nothing_else() -> None:
    found = report(code=f"{LINES}\nraise SystemExit(3)")
    assert found["status"] == 3 and found["command"][-1].startswith("for i")
    assert found["class"] == "log" and found["shortened"] and not found["binary"]
    assert found["tokens_after"] < 200 < found["tokens_before"] and found["counter"] == "cl100k_base"
    assert found["lines"] == 500 and Path(found["whole"]).is_file() and found["beginning"] is None
    small = report(code="print('hello')")
    assert small["text"].split() == ["hello"] and small["whole"] is None and not small["shortened"]


# Its end


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(77)", 77),
        pytest.param("import os; os.kill(os.getpid(), 9)", 128 + 9, marks=posix),
    ],
)
def test_the_status_is_the_commands(code: str, status: int) -> None:
    assert run(code=code).exit_code == run("--json", "--", code=code).exit_code == status


@pytest.mark.parametrize(("name", "status"), [("no-such-command", 127), ("./tmp", 126)])
def test_what_cannot_be_run_is_one_line(name: str, status: int) -> None:
    done = run("--", name)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert name in done.stderr and (done.exit_code == status or os.name == "nt")


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_command_and_what_it_printed_is_shown(number: int) -> None:
    command = [*GARDENER, sys.executable, "-uc", f"import time\n{LINES}\nopen('ready', 'w')\ntime.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        until = time.monotonic() + 120
        while not Path("ready").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(number)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert where(output.decode())


@posix
def test_ctrl_c_at_a_terminal_reaches_the_command_once() -> None:
    pexpect = pytest.importorskip("pexpect", reason="aider installs it on systems with pseudo-terminals")
    code = (
        "import signal, time\ntimes = []\nsignal.signal(signal.SIGINT, lambda *_: times.append(1))\n"
        "print('begun', flush=True)\ntime.sleep(0.3)\nprint('ready', flush=True)\n"
        "while not times: time.sleep(0.1)\n"
        "time.sleep(0.5)\n"  # a second one would come at once
        "print('interrupted', len(times))\nraise SystemExit(5)"
    )
    terminal = pexpect.spawn(GARDENER[0], [*GARDENER[1:], sys.executable, "-c", code], timeout=120)
    terminal.expect("2 lines: ready")  # the line that says how far it is
    terminal.sendintr()
    terminal.expect("interrupted 1")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 5


@posix
@pytest.mark.parametrize(
    "code",
    [
        LINES,
        *(f"import sys\nwhile True: sys.stdout.buffer.write({data})" for data in ("bytes(9999)", "b'y\\n'")),
    ],
)
def test_nobody_who_reads_is_no_error(code: str) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(
        [*GARDENER, sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE
    ) as process:
        os.close(writing)
        os.close(reading)
        _, told = process.communicate(timeout=120)
    assert b"gardener" not in told and b"Exception ignored" not in told
    assert process.returncode in (0, 1, 128 + signal.SIGPIPE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("size", [3_000, 30_000_000])
def test_a_binary_output_that_has_no_room_is_told(size: int) -> None:
    code = f"import sys; sys.stdout.buffer.write(bytes({size}))"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*GARDENER, sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1 and b"standard output cannot be used (No space left" in done.stderr


@posix
def test_a_process_left_behind_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "SILENT_SECONDS", 0.3)
    done = run("sh", "-c", "sleep 30 & echo begun")
    assert done.stdout == "begun\n" and "left a process behind" in done.stderr


@posix
def test_a_signal_ends_the_wait_for_a_process_left_behind_that_goes_on_printing() -> None:
    command = [*GARDENER, "sh", "-c", "while echo tick; do sleep 0.1; done & touch ready"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        until = time.monotonic() + 120
        while not Path("ready").exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(1.0)
        process.terminate()
        try:
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, output[:5]) == (0, b"tick\n")


# Where the whole is


def test_the_whole_is_an_entry_of_the_projects_archive_without_its_secrets(project: Path) -> None:
    open_store(project / ".aider.gardener").close()
    done = run(code=f"print('token={SECRET}')\n{LINES}")
    command = where(done.stdout).split()
    assert command[:2] == ["gardener", "restore"] and not list((project / "tmp").iterdir())
    restored = CliRunner().invoke(main, command[1:])
    assert restored.stdout.count("\n") == 501 and "[redacted:" in restored.stdout
    assert SECRET not in restored.stdout
    store = open_store(project / ".aider.gardener")
    assert project_sessions(store, str(project)) == []  # it is no chat
    store.close()


@pytest.mark.parametrize("has_archive", [False, True])
def test_a_whole_in_another_encoding_is_byte_for_byte_what_it_was(project: Path, has_archive: bool) -> None:
    if has_archive:
        open_store(project / ".aider.gardener").close()
    said = b"".join(b"caf\xe9 %d: \x83\x65\x83\x58 done\n" % n for n in range(500))
    kept = where(run("--", code=f"import sys; sys.stdout.buffer.write({said!r})").stdout)
    assert Path(kept).read_bytes() == said
    assert not has_archive or "done" in CliRunner().invoke(main, ["recall", "done"]).output


def test_an_archive_that_cannot_be_used_leaves_a_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(project / ".aider.gardener").close()
    monkeypatch.setenv("AIDER_GARDENER_MODE", "nonsense")
    assert Path(where(run(code=LINES).stdout)).parent == project / "tmp"


def test_an_archive_that_cannot_be_written_any_more_leaves_a_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(project / ".aider.gardener").close()
    fill_disk(monkeypatch)
    done = run(code=LINES)
    assert Path(where(done.stdout)).parent == project / "tmp"
    assert "the archive cannot be written; the whole is kept elsewhere" in done.stderr


def test_beside_an_encrypted_archive_nothing_is_written_in_the_open(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIDER_GARDENER_KEY", "ab" * 32)
    open_store(project / ".aider.gardener", key_source="env").close()
    monkeypatch.delenv("AIDER_GARDENER_KEY")
    assert where(run(code=LINES).stdout) == "not kept, --out FILE keeps it"
    assert list((project / "tmp").iterdir()) == []


def test_the_user_may_name_the_file(project: Path) -> None:
    file = project / "whole.log"
    file.write_text("what the last run wrote")
    done = run("--out", "whole.log", code=f"print('token={SECRET}')\n{LINES}")
    assert where(done.stdout) == "whole.log" and list((project / "tmp").iterdir()) == []
    assert file.read_text().count("\n") == 501 and SECRET not in file.read_text()
    assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("--out", "whole.log", code="print('short')").stdout.split() == ["short"]
    assert file.read_text().split() == ["short"]


@pytest.mark.parametrize("name", ["tmp", "no/such/folder", "-"])
def test_a_file_that_cannot_be_written_is_told_before_the_command_is_run(name: str) -> None:
    done = run("--out", name, code="open('ran', 'w')")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and not Path("ran").exists()


def test_a_file_that_cannot_be_written_after_all_is_told_and_the_whole_is_kept_elsewhere(
    project: Path,
) -> None:
    (project / "gone").mkdir()
    done = run("--out", "gone/x.log", code=f"import os; os.rmdir('gone')\n{LINES}")
    assert "gone/x.log was not written (" in done.stderr
    assert Path(where(done.stdout)).parent == project / "tmp"


def test_no_piece_of_a_text_parts_a_private_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PIECE_BYTES", 1_000)
    key = (
        b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEpAIBAAKCAQEA\n" * 90 + b"-----END RSA PRIVATE KEY-----\n"
    )
    output = child.Output()
    output.spool.write(b"line\n" * 150 + key + b"line\n" * 400)
    found = list(command._pieces(output.spool))
    assert b"".join(found) == b"line\n" * 150 + key + b"line\n" * 400
    assert any(key in piece for piece in found) and len(found) > 2


# Very large outputs


def test_of_a_very_long_output_the_ends_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "READ_BYTES", 2_000)
    monkeypatch.setattr(child, "MEMORY_BYTES", 1_000)
    output = child.Output()
    for i in range(1_000):
        output._put(b"%d fine\n" % i)
    text = output.text()
    assert not output.is_read_whole and len(text) < 2_000
    assert text.startswith("0 fine\n") and text.endswith("999 fine\n")
    assert all(re.fullmatch(r"\d+ fine", line) for line in text.splitlines()), "no line is cut"


@pytest.mark.parametrize("code", ["print('x' * 9_000)", "print('begun', 'x' * 9_000, 'done', sep='\\n')"])
def test_of_a_line_longer_than_what_is_read_the_ends_are_shown(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "READ_BYTES", 4_000)
    shown = run(code=code).stdout
    assert len(shown) < 2_000 and "xxx …" in shown and "middle was not read" in shown


def test_of_one_line_that_is_read_by_its_ends_parts_are_told() -> None:
    assert run(code="print('ab ' * 900_000)").stdout.startswith("[… parts of 1 line]\n")


def test_an_output_without_end_does_not_fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "SPOOL_BYTES", 10_000)
    output = child.Output()
    for _ in range(100):
        output._put(b"x" * 999 + b"\n")
    assert output.spool_bytes < 12_000 < output.size and "not held from line 11 on" in output.problem


def test_of_an_output_that_is_not_held_whole_a_part_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "SPOOL_BYTES", 100_000)
    code = "for i in range(20_000): print(f'2024-05-01 INFO job={i} done')"
    shown = run(code=code).stdout
    assert re.search(r"KB, whose end was not read; its first \d+ KB: \S+\]\n\Z", shown), shown[-200:]
    found = report(code=code)
    assert found["whole"] is None and 100_000 < Path(found["beginning"]).stat().st_size < found["bytes"]


def test_a_file_for_which_the_disk_has_no_room_is_not_left_behind(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_output: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "_without_secrets", full)
    assert where(run(code=LINES).stdout) == command.NOT_SAVED
    assert not [*(project / "tmp").iterdir()]


def test_a_full_disk_is_told_and_what_was_held_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(child, "MEMORY_BYTES", 1_000)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    output = child.Output()
    output._put(b"held\n")
    output._put(b"x" * 2_000)
    output._put(b"dropped")
    assert "No space left" in output.problem and output.text().startswith("held\n")
    assert "dropped" not in output.text()


# Its start


def test_it_starts_without_what_takes_long_and_asks_no_network(root: Path) -> None:
    code = (
        "import sys; from offline import deny_network; deny_network(sys.exit)\n"
        "from click.testing import CliRunner; from aider_gardener.cli.root import main\n"
        "done = CliRunner().invoke(main, sys.argv[1:], catch_exceptions=False)\n"
        "assert done.exit_code == 0, done.output\n"
        "slow = {'aider', 'litellm', 'tiktoken', 'apsw', 'numpy', 'rich', 'requests', 'platformdirs'}\n"
        "print(*slow & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"}
    Path("small.log").write_text("2024-05-01 10:00:01 INFO begun\n" * 20)
    for words in (["run", "--", sys.executable, "-c", ""], ["compress", "small.log"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == []


@posix
def test_a_name_that_is_no_utf8_is_told_by_its_bytes(project: Path) -> None:
    done = run("--out", os.fsdecode(b"caf\xe9.log"), "--", code=LINES)
    assert (done.exit_code, where(done.stdout)) == (0, "caf\\udce9.log")
    assert len((project / os.fsdecode(b"caf\xe9.log")).read_text().splitlines()) == 500


@posix
def test_where_the_directory_is_gone_the_whole_is_in_a_temporary_file(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path_factory.mktemp("gone")
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = run(code=f"{LINES}\nraise SystemExit(3)")
    assert done.exit_code == 3 and len(Path(where(done.stdout)).read_text().splitlines()) == 500
    monkeypatch.chdir(project)
