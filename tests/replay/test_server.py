"""The replay model as a server, asked by the real litellm over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from aider import prompts

from aider_gardener.replay import server
from aider_gardener.replay.server import ReplayServer, Script, ServerReply, context_length_exceeded
from aider_gardener.replay.session.history import load_session

MINI = Path(__file__).parents[1] / "data" / "sessions" / "mini"


def ask(replay: ReplayServer, text: str, **options: Any) -> Any:
    import litellm

    return litellm.completion(
        model="openai/gpt-4o",
        messages=[{"role": "user", "content": text}],
        api_base=replay.url,
        api_key="any",
        num_retries=0,
        max_retries=0,
        **options,
    )


def test_answers_in_order_and_keeps_the_requests() -> None:
    with ReplayServer(["first", "second"]) as replay:
        assert ask(replay, "one").choices[0].message.content == "first"
        assert ask(replay, "two").choices[0].message.content == "second"
        assert ask(replay, "three").choices[0].message.content == "(no reply recorded)"
    assert [body["messages"][0]["content"] for body in replay.requests] == ["one", "two", "three"]


def test_streams_the_same_text_with_usage() -> None:
    text = "a reply — long enough for several chunks. " * 8
    with ReplayServer(
        [ServerReply(text, usage={"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12})]
    ) as replay:
        chunks = list(ask(replay, "go", stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == text
    assert len(chunks) > 5
    assert [chunk.usage.prompt_tokens for chunk in chunks if getattr(chunk, "usage", None)] == [7]


def test_usage_numbers_are_given_without_streaming() -> None:
    with ReplayServer(["ok"]) as replay:
        usage = ask(replay, "how many tokens is this?").usage
    assert usage.prompt_tokens > 4 and usage.completion_tokens == 1


def test_scripted_overflow_is_what_litellm_takes_for_it() -> None:
    import litellm

    with ReplayServer([context_length_exceeded(), "fits now"]) as replay:
        with pytest.raises(litellm.ContextWindowExceededError):
            ask(replay, "much")
        assert ask(replay, "less").choices[0].message.content == "fits now"


def test_a_session_answers_commits_and_summaries_from_their_own_queues() -> None:
    session = load_session(MINI)
    script = Script.of_session(session)
    commit = [{"role": "system", "content": prompts.commit_system.format(language_instruction="")}]
    summary = [{"role": "system", "content": prompts.summarize}]
    plain = [{"role": "user", "content": "hi"}]
    assert script.next(commit).text == session.of_kind("commit")[0].text
    assert script.next(summary).text == session.summaries[0]
    assert script.next(plain).text == session.of_kind("reply")[0].text


def fetch(url: str, body: bytes | None = None) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as problem:
        with problem:
            return problem.code, json.load(problem)


def test_lists_a_model_and_refuses_what_it_does_not_know() -> None:
    with ReplayServer([]) as replay:
        assert fetch(replay.url + "/models")[1]["data"][0]["object"] == "model"
        assert fetch(replay.url + "/engines")[0] == 404
        assert fetch(replay.url + "/embeddings", b"{}")[0] == 404
        assert fetch(replay.url + "/chat/completions", b"{]")[0] == 400
    assert replay.requests == []


def test_started_by_hand_it_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert server.main(["--session", str(tmp_path / "none")]) == 1
    assert "no such file or folder" in capsys.readouterr().err
