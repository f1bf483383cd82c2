"""The grid's own variants: what they make of past messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import replay_all
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from bench.inputs import made
from bench.variants import (
    IMPORTS,
    SEARCH_HEAD,
    SEARCH_SHARE,
    found_note,
    newest_within,
    ranked,
    without_older_outputs,
)

MINI = load_session(Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini")
TIGHT, ROOMY = 300, 2_500
BASELINES = ("tail-search", "tail")
GARDENERS = ("gardener", "gardener-no-compress", "gardener-oldest-first")


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def output(command: str, text: str) -> dict[str, str]:
    return user(f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{text}\n")


def job(name: str) -> Job:
    return Job(MINI, name, history_tokens=TIGHT, texts=True, imports=IMPORTS)


def with_long_output(name: str) -> Job:
    """A chat in which the output of a failing test run is worth a short form."""
    long = {"command": {"output": made("pytest", 6_000)}}
    events = tuple(replace(event, **long.get(event.kind, {})) for event in MINI.events)
    session = replace(MINI, events=events)
    return Job(session, f"{name}+embedder=none", history_tokens=ROOMY, imports=IMPORTS)


@pytest.fixture(scope="module")
def results() -> dict[str, ReplayResult]:
    jobs = [*map(job, BASELINES), *map(with_long_output, GARDENERS)]
    return dict(zip([*BASELINES, *GARDENERS], replay_all(jobs), strict=True))


def shown(result: ReplayResult) -> set[str]:
    return {swap.after for event in result.compactions for swap in event.swaps}


def test_a_baseline_keeps_the_past_within_the_limit(results: dict[str, ReplayResult]) -> None:
    past = [
        (call.turn, sum(tokens for _, tokens, part in call.prompt if part == "done"))
        for call in results["tail"].main_calls()
    ]
    assert max(tokens for _, tokens in past) > 0
    # The edit of a reflected turn moves its own messages.
    assert all(tokens <= TIGHT + 20 or turn == 4 for turn, tokens in past)
    assert not results["tail"].probes[1].present


def test_without_compressors_no_compressed_form_is_shown(results: dict[str, ReplayResult]) -> None:
    assert "compressed" in shown(results["gardener"])
    for name in GARDENERS[1:]:
        assert "hidden" in shown(results[name]) and "compressed" not in shown(results[name]), name


def test_only_the_last_outputs_stay() -> None:
    past = [output(f"make {n}", "line\n" * 40) for n in range(4)]
    past.insert(2, user("and now?"))
    sent = without_older_outputs(past, 2)
    assert [m["content"] for m in sent if m][2:] == [m["content"] for m in past[2:]]
    assert "make 0" in sent[0]["content"] and "line" not in sent[0]["content"]  # type: ignore[index]
    assert past[0]["content"].count("line") == 40, "the chat itself is untouched"


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def words(messages: Any) -> int:
    return sum(len(message["content"].split()) for message in messages)


def test_the_newest_begin_with_one_of_the_users() -> None:
    past = [user("one two"), assistant("three four"), user("five"), assistant("six")]
    assert newest_within(past, 4, words) == [None, None, *past[2:]], "a reply never comes first"
    assert newest_within(past, 6, words) == past
    assert newest_within(past, 0, words) == [None] * 4


def test_a_search_finds_passages_by_any_word_the_rarest_first() -> None:
    past = [user("the lock of the queue"), assistant("kestrel holds port 48213"), user("the queue again")]
    assert next(text for _, text in ranked(past, "which port of the queue?")) == "kestrel holds port 48213"
    assert list(ranked(past, "??")) == [] and list(ranked([], "port")) == []
    assert list(ranked(past, 'NEAR("port" OR')) != [], "operators are words like others"


def test_a_note_of_what_was_found_fits_and_keeps_the_order_of_the_chat() -> None:
    hidden = [user("port one alpha"), assistant("nothing"), user("port two beta beta")]
    (said, answered) = found_note(hidden, "port beta", 100, 0, words)
    assert said["content"] == f"{SEARCH_HEAD}\n\nport one alpha\n\nport two beta beta"
    assert (said["role"], answered["role"]) == ("user", "assistant")
    head = words([said]) - 7
    assert "beta" in found_note(hidden, "port beta", head + 5, 0, words)[0]["content"]
    assert "alpha" not in found_note(hidden, "port beta", head + 5, 0, words)[0]["content"]
    assert found_note(hidden, "port beta", head + 5, 5, words) == []


def test_the_newest_and_what_is_found_keep_within_the_limit(results: dict[str, ReplayResult]) -> None:
    result = results["tail-search"]
    assert any(text.startswith(SEARCH_HEAD) for text in result.texts.values())
    past = [sum(t for _, t, part in call.prompt if part == "done") for call in result.main_calls()]
    assert 0 < max(past) <= TIGHT * SEARCH_SHARE + 20
