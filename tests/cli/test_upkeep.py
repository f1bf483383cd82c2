"""`gardener upkeep` writes the index, and writes over nothing that is not its own."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from click.testing import Result
from gardener.test_account import COMMIT, EDIT, chat

from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.location import DIRECTORY_NAME

from .conftest import gardener


def run(*words: str) -> Result:
    return gardener("upkeep", *words)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an archive of two sessions; commands run in it."""
    (tmp_path / ".git").mkdir()
    store = open_store(tmp_path / DIRECTORY_NAME)
    name = str(tmp_path.resolve())
    chat(store, "make it two", EDIT.format(path="src/a.py"), COMMIT, "Ok.", session="aaaa0000", project=name)
    chat(store, "and now?", "It is two.", session="bbbb0000", at=2_000.0, project=name)
    store.close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_of_the_users_is_not_written_over(project: Path) -> None:
    (project / "notes.md").write_text("mine")
    (project / DIRECTORY_NAME / "CONTEXT_ARCHIVE.md").write_text("mine")
    for words in (["index", "--output", "notes.md"], ["index"]):
        done = run(*words)
        assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "name another file" in done.stderr
    assert (project / "notes.md").read_text() == "mine"


def test_the_index_lies_beside_the_archive_or_where_it_is_asked_for(project: Path) -> None:
    index = project / DIRECTORY_NAME / "CONTEXT_ARCHIVE.md"
    assert "2 sessions would be listed in " in run("index", "--dry-run").stdout and not index.exists()
    done = run("index")
    assert done.exit_code == 0 and "2 sessions listed in " in done.stdout
    text = index.read_text("utf-8")
    assert text.index("## bbbb") < text.index("## aaaa")
    assert run("index", "--output", "CONTEXT_ARCHIVE.md").exit_code == 0
    assert (project / "CONTEXT_ARCHIVE.md").read_text("utf-8") == text
    store = open_store(project / DIRECTORY_NAME)
    assert store.notice == ""
    store.close()


def test_what_is_forgotten_leaves_the_index_too_which_is_never_begun_unasked(learnt: Path) -> None:
    index = learnt / DIRECTORY_NAME / "CONTEXT_ARCHIVE.md"
    assert gardener("forget", "--session", "c0", "--yes").exit_code == 0 and not index.exists()
    run("index")
    assert "make it two" in index.read_text("utf-8")
    assert gardener("forget", "--session", "aaaa", "--yes").exit_code == 0
    assert "make it two" not in index.read_text("utf-8") and "and now?" in index.read_text("utf-8")


@pytest.fixture
def learnt(project: Path) -> Path:
    """The same repository, in whose chats something was said three times today."""
    store = open_store(project / DIRECTORY_NAME)
    said = (
        "use httpx, not requests",
        "no, use httpx instead of requests",
        "I told you: httpx, not requests!",
    )
    for number, text in enumerate(said):
        chat(store, text, "Fine.", session=f"c{number}", at=time.time(), project=str(project.resolve()))
    store.close()
    return project


def test_observations_are_listed_with_their_evidence(learnt: Path) -> None:
    lines = run("observations").stdout.splitlines()
    assert lines[0].startswith("1. ") and "httpx" in lines[0] and len(lines) == 4
    (row,) = json.loads(run("observations", "--json").stdout)
    assert row["state"] == "waiting" and len(row["evidence"]) == 3
    assert not (learnt / "CONVENTIONS.md").exists()


def test_what_has_faded_is_listed_on_request_and_can_be_taken(project: Path) -> None:
    store, name = open_store(project / DIRECTORY_NAME), str(project.resolve())
    for number in range(3):
        at = 1e9 + number
        chat(store, "use httpx, not requests", "Yes.", session=f"c{number}", at=at, project=name)
    store.close()
    assert run("observations").stdout == "1 more not seen for 28 days: --all lists them.\n"
    lines = run("observations", "--all").stdout.splitlines()
    assert lines[0].startswith("1. use httpx, not requests [o") and len(lines) == 4
    assert run("take", lines[0].rpartition("[")[2].partition("]")[0]).exit_code == 0
    assert "(taken)" in run("observations").stdout


def test_a_refused_one_is_gone_for_good(learnt: Path) -> None:
    number = json.loads(run("observations", "--json").stdout)[0]["id"]
    assert "will not come again" in run("refuse", number).stdout
    assert run("observations").stdout == "Nothing was seen in three sessions yet that would make a rule.\n"
    assert run("refuse", "1").exit_code == 2


def test_of_several_numbers_all_or_none_are_taken(learnt: Path) -> None:
    done = run("take", "1", "7")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert json.loads(run("observations", "--json").stdout)[0]["state"] == "waiting"


def test_a_dry_run_only_says_which_tasks_would_move(learnt: Path) -> None:
    todo = learnt / "TODO.md"
    todo.write_bytes(b"- [x] sweep\n- [ ] paint\n")
    assert run("tasks", "--dry-run").stdout.startswith("TODO.md: sweep\n1 task would move to ")
    assert todo.read_bytes() == b"- [x] sweep\n- [ ] paint\n"
    assert "1 task moved to" in run("tasks").stdout
    assert todo.read_bytes() == b"- [ ] paint\n"
    assert "sweep" in (learnt / "TASK_ARCHIVE.md").read_text("utf-8")
    (learnt / "TASK_ARCHIVE.md").write_text("Another's.\n", "utf-8")
    todo.write_bytes(b"- [x] paint\n")
    refused = run("tasks")
    assert refused.exit_code == 2 and "none of `gardener upkeep`" in refused.stderr
    assert not refused.stdout, "what was not moved is not listed"


def test_a_list_of_another_name_is_given_and_no_archive_is_needed(project: Path) -> None:
    shutil.rmtree(project / DIRECTORY_NAME)
    (project / "plan.md").write_bytes(b"- [x] one\n")
    assert "plan.md: one" in run("tasks", "plan.md").stdout
    wrong = run("tasks", "none.md")
    assert wrong.exit_code == 2 and wrong.stderr.count("\n") == 1


def test_the_report_of_a_month_is_text_or_json(learnt: Path) -> None:
    month = time.strftime("%Y-%m")
    assert len(run("month").stdout.splitlines()) == 3
    assert len(json.loads(run("month", month, "--json").stdout)["chats"]) == 3
    begun = time.strftime("%Y-%m", time.localtime(1_000))
    assert "make it two" in run("month", begun).stdout
    assert run("month", "2025-01").stdout == "No chat of this project ended in 2025-01.\n"
    for wrong in ("2026-13", "november"):
        done = run("month", wrong)
        assert done.exit_code == 2 and f"{wrong!r} is no month; write one as 2026-01" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="no file has such a name")
def test_nothing_that_a_terminal_obeys_is_printed(project: Path) -> None:
    (project / "plan\x07.md").write_text("- [x] sweep\n", "utf-8")
    assert run("tasks", "plan\x07.md").stdout.startswith("plan\\x07.md: sweep\n")
