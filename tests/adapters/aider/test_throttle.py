"""An oversized output enters the chat compressed; its whole stays within reach."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.gardener.throttle import bounded, limit_for
from aider_gardener.messages import Fidelity

from .conftest import MakeDriver, ScriptedModel


def words(text: str) -> int:
    return len(text.split())


def write_noise(repository: Path, lines: int) -> str:
    """A script that prints a long log with one error in it; the command that runs it."""
    script = repository / "noise.py"
    script.write_text(
        f"for n in range({lines}):\n"
        "    print(f'2026-01-01 10:00:{n % 60:02} INFO request {n} took {n * 3} ms')\n"
        f"    if n == {lines // 2}:\n"
        "        print('2026-01-01 10:00:00 ERROR shard kestrel-17 refused the connection')\n",
        encoding="utf-8",
    )
    return f'"{sys.executable}" noise.py'


def test_the_limit_is_what_the_window_has_room_for_and_never_next_to_nothing() -> None:
    assert limit_for(0, 8_192) == 8_192
    assert limit_for(0, 600_000) == 600_000
    assert limit_for(0, 1_023) == limit_for(0, -5_000) == 1_024
    assert limit_for(0, None) == 4_000
    assert limit_for(700, 128_000) == limit_for(700, 10) == limit_for(700, None) == 700


@pytest.mark.parametrize(("window", "is_whole"), [(128_000, True), (12_000, False)])
def test_an_output_enters_whole_as_long_as_the_windows_first_part_has_room(
    window: int, is_whole: bool, drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    gardened()
    driver = drive()
    driver.coder.main_model.info = {**driver.coder.main_model.info, "max_input_tokens": window}
    driver.ask("/ask before we start")
    driver.type(f"/run {write_noise(repository, 600)}")
    entry = list(driver.coder.gardener.chat.entries.values())[2]
    assert 0.7 * 12_000 < entry.tokens < 0.7 * 128_000
    assert (driver.history[2]["content"] == entry.content) == is_whole
    assert any(entry.id in line for line in driver.said) != is_whole


@pytest.mark.parametrize("limit", [5, 12, 60, 400])
def test_a_bounded_text_keeps_both_ends_and_names_the_whole(limit: int) -> None:
    text = "\n".join(f"line {n} says {n * n}" for n in range(400))
    made = bounded(text, limit, count=words, entry_id="g123")
    assert "g123" in made
    if limit > 5:
        assert words(made) <= limit
    if limit >= 60:
        assert made.startswith("line 0 says 0\n")
        assert made.endswith("line 399 says 159201")


def test_one_endless_line_is_cut_too() -> None:
    made = bounded("x" * 9_000, 100, count=len, entry_id="g1")
    assert len(made) <= 100
    assert made.startswith("xx")


def test_a_large_output_enters_compressed_and_the_whole_is_in_the_store(
    drive: MakeDriver, gardened: Any, repository: Path, model: ScriptedModel
) -> None:
    gardened(throttle_tokens=500)
    driver = drive()
    driver.type(f"/run {write_noise(repository, 600)}")
    gardener = driver.coder.gardener
    entry = next(iter(gardener.chat.entries.values()))
    assert entry.tokens > 5_000
    assert [m["role"] for m in driver.history] == ["user", "assistant"]
    shown = driver.history[0]["content"]
    assert gardener.count(shown) <= 500
    assert "kestrel-17 refused" in shown
    assert entry.id in shown
    assert gardener.archive.store.original(entry.id) == entry.content
    lines = [line for line in driver.said if entry.id in line]
    assert len(lines) == 1
    assert f"{entry.tokens:,}" in lines[0]
    driver.ask("/ask what failed?")
    assert "kestrel-17 refused" in model.last_prompt()
    assert "took 900 ms" not in model.last_prompt()


def test_undo_and_restore_bring_the_whole_back_and_it_stays(
    drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    gardened(throttle_tokens=500, history_tokens=100_000)
    driver = drive()
    driver.type(f"/run {write_noise(repository, 200)}")
    gardener = driver.coder.gardener
    entry = next(iter(gardener.chat.entries.values()))
    driver.type("/gardener undo")
    assert driver.history[0]["content"] == entry.content
    driver.ask("/ask what failed?")
    assert driver.history[0]["content"] == entry.content


def test_small_outputs_and_typed_words_are_left_alone(
    drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    gardened(throttle_tokens=500)
    driver = drive()
    command = write_noise(repository, 5)
    driver.type(f"/run {command}")
    assert "request 4 took 12 ms" in driver.history[0]["content"]
    pasted = "look at this:\n" + "\n".join(f"INFO request {n} took {n} ms" for n in range(300))
    driver.ask(f"/ask {pasted}")
    assert driver.history[-2]["content"] == pasted


def test_the_message_that_a_failed_test_sends_is_short_too(
    drive: MakeDriver, gardened: Any, repository: Path, model: ScriptedModel
) -> None:
    gardened(throttle_tokens=500)
    driver = drive()
    command = write_noise(repository, 400)
    with (repository / "noise.py").open("a", encoding="utf-8") as script:
        script.write("raise SystemExit(1)\n")
    driver.type(f"/test {command}")
    assert len(model.requests) == 1
    assert "request 150 took" not in model.last_prompt()
    assert sum("brings it back" in line for line in driver.said) == 1
    assert model.last_prompt().count("kestrel-17 refused") == 2


def test_a_later_plan_takes_the_short_form_further_down(
    drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    gardened(throttle_tokens=500, history_tokens=1_000)
    driver = drive()
    driver.type(f"/run {write_noise(repository, 400)}")
    for number in range(12):
        driver.ask(f"/ask question {number}", reply="Answer. " + "words of prose. " * 40)
    gardener = driver.coder.gardener
    assert gardener.plans_applied
    assert gardener.chat.fidelity[0] in (Fidelity.LINE, Fidelity.HIDDEN)


def test_observing_nothing_is_cut(drive: MakeDriver, gardened: Any, repository: Path) -> None:
    gardened(throttle_tokens=500, mode="observe")
    driver = drive()
    driver.type(f"/run {write_noise(repository, 300)}")
    assert "request 299 took 897 ms" in driver.history[0]["content"]
    assert "request 150 took 450 ms" in driver.history[0]["content"]
