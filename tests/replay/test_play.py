"""Whole replays: real coder, real git, in processes of their own."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.cost import breakpoints
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import replay_all, replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from bench.chain import chained

MINI = Path(__file__).parents[1] / "data" / "sessions" / "mini"
RECORDED = Path(__file__).parents[2] / "recorded_sessions"
SESSION = load_session(MINI)
TIGHT = 300
"""A history limit that the small session passes."""


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prompts")


@pytest.fixture(scope="module")
def results(dumped: Path) -> dict[str, ReplayResult]:
    names = ("none", "stock", "stock-fixed")
    asked = [Job(SESSION, name, history_tokens=TIGHT, dump_dir=dumped, texts=True) for name in names]
    return dict(zip(names, replay_all(asked), strict=True))


def edited(tmp_path: Path, change: dict[int, dict[str, object]], *, drop: tuple[int, ...] = ()) -> Path:
    """A copy of the small session with some lines (from 0, the meta line) changed or left out."""
    copy = tmp_path / "edited"
    shutil.copytree(MINI, copy)
    lines = (copy / "session.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [{**json.loads(line), **change.get(at, {})} for at, line in enumerate(lines)]
    kept = [json.dumps(row) for at, row in enumerate(rows) if at not in drop]
    (copy / "session.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    return copy


def row_of(kind: str, turn: int, number: int = 0) -> int:
    """The line of the small session's nth event of a kind in a turn."""
    events = SESSION.events
    return [at for at, event in enumerate(events, 1) if (event.kind, event.turn) == (kind, turn)][number]


def recorded_messages(session: Session) -> list[int]:
    """How many messages the prompt of each reply had as it was recorded."""
    return [event.prompt_messages for event in session.of_kind("reply")]


@pytest.mark.parametrize("name", ["none", "stock"])
def test_prompts_have_as_many_messages_as_recorded(results: dict[str, ReplayResult], name: str) -> None:
    calls = results[name].main_calls()
    assert [len(call.prompt) for call in calls] == recorded_messages(SESSION)
    assert len(calls) == 8
    assert results[name].notices == ()


def test_the_gardener_replays_identically_twice(results: dict[str, ReplayResult]) -> None:
    first, second = replay_all([Job(SESSION, "gardener", history_tokens=TIGHT)] * 2)
    assert first == second
    assert any(event.by == "plan" for event in first.compactions)
    assert first.overhead_seconds
    assert first.main_calls()[-1].prompt_tokens < results["none"].main_calls()[-1].prompt_tokens


def test_stock_pays_for_summaries_and_throws_them_away(results: dict[str, ReplayResult]) -> None:
    compactions = results["stock"].compactions
    assert compactions and not any(event.applied for event in compactions)
    assert all(event.prompt_tokens > 0 for event in compactions)
    assert all(probe.present and probe.supported for probe in results["stock"].probes)


def test_stock_fixed_applies_the_recorded_summaries(results: dict[str, ReplayResult]) -> None:
    result = results["stock-fixed"]
    assert result.compactions and all(event.applied for event in result.compactions)
    assert any("31 characters fit on it" in text for text in result.texts.values())
    assert "for what was not recorded: " in result.notices[0] and "summary answer" in result.notices[0]
    assert not result.probes[1].present


def test_token_counts_are_those_of_litellm(dumped: Path, results: dict[str, ReplayResult]) -> None:
    import litellm

    for call in results["none"].calls:
        prompt = json.loads(
            (dumped / "mini" / "none" / f"{call.turn}-{call.call}.json").read_text(encoding="utf-8")
        )
        assert call.prompt_tokens == litellm.token_counter(model="gpt-4o", messages=prompt)
        assert 0 < call.prompt_tokens - sum(tokens for _sha, tokens, _part in call.prompt) < 10


def test_no_temporary_path_reaches_a_prompt(dumped: Path, results: dict[str, ReplayResult]) -> None:
    assert results
    files = sorted((dumped / "mini").rglob("*.json"))
    assert {path.parent.name for path in files} == {"none", "stock", "stock-fixed"}
    assert not [path for path in files if "gardener-replay-" in path.read_text(encoding="utf-8")]


def test_probes_are_dumped_and_leave_no_trace(dumped: Path, results: dict[str, ReplayResult]) -> None:
    asked = json.loads((dumped / "mini" / "stock" / "4-probe1.json").read_text(encoding="utf-8"))
    assert any(message["content"] == "How many characters fit on the sign, did I say?" for message in asked)
    without = replay_job(Job(replace(SESSION, probes=()), "stock-fixed", history_tokens=TIGHT))
    assert without.probes == ()
    assert without.calls == results["stock-fixed"].calls


def test_edits_commits_and_undo_are_real(dumped: Path, results: dict[str, ReplayResult]) -> None:
    assert results
    last = json.loads((dumped / "mini" / "none" / "8-1.json").read_text(encoding="utf-8"))
    files = next(m["content"] for m in last if m["content"].startswith("I have *added these files"))
    assert "Hello, {name}!" in files and "WIDTH = 31" in files
    assert "widht" in files, "/undo takes back the last commit only"
    notices = [m["content"] for m in last if "I committed the changes with git hash" in m["content"]]
    assert "fix: punctuation of the greeting, width of the panel" in notices[0]


def test_recorded_lint_errors_and_command_outputs_are_used(results: dict[str, ReplayResult]) -> None:
    texts = "\n".join(results["none"].texts.values())
    assert "F821 undefined name 'widht'" in texts
    assert "1 failed in 0.0417s" in texts
    assert "          Hello, Ada!          " in texts


def test_a_replay_that_leaves_its_recording_says_where(tmp_path: Path) -> None:
    path = edited(tmp_path, {}, drop=(row_of("reply", 4, 2),))
    with pytest.raises(ReplayError) as left:
        replay_job(Job(load_session(path), "none"))
    assert "turn 4 asks for reply 3, the recording has 2" in str(left.value)
    assert "closest recorded event: the reply of turn 4 that begins 'I quoted the old line." in str(
        left.value
    )


def test_edits_outside_the_repository_are_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    text = f"{outside}\n```\n<<<<<<< SEARCH\n=======\nescaped\n>>>>>>> REPLACE\n```\n"
    path = edited(tmp_path, {row_of("reply", 8): {"text": text}})
    replay_job(Job(load_session(path), "none"))
    assert not outside.exists()


def test_commands_that_leave_the_sandbox_are_not_run(tmp_path: Path) -> None:
    typed = {2: "/git init elsewhere", 3: "/exit", 5: "/editor", 6: "/help what", 7: "/paste", 8: "/load x"}
    path = edited(tmp_path, {row_of("user", turn): {"text": text} for turn, text in typed.items()})
    notices = replay_job(Job(load_session(path), "none")).notices
    assert [f"turn {turn}: {text!r} is not replayed" for turn, text in typed.items()] == [
        notice for notice in notices if "is not replayed" in notice
    ]


def test_a_recorded_session_of_many_turns_replays_exactly() -> None:
    session = replace(load_session(RECORDED / "till-log"), probes=())
    result = replay_job(Job(session, "none"))
    calls = result.main_calls()
    assert [len(call.prompt) for call in calls] == recorded_messages(session)
    assert len(calls) > 15
    assert result.notices == ()


def test_chained_sessions_are_one_chat_over_two_trees() -> None:
    result = replay_job(Job(chained([SESSION, SESSION]), "none", imports=("bench.chain",)))
    single = len(SESSION.of_kind("reply"))
    assert result.session == "mini+mini"
    assert result.turns == 16
    calls = result.main_calls()
    assert len(calls) == 2 * single
    assert len(calls[single].prompt) > recorded_messages(SESSION)[0], (
        "the first session's chat is still there"
    )
    assert result.notices == ()
    assert [probe.about_turn for probe in result.probes] == [1, 2, 6, 1, 9, 10, 14, 9]


@pytest.mark.parametrize("variant", ["stock", "gardener+files=append+embedder=none"])
def test_the_marks_that_a_bill_takes_to_be_set_are_those_that_prompts_are_sent_with(variant: str) -> None:
    model = "claude-sonnet-4-5"
    made = replay_job(Job(SESSION, variant, model=model, cache_prompts=True, history_tokens=TIGHT))
    calls = made.main_calls()
    assert len(calls) == 8 and all(call.marks for call in calls)
    assert [breakpoints(replace(call, marks=())) for call in calls] == [list(call.marks) for call in calls]
