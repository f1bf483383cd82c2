"""A model by its name, and none where neither aider nor litellm can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from aider_gardener.adapters.plain.gardener import Gardener
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate, window_of

WITHOUT = """
import sys

class NoHost:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"aider", "litellm", "tiktoken", "openai"}:
            raise ImportError(name)

sys.meta_path.insert(0, NoHost())
from aider_gardener import Gardener
from aider_gardener.settings import Settings

with Gardener.open(".", window=900, model="gpt-4o", memory=True, background=False) as gardener:
    messages = []
    for turn in range(20):
        text = f"The box number {turn} listens on port {40_000 + turn}. " * 10
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": f"Noted {turn}."}]
        prompt = gardener.prompt(messages)
    assert len(prompt) < len(messages) and prompt[-1] is messages[-1]
    assert "40007" in gardener.recall("on which port listens box number 7?")[0].text
print("fine")
"""


def test_the_window_comes_from_the_table_that_litellm_ships() -> None:
    assert window_of("gpt-4o") == window_of("openai/gpt-4o") == 128_000
    assert window_of("no-such-model") == 0 and window_of("") == 0


def test_a_model_that_is_known_needs_no_window() -> None:
    settings = Settings(embedder="none")
    with Gardener.open(".", model="gpt-4o", memory=True, background=False, settings=settings) as gardener:
        assert gardener.state.frame.window == 128_000
        assert gardener.state.budget == 64_000
        text = "internationalisation of a rather long sentence"
        assert 0 < gardener.state.count(text) < approximate(text), "counted where a model is named"


def test_neither_aider_nor_litellm_is_needed(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr
