"""A prompt that is too long: gardened harder, sent once more, and a legal chat whatever comes of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_search import found

from aider_gardener.adapters.aider.call import FAKE_REPLY, is_overflow, window_of
from aider_gardener.gardener.state import ChatState
from aider_gardener.plan.usage import Call
from aider_gardener.replay.play.calls import completion

from .conftest import Begin, Driver, ScriptedModel
from .test_entry_commands import say

WORDS = "words of prose about the worker and its queue. "


def rejection(text: str = "too long", *, plain: bool = False) -> Exception:
    from litellm import BadRequestError, ContextWindowExceededError

    kind = BadRequestError if plain else ContextWindowExceededError
    return kind(message=text, model="gpt-4o", llm_provider="openai")


def talk(driver: Driver, turns: int) -> None:
    for number in range(turns):
        driver.ask(f"/ask question {number} about topic {number}", reply=f"Answer {number}. " + WORDS * 15)


def counted(model: ScriptedModel) -> None:
    """Let the model report what its prompts have."""
    from litellm import token_counter

    model.prompt_tokens = lambda messages: token_counter("gpt-4o", messages=messages)


def refused_above(driver: Driver, model: ScriptedModel, tokens: int) -> None:
    """Have one prompt refused with a window that is stated, and the next one answered."""
    model.replies += [rejection(f"maximum context length is {tokens} tokens", plain=True), "Here you are."]
    driver.type("/ask go on")
    assert driver.history[-1]["content"] == "Here you are."


def assert_legal(driver: Driver) -> None:
    roles = [message["role"] for message in driver.history]
    assert all(first != second for first, second in itertools.pairwise(roles))
    assert not any(message["content"] == FAKE_REPLY for message in driver.history)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001", 8192),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        ("input length and `max_tokens` exceed context limit: 197190 + 21333 > 200000, decrease", 178667),
        ("requested tokens (5012) exceed context window of 2048", 2048),
        ("input length 9000 with n_ctx = 2048 tokens", 2048),
        ("maximum context length of 128,000 tokens", 128000),
        ("the prompt is too long", 0),
    ],
)
def test_the_window_that_an_error_states_is_read(text: str, window: int) -> None:
    assert window_of(RuntimeError(text)) == window


def test_local_servers_words_count_and_other_bad_requests_do_not() -> None:
    assert is_overflow(rejection("the request exceeds the available context size", plain=True))
    assert is_overflow(rejection("`max_tokens` exceed context limit: 197190 + 21333 > 200000", plain=True))
    assert not is_overflow(rejection("messages must alternate", plain=True))
    assert not is_overflow(RuntimeError("maximum context length"))


@pytest.mark.parametrize("plain", [False, True])
def test_rejected_twice_the_chat_is_as_before_and_the_user_gets_one_line(begin: Begin, plain: bool) -> None:
    driver = begin(history_tokens=100_000)
    talk(driver, 6)
    driver.model.replies += [rejection("context window exceeded", plain=plain) for _ in range(2)]
    say(driver, "/ask one more thing 5512")
    assert len(driver.model.requests) == 8
    assert_legal(driver)
    assert not any("5512" in message["content"] for message in driver.history)
    (line,) = [line for line in driver.said if "does not fit" in line]
    assert "taken out of the chat" in line
    assert "kept as g" in line
    assert found(driver.coder.gardener.state.archive.store, "5512")
    driver.ask("/ask and now?", reply="Here.")
    assert_legal(driver)
    assert driver.history[-1]["content"] == "Here."


def test_a_rejection_with_nothing_to_give_up_is_not_sent_again(driver: Driver) -> None:
    driver.model.replies.append(rejection())
    driver.type("/ask hello")
    assert len(driver.model.requests) == 1
    assert driver.history == []


def test_the_window_that_a_rejection_states_holds_from_then_on(begin: Begin) -> None:
    driver = begin(history_tokens=100_000)
    counted(driver.model)
    talk(driver, 8)
    gardener = driver.coder.gardener
    stated = gardener.state.usage.taken("gpt-4o", Call(0, 0)) + 20
    refused_above(driver, driver.model, stated)
    assert gardener.state.frame.window == stated
    assert gardener.state.frame.tokens + gardener.state.history_used < stated
    talk(driver, 4)
    assert gardener.state.frame.window == stated
    assert gardener.state.count(driver.model.last_prompt()) < stated


def test_a_stated_window_is_forgotten_once_a_longer_prompt_goes_through(begin: Begin) -> None:
    driver = begin(history_tokens=100_000)
    counted(driver.model)
    talk(driver, 4)
    usage = driver.coder.gardener.state.usage
    stated = usage.taken("gpt-4o", Call(0, 0)) + 20
    refused_above(driver, driver.model, stated)
    assert driver.coder.gardener.state.frame.window == stated
    large = Path(driver.coder.root, "large.txt")
    large.write_text(WORDS * 1_000)
    driver.coder.abs_fnames.add(str(large))
    driver.ask("/ask what is in it?")
    assert usage.taken("gpt-4o", Call(0, 0)) > stated
    assert driver.coder.gardener.state.frame.window == 128_000


def test_a_message_larger_than_the_window_is_sent_short_and_no_undo_puts_it_back(begin: Begin) -> None:
    driver = begin(model_name="gpt-4")
    rows = "\n".join(f"record {n} of the import took {n * 7} ms in shard {n % 13}" for n in range(1_500))
    pasted = f"why is shard 7 slow?\n{rows}\nplease say it in one sentence"
    driver.ask(f"/ask {pasted}", reply="Because.")
    sent = driver.model.requests[0][-1]["content"]
    assert driver.coder.gardener.state.count(driver.model.last_prompt()) < 8_192
    assert "why is shard 7 slow?" in sent
    assert "please say it in one sentence" in sent
    entry = next(e for e in driver.coder.gardener.state.chat.entries.values() if e.content == pasted)
    assert entry.id in sent
    assert driver.coder.gardener.state.archive.store.original(entry.id) == pasted
    assert sum(entry.id in line and "your message" in line for line in driver.said) == 1
    driver.type("/gardener undo all")
    assert "no compaction to undo" in driver.last_said
    driver.type(f"/restore {entry.id}")
    assert "/recall WORDS brings the passages" in driver.last_said, "the next prompt could not be sent"
    assert driver.history[0]["content"] == sent


def test_files_that_fill_the_window_leave_the_message_whole_and_say_so(driver: Driver) -> None:
    driver.model.replies += [rejection("maximum context length is 600 tokens", plain=True) for _ in range(2)]
    driver.type("/ask what does greet do?")
    assert driver.history == []
    assert "/drop files" in driver.last_said


def test_a_provider_that_fails_leaves_a_chat_that_goes_on_legally(begin: Begin) -> None:
    from litellm import AuthenticationError

    driver = begin()
    driver.model.replies.append(AuthenticationError(message="no key", model="gpt-4o", llm_provider="openai"))
    driver.type("/ask first")
    assert len(driver.model.requests) == 1, "another error is not tried again"
    driver.type("/run echo some output")  # comes behind what has no answer
    driver.ask("/ask second", reply="Here.")
    assert_legal(driver)
    assert "first" in driver.model.last_prompt()


def test_switched_off_overflow_is_aiders_own(begin: Begin) -> None:
    driver = begin(mode="off")
    driver.model.replies.append(rejection())
    driver.type("hello")
    assert driver.history[-1]["content"] == FAKE_REPLY


RULE = "The port must stay 48213, never use 48214."


@pytest.fixture
def almost_full(monkeypatch: pytest.MonkeyPatch, model: ScriptedModel) -> Callable[[], None]:
    """From then on the next prompt takes more than 95 % of the window, whatever is compacted, until the LLM
    has summarised."""
    is_hard = property(lambda _state: not model.summary_calls)
    return lambda: monkeypatch.setattr(ChatState, "is_hard", is_hard)


def test_the_last_resort_is_told_what_was_decided_and_keeps_it(
    begin: Begin, almost_full: Callable[[], None]
) -> None:
    driver = begin(history_tokens=100_000, llm="fallback")
    driver.ask(f"/ask which port? {RULE}")
    talk(driver, 4)
    almost_full()
    say(driver, "/context-pressure")
    assert driver.model.summary_calls == 0, "a look pays for no summary"
    driver.ask("/ask hm")
    summarised = next(
        c for c in driver.model.calls if "summarize" in str(c["messages"][0]["content"]).lower()[:40]
    )
    assert RULE in summarised["messages"][1]["content"].split("# ASSISTANT")[0]
    assert "I asked you about things." in driver.model.last_prompt()
    assert RULE in driver.model.last_prompt()
    assert "Answer 3." not in driver.model.last_prompt()
    assert_legal(driver)


def test_a_summary_that_fails_leaves_the_history_whole(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, almost_full: Callable[[], None]
) -> None:
    driver = begin(history_tokens=100_000, llm="fallback")
    talk(driver, 3)
    before = list(driver.history)

    def fail(*_messages: Any) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr(type(driver.coder.summarizer), "summarize_all", fail)
    almost_full()
    driver.ask("/ask hm")
    assert driver.history[: len(before)] == before
    assert "the history stays as it is" in driver.last_said


def test_a_reply_that_goes_on_in_a_prompt_too_long_is_no_whole_reply(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = begin(history_tokens=100_000, model_name="claude-3-5-sonnet-20241022", edit_format="whole")
    driver.coder.main_model.info["supports_assistant_prefill"] = True
    talk(driver, 6)
    before = Path("app.py").read_text(encoding="utf-8")
    part = completion("Here it is.\n\napp.py\n```\ndef greet():\n", "claude", 10, 5)
    part.choices[0].finish_reason = "length"
    answers = iter([part, rejection(), completion("Whole again.", "claude", 10, 5)])

    def complete(**_options: Any) -> Any:
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    monkeypatch.setattr("litellm.completion", complete)
    driver.type("/code write it anew")
    assert Path("app.py").read_text(encoding="utf-8") == before
    assert any("has hit a token limit" in line for line in driver.said)
    assert_legal(driver)


@pytest.mark.parametrize("limit", [100_000, 400])
def test_what_a_file_of_load_asks_stays_in_the_chat(begin: Begin, tmp_path: Path, limit: int) -> None:
    driver = begin(history_tokens=limit)
    talk(driver, 3)
    driver.model.replies.append("")
    driver.type("/ask this one gets no answer")
    (tmp_path / "commands").write_text("/ask where is the ledger?\n/tokens\n", encoding="utf-8")
    driver.model.replies.append("In ledger_7.py.")
    driver.type(f"/load {tmp_path / 'commands'}")
    driver.ask("/ask and now?")
    assert "where is the ledger?" in driver.model.last_prompt()
    assert "In ledger_7.py." in driver.model.last_prompt()
    assert_legal(driver)


def test_what_a_file_of_load_asks_in_vain_is_taken_out(begin: Begin, tmp_path: Path) -> None:
    driver = begin(history_tokens=100_000)
    talk(driver, 3)
    (tmp_path / "commands").write_text("/ask where is the ledger?\n", encoding="utf-8")
    driver.model.replies += [rejection(), rejection()]
    driver.type(f"/load {tmp_path / 'commands'}")
    driver.ask("/ask and now?")
    assert "where is the ledger?" not in driver.model.last_prompt()
    assert any("taken out of the chat" in line for line in driver.said)
