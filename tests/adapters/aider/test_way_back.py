"""The way back to the originals: off, undo all, the account of the last chat, what is a turn, what is said."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.gardener.compactions import goal_of
from aider_gardener.messages import Level, SourceKind
from aider_gardener.notes.last_chat import edited_files
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.recall import EDIT_UNDONE, edit_outcome

from .conftest import EDIT, Begin, Driver, MakeDriver, ScriptedModel
from .test_entry_commands import holds_legal_lists, say
from .test_laws import alternates
from .test_wrappers import FACT, GOODBYE, chatter

ANSWER = " ".join(f"Detail {n} of the worker is not worth a word." for n in range(15))
LOG = "\n".join(f"10:{n // 60:02}:{n % 60:02} INFO step {n} of the job took {n * 7} ms" for n in range(200))


def originals(driver: Driver) -> list[tuple[str, str]]:
    """What was said in the chat, in the order in which it was said."""
    entries = driver.coder.gardener.state.chat.entries.values()
    return [(entry.role, entry.content) for entry in entries]


def as_entered(driver: Driver) -> list[tuple[str, str]]:
    """The same, with the outputs short that were cut as they entered."""
    state = driver.coder.gardener.state
    cut = {seq: state.archive.text(state.chat.entries[seq], Level.COMPRESSED) for seq in state.chat.throttled}
    return [(entry.role, cut.get(entry.seq, entry.content)) for entry in state.chat.entries.values()]


def standing(driver: Driver) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in driver.history]


def levels(driver: Driver) -> set[Level]:
    return set(driver.coder.gardener.state.chat.levels.values())


def compacted(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A chat with edits, a throttled output and several plans, some of its messages hidden."""
    import aider.commands

    monkeypatch.setattr(aider.commands, "run_cmd", lambda *_args, **_options: (0, LOG))
    driver = begin(history_tokens=1_000, throttle_tokens=400)
    driver.ask("say hi", reply=EDIT.format(path="app.py", old="    return 'hello'", new="    return 'hi'"))
    chatter(driver, 6)
    driver.type("/run make all")
    chatter(driver, 4)
    driver.type("/run make all again")
    assert len(driver.coder.gardener.state.plans) > 1
    assert {Level.COMPRESSED, Level.HIDDEN} <= levels(driver)
    assert LOG not in "\n".join(text for _role, text in standing(driver))
    return driver


# The whole history back


def test_off_is_told_as_it_is(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    driver.ask("/ask Never touch vendor/.")
    chatter(driver, 12)
    assert ", notes " in say(driver, "/context-pressure") and "room is made above 1,000" in driver.last_said
    driver.type("/gardener off")
    assert "aider makes room itself" in say(driver, "/context-pressure") and "notes" not in driver.last_said
    assert "Room is made" not in say(driver, "/gardener")
    assert say(driver, "/gardener plan").endswith("nothing was changed.")


def test_on_takes_over_again_where_off_left_the_history_whole(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = compacted(begin, monkeypatch)
    plans = len(driver.coder.gardener.state.plans)
    driver.type("/gardener off")
    assert "no compaction to undo" in say(driver, "/gardener undo")
    driver.type("/gardener on")
    assert standing(driver) == originals(driver)
    driver.ask("/ask and now?")
    assert len(driver.coder.gardener.state.plans) == plans + 1
    assert Level.HIDDEN in levels(driver)
    assert alternates(driver.history)


def test_off_leaves_what_was_cleared_or_forgotten_away(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    driver.ask(f"/ask {FACT} please remember")
    driver.type("/clear")
    driver.ask("/ask the password is quetzal")
    chatter(driver, 8)
    entries = driver.coder.gardener.state.chat.entries.values()
    driver.type(f"/forget {next(e.id for e in entries if 'quetzal' in e.content)} --yes")
    driver.type("/gardener off")
    text = "\n".join(text for _role, text in standing(driver))
    assert "48213" not in text
    assert "quetzal" not in text
    assert "Answer 0." in text
    assert alternates(driver.history)


def test_what_undo_all_took_back_is_not_compacted_again_at_once(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    driver = compacted(begin, monkeypatch)
    driver.type("/gardener undo all")
    plans = len(driver.coder.gardener.state.plans)
    (repository / "notes.md").write_text("Read this.\n", encoding="utf-8")
    driver.type("/read-only notes.md")  # what stands before the history changes: the cache is cold
    driver.ask("/ask short?", reply="Yes.")
    assert len(driver.coder.gardener.state.plans) == plans
    assert standing(driver) == as_entered(driver)
    chatter(driver, 6)
    assert len(driver.coder.gardener.state.plans) > plans


# The account of the last chat


def resumed(drive: MakeDriver) -> tuple[Driver, str]:
    """A chat that begins with the account of another, and the account."""
    first = drive()
    first.ask(f"/ask {FACT} please remember", reply="Kestrel-17 is noted for later.")
    chatter(first, 8)
    second = drive()
    return second, second.coder.done_messages[0]["content"]


def test_the_account_stays_for_some_prompts_and_can_be_had_back(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(resume=True, history_tokens=1_000)
    driver, note = resumed(drive)
    gardener = driver.coder.gardener
    assert gardener.state.count(note) <= max(240, 0.3 * goal_of(gardener.state).high)
    assert "question 7 about topic 7" in note
    kept = 0
    while kept < 60 and (not kept or note in model.last_prompt()):
        driver.ask(f"/ask question {kept} of today", reply=f"Answer {kept}. " + "words of prose. " * 30)
        kept += 1
    assert 5 < kept < 60 and gardener.state.plans
    (entry,) = [e for e in gardener.state.chat.entries.values() if e.source.kind is SourceKind.STUB]
    driver.type(f"/restore {entry.id}")
    driver.ask("/ask and?")
    assert note in model.last_prompt()
    assert holds_legal_lists(driver)


# Why


# What is a turn

LOOKING = (
    "/tokens", "/context-pressure", "/pin", "/gardener", "/gardener plan", "/gardener constraints",
    "/gardener decisions", "/compact", "/help", "/ls", "/diff", "/map", "/settings", "/models gpt", "/add app.py", "/drop app.py",
    "/gardener off", "/gardener on", "/recall xylophone quarantine", "/clear",
)  # fmt: skip


def test_commands_that_only_look_age_nothing(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    chatter(driver, 2)
    state = driver.coder.gardener.state
    assert state.chat.turn == 2
    known = driver.coder.gardener.state.chat.entries[0].id
    monkeypatch.setattr(driver.coder.io, "confirm_ask", lambda *_args, **_options: False)
    monkeypatch.setattr(driver.coder.io, "prompt_ask", lambda *_args, **_options: "")
    for command in (f"/why {known}", "/recall topic 1", *LOOKING):
        driver.type(command)
        assert state.chat.turn == 2, command
    driver.ask("/ask something new")
    assert [entry.turn for entry in state.chat.entries.values()][-2:] == [3, 3]
    assert state.chat.turn == 3


def test_commands_that_say_something_in_the_chat_are_turns(driver: Driver) -> None:
    driver.ask(f"/ask {FACT}")
    state = driver.coder.gardener.state
    driver.type("/run echo hi")
    assert state.chat.turn == 2
    driver.type("/context-pressure")
    driver.type("/clear")
    driver.type("/recall staging box port")
    assert state.chat.turn == 3
    assert [entry.turn for entry in state.chat.entries.values()] == [1, 1, 2, 2, 3, 3]


# What is said


@pytest.mark.parametrize("command", ["/clear", "/reset"])
def test_a_clear_says_how_to_reach_what_was_said_where_there_is_something(begin: Begin, command: str) -> None:
    driver = begin()
    driver.ask(f"/ask {FACT}")
    assert say(driver, command).count("does not come back by itself; /recall WORDS still finds it") == 1
    assert "come back" not in say(driver, command)


def test_a_clear_that_no_turn_surrounds_counts_at_once(driver: Driver) -> None:
    driver.ask("/ask hello")
    driver.coder.commands.cmd_clear("")
    assert driver.coder.gardener.state.chat.floor == 2


def undone(drive: MakeDriver) -> Driver:
    """A chat in which an edit was made and undone, long enough ago to be recalled."""
    driver = drive()
    edit = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'kestrel-greeting'")
    driver.ask("make greet return the kestrel greeting", reply=edit)
    driver.type("/undo")
    assert "hello" in Path("app.py").read_text(encoding="utf-8")
    return driver


def test_a_quoted_edit_that_was_undone_says_so(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(history_tokens=700)
    driver = undone(drive)
    driver.ask("say goodbye", reply=GOODBYE)
    chatter(driver, 10)
    assert not any("kestrel-greeting" in message["content"] for message in driver.history)
    driver.type("/drop app.py")  # old code of a file that is in the chat is not quoted
    driver.ask("/ask what did the kestrel greeting in greet look like?")
    quoted = [str(m["content"]) for m in model.requests[-1] if "Quoted from earlier" in str(m["content"])]
    assert "kestrel-greeting" in quoted[0]
    assert re.search(r"^\[1 reply, its edit was undone or not made", quoted[0], re.M)
    assert "its edit was undone or not made" in say(driver, "/recall kestrel greeting greet")


@pytest.mark.parametrize("edit_format", ["diff", "architect"])
def test_an_edit_that_is_left_out_is_told_behind_its_order_and_whether_it_stands(
    begin: Begin, edit_format: str
) -> None:
    driver = begin(history_tokens=1_000, files="aider", edit_format=edit_format, auto_accept_architect=True)
    change = "def greet():\n    return 'good {}'"
    for old, new in (("def greet():\n    return 'hello'", "day"), (change.format("day"), "night")):
        edit = EDIT.format(path="app.py", old=old, new=change.format(new))
        driver.model.replies += [f"{edit}\n{ANSWER}", edit][: 2 if edit_format == "architect" else 1]
        driver.type(f"say good {new}")
    driver.type("/undo")
    driver.ask(*(f"/ask step {n}" for n in range(5)), reply=ANSWER * 4)
    told = driver.model.last_prompt()
    assert "[1] user: say good day → edited app.py: greet (+1 −1)\n" in told
    assert "[2] user: say good night → edited app.py: greet (+1 −1), undone or not made\n" in told
    assert "SEARCH" not in told.partition("(Notes on")[2].partition("say good night")[0]


@pytest.mark.parametrize("why", ["declined", "declined by the architect's user", "a dry run", "a fault"])
def test_an_edit_that_was_not_made_is_told_as_such(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    dry, edit_format = why == "a dry run", "architect" if "architect" in why else "diff"
    options = {"edit_format": edit_format, "auto_accept_architect": False, "dry_run": dry}
    driver = begin(history_tokens=1_000, files="aider", **options)
    io = driver.coder.io
    monkeypatch.setattr(io, "confirm_ask", lambda *_args, **_options: "declined" not in why)
    monkeypatch.setattr(io, "dry_run", dry)
    if why == "a fault":
        monkeypatch.setattr(io, "write_text", fault)
    edit = EDIT.format(path="other.py", old="", new="def night():\n    return 'good night'")
    driver.ask("say good night in another file", reply=f"{edit}\n{ANSWER}")
    other = Path("other.py")
    assert not (other.exists() and other.read_text(encoding="utf-8"))
    driver.ask(*(f"/ask step {n}" for n in range(5)), reply=ANSWER * 4)
    assert re.search(r"another file → .*other\.py.*, undone or not made\n", driver.model.last_prompt())


def fault(*_args: object) -> None:
    raise RuntimeError("the file cannot be written")


def test_of_several_files_those_are_told_whose_edit_was_made(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = begin(history_tokens=1_000, files="aider")
    monkeypatch.setattr(
        driver.coder.io, "confirm_ask", lambda *_args, subject="", **_options: subject != "no.py"
    )
    blocks = [
        ("app.py", "    return 'hello'", "    return 'bye'"),
        ("no.py", "", "x = 1"),
        ("yes.py", "", "x = 2"),
    ]
    edits = "\n".join(EDIT.format(path=path, old=old, new=new) for path, old, new in blocks)
    driver.ask("say good night in three files", reply=f"{edits}\n{ANSWER}")
    assert Path("yes.py").exists() and not Path("no.py").exists()
    driver.ask(*(f"/ask step {n}" for n in range(5)), reply=ANSWER * 4)
    assert re.search(r"three files → .*no\.py.*, made in app.py, yes.py alone\n", driver.model.last_prompt())
    archive = driver.coder.gardener.state.archive
    event = archive.store.events(archive.session, EDIT_UNDONE)[-1]
    reply = archive.store.get(str(event.data["entry_id"]))
    assert edit_outcome(archive, Chat(), reply) == "reply, its edit was made in app.py, yes.py alone"


def test_an_undone_commit_of_the_linters_undoes_no_edit(begin: Begin, tmp_path: Path) -> None:
    linter = tmp_path / "linter.py"
    linter.write_text("import sys\nopen(sys.argv[1], 'a').write('# linted\\n')\n", encoding="utf-8")
    driver = begin(auto_lint=True, lint_cmds={None: f"{sys.executable} {linter}"})
    old = "    return 'hello'"
    for new in ("day", "night"):
        driver.ask(f"say {new}", reply=EDIT.format(path="app.py", old=old, new=f"    return '{new}'"))
        old = f"    return '{new}'"
    seen = []
    for _ in range(2):
        driver.type("/undo")
        chat = driver.coder.gardener.state.chat
        seen.append([chat.entries[seq].content.count("night") for seq in sorted(chat.undone)])
    assert seen == [[], [1]], "the linter's commit, then the one of the second edit"


@pytest.mark.parametrize(
    "shown",
    [
        EDIT.format(path="app.py", old="    return 'hello'", new="    return 'bye'"),
        "app.py\n```python\ndef greet():\n    return 'bye'\n```\n",
        "```diff\n--- app.py\n+++ app.py\n@@ ... @@\n-    return 'hello'\n+    return 'bye'\n```\n",
    ],
    ids=["blocks", "whole", "diff"],
)
def test_what_an_ask_was_answered_is_told_as_no_edit(begin: Begin, shown: str) -> None:
    driver = begin(history_tokens=1_000, files="aider")
    driver.ask("/ask how would greet say bye?", reply=f"Like this:\n\n{shown}\n{ANSWER}")
    driver.ask(*(f"/ask step {n}" for n in range(5)), reply=ANSWER * 4)
    told = driver.model.last_prompt()
    assert "[1] user: how would greet say bye?\n" in told, "and not that a file was edited or written"
    gardener = driver.coder.gardener
    assert edited_files(gardener.state.chat.all_entries()) == []
    compacted = gardener.state.archive.renditions(gardener.state.chat.entries[1])[Level.COMPRESSED].text
    assert "return 'bye'" in compacted, "what was proposed stands nowhere else"


@pytest.mark.parametrize("looks", ["/context-pressure", "/copy-context", "/gardener status"])
def test_a_look_at_the_chat_spoils_no_summary_of_aiders(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, looks: str
) -> None:
    monkeypatch.setattr("pyperclip.copy", lambda _text: None)
    Path(".chat.md").write_text(f"#### what is greet for?\n\n{ANSWER * 10}\n\n" * 3, encoding="utf-8")
    driver = begin(mode="observe", model_name="gpt-4", restore_chat_history=True)
    assert driver.coder.summarizer_thread is not None
    driver.type(looks)
    driver.ask("and now?")
    assert "I asked you about things." in driver.model.last_prompt()
    assert driver.model.summary_calls == 1
