"""The scripted model as a server, asked by the real litellm over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aider import prompts

from aider_gardener.replay.session.history import load_session
from bench.model_server import ModelServer, Script, context_length_exceeded

MINI = Path(__file__).parents[1] / "data" / "sessions" / "mini"


def ask(server: ModelServer, text: str, **options: Any) -> Any:
    import litellm

    return litellm.completion(
        model="openai/gpt-4o",
        messages=[{"role": "user", "content": text}],
        api_base=server.url,
        api_key="any",
        num_retries=0,
        max_retries=0,
        **options,
    )


def test_streams_the_same_text_with_usage() -> None:
    text = "a reply — long enough for several chunks. " * 8
    with ModelServer([text]) as server:
        chunks = list(ask(server, "go", stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == text
    assert len(chunks) > 5
    assert sum(bool(getattr(chunk, "usage", None)) for chunk in chunks) == 1


def test_scripted_overflow_is_what_litellm_takes_for_it() -> None:
    import litellm

    with ModelServer([context_length_exceeded(), "fits now"]) as server:
        with pytest.raises(litellm.ContextWindowExceededError):
            ask(server, "much")
        assert ask(server, "less").choices[0].message.content == "fits now"


def test_a_session_answers_commits_and_summaries_from_their_own_queues() -> None:
    session = load_session(MINI)
    script = Script.of_session(session)
    commit = [{"role": "system", "content": prompts.commit_system.format(language_instruction="")}]
    summary = [{"role": "system", "content": prompts.summarize}]
    plain = [{"role": "user", "content": "hi"}]
    assert script.next(commit).text == session.of_kind("commit")[0].text
    assert script.next(summary).text == session.summaries[0]
    assert script.next(plain).text == session.of_kind("reply")[0].text
