"""Chat histories of old and new versions: each file holds what one version's own writer wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_history
from aider_gardener.replay.session.session import Session

HISTORIES = Path(__file__).parents[2] / "data" / "histories"
FENCE = "```"
HEADER = "\n# aider chat started at 2024-05-05 10:00:00\n\n"
LETTERS = {"user": "u", "reply": "r", "command": "o", "error": "e", "commit": "m"}
OPEN_REPLY = f"\nIt begins so:\n\n{FENCE}python\nx = 1\n\n"


def version(name: str) -> Session:
    return load_history(HISTORIES / f"{name}.md")


def read(tmp_path: Path, text: str) -> Session:
    path = tmp_path / "h.md"
    path.write_text(text, encoding="utf-8")
    return load_history(path)


@pytest.mark.parametrize(
    ("name", "model", "edit_format", "turns"),
    [
        ("v0.37", "gpt-4-turbo", "udiff", "ur urm u"),
        ("v0.62", "o1-preview", "whole", "urrm ur u ur ur ur ur"),
        ("v0.74", "deepseek/deepseek-reasoner", "diff", "urrerom uor u ur"),
    ],
)
def test_each_version_gives_its_announcements_and_its_turns(
    name: str, model: str, edit_format: str, turns: str
) -> None:
    """Prompt, reply, output, error and commit, each as a letter, a word a turn."""
    session = version(name)
    assert (session.meta["model"], session.edit_format) == (model, edit_format)
    numbers = range(1, session.turn_count + 1)
    assert " ".join("".join(LETTERS[each.kind] for each in session.turn(n)) for n in numbers) == turns


def test_what_is_asked_and_committed_at_a_start_is_of_no_turn(tmp_path: Path) -> None:
    second = (
        "> No git repo found, create one to track aider's changes (recommended)? (Y)es/(N)o [Yes]: n  \n"
        "> Commit 1a2b3c4 Changed by hand.  \n> Aider v0.82.1  \n> Model: o3 with whole edit format  \n"
    )
    session = read(tmp_path, f"{HEADER}\n#### one  \n\nyes\n\n{HEADER}{second}\n#### two  \n")
    assert [event.kind for event in session.turn(1)] == ["user", "reply", "restart"]
    assert session.meta["model"] == "o3"
    restored = second + "> Restored previous conversation history.  \n"
    session = read(tmp_path, f"{HEADER}\n#### one  \n\nyes\n\n{HEADER}{restored}\n#### two  \n")
    assert [event.kind for event in session.turn(1)] == ["user", "reply"]


def test_what_stands_around_replies_is_told_from_them() -> None:
    session = version("v0.74")
    assert session.of_kind("command")[0].command == "python names.py", "which was suggested"
    (told,) = session.of_kind("error")
    assert told.text.startswith("# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch")
    assert not any("SEARCH/REPLACE block failed" in reply.text for reply in session.of_kind("reply"))
    typed = [event.text for event in session.of_kind("user")]
    assert typed[:2] == ["sort the names", "/test pytest -q"], "no thought, nor what an architect hands on"


@pytest.mark.parametrize(
    "notices",
    [
        ">  \n>  \n> ^C again to exit  \n",
        "> ^C KeyboardInterrupt  \n",
        ">  \n>  \n> Model gpt-4o has hit a token limit!  \n> Token counts below are approximate.  \n>  \n",
        "> Malformed response #3, aborting.  \n",
        "> a.py  \n> Add these files to the chat? y  \n",
        "> Retrying in 0.2 seconds...  \n",
        "> a notice of which nothing is known  \n",
    ],
)
def test_a_reply_cut_off_in_a_fence_ends_at_the_notices(tmp_path: Path, notices: str) -> None:
    session = read(tmp_path, f"{HEADER}\n#### one  \n{OPEN_REPLY}{notices}\n#### two  \n\nyes\n\n")
    assert [event.text for event in session.of_kind("user")] == ["one", "two"]
    assert [event.text for event in session.of_kind("reply")] == [OPEN_REPLY.strip(), "yes"]


def test_quotes_within_a_fence_are_kept(tmp_path: Path) -> None:
    reply = f"NOTES.md\n{FENCE}\n> a quotation  \n\n> another  \n\n#### a heading\n{FENCE}"
    session = read(tmp_path, f"{HEADER}\n#### one  \n\n{reply}\n\n\n#### two  \n")
    assert session.of_kind("reply")[0].text == reply and session.turn_count == 2


def test_edit_blocks_of_every_marking_hold_fences(tmp_path: Path) -> None:
    for head, updated in (("ORIGINAL", "UPDATED"), ("HEAD", "updated"), ("SEARCH", "REPLACE")):
        reply = f"a.md\n<<<<<<< {head}\n=======\n{FENCE}\n> x  \n\n> y  \n>>>>>>> {updated}\nDone."
        session = read(tmp_path, f"{HEADER}\n#### one  \n\n{reply}\n\n> Applied edit to a.md  \n")
        assert session.of_kind("reply")[0].text == reply


def test_lint_errors_of_several_files_are_one_warning(tmp_path: Path) -> None:
    found = "".join(f"> # Fix any errors below, if possible.  \n>  \n> {name}:1 wrong  \n" for name in "ab")
    notices = f"> Applied edit to a  \n{found}> Attempt to fix lint errors? (Y)es/(N)o [Yes]: y  \n"
    session = read(tmp_path, f"{HEADER}\n#### one  \n\ndone\n\n{notices}\nagain\n\n")
    (warning,) = session.of_kind("warning")
    assert "a:1 wrong" in warning.text and "b:1 wrong" in warning.text


@pytest.mark.parametrize(
    "text",
    [
        "\nhi\n\n" + "> The LLM did not conform to the edit format.  \n" * 20_000,
        "\nhi\n\n" + "> # Fix any errors below  \n" * 20_000,
        "\n" + "<thinking-content-1>" * 30_000 + "\n\n\n#### two  \n",
        f"\n{FENCE}md\n" + "> x  \n\n" * 60_000,
        "> an open notice\n" + "line\n\n" * 60_000 + "end  \n",
        "\n#### /test x  \n" + "> y  \n" * 60_000,
    ],
    ids=["edit errors", "lint", "thoughts", "quotes", "open notice", "output"],
)
def test_odd_long_files_are_read_in_one_pass(tmp_path: Path, text: str) -> None:
    """Each would take minutes if its lines were looked at once for every other line."""
    assert read(tmp_path, f"{HEADER}\n#### one  \n{text}").turn_count in (1, 2)


def test_every_reply_but_those_to_outputs_of_old_versions_is_asked_for() -> None:
    result = replay_job(Job(version("v0.74"), "none"))
    assert not [notice for notice in result.notices if "not asked for" in notice]
    assert len(result.main_calls()) == len(version("v0.74").of_kind("reply"))
