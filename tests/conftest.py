"""The sandbox all tests run in: a home of their own, no keys, no configuration of the user's, no network.

It is set up when this file is imported, before any test module can import aider or litellm.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck
from offline import deny_network

MEMORY, MEMORY_BYTES = Path("/dev/shm"), 2 * 1024**3
"""Where files lie in memory, and how much of it must be free: an archive waits for the disk at each commit,
which is half of the suite's time."""
PRIVATE_PREFIXES = ("AIDER_", "LITELLM_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "GIT_", "XDG_")
PRIVATE_SUFFIXES = ("_API_KEY", "_PROXY")
GIT_CONFIG = """\
[user]
\tname = Tester
\temail = tester@example.com
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[commit]
\tgpgSign = false
"""

attempts: list[str] = []


def has_room_in_memory() -> bool:
    """Whether files may be written, and run, in memory. A container often has 64 MB of it, where none may run."""
    if not os.access(MEMORY, os.W_OK):
        return False
    place = os.statvfs(MEMORY)
    return place.f_bavail * place.f_frsize >= MEMORY_BYTES and not place.f_flag & os.ST_NOEXEC


def enter_sandbox() -> Path:
    """Point this process and its children at an empty home, and take the user's own settings away; gives where
    aider's price table is in it."""
    if has_room_in_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
        tempfile.tempdir = os.environ.setdefault("TMPDIR", str(MEMORY))
    home = Path(tempfile.mkdtemp(prefix="gardener-tests-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for name in list(os.environ):
        if name.startswith(PRIVATE_PREFIXES) or name.upper().endswith(PRIVATE_SUFFIXES):
            del os.environ[name]
    os.environ.update(
        HOME=str(home),
        USERPROFILE=str(home),
        LOCALAPPDATA=str(home / "AppData" / "Local"),
        APPDATA=str(home / "AppData" / "Roaming"),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        OPENAI_API_KEY="sk-not-a-key",
        AIDER_ANALYTICS="false",
        AIDER_CHECK_UPDATE="false",
        HF_HUB_OFFLINE="1",
        MPLBACKEND="Agg",
        COLUMNS="120",
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without
    # What is compiled serves the processes that tests start, and the next run.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    (home / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    return place_price_table(home)


def place_price_table(home: Path) -> Path:
    """Give aider the price table that litellm ships where it would otherwise download a newer one."""
    cache = home / ".aider" / "caches" / "model_prices_and_context_window.json"
    spec = importlib.util.find_spec("litellm")
    if spec is not None and spec.origin is not None:
        cache.parent.mkdir(parents=True)
        shutil.copy(Path(spec.origin).parent / "model_prices_and_context_window_backup.json", cache)
    return cache


def keep_price_table() -> None:
    """Have aider read the price table in the sandbox's home. It looks in the home in which it was imported: where
    that was a test's own, every later test of the process would try to fetch one."""
    manager: Any = getattr(sys.modules.get("aider.models"), "model_info_manager", None)
    if manager is not None and not manager.content:
        manager.cache_file, manager._cache_loaded = price_table, False


def remember_vectors() -> None:
    """Let the encoder read a text once in a process: of those that chats of tests embed, four in five are the
    same. Its own tests take encoders of their own."""
    from aider_gardener.recall.embed import ENCODER

    @functools.cache
    def vector(text: str, read: Any = ENCODER.embed) -> Any:
        return read([text])[0]

    def embed(texts: Sequence[str]) -> Any:
        return np.array([vector(text) for text in texts], np.float32).reshape(-1, ENCODER.dim)

    ENCODER.embed = embed  # type: ignore[method-assign]  # reason: only this process's one encoder


def remember_tokens() -> None:
    """Let a tokenizer read a text once in a process: aider counts its own instructions with every prompt."""
    from tiktoken import Encoding

    read = Encoding.encode
    known = functools.lru_cache(5_000)(functools.partial(read, disallowed_special=()))

    def encode(coding: Encoding, text: str, **options: Any) -> list[int]:
        is_counted = options == {"disallowed_special": ()}  # as litellm counts
        return [*known(coding, text)] if is_counted else read(coding, text, **options)

    Encoding.encode = encode  # type: ignore[assignment, method-assign]  # reason: only in this process


price_table = enter_sandbox()
remember_vectors()
remember_tokens()
deny_network(attempts.append)
# Examples are made and tried on machines that do other work too: no law is broken by taking long.
SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
hypothesis.settings.register_profile("suite", deadline=None, suppress_health_check=SLOW)
hypothesis.settings.load_profile("suite")


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors: tests wait for clocks, locks and processes of their own."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True)
def no_network() -> Iterator[None]:
    """Fail a test that tried to leave this machine, even if the code under test swallowed the refusal."""
    attempts.clear()
    keep_price_table()
    yield
    if attempts:
        hosts = ", ".join(sorted(set(attempts)))
        attempts.clear()
        pytest.fail(f"the test tried to reach the network: {hosts}", pytrace=False)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's top folder."""
    return Path(__file__).resolve().parent.parent
