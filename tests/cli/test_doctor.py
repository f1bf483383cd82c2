"""`gardener doctor` looks at each part, and a part out of order is a line that says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from aider_gardener.cli import doctor
from aider_gardener.cli.root import main


def test_every_part_is_looked_at(repository: Path) -> None:
    found = CliRunner().invoke(main, ["doctor", "--json"])
    checks = json.loads(found.stdout)
    assert found.exit_code == 0
    assert [check["name"] for check in checks] == ["Python", "aider", "SQLite", "archive", "directory"]
    assert all(check["ok"] for check in checks)
    assert "none yet" in checks[3]["found"] and checks[4]["found"] == str(repository)


def test_a_part_out_of_order_says_what_to_do_and_the_others_are_looked_at_all_the_same(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "NEWEST", (3, 9))
    (repository / ".aider.gardener").mkdir()
    (repository / ".aider.gardener" / "gardener.db").write_bytes(b"no database" * 999)
    found = CliRunner().invoke(main, ["doctor"])
    assert found.exit_code == 1
    assert "needs Python 3.10 to 3.12" in found.stdout and "seams as expected" in found.stdout


def test_an_import_that_fails_is_a_line_too() -> None:
    def failing() -> tuple[bool, str]:
        raise ImportError("no module named x")

    assert doctor.checked("part", failing) == doctor.Check("part", False, "no module named x")
