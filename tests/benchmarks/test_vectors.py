"""Vectors of passages are made once over several measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from bench.vectors import KeptVectors

if TYPE_CHECKING:
    from aider_gardener.recall.embed import Embedder


class Counted:
    """An embedder whose vectors say which text they are of, and which notes what it was asked."""

    dim = 2
    loaded = True

    def __init__(self, name: str = "counted") -> None:
        self.name = name
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


def kept(embedder: Counted, file: Path) -> KeptVectors:
    return KeptVectors(cast("Embedder", embedder), file)


def test_texts_are_embedded_once_over_several_replays(tmp_path: Path) -> None:
    first, second = Counted(), Counted()
    file = tmp_path / "vectors.sqlite"
    made = kept(first, file).embed(["one", "three", "one"])
    again = kept(second, file).embed(["three", "new", "one"])
    assert first.asked == ["one", "three"]
    assert second.asked == ["new"]
    assert made.tolist() == [[3, 111], [5, 116], [3, 111]]
    assert again.tolist() == [[5, 116], [3, 110], [3, 111]]
    assert again.dtype == np.float32


def test_vectors_of_another_model_are_not_taken(tmp_path: Path) -> None:
    file, other = tmp_path / "vectors.sqlite", Counted("other")
    kept(Counted(), file).embed(["one", "two"])
    kept(other, file).embed(["one", "two"])
    assert other.asked == ["one", "two"]
    assert kept(other, file).name == "other"
