"""A recorded session as a plain chat: what stays of each kind of turn, and that it replays without edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from bench import plain
from bench.plain import fitted, plain_events, write_plain
from bench.variants import IMPORTS

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


def events(text: str, *besides: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"turn": 1, **event} for event in ({"kind": "user", "text": text}, *besides)]


def typed(text: str, *besides: dict[str, Any]) -> list[str]:
    """What is typed in the plain chat of one turn."""
    return [row["text"] for row in plain_events(events(text, *besides), "make test") if row["kind"] == "user"]


REPLY = {"kind": "reply", "text": "yes"}
PASSED = {"kind": "command", "command": "make test", "output": "ok\n", "exit_status": 0}
FAILED = {**PASSED, "output": "3 failed\n", "exit_status": 1}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("why is it slow?", ["why is it slow?"]),
        ("/ask why is it slow?", ["why is it slow?"]),
        ("/ask\nwhy?", ["why?"]),
        ("/code do it", ["do it"]),
        ("/ask /etc/hosts is odd", [" /etc/hosts is odd"]),
        ("/ok", ["ok"]),
        ("/web https://example.org", ["/web https://example.org"]),
        ("/clear", ["/clear"]),
    ],
)
def test_orders_become_plain_text(text: str, shown: list[str]) -> None:
    assert typed(text, *([] if shown[0].startswith("/") else [REPLY])) == shown


@pytest.mark.parametrize(
    "text", ["/add a.py", "/drop a.py", "/undo", "/model o3-mini", "/chat-mode ask", "/ask"]
)
def test_what_concerns_files_and_models_goes(text: str) -> None:
    assert plain_events(events(text), "") == []


def test_a_test_run_stays_a_run_and_enters_the_chat_only_if_it_failed() -> None:
    def answers(run: dict[str, Any]) -> list[bool]:
        return [
            row["answer"]
            for row in plain_events(events("/test", run), "make test")
            if row["kind"] == "confirm"
        ]

    assert typed("/test", PASSED) == ["/run make test"]
    assert typed("/test pytest -q", PASSED) == ["/run pytest -q"]
    assert typed("!ls", PASSED) == ["/run ls"]
    assert (answers(PASSED), answers(FAILED)) == ([False], [True])


def test_a_failed_test_that_was_answered_is_typed_as_the_host_tells_it() -> None:
    rows = plain_events(events("/test", FAILED, REPLY, {"kind": "commit", "text": "fix"}, REPLY), "make test")
    assert [row["kind"] for row in rows] == ["user", "reply"]
    assert rows[0]["text"].startswith("I ran this command:\n\nmake test\n") and "3 failed" in rows[0]["text"]
    assert rows[1]["text"] == "yes\n\nyes"


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "mini-plain"
    write_plain(MINI, folder, ["said before"])
    return folder


def test_the_folder_is_a_session_with_its_turns_and_probes(chat: Path) -> None:
    made, source = load_session(chat), load_session(MINI)
    assert (made.name, made.files, made.repo0, made.edit_format) == ("mini-plain", (), None, "ask")
    assert made.summaries == ("said before",) and made.meta["plain"] is True
    assert made.turn_count == source.turn_count
    assert [event.turn for event in made.of_kind("user")] == [1, 2, 3, 4, 6, 7, 8]
    assert "/ask" not in " ".join(event.text for event in made.of_kind("user"))
    assert len(made.probes) == len(source.probes)
    asked = {probe.ask_at_turn for probe in made.probes}
    assert all(made.of_kind("user", turn) for turn in asked if turn <= made.turn_count)


def test_a_probe_of_a_turn_that_is_gone_is_asked_at_the_next() -> None:
    rows = [{"turn": turn, "kind": "user"} for turn in (1, 3)]
    probes = [{"ask_at_turn": turn} for turn in (1, 2, 9)]
    assert plain.asked_when_typed(probes, rows) == [{"ask_at_turn": turn} for turn in (1, 3, 9)]


@pytest.fixture(scope="module")
def fixed(chat: Path) -> ReplayResult:
    return replay_job(Job(load_session(chat), "stock-fixed", history_tokens=300, texts=True, imports=IMPORTS))


def test_stock_keeps_all_of_a_plain_chat_and_stock_fixed_summarises_it(
    chat: Path, fixed: ReplayResult
) -> None:
    stock = replay_job(Job(load_session(chat), "stock", history_tokens=300))
    assert not stock.compactions and not stock.notices
    assert any(event.applied for event in fixed.compactions)
    first, last = stock.main_calls()[-1], fixed.main_calls()[-1]
    parts = [{part for _sha, _tokens, part in call.prompt} for call in (first, last)]
    assert "done" not in parts[0] and "done" in parts[1]
    assert len(last.prompt) < len(first.prompt)
    assert not any("were not asked for" in said for said in fixed.notices)
    assert any("said before" in text for text in fixed.texts.values())


def test_a_call_is_answered_with_the_last_summary_before_it() -> None:
    recorded = [(4, "a"), (9, "b"), (9, "c"), (20, "d")]
    assert fitted([2, 4, 8, 9, 19, 30], recorded) == ["a", "a", "a", "c", "c", "d"]
    assert fitted([2], []) == []
