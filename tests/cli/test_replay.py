"""`gardener replay`: one line for what is wrong, the right exit code, and a real replay at the end."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from made_replays import made_result

from aider_gardener.cli.root import main
from aider_gardener.errors import ReplayError
from aider_gardener.replay.play import jobs as jobs_of
from aider_gardener.replay.play.variants import Job

HISTORIES = Path(__file__).parent.parent / "data" / "histories"
HISTORY = str(HISTORIES / "current.md")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["replay", *(str(argument) for argument in arguments)])


def refused(found: Result, code: int, *says: str) -> None:
    """One line on standard error, after that of the progress if all was read; nothing on standard output."""
    assert found.exit_code == code, found.output
    assert found.stdout == ""
    first, *rest = found.stderr.strip().splitlines()
    (line,) = rest if first.startswith("replaying ") else [first, *rest]
    for words in says:
        assert words in line


def test_no_path_and_a_missing_path_are_usage_errors(tmp_path: Path) -> None:
    refused(run(), 2, "name a recorded session's folder")
    refused(run(tmp_path / "nowhere"), 2, "nowhere", "no such file")
    if os.name == "posix":
        os.mkfifo(tmp_path / "fifo")
        refused(run(tmp_path / "fifo"), 2, "fifo", "holds no session")


def test_an_unknown_variant_lists_those_that_exist() -> None:
    refused(run(HISTORY, "--variant", "stock,zork"), 2, "'zork'", "known: ", "stock-fixed")


def test_an_unknown_model_says_that_its_window_is_unknown() -> None:
    refused(run(HISTORY, "--model", "zork-9"), 2, "zork-9", "window")


def test_what_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_of, "replay_all", lambda *_: pytest.fail("it was replayed"))
    refused(run(HISTORY, "--json", tmp_path), 2, "is a directory")
    refused(run(HISTORY, "--html", tmp_path), 2, "is a directory")
    refused(run(HISTORY, "--dump-prompts", HISTORY), 2, "is a file")
    (tmp_path / "file").touch()
    for option, name in (
        ("--html", "x.html"),
        ("--json", "x.json"),
        ("--plot", "x.svg"),
        ("--dump-prompts", "x"),
    ):
        refused(run(HISTORY, option, tmp_path / "file" / name), 1, "cannot be written")


@pytest.mark.parametrize(("option", "name"), [("--html", "-"), ("--plot", "-"), ("--json", "")])
def test_a_report_needs_the_name_of_a_file(
    option: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run(HISTORY, option, name), 2, option, "name one")
    assert not any(tmp_path.iterdir())


def test_a_folder_without_a_session_says_what_to_give(tmp_path: Path) -> None:
    refused(run(tmp_path), 2, "session.jsonl", ".aider.chat.history.md", "a .jsonl of Claude Code")


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """A history in a project's folder, replayed under two variants with everything written."""
    place = tmp_path_factory.mktemp("project")
    (place / ".aider.chat.history.md").write_bytes((HISTORIES / "current.md").read_bytes())
    found = run(
        place,
        "--variant",
        "none,stock",
        "--json",
        place / "r.json",
        "--dump-prompts",
        place / "prompts",
        "--html",
        place / "r.html",
    )
    return found, place


def test_a_history_file_is_replayed_without_keys_or_network(replayed: tuple[Result, Path]) -> None:
    found, place = replayed
    assert found.exit_code == 0, found.output
    assert f"{place.name}: 5 turns\n" in found.stdout
    assert "stock" in found.stdout and "chat history file" in " ".join(found.stdout.split())
    assert "written to" in found.stderr and f"replayed {place.name} under stock" in found.stderr


def test_json_and_prompts_are_written(replayed: tuple[Result, Path]) -> None:
    _, place = replayed
    value = json.loads((place / "r.json").read_text("utf-8"))
    assert [result["variant"] for result in value["results"]] == ["none", "stock"]
    prompts = sorted(path.name for path in (place / "prompts" / place.name / "none").iterdir())
    assert prompts == ["1-1.json", "4-1.json", "4-2.json", "5-1.json"]
    second = json.loads((place / "prompts" / place.name / "none" / "4-1.json").read_text(encoding="utf-8"))
    assert any("a port is 1 to 65535" in str(message["content"]) for message in second)


def test_the_html_report_shows_every_variant_and_says_that_it_is_private(
    replayed: tuple[Result, Path],
) -> None:
    found, place = replayed
    page = (place / "r.html").read_text(encoding="utf-8")
    assert f"{place.name}: tokens per request" in page and "stock" in page
    assert place.name in page and "chat history" not in page.split("<h1>")[0]
    assert "holds parts of the chat" in found.stderr
    if os.name == "posix":
        written = [place / "r.html", *(place / "prompts").rglob("*.json")]
        assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}


def test_a_new_start_within_the_file_begins_with_an_empty_chat(replayed: tuple[Result, Path]) -> None:
    _, place = replayed
    last = (place / "prompts" / place.name / "none" / "5-1.json").read_text(encoding="utf-8")
    assert "where is the test for it?" in last and "a port is 1 to 65535" not in last


HEARS_HANGUP = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
"""These tests may have been begun by nohup."""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal")
def test_a_closed_terminal_leaves_nothing_of_the_chat_behind(tmp_path: Path) -> None:
    code = f"{HEARS_HANGUP}from aider_gardener.cli import main; main()"
    begun = subprocess.Popen(
        [sys.executable, "-c", code, "replay", HISTORY],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=(tmp_path / "said").open("w"),
    )
    try:
        until = time.monotonic() + 60
        while not any(tmp_path.glob("gardener-replay-*/home")):
            assert begun.poll() is None and time.monotonic() < until, (tmp_path / "said").read_text()
            time.sleep(0.05)
        begun.send_signal(signal.SIGHUP)
        assert begun.wait(60) == 129 and not any(tmp_path.glob("gardener-replay-*"))
    finally:
        begun.kill()


def test_json_to_standard_output_is_all_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_of, "replay_all", lambda given, *_: [made_result(turns=3) for _job in given])
    found = run(HISTORY, "--variant", "stock", "--json", "-")
    assert found.exit_code == 0, found.output
    value = json.loads(found.stdout)
    assert value["kind"] == "replay" and value["summaries"][0]["turns"] == 3


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that would be replayed."""
    jobs: list[Job] = []

    def replay_all(given: Any, *_rest: Any) -> None:
        jobs.extend(given)
        raise ReplayError("enough")

    monkeypatch.setattr(jobs_of, "replay_all", replay_all)
    return jobs


def test_the_options_of_the_host_reach_every_job(seen: list[Job]) -> None:
    refused(run(HISTORY, "--variant", "none,stock", "--history-tokens", 9, "--cache-prompts"), 1, "enough")
    assert [(job.history_tokens, job.cache_prompts) for job in seen] == [(9, True)] * 2
    assert run(HISTORY, "--history-tokens", 0).exit_code == 2


def test_by_default_three_variants_are_compared_with_the_chats_own_model(
    seen: list[Job], tmp_path: Path
) -> None:
    for name in ("deepseek/deepseek-chat", "nobody/knows"):
        text = Path(HISTORY).read_text("utf-8").replace("Main model: gpt-4o", f"Main model: {name}")
        (tmp_path / "h.md").write_text(text, encoding="utf-8")
        refused(run(tmp_path / "h.md"), 1, "enough")
    assert [job.variant for job in seen] == ["stock", "stock-fixed", "gardener"] * 2
    assert [job.model for job in seen] == ["deepseek/deepseek-chat"] * 3 + ["gpt-4o"] * 3
    assert not any(job.history_tokens or job.cache_prompts for job in seen)
