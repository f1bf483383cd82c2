"""The note on what is settled, in a real chat: where it stands, that it stays, that it never enters the history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aider.watch_prompts import watch_code_prompt
from made_entries import make_gardener

from aider_gardener.adapters.aider.prompt import estimate
from aider_gardener.notes.chatmap import MAP_HEAD
from aider_gardener.notes.rules import Decision
from aider_gardener.plan.chat import question
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.view import FILLER, NOTE_HEAD

from .conftest import Begin, Driver, MakeDriver, ScriptedModel
from .test_wrappers import chatter

RULE = "Never touch the table ledger_lines."


def texts(request: list[dict[str, Any]]) -> list[str]:
    return [str(message["content"]) for message in request]


def said(*contents: str) -> list[dict[str, Any]]:
    return [
        {"role": "user" if at % 2 == 0 else "assistant", "content": text} for at, text in enumerate(contents)
    ]


# Its parts


def test_nothing_is_recalled_for_what_aider_says_in_its_users_name(begin: Begin) -> None:
    """Comments that were dealt with would be quoted beside the one that is to be followed now."""
    driver = begin(history_tokens=1_000, files="aider")
    for name in ("pool", "table", "retry", "ledger", "lease", "amount"):
        comment = f"\napp.py:\n⋮\n█    # rename the {name} here, ai!\n⋮\n"
        driver.ask(watch_code_prompt + comment, reply=f"I renamed the {name}. " + "Words of an answer. " * 60)
    assert "rename the pool" not in driver.model.last_prompt() and driver.coder.gardener.state.plans
    driver.ask("/ask what did I have you do with the pool?")
    assert "rename the pool" in driver.model.last_prompt()


def test_the_question_is_the_last_that_was_typed() -> None:
    output = "I ran this command:\n\nls\n\nAnd got this output:\n\na.py\n"
    for asked, wanted in (
        (["first", "second"], "second"),
        (["first", output], "first"),
        ([output], output),
        ([], None),
    ):
        gardener = make_gardener()
        gardener.sync([], [*({"role": "user", "content": text} for text in asked), *said("", "so")[1:]])
        found = question(reversed(gardener.state.chat.current_entries()))
        assert (found and found.content) == wanted


def test_of_what_waits_for_an_answer_at_most_half_the_window_counts() -> None:
    gardener = make_gardener()
    gardener.sync([], [{"role": "user", "content": "word " * 100}])
    tokens = []
    for window in (0, 10_000, 100):
        gardener.state.frame = Frame(window)
        tokens.append(gardener.state.open_counted)
    assert tokens[0] == tokens[1] >= 100 and tokens[2] == 50


# In a real chat


def test_what_stands_around_the_history_is_measured_by_part(
    drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    gardened()
    (repository / "notes.md").write_text("Read this first. " * 50, "utf-8")
    driver = drive()
    driver.coder.abs_read_only_fnames.add(str(repository / "notes.md"))
    driver.ask("/ask what is greet?")
    state = driver.coder.gardener.state
    assert state.frame.read_only == ("notes.md",) and state.frame.files == {"app.py": estimate("app.py")}
    assert state.frame.parts["files"] > 150 and state.frame.parts["system"] > 50
    assert "notes" not in state.frame.parts
    state.note = state.note._replace(tokens=77)
    driver.ask("/ask and now?")
    assert state.frame.parts["notes"] == 77


def test_what_the_archive_has_to_say_is_said_in_the_chat(driver: Driver) -> None:
    driver.ask("/ask hello")
    assert not any("begun anew" in line for line in driver.said)
    driver.coder.gardener.state.archive.store.notice = "the archive was begun anew"
    driver.ask("/ask hello again")
    assert driver.said.count("aider-gardener: the archive was begun anew") == 1


def test_what_it_says_during_a_command_is_said_with_it_and_not_again(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.ask("/ask hello")
    gardener, line = driver.coder.gardener, "the archive was begun anew"

    def decisions() -> list[Decision]:
        gardener.state.archive.store.notice = line
        return []

    monkeypatch.setattr(gardener, "decisions", decisions)
    driver.type("/gardener decisions")
    assert driver.said[-1] == f"aider-gardener: {line}"
    driver.ask("/ask hello again")
    assert driver.said.count(f"aider-gardener: {line}") == 1


def test_a_rule_outlives_its_message_in_a_note_behind_what_is_compacted_and_before_what_is_not(
    begin: Begin, model: ScriptedModel
) -> None:
    driver = begin(history_tokens=600, files="aider")
    driver.ask(f"/ask {RULE} Is that clear? " + "Some more words to make it a long message. " * 60)
    chatter(driver, 8)
    sent = texts(model.requests[-1])
    compacted = next(at for at, text in enumerate(sent) if text.startswith(NOTE_HEAD))
    note = next(at for at, text in enumerate(sent) if text.startswith(MAP_HEAD))
    assert sent[compacted + 1] == FILLER and note == compacted + 2 and sent[note + 1] == FILLER
    assert sum(text.startswith((NOTE_HEAD, MAP_HEAD)) for text in sent) == 2, "each stands once"
    assert RULE in sent[note]
    assert not any(text in message["content"] for message in driver.history for text in (RULE, MAP_HEAD))
    typed = [text for text in sent if text.startswith("question ")]
    assert len(typed) == len(set(typed))


def test_a_rule_set_by_hand_holds_however_little_the_last_compaction_saved(begin: Begin) -> None:
    import litellm

    driver = begin(preset="aggressive")
    said = [f"The worker hands batch {n} to shard {n % 7}, which took {n * 13} ms. " for n in range(3)]
    driver.ask(f"/ask question 1 {''.join(said)}", reply=f"Answer 1. {''.join(said)}")
    where = {"message": "too long", "model": "gpt-4o", "llm_provider": "openai"}
    driver.model.replies.append(litellm.ContextWindowExceededError(**where))
    driver.ask("/ask question 2")
    assert driver.coder.gardener.state.plans[-1].plan.tokens_saved < 30
    driver.type(f"/gardener constraints add {RULE}")
    driver.ask("/ask question 3")
    assert RULE in driver.model.last_prompt()


def test_what_is_forgotten_leaves_the_note_of_prompts_that_only_grow(begin: Begin) -> None:
    driver = begin(files="append", history_tokens=1_200)
    driver.ask(f"/ask Why does sort_parcels take 481 ms? {'It is slow. ' * 120}")
    asked = driver.coder.gardener.state.chat.entries[0].id
    chatter(driver, 8)
    notes = [text for text in texts(driver.model.requests[-1]) if text.startswith(MAP_HEAD)]
    assert any("sort_parcels" in note for note in notes)
    driver.type(f"/forget {asked} --yes")
    driver.ask("/ask And now?")
    assert "sort_parcels" not in driver.model.last_prompt()


def test_a_rule_set_by_hand_stands_in_prompts_that_only_grow_when_off_and_on_again(begin: Begin) -> None:
    driver = begin(files="append")
    driver.ask("/ask question 1")
    driver.type(f"/gardener constraints add {RULE}")
    driver.ask("/ask question 2")
    for word in ("off", "on"):
        driver.type(f"/gardener {word}")
    driver.ask("/ask question 3")
    assert RULE in driver.model.last_prompt()


def test_incremental_keeps_the_last_turns_and_sums_up_the_rest(begin: Begin) -> None:
    driver = begin(history_tokens=3_000, recall_tokens=1_000, incremental=3)
    chatter(driver, 20)
    sent = texts(driver.model.requests[-1])
    assert any("Earlier turns:" in text for text in sent)
    assert all(f"question {n} about topic {n}" in sent for n in (16, 17, 18))
    assert "question 3 about topic 3" not in sent
    sizes = [sum(map(len, texts(request))) for request in driver.model.requests]
    assert max(sizes) - sizes[0] < 4 * 3_000  # characters of the budget, four a token


def test_what_stands_in_a_file_of_the_chat_is_not_recalled_beside_it(begin: Begin, repository: Path) -> None:
    fact = "The staging box kestrel-17 listens on port 48213 behind the old proxy in the cellar."
    (repository / "hosts.md").write_text(f"# Hosts\n\n{fact}\n", "utf-8")
    driver = begin(history_tokens=600, files="aider", fnames=("app.py", "hosts.md"))
    driver.ask("/ask where do we stage?", reply=fact)
    chatter(driver, 10)
    for typed, times in (("/ls", 1), ("/drop hosts.md", 1), ("/add hosts.md", 1)):
        driver.type(typed)
        driver.ask("/ask on which port does the staging box kestrel listen?")
        assert sum(fact in text for text in texts(driver.model.requests[-1])) == times, typed
