"""aider's own repo map, resting in a real chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.aider.conftest import Driver, MakeDriver, ScriptedModel

SOURCES = {
    f"shop/part{n}.py": f"def settle_part{n}(order: int) -> int:\n    return order + {n}\n\n\n"
    + "".join(
        f"def helper_{n}_{m}(value: int) -> int:\n    return settle_part{n}(value)\n\n\n" for m in range(30)
    )
    for n in range(12)
}
MAP_TOKENS = 400


@pytest.fixture
def repository_of_parts(repository: Path) -> Path:
    import subprocess

    (repository / "shop").mkdir()
    for name, text in SOURCES.items():
        (repository / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    subprocess.run(["git", "commit", "-qm", "parts"], cwd=repository, check=True)
    return repository


def maps(model: ScriptedModel) -> list[str]:
    """The map of each prompt."""
    return [
        next((str(m["content"]) for m in request if str(m["content"]).startswith("Here are summaries")), "")
        for request in model.requests
    ]


def talk(driver: Driver) -> None:
    driver.ask("what does settle_part3 do?", "and settle_part3 again?", "thanks, and settle_part9?")
    driver.ask("is settle_part9 slow?", "compare settle_part3 with settle_part9")


def test_a_map_rests_while_it_shows_what_is_spoken_of(
    repository_of_parts: Path, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(mode="off")
    talk(drive(map_tokens=MAP_TOKENS))
    aiders = maps(model)
    model.requests.clear()
    gardened(files="stable")
    driver = drive(map_tokens=MAP_TOKENS)
    talk(driver)
    ours = maps(model)
    assert len(set(ours)) < len(set(aiders)) and all(ours)
    for request, shown in zip(model.requests, ours, strict=True):
        asked = next(str(m["content"]) for m in reversed(request) if m["role"] == "user")
        wanted = [word.strip("?") for word in asked.split() if word.startswith("settle_")]
        assert all(word in shown for word in wanted[-1:]), asked
    assert not [line for line in driver.said if "stopped" in line]


def test_before_anything_is_compacted_the_map_is_aiders(
    repository_of_parts: Path, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(mode="off")
    talk(drive(map_tokens=MAP_TOKENS))
    aiders = maps(model)
    model.requests.clear()
    gardened()
    driver = drive(map_tokens=MAP_TOKENS)
    talk(driver)
    assert maps(model) == aiders
    gardened(history_tokens=200)
    driver = drive(map_tokens=MAP_TOKENS)
    driver.ask(*(f"question {n}" for n in range(6)), reply="Words of an answer. " * 60)
    assert driver.coder.gardener.state.chat.fidelity and driver.coder.gardener.state.resting_map.listing


def test_a_file_of_the_map_that_changes_or_enters_the_chat_ends_its_rest(
    repository_of_parts: Path, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(files="stable")
    driver = drive(map_tokens=MAP_TOKENS)
    driver.ask("what does settle_part3 do?")
    shown = next(name for name in SOURCES if name in maps(model)[-1])
    driver.type(f"/add {shown}")
    driver.ask("now?")
    assert f"\n{shown}:" not in maps(model)[-1]
    shown = next(name for name in SOURCES if name in maps(model)[-1])
    (repository_of_parts / shown).write_text("def another_thing() -> int:\n    return 1\n", encoding="utf-8")
    before = maps(model)[-1]
    driver.ask("and now?")
    assert maps(model)[-1] != before


def test_mentions_come_from_what_was_said_not_from_what_stands_of_it(
    repository_of_parts: Path, drive: MakeDriver, gardened: Any
) -> None:
    gardened(history_tokens=300)
    driver = drive(map_tokens=MAP_TOKENS)
    driver.ask("remember settle_part7", reply="Yes. " * 300)
    driver.ask(*(f"question {n}" for n in range(6)), reply="Words of an answer. " * 60)
    standing = "".join(str(message["content"]) for message in driver.coder.cur_messages)
    assert len(standing) < 6 * 1_200, "some of it is compacted"
    assert "settle_part7" in driver.coder.get_cur_message_text()
    assert driver.coder.get_cur_message_text().count("Words of an answer.") == 6 * 60


@pytest.mark.parametrize("refresh", ["always", "files", "manual"])
def test_another_map_refresh_of_aiders_is_left_alone(
    repository_of_parts: Path, drive: MakeDriver, gardened: Any, refresh: str
) -> None:
    gardened()
    driver = drive(map_tokens=MAP_TOKENS, map_refresh=refresh)
    driver.ask("what does settle_part3 do?")
    assert not driver.coder.gardener.state.resting_map.listing


def test_a_new_map_can_be_asked_for(
    repository_of_parts: Path, drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened(files="stable")
    driver = drive(map_tokens=MAP_TOKENS)
    driver.ask("what does settle_part3 do?")
    driver.coder.cur_messages += [
        {"role": "user", "content": "settle_part9 settle_part9"},
        {"role": "assistant", "content": "Ok."},
    ]
    driver.type("/map-refresh")
    held = driver.coder.gardener.state.resting_map.listing
    driver.ask("go on")
    assert held in maps(model)[-1]
