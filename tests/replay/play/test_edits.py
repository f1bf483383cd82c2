"""A real model is asked for the edits of a recording; what it says touches nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from aider_gardener.cli.replay import replay
from aider_gardener.replay.play.edits import applied, edits_of, files_kept
from aider_gardener.replay.server import ReplayServer, Script

MINI = Path(__file__).parents[2] / "data" / "sessions" / "mini"
BLOCK = "{path}\n```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"


@pytest.fixture
def coder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from aider.coders.base_coder import Coder
    from aider.io import InputOutput
    from aider.models import Model

    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text("one = 1\ntwo = 2\n", encoding="utf-8")
    io = InputOutput(pretty=False, yes=True, fancy_input=False)
    return Coder.create(
        main_model=Model("gpt-4o"), io=io, fnames=["app.py"], edit_format="diff", use_git=False, map_tokens=0
    )


def test_edits_are_applied_one_after_the_other_and_taken_back(coder: Any, tmp_path: Path) -> None:
    reply = "".join(
        [
            BLOCK.format(path="app.py", old="one = 1\n", new="one = 11\n"),
            BLOCK.format(path="app.py", old="one = 11\n", new="one = 111\n"),
            BLOCK.format(path="app.py", old="nowhere = 0\n", new="x\n"),
            BLOCK.format(path="new.py", old="", new="made = True\n"),
            BLOCK.format(path="../outside.py", old="", new="made = True\n"),
        ]
    )
    coder.partial_response_content = "what was said"
    edits = edits_of(coder, reply)
    assert len(edits) == 5 and applied(coder, edits) == 3
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["app.py"]
    assert (tmp_path / "app.py").read_text(encoding="utf-8") == "one = 1\ntwo = 2\n"
    assert not (tmp_path.parent / "outside.py").exists()
    assert coder.partial_response_content == "what was said"


@pytest.mark.parametrize("reply", [None, "", "No edit.", "app.py\n<<<<<<< SEARCH\nnever closed"])
def test_a_reply_without_an_edit_has_none(coder: Any, reply: str | None) -> None:
    assert edits_of(coder, reply) == []


def test_files_are_as_before_whatever_happens_to_them(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_bytes(b"as it was\r\n")
    (tmp_path / "gone.txt").write_bytes(b"here")
    with pytest.raises(RuntimeError), files_kept(tmp_path):
        (tmp_path / "kept.txt").write_bytes(b"other")
        (tmp_path / "gone.txt").unlink()
        (tmp_path / "new.txt").write_bytes(b"new")
        raise RuntimeError
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "kept.txt": b"as it was\r\n",
        "gone.txt": b"here",
    }


def run(place: Path, name: str, *arguments: str) -> Result:
    options = ["--variant", "none", "--json", str(place / name), *arguments]
    return CliRunner().invoke(replay, [str(MINI), *options])


def test_the_edits_of_a_recording_are_asked_for_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = BLOCK.format(path="made_by_the_model.py", old="", new="made = True\n")
    cassette = ["--ask-model", "openai/gpt-4o-mini", "--cassette", str(tmp_path / "c.jsonl"), "--ask-edits"]
    with ReplayServer(Script([], rest=said)) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        found = run(tmp_path, "asked.json", *cassette)
    assert found.exit_code == 0, found.output
    value = json.loads((tmp_path / "asked.json").read_text(encoding="utf-8"))
    rows = value["results"][0]["edits"]
    assert rows and all(row["recorded"] and row["asked"] == row["applied"] == 1 for row in rows)
    assert value["summaries"][0]["edits"] == [len(rows), len(rows)]
    assert "applied" in found.stdout and f" {len(rows)} of {len(rows)} " in found.stdout
    assert run(tmp_path, "plain.json").exit_code == 0
    plain = json.loads((tmp_path / "plain.json").read_text(encoding="utf-8"))
    assert [call["reply_sha"] for call in plain["results"][0]["calls"]] == [
        call["reply_sha"] for call in value["results"][0]["calls"]
    ], "the session goes on as recorded"


def test_edits_need_a_model_to_ask(tmp_path: Path) -> None:
    found = run(tmp_path, "x.json", "--ask-edits")
    assert found.exit_code == 2 and "--ask-model" in found.stderr
