"""A chat goes on with an older one: what was said, its files, its rules, its sums; or says in a line why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aider_gardener import uninstall
from aider_gardener.archive.sessions import project_sessions
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.stored_chat import sums_of
from aider_gardener.plan.view import is_legal

from .conftest import Begin, Driver, ScriptedModel
from .test_entry_commands import say
from .test_wrappers import FACT

LOCAL = "ollama/llama3"
RULE = "Never touch the table ledger_lines."
LONG = "some words of it " * 40


def session_of(driver: Driver) -> str:
    return str(driver.coder.gardener.state.archive.session)


def told(driver: Driver) -> str:
    return "\n".join(line for line in driver.said if "aider-gardener: " in line)


def ended(begin: Begin, *questions: str, **options: Any) -> tuple[str, list[str]]:
    """A chat that has ended: its id, and what stood in it."""
    driver = begin(**options)
    for question in questions or (f"/ask {FACT} please remember", "/ask and the second thing?"):
        driver.ask(question, reply=f"Noted: {question[:20]}.")
    found = session_of(driver), [str(message["content"]) for message in driver.history]
    uninstall()
    return found


def test_the_chat_goes_on_as_if_it_had_not_ended(
    begin: Begin, model: ScriptedModel, repository: Path
) -> None:
    session, history = ended(begin, f"/ask {RULE} What is in it?", "/ask and now?")
    driver = begin(resume=session[:6], fnames=())
    assert [str(message["content"]) for message in driver.history] == history
    assert session_of(driver) == session
    assert "going on with the chat of 20" in told(driver) and "(2 turns)" in told(driver)
    assert "4 of 4 messages whole; /clear drops it." in told(driver)
    assert [rule.text for rule in driver.coder.gardener.constraints()] == [RULE]
    driver.ask("/ask go on")
    assert history[0] in model.last_prompt() and "def greet" in model.last_prompt()
    assert driver.coder.gardener.state.chat.turn == 3
    sums = sums_of(driver.coder.gardener.state)
    assert (sums.turns, sums.calls) == (3, 3)
    uninstall()
    store = open_store(repository / ".aider.gardener")
    kept = [(info.id, info.turns, info.entries) for info in project_sessions(store, str(repository))]
    store.close()
    assert kept == [(session, 3, 6)]


def test_a_chat_that_ended_with_the_note_it_began_with_is_not_the_last_one(
    begin: Begin, repository: Path
) -> None:
    session, history = ended(begin)
    driver = begin(resume=True)
    assert "Last time" in told(driver)
    driver.type("/gardener")
    uninstall()
    again = begin(resume="last")
    assert session_of(again) == session
    assert [str(message["content"]) for message in again.history] == history
    uninstall()
    store = open_store(repository / ".aider.gardener")
    assert [info.id for info in project_sessions(store, str(repository))] == [session]
    store.close()


def test_what_was_said_again_and_did_not_stay_stays_where_it_was_said_before(
    begin: Begin, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = begin()
    driver.ask("/ask go on", reply="One.")
    with monkeypatch.context() as patched:
        patched.setattr(type(driver.coder), "check_tokens", lambda _self, _messages: False)
        driver.type("go on")
    model.replies.append(KeyboardInterrupt())
    driver.type("/ask and now?")
    session, history = session_of(driver), [str(message["content"]) for message in driver.history]
    assert history[:3] == ["go on", "One.", "and now?\n^C KeyboardInterrupt"]
    history[2] = "and now?"
    uninstall()
    other = begin()
    other.ask("/ask go on", reply="One.")
    other.type("/clear")
    uninstall()
    again = begin(resume=session)
    assert [str(message["content"]) for message in again.history] == history


@pytest.mark.parametrize(
    "forgotten", [("one?",), ("One.",), ("two?",), ("Two.",), ("three?", "Two."), ("Three.",)]
)
def test_a_chat_of_which_messages_were_forgotten_goes_on_in_turns(
    begin: Begin, model: ScriptedModel, forgotten: tuple[str, ...]
) -> None:
    driver = begin()
    for question, reply in (("one?", "One."), ("two?", "Two."), ("three?", "Three.")):
        driver.ask(f"/ask {question}", reply=reply)
    ids = {entry.content: entry.id for entry in driver.coder.gardener.state.chat.all_entries()}
    for text in forgotten:
        driver.type(f"/forget {ids[text]} --yes")
    session = session_of(driver)
    uninstall()
    again = begin(resume=session)
    again.ask("/ask go on", "/ask and on")
    said = [message for message in model.requests[-1] if message["role"] != "system"]
    roles = [message["role"] for message in said]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    texts = [str(message["content"]) for message in said]
    kept = [text for text in ids if text not in forgotten]
    assert [text for text in kept if not any(text in shown for shown in texts)] == []


def test_files_come_back_unless_they_are_gone(begin: Begin, repository: Path) -> None:
    (repository / "notes").mkdir()
    (repository / "notes" / "read me.md").write_text("Read this.\n", encoding="utf-8")
    (repository / "old.py").write_text("x = 1\n", encoding="utf-8")
    driver = begin(fnames=("app.py", "old.py"))
    driver.type('/read-only "notes/read me.md"')
    driver.ask("/ask hello?")
    uninstall()
    (repository / "old.py").unlink()
    again = begin(resume="last", fnames=())
    assert [Path(name).name for name in again.coder.abs_fnames] == ["app.py"]
    assert [Path(name).name for name in again.coder.abs_read_only_fnames] == ["read me.md"]
    assert "no longer there, and not added: old.py" in told(again)


def test_files_come_back_without_git_too_where_aiders_names_begin_elsewhere(
    begin: Begin, repository: Path
) -> None:
    (repository / "src").mkdir()
    (repository / "src" / "app.py").write_text("x = 1\n", encoding="utf-8")
    for names in (["src/app.py"], [], ["src/app.py"]):
        driver = begin(resume="last", fnames=names, use_git=False)
        assert driver.coder.abs_fnames == {str((repository / "src" / "app.py").resolve())}
        assert "not added" not in told(driver)
        driver.ask("/ask hello?")


def test_what_stood_shorter_stands_shorter_and_a_long_past_is_compacted(
    begin: Begin, model: ScriptedModel
) -> None:
    questions = [f"/ask question {n} about topic {n}: {LONG}" for n in range(12)]
    session, _ = ended(begin, *questions, history_tokens=100_000)
    driver = begin(resume=session, history_tokens=1_000)
    gardener = driver.coder.gardener
    assert "24 of 24 messages whole" in told(driver)
    driver.ask("/ask and now?")
    assert gardener.state.plans and gardener.state.history_used <= 1_000
    assert "question 11 about" in model.last_prompt() and f"topic 2: {LONG}" not in model.last_prompt()
    assert is_legal([piece.message for piece in gardener.state.chat.pieces])
    shown = [piece.content for piece in gardener.state.chat.pieces]
    again = begin(resume=session, history_tokens=1_000)
    assert [piece.content for piece in again.coder.gardener.state.chat.pieces] == shown
    assert again.coder.gardener.state.chat.levels == gardener.state.chat.levels
    assert "topic 2: some" in say(again, f"/recall --session {session} question 2 about topic 2")


def test_a_chat_that_was_killed_before_its_answer_takes_turns_again(
    begin: Begin, model: ScriptedModel
) -> None:
    first = begin()
    first.ask("/ask one?")
    first.coder.cur_messages += [{"role": "user", "content": "never answered"}]
    first.type("/gardener")
    session = session_of(first)
    driver = begin(resume=session)
    assert [message["role"] for message in driver.history][-2:] == ["user", "assistant"]
    driver.ask("/ask two?")
    assert "never answered" in model.last_prompt()


def test_what_was_cleared_stays_away(begin: Begin, model: ScriptedModel) -> None:
    first = begin()
    first.ask(f"/ask {FACT} please remember")
    first.type("/clear")
    driver = begin(resume="last")
    assert driver.history == [] and "it was cleared at its end" in told(driver)
    driver.ask("/ask hm?")
    assert "48213" not in model.last_prompt()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("zzzz", "no session of this project begins with zzzz; `gardener sessions` lists them"),
        ("2", "2 is no id"),
    ],
)
def test_a_bad_id_is_one_line_and_the_chat_starts_without(begin: Begin, given: str, why: str) -> None:
    session, _ = ended(begin)
    driver = begin(resume=given)
    assert driver.history == [] and session_of(driver) != session
    assert told(driver).count("\n") == 0
    assert why in told(driver) and told(driver).endswith("; this chat starts without it.")
    driver.ask("/ask hello?")


def test_the_last_local_chat_does_not_go_to_a_remote_model_unless_it_is_named(
    begin: Begin, model: ScriptedModel
) -> None:
    first = begin(model_name=LOCAL)
    first.ask(f"/ask {FACT} please remember")
    session = session_of(first)
    driver = begin(resume="last", model_name="gpt-4o")
    assert driver.history == [] and f"--gardener-resume={session[:4]} takes it up" in told(driver)
    named = begin(resume=session[:4], model_name="gpt-4o")
    assert "from here on it goes to gpt-4o" in told(named)
    named.ask("/ask hm?")
    assert "48213" in model.last_prompt()
    assert "from here on" not in told(begin(resume=session, model_name=LOCAL))


def test_a_chat_that_another_process_holds_is_left_to_it(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, _ = ended(begin)
    newer, _ = ended(begin)
    monkeypatch.setattr(Store, "open_elsewhere", lambda _store: frozenset([newer]))
    driver = begin(resume=newer)
    assert f"session {newer[:4]} is open in another process" in told(driver) and driver.history == []
    assert session_of(begin(resume="last")) == older


def test_with_a_restored_history_or_in_mode_observe_it_is_a_chat_of_its_own(begin: Begin) -> None:
    session, _ = ended(begin)
    history = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi."}]
    driver = begin(resume=session, done_messages=history)
    assert driver.history == history and "leave --restore-chat-history out" in told(driver)
    observed = begin(resume=session, mode="observe")
    assert observed.history == [] and "in mode observe" in told(observed)
