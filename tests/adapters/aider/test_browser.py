"""aider in the browser (`--browser`), a real one: a page, a prompt, a reply, and what was said is archived."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.model_server import ModelServer

from .test_screens import prices

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:  # before what takes seconds to import
    pytest.skip("no chromium, chromium-browser or google-chrome on the PATH", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install 'aider-gardener[dev]'"
)
pytest.importorskip("streamlit", reason="streamlit is not installed: pip install 'aider-gardener[dev]'")

SECONDS = 180
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")

__all__ = ["prices"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def page(repository: Path, prices: Path) -> Iterator[Any]:
    port = free_port()
    with ModelServer(["The port is 48213.", "As I said."]) as server:
        environ = {
            **os.environ, "OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "any", "HOME": str(prices),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True", "STREAMLIT_SERVER_HEADLESS": "true",
            "STREAMLIT_SERVER_PORT": str(port), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        }  # fmt: skip
        quiet = ["--no-check-update", "--no-show-release-notes", "--no-analytics", "--no-gitignore"]
        program = [
            sys.executable,
            "-m",
            "aider_gardener.adapters.aider.cli",
            "--browser",
            "--model",
            "gpt-4o",
        ]
        process = subprocess.Popen(
            [*program, *quiet, "--yes-always", "app.py"], cwd=repository, env=environ,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            with playwright.sync_playwright() as started:
                browser = started.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
                found = browser.new_page()
                reach(found, f"http://127.0.0.1:{port}")
                yield found
                browser.close()
        finally:
            process.terminate()
            process.wait(20)


def reach(page: Any, address: str) -> None:
    """Open the address as soon as somebody listens there."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            page.goto(address)
            return
        except playwright.Error:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def test_a_chat_in_the_browser_is_remembered(page: Any, repository: Path, prices: Path) -> None:
    for said, reply in (("what is the port of kestrel?", "The port is 48213."), ("sure?", "As I said.")):
        box = page.get_by_placeholder("Say something")
        box.wait_for(timeout=SECONDS * 1_000)
        box.fill(said)
        box.press("Enter")
        page.get_by_text(reply).first.wait_for(timeout=SECONDS * 1_000)
    command = [sys.executable, "-m", "aider_gardener.cli", "recall", "--json", "port", "kestrel"]
    environ = {**os.environ, "HOME": str(prices)}  # the chat's own user, whose key signed the archive
    found = subprocess.run(
        command, cwd=repository, env=environ, capture_output=True, text=True, timeout=SECONDS
    )
    assert found.returncode == 0, found.stdout + found.stderr
    texts = [row["text"] for row in json.loads(found.stdout)]
    assert any("48213" in text for text in texts) and any("what is the port" in text for text in texts)
