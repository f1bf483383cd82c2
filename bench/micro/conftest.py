"""Options and shared material of the suites: sizes of texts and archives, the chat of a long session."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Message, TokenCounter
from aider_gardener.settings import Settings
from aider_gardener.tokens import default_counter
from bench.micro.archives import archive_of, backlog
from bench.micro.chats import long_chat

MEGABYTE = 1_000_000
ENTRIES = (10_000, 100_000)
QUICK_ENTRIES, QUICK_CHARS, QUICK_HISTORY_TOKENS = (100,), 20_000, 6_000
HISTORY_TOKENS = 100_000


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bench/micro")
    group.addoption("--quick", action="store_true", help="small texts and archives: does it run at all")
    group.addoption(
        "--entries",
        default="",
        metavar="N,...",
        help=f"sizes of the archives  [default: {','.join(map(str, ENTRIES))}]",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The sizes: characters of a text, entries of an archive."""
    config = metafunc.config
    if "chars" in metafunc.fixturenames:
        chars = [QUICK_CHARS] if config.getoption("--quick") else [MEGABYTE, 10 * MEGABYTE]
        metafunc.parametrize("chars", chars, ids=[f"{n / MEGABYTE:g}MB" for n in chars])
    if "entries" in metafunc.fixturenames:
        metafunc.parametrize("entries", sizes_of(config), ids=lambda n: f"{n}-entries")


def sizes_of(config: pytest.Config) -> tuple[int, ...]:
    given = str(config.getoption("--entries"))
    if given:
        return tuple(int(word) for word in given.split(","))
    return QUICK_ENTRIES if config.getoption("--quick") else ENTRIES


@pytest.fixture(scope="session")
def quick(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--quick"))


@pytest.fixture(scope="session")
def count() -> TokenCounter:
    return default_counter()


@pytest.fixture(scope="session")
def history(quick: bool, count: TokenCounter) -> list[Message]:
    """The finished exchanges of a chat of about 100,000 tokens."""
    return long_chat(QUICK_HISTORY_TOKENS if quick else HISTORY_TOKENS, count)


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory, quick: bool) -> Callable[[int], Path]:
    """The folder of an archive of so many entries with vectors; big ones are built once, the suites
    work on a copy."""
    copies = tmp_path_factory.mktemp("archives")
    kept = copies / "built" if quick else Path("build/bench")

    def copy_of(entries: int) -> Path:
        copy = copies / str(entries)
        if not copy.exists():
            shutil.copytree(archive_of(entries, kept), copy)
        return copy

    return copy_of


@pytest.fixture(scope="session")
def gardeners(
    archives: Callable[[int], Path], history: list[Message], count: TokenCounter
) -> Callable[[int], Gardener]:
    """A gardener whose chat holds the long history, in an archive of so many older entries."""
    made: dict[int, Gardener] = {}

    def gardener_with(entries: int) -> Gardener:
        if entries not in made:
            made[entries] = gardener_over(archives(entries), history, count)
        return made[entries]

    return gardener_with


def gardener_over(folder: Path, history: list[Message], count: TokenCounter) -> Gardener:
    """The chat gets a session of its own in the archive; its passages get their vectors at once."""
    store = open_store(folder)
    archive = Archive(
        store,
        session=f"bench-{time.time_ns()}",
        project="bench",
        count=count,
        clock=time.time,
        backlog=backlog(store),
    )
    gardener = Gardener(Settings(history_tokens=10_000_000), archive)
    gardener.sync([message._asdict() for message in history], [])
    gardener.idle()
    return gardener


def pytest_benchmark_update_json(config: pytest.Config, benchmarks: Any, output_json: dict[str, Any]) -> None:
    """Say in the report for which sizes it was made, and how busy the machine was."""
    load = os.getloadavg()[2] if hasattr(os, "getloadavg") else 0.0
    output_json["gardener"] = {
        "quick": bool(config.getoption("--quick")),
        "entries": sizes_of(config),
        "load": round(load, 2),
    }
