"""The command: what it prints, its exit codes, its JSON."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result
from made_tree import FIXES, SERIES, contents, installed_tree, newer_tree, rewrite

from aider_gardener.cli.root import main
from aider_gardener.patches.tree import state_of, turn_into


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["patches", *arguments])


def test_apply_says_what_it_did_and_the_second_time_that_there_is_nothing_to_do(tmp_path: Path) -> None:
    root = str(installed_tree(tmp_path))
    first = run("apply", "--to", root)
    assert first.exit_code == 0
    assert first.stdout.splitlines()[:-1] == [f"applied {p.number:04d} {p.subject}" for p in SERIES.patches]
    again = run("apply", "--to", root)
    assert again.exit_code == 0 and again.stdout.startswith("There is nothing to do")
    undone = run("revert", "--to", root, "--json")
    assert json.loads(undone.stdout)["reverted"] == [patch.name for patch in SERIES.patches]
    assert run("revert", "--to", root).stdout.startswith("There is nothing to do")


def test_a_copy_of_the_package_and_a_folder_of_others_tests_are_no_source_tree(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    (root / "tests").mkdir()  # as some package beside aider leaves it
    assert run("apply", "--to", str(root)).exit_code == run("revert", "--to", str(root)).exit_code == 0
    (root / "tests").rmdir()
    (root / "aider_chat-0.dist-info").rmdir()
    applied = run("apply", "--to", str(root))
    assert applied.exit_code == 0 and not (root / "tests").exists(), applied.stderr


def test_check_changes_nothing_and_tells_each_patchs_state(tmp_path: Path) -> None:
    root = installed_tree(tmp_path)
    turn_into(root, state_of(SERIES, root), [FIXES[1], FIXES[4]])
    before = contents(root)
    checked = run("check", "--to", str(root), "--json")
    report = json.loads(checked.stdout)
    states = {row["number"]: row["state"] for row in report["patches"]}
    assert {number for number, state in states.items() if state == "applied"} == {2, 5}
    assert set(states.values()) == {"applied", "applies"} and len(states) == len(SERIES.patches)
    assert checked.exit_code == 0 and report["problem"] == "" and contents(root) == before


def test_on_a_newer_aider_each_patch_is_tried_by_itself(tmp_path: Path) -> None:
    root = newer_tree(tmp_path)
    before = contents(root)

    def failing() -> int:
        done = run("check", "--to", str(root), "--json")
        rows = json.loads(done.stdout)["patches"][: len(FIXES)]
        return sum(row["state"] == "does not apply" for row in rows)

    assert failing() == 0
    rewrite(root, "aider/history.py", "keep = []", "kept = []")
    assert failing() == 1 and run("check", "--to", str(root)).exit_code == 1
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


def test_wrong_usage_is_one_line_and_exit_2(tmp_path: Path) -> None:
    done = run("apply", "--to", str(tmp_path))
    assert done.exit_code == 2
    assert "no aider in" in done.stderr and done.stderr.count("\n") == 1
