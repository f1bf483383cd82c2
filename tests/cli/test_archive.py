"""`gardener store`: counts, soundness and a way out and in again. Pruning and encryption have tests of their own."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
from click.testing import CliRunner, Result

from aider_gardener.cli.root import main

from .conftest import SAID


def store(archive: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["store", *words, "--store", str(archive)])


def test_stats_are_of_all_and_by_class(archive: Path) -> None:
    value = json.loads(store(archive, "stats", "--json").stdout)
    assert (value["sessions"], value["entries"]) == (1, len(SAID))
    assert {name: of["entries"] for name, of in value["by_class"].items()} == {"prose": 2, "log": 1}
    assert sum(of["original_tokens"] for of in value["by_class"].values()) == value["original_tokens"] > 0
    assert "log" in store(archive, "stats").stdout


def test_verify_ends_with_1_when_an_original_is_not_what_it_was(archive: Path) -> None:
    assert (store(archive, "verify").stdout, store(archive, "verify").exit_code) == (
        "The archive is sound.\n",
        0,
    )
    assert json.loads(store(archive, "verify", "--json").stdout) == []
    with apsw.Connection(str(archive / "gardener.db")) as database:
        database.execute("UPDATE bodies SET body = CAST('x' AS BLOB) WHERE original = 1")
    found = store(archive, "verify", "--json")
    assert found.exit_code == 1 and len(json.loads(found.stdout)) == 1


def test_what_is_exported_comes_back_after_it_was_forgotten(archive: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert "lines written" in store(archive, "export", str(file)).stdout
    CliRunner().invoke(main, ["forget", "--session", "s", "--yes", "--store", str(archive)])
    assert json.loads(store(archive, "stats", "--json").stdout)["entries"] == 0
    assert "lines read" in store(archive, "import", str(file)).stdout
    assert json.loads(store(archive, "stats", "--json").stdout)["entries"] == len(SAID)
