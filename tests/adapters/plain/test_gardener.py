"""The gardener of any agent: a list in, a legal list out, whatever agents put into theirs."""

from __future__ import annotations

import copy
import json
import logging
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aider_gardener
from aider_gardener.adapters.plain.chat import IMAGE_TOKENS
from aider_gardener.adapters.plain.gardener import Gardener, noted
from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.gardener import Gardener as ChatGardener
from aider_gardener.gardener.past_chats import past_chats
from aider_gardener.gardener.report import last_pressure
from aider_gardener.plan.view import FILLER
from aider_gardener.recall.recall import MARGIN_TOKENS
from aider_gardener.recall.recall import NOTE_HEAD as RECALL_HEAD
from aider_gardener.settings import Settings
from bench.model_server import ModelServer, ServerReply

from .agents import Sent, call, calls, illegal, opened, result, said, test_run, tokens, turn, user

SYSTEM = {"role": "system", "content": "You are a coding agent."}
FACT = "Remember: the staging box kestrel listens on port 48213."
QUESTION = "Which port did I say kestrel listens on?"


def grown(gardener: Gardener, turns: int, **options: Any) -> tuple[Sent, Sent]:
    """A chat of so many turns, each prompt made: the agent's list and the last prompt."""
    messages, prompt = [SYSTEM], []
    for number in range(turns):
        made = turn(number, FACT if number == 3 else "", **options)
        for at in (3, 4):
            prompt = gardener.prompt([*messages, *made[:at]])
        messages += made
    return messages, prompt


# The list


def test_above_the_budget_the_prompt_gets_shorter_and_the_list_stays() -> None:
    with opened() as gardener:
        messages, prompt = grown(gardener, 30)
        before = copy.deepcopy(messages)
        assert tokens(messages) > 20_000 > 8_000 > tokens(prompt)
        assert illegal(prompt) == "" and prompt[0] is SYSTEM and prompt[-1] is messages[-1]
        assert gardener.prompt(messages) == prompt and messages == before
        assert gardener.prompt(before) == prompt, "a copy of it is the same list"


def test_what_was_taken_back_stands_as_far_as_the_window_has_room() -> None:
    with opened(window=5_000) as gardener:
        messages, _prompt = grown(gardener, 29)
        assert tokens(gardener.prompt(messages)) < 5_000 < tokens(messages)
        gardener.undo(every=True)
        again = gardener.prompt(messages)
        assert tokens(again) < 5_000 and illegal(again) == ""
    with opened(window=64_000, history_tokens=4_000) as gardener:
        messages, _prompt = grown(gardener, 30)
        assert tokens(gardener.prompt(messages)) < 20_000 < tokens(messages)
        gardener.undo(every=True)
        assert tokens(gardener.prompt(messages)) > 20_000


def test_a_fact_that_no_longer_stands_comes_back_before_the_question_and_not_once_it_is_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with opened(window=3_000) as gardener:
        monkeypatch.setattr(gardener, "map_note", lambda _around: "")
        messages, _prompt = grown(gardener, 20)
        prompt = gardener.prompt([*messages, user("Please do the last step.")])
        assert not any("48213" in str(m["content"]) for m in prompt)
        note, filler, question = gardener.prompt([*messages, user(QUESTION)])[-3:]
        assert "48213" in note["content"] and note["content"].startswith(RECALL_HEAD)
        assert filler == said(FILLER) and question == user(QUESTION)
        kept = [m for m in messages if m["content"] != FACT]
        assert "48213" not in json.dumps(gardener.prompt([*kept, user(QUESTION)]))
        assert "48213" in json.dumps(gardener.prompt([*messages, user(QUESTION)]))
        assert "48213" not in json.dumps(gardener.prompt([SYSTEM, user(QUESTION)])), "a new list is cleared"
        assert "48213" in gardener.recall("port of kestrel")[0].text


def test_a_note_takes_its_turn_between_what_stands_around_it() -> None:
    note, filler = user("note"), said(FILLER)
    assert noted("note", [], [user("x")]) == noted("note", [said("x")], []) == [note, filler]
    assert noted("note", [result("c", "x")], [said("y")]) == [filler, note]
    assert noted("", [], []) == []


def test_results_are_shortened_in_their_own_places() -> None:
    with opened() as gardener:
        messages = [SYSTEM, *turn(0, lines=300), user("And now?")]
        messages[3] |= {"name": "bash", "my_key": 7}
        prompt = gardener.prompt([*messages, *turn(1, lines=300)])
        kept = [m for m in prompt if m.get("tool_call_id") == "c0"]
        assert len(kept) == 1 and kept[0]["my_key"] == 7 and kept[0]["name"] == "bash"
        assert len(kept[0]["content"]) < len(messages[3]["content"]) / 5
        assert "300 passed" in kept[0]["content"]


def test_an_agents_instructions_are_never_cut_whatever_waits_beside_them() -> None:
    rules = {"role": "developer", "content": "Answer in one line. " * 300}
    with opened(window=1_500) as gardener:
        assert rules in gardener.prompt([user("What is the port?"), rules, user("word " * 300)])


def test_one_result_larger_than_the_window_is_cut_and_archived_whole() -> None:
    with opened(window=4_000) as gardener:
        huge = test_run(1, 2_000) + "\nValueError: the last line"
        messages = [SYSTEM, user("Run it."), calls(call("c1", "make")), result("c1", huge)]
        prompt = gardener.prompt(messages)
        assert illegal(prompt) == "" and tokens(prompt) < 4_000 < tokens(messages)
        assert prompt[-1]["role"] == "tool" and "the last line" in prompt[-1]["content"]
        entry = next(e for e in gardener.state.chat.entries.values() if e.content == huge)
        assert gardener.state.archive.store.original(entry.id) == huge


def test_a_question_and_the_calls_that_answer_it_fit_the_window_together() -> None:
    with opened(window=1_500) as gardener:
        messages = [user("You are a coding agent. " * 40) | {"role": "system"}]
        messages.append(user("Why does the pump fail? " * 190))
        for number in range(4):
            messages += [calls(call(f"c{number}", "make")), result(f"c{number}", "pump worker table " * 9)]
            prompt = gardener.prompt(messages)
            assert illegal(prompt) == "" and tokens(prompt) <= 1_500


def test_what_the_model_calls_is_sent_as_it_called_it() -> None:
    with opened(window=600) as gardener:
        made = calls(*(call(f"c{number}", "make the pump report " * 14) for number in range(3)))
        messages = [user("Why?"), made, *(result(f"c{number}", "worker " * 80) for number in range(3))]
        prompt = gardener.prompt(messages)
        assert made in prompt and illegal(prompt) == "" and tokens(prompt) < tokens(messages)


def test_the_pressure_after_a_prompt_counts_the_note_that_stands_in_it() -> None:
    with opened(window=3_000) as gardener:
        rule = "Never touch the file src/app.py. We decided to use redis instead of kafka. "
        messages = [SYSTEM, *turn(0), *turn(1, rule + "The pump runs well. " * 90)]
        gardener.prompt(messages[:-1])
        assert gardener.pressure().parts["notes"] == 0 == len(gardener.state.plans)
        gardener.prompt([*messages, *turn(2)[:-1]])
        assert gardener.pressure().parts["notes"] == gardener.state.note.tokens > 0


def test_an_original_that_is_restored_stands_whole_in_its_place() -> None:
    with opened() as gardener:
        messages, prompt = grown(gardener, 14)
        at = next(n for n, m in enumerate(messages) if m["role"] == "tool" and m not in prompt)
        entry = next(e for e in gardener.state.chat.entries.values() if e.content == messages[at]["content"])
        assert gardener.restore(entry.id).in_place
        assert messages[at]["content"] in [m["content"] for m in gardener.prompt(messages)]


def test_an_original_that_left_the_list_comes_back_where_the_agent_puts_its_note() -> None:
    with opened() as gardener:
        gardener.prompt([user("The port is 8081."), said("Noted."), user("Go on.")])
        rest = [user("Go on.")]
        gardener.prompt(rest)
        entry_id = gardener.state.chat.entries[0].id
        note, filler = (dict(message._asdict()) for message in gardener.restore(entry_id).messages)
        assert gardener.prompt(rest) == rest  # the list is the agent's
        asked = [*rest, note, filler, user("Which port?")]
        assert gardener.prompt(asked) == asked
        said_by_user = [e.content for e in gardener.state.chat.entries.values() if e.source.kind == "typed"]
        assert said_by_user == ["The port is 8081.", "Go on.", "Which port?"]
        gardener.forget(entry_id)
        assert "8081" not in str(gardener.prompt(asked))


def test_acts_between_a_restored_note_and_the_next_prompt() -> None:
    acts: list[Any] = [Gardener.undo, Gardener.give_back, Gardener.compact_after_rejection]
    acts.append(lambda gardener: gardener.forget(gardener.state.chat.entries[9].id))
    acts.append(lambda gardener: gardener.pin(gardener.state.chat.entries[9].id))
    for act in acts:
        with opened() as gardener:
            messages, _ = grown(gardener, 14)
            gardener.prompt(messages[5:])
            note, _filler = gardener.restore(gardener.state.chat.entries[0].id).messages
            act(gardener)
            put = [*messages[5:], note._asdict(), user("And now?")]
            assert note._asdict() in gardener.prompt(put)


def test_a_preview_leaves_no_trace() -> None:
    with opened() as gardener:
        messages = [SYSTEM, *turn(0), user("And now?")]
        with gardener.preview():
            gardener.prompt(messages)
        assert not gardener.state.chat.entries
        gardener.prompt(messages)
        assert len(gardener.state.chat.entries) == 5


def test_a_task_of_many_calls_keeps_its_question_whole() -> None:
    with opened(window=4_000) as gardener:
        messages = [SYSTEM, user("Make every test of the project pass, one by one.")]
        for number in range(30):
            messages += [calls(call(f"c{number}", "pytest")), result(f"c{number}", test_run(number))]
            prompt = gardener.prompt(messages)
            assert illegal(prompt) == "" and tokens(prompt) < 4_000
            assert messages[1] in prompt and prompt[-1] is messages[-1]


def test_many_calls_at_once_fit_the_window_together() -> None:
    with opened(window=8_000) as gardener:
        messages = [user("Read all of it.")]
        for number in range(3):
            names = [f"c{number}-{n}" for n in range(60)]
            messages.append(calls(*(call(name, "cat") for name in names)))
            messages += [result(name, f"{name}\n{'a word ' * 300}") for name in names]
            prompt = gardener.prompt(messages)
            assert illegal(prompt) == "" and tokens(prompt) < 8_000


@pytest.mark.parametrize(("count", "words"), [(180, 15), (500, 8)])
def test_however_many_messages_have_no_answer_they_fit_the_window(count: int, words: int) -> None:
    messages = [user(f"{number}: " + "what the room said of the pump " * words) for number in range(count)]
    with opened() as gardener:
        prompt = gardener.prompt(messages)
        assert prompt[-1] is messages[-1]
        assert tokens(prompt) <= 8_000 < tokens(messages)


def test_no_schemas_may_be_named_as_none(caplog: pytest.LogCaptureFixture) -> None:
    with opened() as gardener, caplog.at_level(logging.WARNING, "aider_gardener"):
        messages = [part for number in range(30) for part in turn(number)]
        assert tokens(gardener.prompt(messages, tools=None)) < 8_000 and caplog.records == []


def test_a_call_of_the_form_before_tool_calls_keeps_its_result() -> None:
    messages: list[dict[str, Any]] = [SYSTEM]
    with opened(window=2_000) as gardener:
        for number in range(12):
            called = {"name": "run", "arguments": json.dumps({"command": f"make {number}"})}
            output = "\n".join(f"{line * number} rows of {number}" for line in range(90))
            messages += [
                user(f"What does step {number} print?"),
                {"role": "assistant", "content": None, "function_call": called},
                {"role": "function", "name": "run", "content": output},
            ]
            prompt = gardener.prompt(messages)
            results = [at for at, message in enumerate(prompt) if message["role"] == "function"]
            assert results == [at + 1 for at, message in enumerate(prompt) if "function_call" in message]
            messages.append(said("Rows."))
        assert len(prompt) < len(messages) and tokens(prompt) < 2_000


def test_images_stay_with_their_message_and_count() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with opened() as gardener:
        shown = user([{"type": "text", "text": "What is wrong here?"}, picture])
        assert gardener.prompt([SYSTEM, shown])[1] is shown
        assert gardener.pressure().used > IMAGE_TOKENS
        entry = next(iter(gardener.state.chat.entries.values()))
        assert "What is wrong here?" in entry.content and "[image_url " in entry.content


@pytest.mark.parametrize(
    ("past", "in_result", "waiting", "asked"),
    [
        ([], 0, 0, 1),
        ([], 0, 5, 4),
        ([], 4, 0, 4),
        ([5], 0, 0, 4),
        ([5], 4, 5, 1),
        ([1, 1, 1, 1, 1], 0, 5, 1),
        ([1, 1, 1, 1, 1], 4, 0, 1),
        ([1, 1, 1, 1, 1], 4, 5, 4),
    ],
)
def test_pictures_that_the_window_has_no_room_for_leave_the_prompt(
    past: list[int], in_result: int, waiting: int, asked: int, caplog: pytest.LogCaptureFixture
) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [SYSTEM]
    for pictures in past:
        messages += [user(["Compare them.", *[picture] * pictures]), said("They are alike.")]
    if in_result:
        messages += [
            user("Look."),
            calls(call("c", "shot")),
            result("c", ["A shot.", *[picture] * in_result]),
        ]
        messages.append(said("I see it."))
    messages += [user([f"Picture {number}", picture]) for number in range(waiting)]
    messages.append(user(["And in these?", *[picture] * asked]))
    before = copy.deepcopy(messages)
    with opened(window=4_000) as gardener, caplog.at_level(logging.WARNING, "aider_gardener"):
        prompt = gardener.prompt(messages)
    pictures = json.dumps(prompt).count('"image_url": {"url"')
    assert tokens(prompt) + pictures * IMAGE_TOKENS < 4_000 and illegal(prompt) == "" and messages == before
    assert "And in these?" in str(prompt[-1]["content"])
    told = [record.getMessage() for record in caplog.records]
    assert [line for line in told if "parts that are no text" not in line] == []
    assert bool(told) == (asked + waiting > 3)


def test_messages_without_content_and_objects_are_taken() -> None:
    class Reply:
        role = "assistant"

        def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
            return {"role": "assistant", "content": "Done."}

    odd = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{not json"}}
    empty = {"role": "assistant", "content": None}
    with opened() as gardener:
        messages: list[Any] = [user("Go"), calls(odd), result("c", "ok"), empty, Reply()]
        assert gardener.prompt(messages) == messages


def test_a_prompt_that_is_handed_back_as_the_list_is_legal_too() -> None:
    with opened(window=4_000) as gardener:
        messages: Sent = [SYSTEM]
        for number in range(20):
            messages = gardener.prompt([*messages, *turn(number)])
            assert illegal(messages) == "" and tokens(messages) < 4_000


# The rest of the gardener


def test_off_and_observing_change_nothing() -> None:
    for options in ({"mode": "off"}, {"mode": "observe"}):
        with opened(window=4_000, **options) as gardener:
            messages, prompt = grown(gardener, 20)
            assert prompt == messages
            assert bool(gardener.recall("kestrel")) is (options["mode"] == "observe")


def test_a_fault_inside_costs_one_line_and_the_list_is_sent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(window=4_000) as gardener, caplog.at_level(logging.WARNING, "aider_gardener"):
        messages, _prompt = grown(gardener, 20)
        monkeypatch.setattr(gardener, "compact_if_due", lambda **_: 1 / 0)
        caplog.clear()
        messages.append(user("Go on."))
        assert gardener.prompt(messages) == messages
        assert [record.getMessage() for record in caplog.records] == [
            "aider-gardener: this prompt is sent as it is (ZeroDivisionError)"
        ]
        monkeypatch.undo()
        assert tokens(gardener.prompt(messages)) < 4_000


def test_its_chats_are_told_as_an_agents_own_and_not_as_aiders(tmp_path: Path) -> None:
    with Gardener.open(tmp_path, window=8_000, settings=Settings(embedder="none")) as gardener:
        gardener.prompt([user(FACT)])
    store = open_store(tmp_path / ".aider.gardener")
    assert [chat.host for chat in past_chats(store, str(tmp_path))] == ["python"]
    pressure, _state = last_pressure(store, session_named(store, str(tmp_path), "last"), Settings(), len)
    assert pressure.used > 0 and pressure.history_budget == 4_000, "half of the window"
    store.close()


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ("hello", "takes the list of messages"),
        ({"role": "user"}, "takes the list of messages"),
        ([{"content": "x"}], "message 1 has no role"),
        ([user("x"), "y"], "message 2 has no role"),
        ([user(7)], "content of message 1 is int"),
        ([user([{"type": "image", "data": b"x"}])], "message 1 cannot be sent as JSON"),
        ([user([{"type": "image", "data": float("nan")}])], "message 1 cannot be sent as JSON"),
        ([{"role": "user", "parts": [{"text": "x"}]}], "message 1 has parts, as Gemini's"),
        ([user("x"), {"role": ""}], "message 2 has no role"),
        (
            [user("x"), said([{"type": "tool_use", "id": "t"}])],
            "message 2 has a part tool_use, as Anthropic's",
        ),
        ([user(reduce(lambda held, _: [held], range(100_000), []))], "message 1 cannot be sent as JSON"),
    ],
)
def test_what_is_no_list_of_messages_is_refused_in_one_line(messages: Any, told: str) -> None:
    with opened() as gardener, pytest.raises(UsageError, match=told) as refused:
        gardener.prompt(messages)
    assert "\n" not in str(refused.value)


def test_arguments_of_other_types_are_refused_in_one_line(tmp_path: Path) -> None:
    for wrong in (
        {"project": None},
        {"count": 5},
        {"window": "8k"},
        {"model": 5},
    ):
        with pytest.raises(UsageError, match="takes"):
            Gardener.open(**{"project": tmp_path, "window": 8_000, "memory": True} | wrong)
    with opened() as gardener:
        for act in (gardener.restore, gardener.pin, gardener.forget, gardener.why, gardener.expire):
            with pytest.raises(UsageError, match=r"\w+\(\) takes entry_id= as text, not NoneType"):
                act(None)
        for wrong in ({"query": 5}, {"query": "x", "token_limit": "9"}, {"query": "x", "limit": None}):
            with pytest.raises(UsageError, match="takes a question in words"):
                gardener.recall(**wrong)
        for classes in (5, None, "log", ["nosuch"]):
            with pytest.raises(UsageError, match="takes classes= as a list of these: prompt, error, code"):
                gardener.recall("x", classes=classes)  # type: ignore[arg-type]
        gardener.prompt([user("The port is 8081."), said("Noted.")])
        assert [item.text for item in gardener.recall("port", classes=["prompt"])]
        acts: list[tuple[Any, dict[str, Any]]] = [
            (gardener.plan, {"focus": 5}),
            (gardener.add_rule, {"text": ["x"]}),
            (gardener.edit_rule, {"text": "x", "number": "1"}),
            (gardener.drop_rule, {"number": None}),
            (gardener.expire, {"entry_id": "g1", "context_ttl": "x"}),
            (gardener.compact_after_rejection, {"room": "x"}),
            (gardener.answer, {"reply": None}),
            (gardener.prompt, {"messages": [user("x")], "tools": 5}),
            (gardener.prompt, {"messages": [user("x")], "tools": "run"}),
        ]
        for act, given in acts:
            with pytest.raises(UsageError, match=rf"{act.__name__}\(\) takes {[*given][-1]}= as"):
                act(**given)


def test_what_is_wrong_with_the_archive_is_said_as_it_is_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".aider.gardener").mkdir()
    (tmp_path / ".aider.gardener" / "gardener.db").symlink_to(tmp_path / "elsewhere")
    with caplog.at_level(logging.WARNING, "aider_gardener"):
        Gardener.open(tmp_path, window=8_000, settings=Settings(embedder="none")).close()
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1 and "kept in memory only" in told[0] and "a symbolic link" in told[0]
    with pytest.raises(UsageError, match="nosuch is no folder; name that of the project"):
        Gardener.open(tmp_path / "nosuch", window=8_000)
    Gardener.open(os.fsencode(tmp_path), window=8_000, memory=True).close()  # type: ignore[arg-type]


def test_a_window_that_nobody_knows_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="give window="):
        Gardener.open(".", memory=True)
    with pytest.raises(UsageError, match="the window of nosuch is not known"):
        Gardener.open(".", memory=True, model="nosuch")
    for wrong in (
        {"window": "100k"},
        {"window": 8_000, "settings": {}},
        {"model": None},
    ):
        with pytest.raises(UsageError, match="window= takes a number of tokens, model= a name, settings= a"):
            Gardener.open(".", memory=True, **wrong)
    assert capsys.readouterr() == ("", "")
    with opened(window=0, history_tokens=1_000) as gardener:
        messages, prompt = grown(gardener, 20)
        assert tokens(prompt) < tokens(messages) / 3


def test_threads_that_share_one_wait_for_each_other(caplog: pytest.LogCaptureFixture) -> None:
    with opened(window=4_000) as gardener, caplog.at_level(logging.WARNING, "aider_gardener"):

        def chat(number: int) -> None:
            messages = [user(f"chat {number}")]
            for turn in range(12):
                messages += [said(f"answer {turn}"), user(f"question {turn} of {number} " + "word " * 220)]
                gardener.prompt(messages)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(chat, range(4)))
    assert caplog.records == []


def test_what_the_documents_name_of_it_is_there(root: Path) -> None:
    text = (root / "docs" / "hosts.md").read_text(encoding="utf-8")
    told = text[text.index("So `recall`") : text.index("`sync` is not for agents")]
    assert all(hasattr(Gardener, name) for name in re.findall(r"`([a-z]\w+)`", f"{told}{Gardener.__doc__}"))


def test_the_list_goes_to_prompt_and_not_to_sync() -> None:
    with opened() as gardener, pytest.raises(UsageError, match="prompt"):
        gardener.sync([], [])


def test_the_top_level_name_is_this_gardener_and_a_gardener_of_a_chat() -> None:
    assert aider_gardener.Gardener is Gardener and issubclass(Gardener, ChatGardener)
    with pytest.raises(AttributeError, match="Gardner"):
        _ = aider_gardener.Gardner


# Laws

words = st.sampled_from(["alpha", "the port is 8123", "never use tabs", "x = 1", "", "Ok.", "deadbeef " * 40])
outputs = st.one_of(words, st.builds(test_run, st.integers(0, 50), st.integers(1, 80)))


@st.composite
def chats(draw: st.DrawFn) -> list[Sent]:
    """Steps of a chat that grows, each of which ends where the model is asked."""
    steps: list[Sent] = [[SYSTEM]] if draw(st.booleans()) else [[]]
    for number in range(draw(st.integers(2, 14))):
        image = {"type": "image_url", "image_url": {"url": f"data:{number}"}}
        text = draw(outputs)
        steps.append([user([{"type": "text", "text": text}, image] if draw(st.booleans()) else text)])
        for n in range(draw(st.integers(0, 3))):
            ids = [f"c{number}.{n}.{k}" for k in range(draw(st.integers(1, 3)))]
            made = calls(*(call(i, draw(words)) for i in ids), text=draw(st.one_of(st.none(), words)))
            steps.append([made, *(result(i, draw(outputs)) for i in draw(st.permutations(ids)))])
        if draw(st.integers(0, 5)):
            steps[-1] = [*steps[-1], said(draw(st.one_of(st.none(), outputs)))]
        if not draw(st.integers(0, 6)):
            steps.append([{"role": "developer", "content": draw(words)}])
    return steps


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chats(), st.sampled_from([600, 1_500, 4_000]), st.data())
def test_legal_lists_stay_legal_and_get_no_longer_than_their_notes(
    steps: list[Sent], window: int, data: st.DataObject
) -> None:
    with opened(window=window) as gardener:
        state = gardener.state
        messages: Sent = []
        for step in steps:
            messages = [*messages, *step]
            if step and step[0]["role"] == "user" and not data.draw(st.integers(0, 9)):
                del messages[-1 - data.draw(st.integers(0, len(step))) :]
            whole = copy.deepcopy(messages)
            if illegal(messages):
                continue
            prompt = gardener.prompt(messages)
            assert messages == whole
            assert illegal(prompt) == ""
            notes = state.note.tokens + state.recall_budget + MARGIN_TOKENS + 60
            assert tokens(prompt) <= tokens(messages) + notes
            assert gardener.prompt(messages) == prompt
            fixed = [m for m in messages if m["role"] in ("system", "developer")]
            assert [m for m in prompt if m["role"] in ("system", "developer")] == fixed
            ours = [m for m in prompt if not any(m is own for own in messages)]
            assert all(m["role"] != "assistant" or m == said(FILLER) for m in ours)
            if not state.chat.levels:
                assert prompt == messages


# End to end


def test_the_example_runs_against_an_endpoint(root: Path, tmp_path: Path) -> None:
    asks = ServerReply(calls=(call("c1", "echo the answer is 42", name="run"),))
    with ModelServer([asks, "It is 42.", asks, "Still 42."]) as server:
        done = subprocess.run(
            [sys.executable, str(root / "examples" / "plain_agent.py"), "some-model", "8000"],
            input="What is the answer?\nAnd again?\n",
            env={**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "x", "PYTHONPATH": str(root)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["It is 42.", "Still 42."]
    sent = [request["messages"] for request in server.requests]
    assert len(sent) == 4 and not any(map(illegal, sent)) and (tmp_path / ".aider.gardener").is_dir()
    assert sent[1][-1]["content"] == sent[3][-1]["content"] == "the answer is 42\n"
