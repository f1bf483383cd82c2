"""Prompts in the order of rest, made by a real aider."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from adapters.aider.conftest import EDIT, Driver, MakeDriver, ScriptedModel
from aider_gardener.adapters.aider import layout

FILES = {f"part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(1, 5)}
HEAD = "I have *added these files to the chat*"
Prompt = list[dict[str, Any]]


@pytest.fixture
def chat(repository: Path, drive: MakeDriver, gardened: Any) -> Driver:
    """A chat over four files, in the order of rest."""
    for name, text in FILES.items():
        (repository / name).write_text(text, encoding="utf-8")
    gardened(files="stable")
    return drive(files=list(FILES), map_tokens=0)


def edit(driver: Driver, name: str, to: str) -> None:
    old = next(line for line in Path(name).read_text(encoding="utf-8").splitlines() if "return" in line)
    driver.ask(f"change {name}", reply=EDIT.format(path=name, old=old, new=f"    return {to}"))


def order_of(prompt: Prompt) -> list[str]:
    """What of a prompt stands where: files by name, prompts and replies by their first word."""
    found = []
    for message in prompt:
        text = str(message["content"])
        if text.startswith(HEAD):
            found.append(",".join(name for name in FILES if f"\n{name}\n```" in text))
        elif message["role"] == "user":
            found.append(text.split()[0])
    return found


def alternates(prompt: Prompt) -> bool:
    roles = [message["role"] for message in prompt if message["role"] != "system"]
    return roles[0] == "user" and all(one != other for one, other in pairwise(roles))


def test_each_file_is_a_message_of_its_own_with_aiders_words(chat: Driver, model: ScriptedModel) -> None:
    chat.ask("what does part1 do?")
    prompt = model.requests[-1]
    assert sorted(order_of(prompt)[:4]) == sorted(FILES)
    prefix = chat.coder.gpt_prompts.files_content_prefix
    said = [message["content"] for message in prompt]
    for name, text in FILES.items():
        assert f"{prefix}\n{name}\n```\n{text}```\n" in said
        answer = prompt[said.index(f"{prefix}\n{name}\n```\n{text}```\n") + 1]
        assert answer == {
            "role": "assistant",
            "content": chat.coder.gpt_prompts.files_content_assistant_reply,
        }


def test_what_changes_goes_behind_the_history_and_what_rests_stays(
    chat: Driver, model: ScriptedModel
) -> None:
    edit(chat, "part2.py", "20")
    edit(chat, "part2.py", "21")
    prompt = model.requests[-1]
    stands = order_of(prompt)
    assert stands[-2:] == ["part2.py", "change"], "just changed: behind the history"
    assert sorted(name for name in stands if name in FILES) == sorted(FILES)
    assert sum("return 20" in str(m["content"]) for m in prompt if HEAD in str(m["content"])) == 1
    assert not [line for line in chat.said if "stopped" in line]


def test_a_prompt_begins_as_the_one_before_it(chat: Driver, model: ScriptedModel) -> None:
    edit(chat, "part1.py", "10")
    edit(chat, "part1.py", "11")
    edit(chat, "part1.py", "12")
    chat.ask("go on")
    *_, former, last = model.requests
    said = [str(message["content"]) for message in former]
    moved = next(at for at, text in enumerate(said) if text.startswith(HEAD) and "\npart1.py\n" in text)
    assert former[:moved] == last[:moved] and len(former) - moved < 5
    chat.ask("and on")
    standing = len(last) - 2  # but for what was asked, and aider's reminder
    assert model.requests[-1][:standing] == last[:standing]


def test_dropped_added_and_read_only_files(chat: Driver, model: ScriptedModel) -> None:
    chat.ask("one")
    chat.type("/drop part1.py")
    chat.ask("two")
    assert "part1.py" not in order_of(model.requests[-1])
    chat.type("/read-only part1.py")
    chat.type("/add app.py")
    chat.ask("three")
    prompt = model.requests[-1]
    reference = [m["content"] for m in prompt if "READ ONLY" in str(m["content"])]
    assert len(reference) == 1 and "part1.py" in reference[0]
    assert "def greet" in "".join(str(m["content"]) for m in prompt) and alternates(prompt)


def test_images_stand_behind_the_files_as_aider_has_them(chat: Driver, model: ScriptedModel) -> None:
    Path("plan.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(32))
    chat.type("/add plan.png")
    edit(chat, "part2.py", "20")
    chat.ask("what does the picture show?")
    prompt = model.requests[-1]
    pictures = [at for at, m in enumerate(prompt) if "image_url" in str(m["content"])]
    files = [at for at, m in enumerate(prompt) if str(m["content"]).startswith(HEAD)]
    assert len(pictures) == 1 and pictures[0] > max(files) and alternates(prompt)
    assert sorted(order_of(prompt)[:-1]).count("part2.py") == 1
    assert not [line for line in chat.said if "stopped" in line]


@pytest.mark.parametrize("mode", ["ask", "architect", "context", "help"])
def test_modes_get_a_legal_prompt(chat: Driver, model: ScriptedModel, mode: str) -> None:
    edit(chat, "part2.py", "20")
    chat.type(f"/chat-mode {mode}")
    chat.ask("what now?")
    chat.type("/chat-mode code")
    edit(chat, "part3.py", "30")
    assert all(alternates(request) for request in model.requests)
    assert not [line for line in chat.said if "stopped" in line]


def test_a_model_without_a_system_message(chat: Driver, model: ScriptedModel) -> None:
    chat.coder.main_model.use_system_prompt = False
    edit(chat, "part2.py", "20")
    chat.ask("go on")
    assert alternates(model.requests[-1]) and model.requests[-1][0]["role"] == "user"


def test_the_map_stands_among_the_files(
    repository: Path, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    (repository / "part1.py").write_text(FILES["part1.py"], encoding="utf-8")
    gardened(files="stable")
    driver = drive(files=["part1.py"], map_tokens=1024)
    driver.ask("one", "two")
    said = [str(message["content"]) for message in model.requests[-1]]
    at = next(at for at, text in enumerate(said) if text.startswith("Here are summaries"))
    assert "app.py" in said[at] and said[at + 1].startswith("Ok, I won't")


def test_made_again_before_it_is_sent_a_prompt_is_the_same(chat: Driver) -> None:
    edit(chat, "part2.py", "20")
    chat.coder.cur_messages = [{"role": "user", "content": "what now?"}]
    prompts = [chat.coder.format_messages().all_messages() for _ in range(3)]
    assert prompts[0] == prompts[1] == prompts[2]


def marks(messages: Sequence[dict[str, Any]]) -> list[str]:
    """The first words of the messages that bear a breakpoint."""
    return [m["content"][0]["text"][:40] for m in messages if isinstance(m["content"], list)]


def test_four_breakpoints_stand_where_most_rests(chat: Driver, model: ScriptedModel) -> None:
    chat.coder.add_cache_headers = True
    chat.ask("one")
    assert 1 <= len(marks(model.requests[-1])) <= 4
    edit(chat, "part2.py", "20")
    chat.ask("two")
    edit(chat, "part2.py", "21")
    prompt = model.requests[-1]
    assert 3 <= len(marks(prompt)) <= 4
    sent = chat.coder.format_messages()
    pinged = sent.cacheable_messages()
    assert pinged == sent.all_messages()[: len(pinged)] and isinstance(pinged[-1]["content"], list)
    assert not [m for m in chat.coder.done_messages if isinstance(m["content"], list)], (
        "aider's list is its own"
    )


def test_what_aider_writes_otherwise_is_left_as_it_is() -> None:
    messages = [{"role": "user", "content": "files: other words"}, {"role": "assistant", "content": "Ok."}]
    assert layout.split(messages, "files:", iter([("file a", "\na\n```\nx```\n")])) is None
    assert layout.split(messages, "files:", iter([])) == []


def test_the_order_of_aider_is_the_default(
    repository: Path, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    for name, text in FILES.items():
        (repository / name).write_text(text, encoding="utf-8")
    gardened()
    drive(files=list(FILES), map_tokens=0).ask("one")
    assert len([name for name in order_of(model.requests[-1]) if "," in name]) == 1
