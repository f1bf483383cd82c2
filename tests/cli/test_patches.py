"""The command: what it prints, its exit codes, its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from made_tree import FIXES, SERIES, contents, installed_tree, newer_tree, rewrite

from aider_gardener.cli.root import main

NINE = "1,2,3,4,5,6,7,8,9"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["patches", *arguments])


def test_apply_says_what_it_did_and_the_second_time_that_there_is_nothing_to_do(tmp_path: Path) -> None:
    root = str(installed_tree(tmp_path))
    first = run("apply", "--to", root, "--only", "1,2")
    assert first.exit_code == 0
    assert first.stdout.splitlines()[:2] == [f"applied {p.number:04d} {p.subject}" for p in FIXES[:2]]
    again = run("apply", "--to", root, "--only", "1,2")
    assert again.exit_code == 0 and again.stdout.startswith("There is nothing to do")
    undone = run("revert", "--to", root, "--json")
    assert json.loads(undone.stdout)["reverted"] == [patch.name for patch in FIXES[:2]]
    assert run("revert", "--to", root).stdout.startswith("There is nothing to do")


def test_a_copy_of_the_package_and_a_folder_of_others_tests_are_no_source_tree(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    (root / "tests").mkdir()  # as some package beside aider leaves it
    assert run("apply", "--to", str(root)).exit_code == run("revert", "--to", str(root)).exit_code == 0
    (root / "tests").rmdir()
    (root / "aider_chat-0.dist-info").rmdir()
    applied = run("apply", "--to", str(root))
    assert applied.exit_code == 0 and not (root / "tests").exists(), applied.stderr


def test_what_a_patch_needs_comes_and_goes_with_it(tmp_path: Path) -> None:
    root = str(installed_tree(tmp_path))
    names = [patch.name for patch in SERIES.patches if patch.number in (10, 11, 12)]
    assert json.loads(run("apply", "--to", root, "--only", "12", "--json").stdout)["applied"] == names
    assert json.loads(run("revert", "--to", root, "--only", "11", "--json").stdout)["reverted"] == names[1:]


def test_check_changes_nothing_and_tells_each_patchs_state(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    run("apply", "--to", str(root), "--only", f"2,{FIXES[4].slug}")
    before = contents(root)
    report = json.loads(run("check", "--to", str(root), "--json").stdout)
    states = {row["number"]: row["state"] for row in report["patches"]}
    assert {number for number, state in states.items() if state == "applied"} == {2, 5}
    assert set(states.values()) == {"applied", "applies"} and len(states) == len(SERIES.patches)
    assert report["problem"] == "" and contents(root) == before


def test_on_a_newer_aider_each_patch_is_tried_and_check_ends_with_0_where_all_apply(tmp_path: Path) -> None:
    root = newer_tree(tmp_path)
    before = contents(root)
    assert run("check", "--to", str(root), "--only", NINE).exit_code == 0
    rewrite(root, "aider/history.py", "keep = []", "kept = []")
    checked = run("check", "--to", str(root), "--only", NINE)
    assert checked.exit_code == 1 and checked.stdout.count("does not apply") == 1
    rewrite(root, "aider/history.py", "kept = []", "keep = []")
    assert contents(root) == before


def test_a_dirty_tree_is_one_line_and_exit_1(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    (root / "aider" / "history.py").write_text("mine\n", "utf-8")
    before = contents(root)
    for command in ("check", "apply", "revert"):
        done = run(command, "--to", str(root))
        assert done.exit_code == 1
        assert done.stderr.startswith("gardener: ") and done.stderr.count("\n") == 1
    assert contents(root) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--only", "nothing-like-it"], "there is no patch"), (["--to", "{empty}"], "no aider in")],
)
def test_wrong_usage_is_one_line_and_exit_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    root = str(installed_tree(tmp_path))
    given = [argument.format(empty=tmp_path) for argument in arguments]
    done = run("apply", *(["--to", root] if "--to" not in given else []), *given)
    assert done.exit_code == 2
    assert words in done.stderr and done.stderr.count("\n") == 1
