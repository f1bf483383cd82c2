"""The command: what it prints, its exit codes, its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from made_tree import FIXES, SERIES, installed_tree

from aider_gardener.cli.root import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["patches", *arguments])


def test_apply_says_what_it_did_and_the_second_time_that_there_is_nothing_to_do(tmp_path: Path) -> None:
    root = str(installed_tree(tmp_path).root)
    first = run("apply", "--to", root, "--upto", "2")
    assert first.exit_code == 0
    assert first.stdout.splitlines()[:2] == [f"applied {p.number:04d} {p.subject}" for p in FIXES[:2]]
    again = run("apply", "--to", root, "--upto", "2")
    assert again.exit_code == 0 and again.stdout.startswith("There is nothing to apply")
    undone = run("revert", "--to", root, "--json")
    assert json.loads(undone.stdout)["reverted"] == [patch.name for patch in FIXES[:2]]
    assert run("revert", "--to", root).stdout.startswith("There is nothing to revert")


def test_check_changes_nothing_and_tells_each_patchs_state(tmp_path: Path) -> None:
    root = str(installed_tree(tmp_path).root)
    run("apply", "--to", root, "--only", f"2,{FIXES[4].slug}")
    report = json.loads(run("check", "--to", root, "--json").stdout)
    states = {row["number"]: row["state"] for row in report["patches"]}
    assert {number for number, state in states.items() if state == "applied"} == {2, 5}
    assert set(states.values()) == {"applied", "applies"} and len(states) == len(SERIES.patches)
    assert (report["kind"], report["version"], report["problem"]) == ("installed", "0.86.2", "")


def test_a_dirty_tree_is_one_line_and_exit_1(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    (tree.root / "aider" / "history.py").write_text("mine\n", "utf-8")
    for command in ("check", "apply", "revert"):
        done = run(command, "--to", str(tree.root))
        assert done.exit_code == 1
        assert done.stderr.startswith("gardener: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "nothing-like-it"], "there is no patch"),
        (["--only", "1", "--upto", "2"], "either"),
        (["--to", "{empty}"], "no aider in"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    root = str(installed_tree(tmp_path).root)
    given = [argument.format(empty=tmp_path) for argument in arguments]
    done = run("apply", *(["--to", root] if "--to" not in given else []), *given)
    assert done.exit_code == 2
    assert words in done.stderr and done.stderr.count("\n") == 1


def test_an_interrupted_change_is_told_by_check_and_put_back_by_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aider_gardener.patches import swap

    tree = installed_tree(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(swap, "put", lambda *_: (_ for _ in ()).throw(SystemExit(9)))
        patched.setattr(swap, "recover", lambda _root: False)
        with pytest.raises(SystemExit):
            swap.swap(tree.root, {"aider/history.py": "half\n"})
    checked = run("check", "--to", str(tree.root))
    assert checked.exit_code == 1 and "interrupted" in checked.stderr
    done = run("apply", "--to", str(tree.root), "--upto", "1", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["recovered"] is True
