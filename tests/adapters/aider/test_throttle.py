"""The throttle in a real aider: an oversized output enters the chat compressed, its whole stays in reach."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .conftest import Begin, Driver


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


def test_a_large_output_enters_compressed_and_the_whole_is_in_the_store(
    begin: Begin, repository: Path
) -> None:
    driver = begin(throttle_tokens=500)
    driver.type(f"/run {write_noise(repository, 600)}")
    gardener = driver.coder.gardener
    entry = next(iter(gardener.state.chat.entries.values()))
    assert entry.tokens > 5_000
    assert [m["role"] for m in driver.history] == ["user", "assistant"]
    shown = driver.history[0]["content"]
    assert gardener.state.count(shown) <= 500
    assert "kestrel-17 refused" in shown
    assert entry.id in shown
    assert gardener.state.archive.store.original(entry.id) == entry.content
    lines = [line for line in driver.said if entry.id in line]
    assert len(lines) == 1
    assert f"{entry.tokens:,}" in lines[0]
    driver.ask("/ask what failed?")
    assert "kestrel-17 refused" in driver.model.last_prompt()
    assert "took 600 ms" not in driver.model.last_prompt()


def test_the_message_that_a_failed_test_sends_is_short_too(begin: Begin, repository: Path) -> None:
    driver = begin(throttle_tokens=500)
    command = write_noise(repository, 400)
    with (repository / "noise.py").open("a", encoding="utf-8") as script:
        script.write("raise SystemExit(1)\n")
    driver.type(f"/test {command}")
    assert len(driver.model.requests) == 1
    assert "request 150 took" not in driver.model.last_prompt()
    assert sum("brings it back" in line for line in driver.said) == 1
    assert driver.model.last_prompt().count("kestrel-17 refused") == 2


def test_of_an_output_that_no_window_takes_no_line_promises_the_whole(
    driver: Driver, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(driver.coder.main_model.info, "max_input_tokens", 12_000)
    driver.type(f"/run {write_noise(repository, 900)}")
    told = [line for line in driver.said if "the whole is" in line]
    assert len(told) == 1 and "/recall WORDS brings parts of it back" in told[0]
    driver.type("/restore last")
    assert "has room for" in driver.said[-1], "and that holds"
