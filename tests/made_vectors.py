"""A tiny embedder for tests: letters counted, so that like texts have like vectors. No model, no files."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np


class LetterCounts:
    """Vectors of 32 letter counts. `fail_on` makes it raise; `embedded` lists what it was asked for, `waits` says
    that it was and waits for its gate."""

    def __init__(self, *, name: str = "letters", dim: int = 32, fail_on: str = "") -> None:
        self.name = name
        self.dim = dim
        self.fail_on = fail_on
        self.loaded = False
        self.loads = 0
        self.embedded: list[str] = []
        self.waits = False
        self.gate = threading.Event()
        self.gate.set()

    def load(self) -> None:
        self.loads += not self.loaded
        self.loaded = True

    def unload(self) -> None:
        self.loaded = False

    def embed(self, texts: Sequence[str]) -> Any:
        self.load()
        self.waits = True
        assert self.gate.wait(120)
        self.waits = False
        self.embedded += texts
        if self.fail_on and any(self.fail_on in text for text in texts):
            raise RuntimeError("the model broke")
        found = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            letters = np.frombuffer(text.lower().encode("utf-32-le", "surrogatepass"), np.uint32)
            found[row] = np.bincount(letters % self.dim, minlength=self.dim)
            found[row, 0] += 0.01
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
