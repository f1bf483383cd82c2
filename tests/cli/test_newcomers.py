"""What somebody tries who has just installed it: each command without an argument, with a wrong one, twice, in
an empty chat and in one with something in it, on a narrow terminal, without colours."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from adapters.aider.conftest import Driver, MakeDriver
from click.testing import CliRunner

from aider_gardener import uninstall
from aider_gardener.archive.store import open_store
from aider_gardener.cli.root import main

from .conftest import five_turns

PORT, COLUMNS = "The port is 8081.", 80
TYPED = [
    # typed, what is said in an empty chat, what is said in a chat of five turns
    ("/context-pressure", "Nothing to do.", "1  reply, prose"),
    ("/context-pressure much", "Usage: /context-pressure [--json]", "Usage: "),
    ("/compact", "There is nothing worth compacting now: ", "/gardener undo takes it back"),
    ("/compact", "There is nothing worth compacting now: ", "There is nothing worth compacting now: "),
    ("/compact --bogus", "Usage: /compact [WORDS]", "Usage: /compact [WORDS]"),
    ("/gardener plan --bogus", "Usage: /gardener plan [WORDS]", "Usage: /gardener plan [WORDS]"),
    ("/gardener undo", "there is no compaction to undo", "Took back the last compaction"),
    ("/gardener", "Nothing was sent yet.", "for <$0.01"),
    ("/gardener plan", "There is nothing worth compacting now: ", "nothing was changed. /compact does it."),
    ("/gardener help", "constraints [add|edit N|drop N]", "constraints [add|edit N|drop N]"),
    ("/gardener sing", "/gardener help says what each does", "/gardener help says what each does"),
    ("/gardener constraints", "constraints add TEXT sets one", "constraints add TEXT sets one"),
    ("/gardener constraints drop", "Usage: /gardener constraints", "Usage: /gardener constraints"),
    ("/gardener constraints drop 9", "no rules were set in this chat", "no rules were set in this chat"),
    ("/gardener decisions", "No decisions were found", "No decisions were found"),
    ("/gardener off", "/gardener on takes over again", "/gardener on takes over again"),
    ("/gardener off", "every message stands whole", "every message stands whole"),
    ("/gardener on", "The gardener is on", "The gardener is on"),
    ("/recall", "Usage: /recall", "Usage: /recall"),
    ("/recall port", "Try other words", "The port is 8081"),
    ("/recall --bogus port", "Usage: /recall ", "Usage: /recall "),
    ("/recall --session zzz port", "no chat of", "no session of this project begins with zzz"),
    ("/pin", "/pin ID holds a message", "/pin ID holds a message"),
    ("/pin last", "there is no such message in this chat yet", "stays whole in the chat; /unpin"),
    ("/pin last", "there is no such message in this chat yet", "stays whole in the chat; /unpin"),
    ("/pin", "/pin ID holds a message", "Answer 3."),
    ("/unpin", "Usage: /unpin ID", "Usage: /unpin ID"),
    ("/unpin last", "Nothing is pinned in this chat", "is no longer pinned."),
    ("/restore", "Usage: /restore ID", "Usage: /restore ID"),
    ("/restore last", "there is no such message in this chat yet", "stands whole in the chat already"),
    ("/why", "Usage: /why ID", "Usage: /why ID"),
    ("/why gzz", "no entry has the id gzz", "no entry has the id gzz"),
    ("/why 99", "no list was shown yet", "the last list had 1 message"),
    ("/why last", "there is no such message in this chat yet", "Nothing was ever done to it."),
    ("/forget", "Usage: /forget ID|session", "Usage: /forget ID|session"),
    ("/forget last", "there is no such message in this chat yet", "Forgot "),
    ("/forget session", "There is nothing in this chat to forget.", "The chat is empty."),
    ("/forget session", "There is nothing in this chat to forget.", "There is nothing in this chat to forget."),
]  # fmt: skip
CALLED = [
    # called, its status and what it says without an archive, with an empty one, with one of five turns
    ("nonsense", *[(2, "no such command 'nonsense'")] * 3),
    ("recall", *[(2, "missing argument 'QUERY...'")] * 3),
    ("recall port", (2, "run aider-gardener"), (0, "Try other words"), (0, "The port is 8081")),
    ("recall port --limit 1", (2, "run aider-gardener"), *[(0, "No passage fits that in 1 tokens")] * 2),
    ("status", (2, "run aider-gardener"), (0, "not shared"), (0, "1 chat, 10 different messages")),
    ("sessions", (2, "run aider-gardener"), (0, "holds no chat of"), (0, "tell me the port")),
    ("sessions show", *[(2, "missing argument 'ID'")] * 3),
    ("sessions show zzz", (2, "run aider-gardener"), (2, "once something was said"), (2, "`gardener sessions` lists")),
    ("pressure", (2, "run aider-gardener"), (2, "once something was said"), (0, "room is made above")),
    ("restore gzz", (2, "run aider-gardener"), (2, "recall show the ids"), (2, "recall show the ids")),
    ("forget", *[(2, "name the ids to forget, or a session")] * 3),
    ("forget --session last", (2, "run aider-gardener"), (2, "once something was said"), (2, "add --yes")),
    ("run", *[(2, "missing argument '-- COMMAND...'")] * 3),
    ("run no-such-command", *[(127, "check its name")] * 3),
    ("compress nowhere", *[(2, "name a file, or pipe text in")] * 3),
    ("compress --source poem", *[(2, "web, reply, notice, file, summary, unknown")] * 3),
    ("replay", *[(2, "name a recorded session")] * 3),
    ("replay nowhere", *[(2, "no such file or folder")] * 3),
    ("import nowhere", *[(2, "does not exist")] * 3),
    ("store nonsense", *[(2, "no such command 'nonsense'")] * 3),
    ("store gc", (2, "run aider-gardener"), (0, "Nothing may go"), (0, "Nothing may go")),
    ("store copy", *[(2, "say where: --to PLACE")] * 3),
    ("store encrypt", *[(2, "say where the key is to be")] * 3),
    ("upkeep index", (2, "run aider-gardener"), (0, "0 sessions listed"), (0, "1 session listed")),
    ("upkeep month soon", *[(2, "is no month")] * 3),
    ("doctor", (0, "none yet"), (0, "sound"), (0, "sound")),
    ("install", *[(2, "missing argument 'HOST'")] * 3),
    ("install emacs", *[(2, "is not one of 'claude-code', 'codex'")] * 3),
    ("uninstall codex", *[(0, "codex: nothing to change")] * 3),
    ("record vim", *[(2, "try: gardener record -- aider-gardener")] * 3),
]  # fmt: skip
ANSI = re.compile(r"\x1b\[")
HEAD = re.compile(r"^( *Largest +tokens|History +messages)", re.MULTILINE)


def fault_of(said: str) -> str:
    """What is ugly about what was said, "" for nothing."""
    if "Traceback" in said or ANSI.search(said):
        return "a traceback, or a colour"
    lines = said.splitlines()
    if any(line.startswith(" ┃") or (line.count("┃") and not line.strip(" ┃")) for line in lines):
        return "a table without a head"
    for number, line in enumerate(lines):
        if HEAD.match(line) and not "".join(lines[number + 1 : number + 2]).strip():
            return "an empty table"
        if re.search("[━┃│█]", line) and len(line) > COLUMNS:
            return "a table that is too wide"
    return ""


def typing(driver: Driver) -> Callable[[str], list[str]]:
    """Types into a chat and gives what was said."""

    def typed(text: str) -> list[str]:
        before = len(driver.said)
        driver.type(text)
        return list(driver.said[before:])

    return typed


@pytest.mark.parametrize("is_empty", [True, False], ids=["an empty chat", "a chat of five turns"])
def test_each_chat_command_says_what_to_do(
    is_empty: bool, drive: MakeDriver, gardened: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("NO_COLOR", "1")
    gardened(history_tokens=600)
    typed = typing(drive() if is_empty else five_turns(drive(), PORT))
    for text, when_empty, when_filled in TYPED:
        said = "\n".join(typed(text))
        assert (when_empty if is_empty else when_filled) in said, f"{text}: {said}"
        assert fault_of(said) == "", f"{text}: {said}"
        assert not said.startswith("Usage: ") or said.count("\n") == 0, f"{text}: {said}"


@pytest.mark.parametrize("state", [0, 1, 2], ids=["no archive", "an empty one", "one of five turns"])
def test_each_command_says_what_to_do(
    state: int,
    repository: Path,
    drive: MakeDriver,
    gardened: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if state == 2:
        gardened(history_tokens=600)
        five_turns(drive(), PORT)
        uninstall()
    elif state == 1:
        open_store(repository / ".aider.gardener").close()
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("NO_COLOR", "1")
    for called, *expected in CALLED:
        status, words = expected[state]
        done = CliRunner().invoke(main, called.split(), prog_name="gardener")
        flat = " ".join(done.output.split())
        assert (done.exit_code, words in flat) == (status, True), f"{called}: {done.output}"
        assert fault_of(done.output) == "", f"{called}: {done.output}"
        if status:
            assert done.stdout == "" and done.stderr.startswith("gardener: "), f"{called}: {done.output}"
            assert done.stderr.count("\n") == 1, f"{called}: {done.output}"
