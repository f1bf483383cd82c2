"""`gardener record` takes what it can run; `gardener sessions check` ends with 1 on a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aider_gardener.cli.root import main

SOUND = Path(__file__).parents[2] / "recorded_sessions" / "queue-incident"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("command", [[], ["vim"], ["--", "aiderx"]])
def test_another_program_is_a_usage_error(command: list[str]) -> None:
    found = run("record", *command)
    assert found.exit_code == 2 and len(found.stderr.strip().splitlines()) == 1
    assert "gardener record -- aider-gardener" in found.stderr


def test_a_sound_recording_passes_and_a_fault_is_named_with_file_and_line(tmp_path: Path) -> None:
    found = run("sessions", "check", str(SOUND))
    assert (found.exit_code, found.stdout) == (0, f"{SOUND}: sound\n")
    lines = (SOUND / "session.jsonl").read_text("utf-8").splitlines()[:3]
    (tmp_path / "session.jsonl").write_text("\n".join([*lines, '{"kind": "x", "turn": 1}']), "utf-8")
    found = run("sessions", "check", str(tmp_path))
    assert found.exit_code == 1 and "session.jsonl:4" in found.stderr
    value = json.loads(run("sessions", "check", str(SOUND), str(tmp_path), "--json").stdout)
    assert all(": note: " in line for line in value[str(SOUND)])
    assert "session.jsonl:4" in "".join(value[str(tmp_path)])
