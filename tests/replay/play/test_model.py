"""Asking a real model: once, on request only, and from the cassette ever after."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from aider_gardener.cli.replay import replay
from aider_gardener.errors import ReplayError
from aider_gardener.replay.play.model import Asker, Cassette, client_variables
from aider_gardener.replay.server import ReplayServer, Script

MINI = Path(__file__).parents[2] / "data" / "sessions" / "mini"
MESSAGES = [{"role": "user", "content": "which port?"}]


def answering(text: str, calls: list[Any]) -> Any:
    def complete(**options: Any) -> Any:
        calls.append(options)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=text))])

    return complete


def test_what_was_asked_once_is_not_asked_again(tmp_path: Path) -> None:
    path, calls = tmp_path / "c.jsonl", []
    asker = Asker("m", Cassette(path), answering("8081", calls))
    assert [asker.ask("probe", MESSAGES), asker.ask("probe", MESSAGES)] == ["8081", "8081"]
    again = Asker("m", Cassette(path), answering("other", calls))
    assert again.ask("probe", MESSAGES) == "8081" and len(calls) == 1
    assert Asker("n", Cassette(path), answering("other", calls)).ask("probe", MESSAGES) == "other"
    assert len(path.read_text("utf-8").splitlines()) == 3
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_provider_that_refuses_is_one_line_without_the_key(tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3

    def complete(**_options: Any) -> Any:
        raise RuntimeError(f"bad key {secret}\nand more")

    with pytest.raises(ReplayError) as found:
        Asker("m", Cassette(tmp_path / "c"), complete).ask("probe", MESSAGES)
    assert "m cannot be asked (RuntimeError" in str(found.value)
    assert secret not in str(found.value) and "\n" not in str(found.value)


@pytest.mark.parametrize("text", ["nonsense", '{"cassette": 9}', '{"cassette": 1}\n{"key": "x"}', "[]"])
def test_a_faulty_cassette_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "c").write_text(text, encoding="utf-8")
    with pytest.raises(ReplayError, match="give another --cassette"):
        Cassette(tmp_path / "c")


def test_only_what_a_client_reads_is_handed_on() -> None:
    given = {"OPENAI_API_KEY": "1", "OPENAI_API_BASE": "2", "GITHUB_TOKEN": "3", "AWS_SECRET": "4"}
    assert client_variables(given) == {"OPENAI_API_KEY": "1", "OPENAI_API_BASE": "2"}


def run(place: Path, name: str, *arguments: str) -> Result:
    options = ["--variant", "stock-fixed", "--history-tokens", "150", "--json", str(place / name), *arguments]
    return CliRunner().invoke(replay, [str(MINI), *options])


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Result, Result, ReplayServer]:
    """The same replay twice: with a model that answers everything alike, and with none that could."""
    said = "ASKED " + json.loads((MINI / "probes.json").read_text("utf-8"))[0]["answer_keys"][0]
    cassette = ["--ask-model", "openai/gpt-4o-mini", "--cassette", str(tmp_path / "c.jsonl")]
    with ReplayServer(
        Script([], rest=said, summaries=["I asked you for a SUMMARY OF THE MODEL."] * 9)
    ) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        first = run(tmp_path, "1.json", *cassette)
    return first, run(tmp_path, "2.json", *cassette), server


def test_a_model_is_asked_for_summaries_and_probes_and_the_next_run_is_free(
    asked: tuple[Result, Result, ReplayServer], tmp_path: Path
) -> None:
    first, second, server = asked
    assert first.exit_code == 0, first.output
    assert second.exit_code == 0, second.output
    results = [
        json.loads((tmp_path / name).read_text("utf-8"))["results"][0] for name in ("1.json", "2.json")
    ]
    for result in results:
        del result["measured"]
    assert results[0] == results[1]
    probes = results[0]["probes"]
    assert all(probe["answer"].startswith("ASKED") for probe in probes) and probes[0]["answered"]
    right = sum(probe["answered"] for probe in probes)
    assert "answered" in first.stdout and f" {right} of {len(probes)} " in first.stdout
    summaries = json.loads((tmp_path / "1.json").read_text("utf-8"))["summaries"]
    assert summaries[0]["answered"] == [len(probes), right]
    assert 0 < len(server.requests) == len((tmp_path / "c.jsonl").read_text("utf-8").splitlines()) - 1


def test_a_model_is_asked_only_together_with_a_cassette(tmp_path: Path) -> None:
    for alone in (["--ask-model", "m"], ["--cassette", str(tmp_path / "c")]):
        found = run(tmp_path, "x.json", *alone)
        assert found.exit_code == 2 and "go together" in found.stderr
